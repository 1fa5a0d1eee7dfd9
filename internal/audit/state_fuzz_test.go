package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/internal/strictjson"
)

// FuzzHead puts anything where the end of the chain is kept: the log goes on or
// says why not, no record is lost, and what was taken in reads as it was written.
func FuzzHead(f *testing.F) {
	one := head{log: "0123456789abcdef", seq: 3, hash: digest([]byte("x")), size: 10, begin: 1}
	f.Add(one.encode())
	f.Add((&head{log: "a", begin: 1}).encode())
	f.Add([]byte(`{"log":"a","seq":9223372036854775807,"hash":"b","size":9223372036854775807,"begin":9223372036854775807}`))
	f.Add([]byte(strings.Repeat(" ", 300)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		if h, ok := readHead(strings.NewReader(string(data))); ok {
			text := h.encode()
			if again, ok := readHead(strings.NewReader(string(text))); len(text) == headSize && (!ok || again != h) {
				t.Errorf("%+v is written as %q and read as %+v", h, text, again)
			}
		}
		dir := t.TempDir()
		add(t, dir, Options{}, record("first"))
		if err := os.WriteFile(filepath.Join(dir, headName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		written := Append(dir, Options{}, record("second"))
		text, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"first"`) || strings.Contains(string(text), `"second"`) != (written == nil) {
			t.Errorf("%q: %v, and the log is\n%s", data, written, text)
		}
		if _, err := (&History{dir}).Verify(); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// FuzzCursor holds that what says how far a log was sent is read as it was
// written, and that nothing in it makes a record unsendable twice over.
func FuzzCursor(f *testing.F) {
	f.Add([]byte(`{"log":"0123456789abcdef","seq":3,"at":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"log":"a","seq":-1}`))
	f.Add([]byte(`{"seq":1e3}`))
	dir := f.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	h := &History{dir}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, cursorFile("")), data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := h.Cursor("")
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00\x1b") {
				t.Errorf("%q: %q", data, err)
			}
			return
		}
		if _, err := strictjson.Object(data, strictjson.Limits{}); err != nil {
			t.Errorf("%q is taken: %v", data, err)
		}
		c.At = c.At.UTC().Truncate(time.Microsecond)
		if err := h.Advance("", c); err != nil {
			return // too long for the file
		}
		if again, err := h.Cursor(""); err != nil || again.Log != c.Log || again.Seq != c.Seq {
			t.Errorf("%+v is kept as %+v, %v", c, again, err)
		}
		for s, err := range h.Unsent(c, Origin{}) {
			if c.Gone || c.Log == "" || !s.Finding || err != nil {
				t.Errorf("there is nothing to send: %+v, %v", s, err)
			}
		}
	})
}
