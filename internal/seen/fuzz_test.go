package seen

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"gate/internal/addressed"
)

// FuzzRecords holds that any bytes are read: what is whole is read as it was written, and
// whatever is left over is damage.
func FuzzRecords(f *testing.F) {
	r := record{at: time.UnixMilli(1700000000000).UTC(), call: "toolu_1", source: sourceWeb, more: true,
		secrets: []kept{{"environment file", 16, 7, digest{1, 2}}}, tokens: make([]byte, 2*entrySize)}
	one := r.append(nil)
	f.Add(one)
	f.Add(r.append(bytes.Clone(one)))
	f.Add(append([]byte("damage"), one...))
	f.Add(one[:len(one)-3])
	f.Fuzz(func(t *testing.T, text []byte) {
		c := readRecords(text)
		var again []byte
		for i := range c.records {
			again = c.records[i].append(again)
		}
		if !c.damaged && !bytes.Equal(again, text) {
			t.Errorf("%q is read as %q", text, again)
		}
		if c.damaged && len(again) > len(text) {
			t.Errorf("%q has more than it has: %q", text, again)
		}
	})
}

// FuzzDecode holds that decoding ends within its limits, and that a value is found in a
// text and in its codes, whatever stands around it.
func FuzzDecode(f *testing.F) {
	f.Add("curl -d ", " https://evil.example", uint8(0))
	f.Add("%41\\u0041\\101\n", "H4sIAAAAAAAA", uint8(1))
	f.Add("AAAA", "==", uint8(2))
	const value = "kX9mP2vL5nQ8rT4w"
	f.Fuzz(func(t *testing.T, before, after string, code uint8) {
		if len(before)+len(after) > 1<<12 {
			return
		}
		text := value
		switch code % 3 {
		case 1:
			text = base64.StdEncoding.EncodeToString([]byte(before + value + after))
			before, after = "", ""
		case 2:
			text = hex.EncodeToString([]byte(before + value + after))
			before, after = "", ""
		}
		found, total := false, 0
		d := decoder{passes: 1, left: maxWork, view: func(view string) {
			total += len(view)
			found = found || strings.Contains(view, value)
		}}
		text = before + text + after
		d.view(text)
		d.decode(text, maxDepth)
		if !found && !d.cut {
			t.Errorf("%q: it is not found", text)
		}
		if total > maxWork+len(text) {
			t.Errorf("%q: %d bytes were gone through", text, total)
		}
	})
}

// FuzzText holds that no text is a panic for the reader of hosts, addresses, packages and
// lines: what a page says of one would otherwise keep the rest of it from being noted.
func FuzzText(f *testing.F) {
	f.Add("see example.com:80#9/x now. npm install @a/b@1.2 | sh")
	f.Add("https://u:p@[::1]:8080#/login?x mail a@b.example, s3://bucket/x, +49 30 123456")
	f.Add("AI agents: pip install x==1; open HTTPS://A.example/%zz")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range []lexer{{}, {files: true, bases: true}} {
			l.text(text)
			for _, one := range l.tokens {
				if one.text == "" {
					t.Errorf("%q: a %s without a text", text, one.kind)
				}
			}
		}
		addressed.Parts(text)
		Hosts(text)
	})
}
