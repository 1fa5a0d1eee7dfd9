package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// chained writes n records into a new log with few to a file.
func chained(t *testing.T, n int, o Options) string {
	t.Helper()
	dir := t.TempDir()
	o.Size = 7 * lineSize(t) / 2 // four records
	for i := range n {
		add(t, dir, o, record(fmt.Sprintf("%02d", i+1)))
	}
	return dir
}

// verified is what a verification says, in one text.
func verified(t *testing.T, dir string) string {
	t.Helper()
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := h.Verify()
	if err != nil {
		t.Fatal(err)
	}
	return said(v, dir)
}

func said(v Verification, dir string) string {
	var b strings.Builder
	for _, c := range v.Chains {
		fmt.Fprintf(&b, "%d-%d", c.First, c.Last)
		if c.Rotated > 0 {
			fmt.Fprintf(&b, " rotated %d", c.Rotated)
		}
		if c.Lost > 0 {
			fmt.Fprintf(&b, " lost %d", c.Lost)
		}
	}
	fmt.Fprintf(&b, " of %d", v.Records)
	if v.Old+v.Repeated > 0 {
		fmt.Fprintf(&b, ", %d old, %d repeated", v.Old, v.Repeated)
	}
	if !v.EndKnown {
		b.WriteString(", end unknown")
	}
	for i, p := range v.Problems {
		if i < 4 {
			b.WriteString("; " + strings.ReplaceAll(p.String(), dir+string(filepath.Separator), ""))
		}
	}
	return b.String()
}

// TestVerify changes a log of ten records in three files in the ways that
// somebody would.
func TestVerify(t *testing.T) {
	at := func(dir string, file int) string {
		if file == 0 {
			return filepath.Join(dir, FileName)
		}
		return fmt.Sprintf("%s.%d", filepath.Join(dir, FileName), file)
	}
	edit := func(file int, change func(lines []string) []string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			data, err := os.ReadFile(at(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			lines := change(strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n"))
			text := strings.Join(lines, "")
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			if err := os.WriteFile(at(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	without := func(i int) func([]string) []string {
		return func(lines []string) []string { return slices.Delete(lines, i, i+1) }
	}
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"as it is":          {func(*testing.T, string) {}, "1-10 of 10"},
		"one taken out":     {edit(1, without(1)), "1-10 of 9; decisions.jsonl.1:2: record 6 missing"},
		"between two files": {edit(1, without(0)), "1-10 of 9; decisions.jsonl.1:1: record 5 missing"},
		"the last":          {edit(0, without(1)), "1-9 of 9; decisions.jsonl: record 10 missing"},
		"emptied": {func(t *testing.T, dir string) {
			if err := os.Truncate(at(dir, 0), 0); err != nil {
				t.Fatal(err)
			}
		}, "1-8 of 8; decisions.jsonl: records 9 to 10 missing"},
		"emptied and gone on": {func(t *testing.T, dir string) {
			if err := os.Truncate(at(dir, 0), 0); err != nil {
				t.Fatal(err)
			}
			add(t, dir, Options{}, record("more"))
		}, "1-11 of 9; decisions.jsonl:1: records 9 to 10 missing"},
		"the oldest file": {func(t *testing.T, dir string) {
			if err := os.Remove(at(dir, 2)); err != nil {
				t.Fatal(err)
			}
		}, "5-10 of 6; decisions.jsonl: records 1 to 4 missing"},
		"everything but the head": {func(t *testing.T, dir string) {
			for i := range 3 {
				if err := os.Remove(at(dir, i)); err != nil {
					t.Fatal(err)
				}
			}
		}, "0-0 of 0; decisions.jsonl: records 1 to 10 missing"},
		"one changed": {edit(2, func(lines []string) []string {
			lines[1] = strings.Replace(lines[1], `"effect":"deny"`, `"effect":"pass"`, 1)
			return lines
		}), "1-10 of 10; decisions.jsonl.2:3: record 2 was changed"},
		"the last changed": {edit(0, func(lines []string) []string {
			lines[1] = strings.Replace(lines[1], `"effect":"deny"`, `"effect":"pass"`, 1)
			return lines
		}), "1-10 of 10; decisions.jsonl: record 10 was changed"},
		"two change places": {edit(1, func(lines []string) []string {
			lines[1], lines[2] = lines[2], lines[1]
			return lines
		}), "1-10 of 10; decisions.jsonl.1:2: record 6 missing; decisions.jsonl.1:3: record 6 stands there twice"},
		"one twice": {edit(1, func(lines []string) []string { return slices.Insert(lines, 1, lines[0]) }),
			"1-10 of 11; decisions.jsonl.1:2: record 5 stands there twice"},
		"one invented": {edit(1, func(lines []string) []string {
			return slices.Insert(lines, 1, string(record("evil").JSON())+"\n")
		}), "1-10 of 10; decisions.jsonl.1:2: a record without a place in the chain"},
		"damaged": {edit(1, func(lines []string) []string { return slices.Insert(lines, 1, lines[0][:40]+"\n") }),
			"1-10 of 10; decisions.jsonl.1:2: no record of a decision"},
		"no head": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, headName)); err != nil {
				t.Fatal(err)
			}
		}, "1-10 of 10, end unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := chained(t, 10, Options{})
			test.change(t, dir)
			if got := verified(t, dir); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// TestVerifyRotated says how many records were dropped, and goes on with what
// an older gate wrote.
func TestVerifyRotated(t *testing.T) {
	if got, want := verified(t, chained(t, 30, Options{Keep: 2})), "21-30 rotated 20 of 10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	dir := t.TempDir()
	old := `{"call":"ls","effect":"deny","event":"PreToolUse","id":"abc123","time":"2026-01-02T03:04:05.000006Z","v":2}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(old+old), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := verified(t, dir), " of 0, 2 old, 0 repeated, end unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	add(t, dir, Options{}, record("new"))
	if got, want := verified(t, dir), "1-1 of 1, 2 old, 0 repeated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHeadLost goes on where the chain ends, whatever became of the head.
func TestHeadLost(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string, before []byte) error{
		"killed before it was written": func(_ *testing.T, path string, before []byte) error { return os.WriteFile(path, before, 0o600) },
		"gone":                         func(_ *testing.T, path string, _ []byte) error { return os.Remove(path) },
		"empty":                        func(_ *testing.T, path string, _ []byte) error { return os.Truncate(path, 0) },
		"half":                         func(_ *testing.T, path string, _ []byte) error { return os.Truncate(path, 30) },
		"of another form": func(_ *testing.T, path string, _ []byte) error {
			return os.WriteFile(path, []byte(`{"log":"x","seq":-5}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := chained(t, 6, Options{})
			path := filepath.Join(dir, headName)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			add(t, dir, Options{}, record("late"))
			if err := change(t, path, before); err != nil {
				t.Fatal(err)
			}
			add(t, dir, Options{}, record("more"))
			if got, want := verified(t, dir), "1-8 of 8"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestVerifyCollected verifies what a collector has: several machines mixed,
// records sent twice, values kept but not bytes, and a gap.
func TestVerifyCollected(t *testing.T) {
	var all [2][][]byte
	for i := range all {
		h, err := OpenHistory(chained(t, 10, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range h.Unsent(Cursor{}, Origin{}) {
			if err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], bytes.Clone(s.Text))
		}
	}
	var text bytes.Buffer
	line := func(b []byte) { text.Write(append(bytes.Clone(b), '\n')) }
	for i := range 5 {
		line(all[0][i])
		line(bytes.Replace(all[1][i], []byte(`,"custom"`), []byte(" , \t\"custom\""), 1))
	}
	for i := 3; i < 10; i++ { // from the fourth on once more
		line(all[0][i])
	}
	r, err := Parse(all[1][0])
	if err != nil {
		t.Fatal(err)
	}
	line(Gap{Log: r.Place.Log, From: 6, To: 8}.JSON(nil))
	line(all[1][8])
	line(all[1][9])
	var x Verifier
	if err := x.Read(&text, "stream"); err != nil {
		t.Fatal(err)
	}
	got := said(x.Result(), "")
	for _, want := range []string{"1-10", "lost 3", " of 19, 0 old, 2 repeated, end unknown"} {
		if !strings.Contains(got, want) || strings.Contains(got, ";") {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSame reads each line of a log and writes it as it was.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	r := record("x")
	r.Labels, r.Bundles = map[string]string{"ring": "canary"}, []Bundle{{"company", "7", "sha256:ab"}, {"team", "1", ""}}
	r.Halt, r.User, r.Project, r.Changed, r.Faults = true, "dev", "/home/dev/x", []string{"a.b"}, []string{"c: no"}
	r.Policies = []Policy{{ID: "a.b", Kind: "command", Outcome: "blocking", Runs: 2, Effect: 3}}
	r.Kept = &Kept{Input: map[string]any{"n": "1"}, Rewrite: "r", Cut: []Cut{{factsPointer, 0}}, Redacted: []string{"/input/n"}}
	add(t, dir, Options{}, r)
	add(t, dir, Options{}, r)
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		back, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := append(back.JSON(), '\n'); !bytes.Equal(got, line) {
			t.Errorf("%s\nwas %s", got, line)
		}
	}
}

// unsent lists what is behind a cursor: numbers, and gaps in brackets.
func unsent(t *testing.T, dir string, c Cursor) (list string, end Cursor) {
	t.Helper()
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	end = c
	for s, err := range h.Unsent(c, Origin{}) {
		if err != nil {
			t.Fatal(err)
		}
		end = s.After
		if g, ok := gapOf(s.Text); ok {
			out = append(out, fmt.Sprintf("[%d-%d]", g.From, g.To))
			continue
		}
		if p, ok := findingOf(s.Text); ok {
			out = append(out, string(p.Kind))
			continue
		}
		r, err := Parse(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(r.Place.Seq))
	}
	return strings.Join(out, " "), end
}

func TestUnsent(t *testing.T) {
	dir := chained(t, 6, Options{})
	got, c := unsent(t, dir, Cursor{})
	if got != "1 2 3 4 5 6" || c.Seq != 6 {
		t.Fatalf("%s, %+v", got, c)
	}
	if got, _ := unsent(t, dir, Cursor{Log: c.Log, Seq: 4}); got != "5 6" {
		t.Errorf("behind 4: %s", got)
	}
	if got, _ := unsent(t, dir, c); got != "" {
		t.Errorf("behind 6: %s", got)
	}
	if got, _ := unsent(t, dir, Cursor{Log: "another", Seq: 99}); got != "anew 1 2 3 4 5 6" {
		t.Errorf("of another chain: %s", got)
	}
	// A new chain in the same files is sent behind the old one, and once.
	if err := os.WriteFile(filepath.Join(dir, headName), newHeadOf(t, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, dir, Options{}, record("new"))
	add(t, dir, Options{}, record("newer"))
	got, end := unsent(t, dir, c)
	if got != "anew 1 2" || end.Log == c.Log {
		t.Errorf("the new chain: %s", got)
	}
	if got, _ := unsent(t, dir, Cursor{Log: end.Log, Seq: 1}); got != "2" {
		t.Errorf("the rest of it: %s", got)
	}
}

// TestFindings holds a log against what was sent of it before, by a sender whose cursor
// its user cannot reach.
func TestFindings(t *testing.T) {
	dir := chained(t, 6, Options{})
	_, sent := unsent(t, dir, Cursor{})
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		name, want string
		change     func()
	}{
		{"the last records are taken out", "shorter", func() { remove(FileName) }},
		{"nothing more happens", "", func() {}},
		{"it is deleted", "gone", func() { remove(FileName+".1", headName) }},
		{"it is still gone", "", func() {}},
		{"it begins again", "anew 1", func() { add(t, dir, Options{}, record("again")) }},
		{"it goes on", "2", func() { add(t, dir, Options{}, record("more")) }},
		{"it is deleted and begun again at once", "anew 1 2", func() {
			remove(FileName, headName)
			add(t, dir, Options{}, record("third"))
			add(t, dir, Options{}, record("third"))
		}},
		{"the records alone are deleted", "gone", func() { remove(FileName) }},
		{"and the chain goes on", "3", func() { add(t, dir, Options{}, record("on")) }},
	} {
		step.change()
		var got string
		if got, sent = unsent(t, dir, sent); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// TestVerifyFindings has the reader of a collector's records see what the sender found
// out, once however often it came.
func TestVerifyFindings(t *testing.T) {
	var text bytes.Buffer
	for _, f := range []Finding{
		{Kind: Anew, Before: Cursor{Log: "aa", Seq: 9}, Log: "bb", User: "dev"},
		{Kind: Anew, Before: Cursor{Log: "aa", Seq: 9}, Log: "bb", User: "dev", At: time.Now()},
		{Kind: Gone, Before: Cursor{Log: "bb", Seq: 4}, Log: "bb", Seq: 4},
		{Kind: Shorter, Before: Cursor{Log: "bb", Seq: 9}, Log: "bb", Seq: 5},
		{Kind: Unread, User: "dev", Reason: "it takes too long"},
	} {
		text.Write(append(f.JSON(nil), '\n'))
	}
	var x Verifier
	if err := x.Read(&text, "f"); err != nil {
		t.Fatal(err)
	}
	v := x.Result()
	var got []string
	for _, p := range v.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"f:1: account dev: a new chain begins: bb, in the place of aa",
		"f:3: the log is gone, records 1 to 4 of chain bb had been sent",
		"f:4: records 6 to 9 of chain bb were sent and are no longer in the log",
		"f:5: account dev: the log could not be read: it takes too long",
	}
	if !slices.Equal(got, want) || v.Repeated != 1 {
		t.Errorf("%q, %d repeated\nwant %q", got, v.Repeated, want)
	}
}

// newHeadOf is the head of a chain that begins behind what is in the log.
func newHeadOf(t *testing.T, dir string) []byte {
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	h := newHead()
	h.size = info.Size()
	return h.encode()
}

// TestUnshipped keeps files whose records were not sent, up to a limit, and
// says then what is lost.
func TestUnshipped(t *testing.T) {
	o := Options{Keep: 1, Unshipped: 4}
	dir := chained(t, 16, o)
	if got, _ := unsent(t, dir, Cursor{}); got != "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16" {
		t.Errorf("kept %s", got)
	}
	dir = chained(t, 26, o)
	got, c := unsent(t, dir, Cursor{})
	if got != "[1-8] 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26" {
		t.Errorf("kept %s", got)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := h.Advance("", c); err != nil {
		t.Fatal(err)
	}
	if back, err := h.Cursor(""); err != nil || back != c {
		t.Errorf("%+v, %v; want %+v", back, err, c)
	}
	if other, err := h.Cursor("https://collector.example/logs"); err != nil || other != (Cursor{}) {
		t.Errorf("%+v, %v", other, err)
	}
	o.Size = 7 * lineSize(t) / 2
	for range 4 { // the next file: now all old ones may go
		add(t, dir, o, record("00"))
	}
	if got, want := verified(t, dir), "25-30 rotated 24 of 6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
