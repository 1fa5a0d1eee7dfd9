package audit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

// history writes a log of n records in several files and opens it.
func history(t *testing.T, n int) (string, *History) {
	t.Helper()
	dir := t.TempDir()
	size := 7 * lineSize(t) / 2
	for i := range n {
		r := record(fmt.Sprintf("%02d", i))
		r.ID = fmt.Sprintf("id%02d", i)
		add(t, dir, Options{Size: size, Keep: 20}, r)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, h
}

// calls collects what an iterator yields: calls, and errors as "!".
func calls(records iter.Seq2[Record, error]) []string {
	var out []string
	for r, err := range records {
		if err != nil {
			out = append(out, "!"+err.Error())
			continue
		}
		out = append(out, r.Call)
	}
	return out
}

func TestHistory(t *testing.T) {
	dir, h := history(t, 20)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("%02d", i))
	}
	if files, _ := os.ReadDir(dir); len(files) < 4 {
		t.Fatalf("%d files", len(files))
	}
	if got := calls(h.Oldest()); !slices.Equal(got, want) {
		t.Errorf("oldest first %v", got)
	}
	slices.Reverse(want)
	if got := calls(h.Newest()); !slices.Equal(got, want) {
		t.Errorf("newest first %v", got)
	}
	for r := range h.Newest() { // stopping is heeded
		if r.Call != "19" {
			t.Error(r.Call)
		}
		break
	}
}

// TestHistoryTorn reads on behind what is no record.
func TestHistoryTorn(t *testing.T) {
	dir := t.TempDir()
	one, two := string(record("one").encode()), string(record("two").encode())
	path := filepath.Join(dir, FileName)
	text := one + "\n" + one[:40] + "\n\n" + "[1]\n" + strings.Repeat("z", MaxRecord+10) + "\n" + two + "\n" + two[:30]
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := calls(h.Oldest())
	for i, want := range []string{"one", ":2: no record", ":4: no record", ":5: no record: longer than", "two", ":7: no record"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Fatalf("entry %d, want %s:\n%s", i, want, strings.Join(got, "\n"))
		}
	}
	back := calls(h.Newest())
	for i, want := range []string{"no record at byte", "two", "longer than", "no record", "no record", "one"} {
		if i >= len(back) || !strings.Contains(back[i], want) {
			t.Fatalf("entry %d from the end, want %s:\n%s", i, want, strings.Join(back, "\n"))
		}
	}
	if r, err := h.Last(); err != nil || r.Call != "two" {
		t.Errorf("last %q, %v", r.Call, err)
	}
}

func TestFind(t *testing.T) {
	_, h := history(t, 20)
	for _, test := range []struct{ id, want string }{
		{"id07", "07"}, {"id1", "several"}, {"id", "several"}, {"x", `"x": no such decision`}, {"", `"": no such`},
	} {
		r, err := h.Find(test.id)
		if got := fmt.Sprint(r.Call, err); !strings.Contains(got, test.want) {
			t.Errorf("Find(%q) = %s, want %s", test.id, got, test.want)
		}
	}
	var several *AmbiguousError
	if _, err := h.Find("id1"); !errors.As(err, &several) || len(several.Found) != 10 || several.Found[0].ID != "id19" {
		t.Errorf("%v", err)
	}
	if r, err := h.Last(); err != nil || r.ID != "id19" {
		t.Errorf("last %s, %v", r.ID, err)
	}
	none, err := OpenHistory(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Last(); !errors.Is(err, ErrNoRecord) {
		t.Errorf("an empty log: %v", err)
	}
}

// TestFollow sees every record once and in order, across rotation, and waits for
// the end of a line.
func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	tick := make(chan time.Time)
	seen := make(chan string, 100)
	records := h.Follow(tick)
	go func() {
		defer close(seen)
		for r, err := range records {
			seen <- fmt.Sprint(r.Call, err)
		}
	}()
	look := func() { tick <- time.Time{} }
	look()
	size := 7 * lineSize(t) / 2
	var want []string
	for i := range 20 {
		text := fmt.Sprintf("%02d", i)
		add(t, dir, Options{Size: size, Keep: 20}, record(text))
		want = append(want, text+"<nil>")
		if i%3 == 0 {
			look()
		}
	}
	f, err := os.OpenFile(h.Path(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := append(record("late").encode(), '\n')
	for _, part := range [][]byte{line[:50], line[50:]} {
		look()
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	look()
	look() // the one before has ended
	close(tick)
	var got []string
	for s := range seen {
		got = append(got, s)
	}
	if want = append(want, "late<nil>"); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestVersion1 reads what an older gate wrote.
func TestVersion1(t *testing.T) {
	r, err := Parse([]byte(`{"agent":"claude","call":"ls","cwd":"/tmp","effect":"deny","event":"PreToolUse","id":"abc123",` +
		`"reasons":[{"effect":"deny","id":"x.y","pos":"a:1","reason":"no","source":"user"}],"result":"reject",` +
		`"session":"s","time":"2026-01-02T03:04:05.000006Z","took_us":826,"tool":"Bash","v":1}`))
	if err != nil || r.Effect != hook.Deny || r.Reasons[0] != (Reason{"x.y", hook.Deny, "no", "user", "a:1"}) || r.Took.Microseconds() != 826 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := r.Restore(); !errors.Is(err, ErrNotKept) {
		t.Errorf("restored: %v", err)
	}
}

// FuzzRead reads anything as a log, from both ends alike, and what it takes for
// a record can be restored and written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("{}\n\n{"))
	f.Add(append(record("one").encode(), '\n'))
	f.Add([]byte(`{"v":2,"effect":"ask","time":"2026-01-02T03:04:05Z","input":{"gate":{"labels":{"a":1}},"session":[],"facts":0},"cut":[{"at":"/input"}]}`))
	r := record("placed")
	r.Place = &Place{Log: "0123456789abcdef", Seq: 2, Prev: digest(nil)}
	f.Add(append(append(r.JSON(), '\n'), Gap{Log: "0123456789abcdef", From: 3, To: 5}.JSON(nil)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		forwards := map[string]int{}
		for r, err := range read(bytes.NewReader(data), name) {
			forwards[r.ID+"/"+r.Call]++
			if err != nil {
				continue
			}
			if _, err := r.Restore(); err != nil && !errors.Is(err, ErrNotKept) {
				t.Error(err)
			}
			canonical(t, r.JSON())
			again, err := Parse(r.JSON())
			if err != nil {
				t.Errorf("%s: %v", r.JSON(), err)
			}
			if !bytes.Equal(again.JSON(), r.JSON()) {
				t.Errorf("%s\nbecomes %s", r.JSON(), again.JSON())
			}
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for r := range backwards(file, name) {
			forwards[r.ID+"/"+r.Call]--
		}
		fuzzChain(t, data, filepath.Dir(name))
		for key, n := range forwards {
			if n != 0 {
				t.Errorf("%q: %d more from the beginning than from the end", key, n)
			}
		}
	})
}

// fuzzChain follows whatever chain there is, and sends each record of it at most
// once.
func fuzzChain(t *testing.T, data []byte, dir string) {
	var x Verifier
	if err := x.Read(bytes.NewReader(data), "stream"); err != nil {
		t.Error(err)
	}
	v := x.Result()
	if len(v.Problems) > maxProblems || v.Wrong < len(v.Problems) {
		t.Errorf("%d problems of %d", len(v.Problems), v.Wrong)
	}
	h := &History{dir}
	if _, err := h.Verify(); err != nil {
		t.Error(err)
	}
	last := Cursor{}
	for s, err := range h.Unsent(Cursor{}, Origin{}) {
		if err != nil {
			t.Error(err)
			break
		}
		if s.After.Log == last.Log && s.After.Seq <= last.Seq {
			t.Errorf("%v behind %v", s.After, last)
		}
		last = s.After
	}
}
