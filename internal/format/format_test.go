package format_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gate/internal/format"
)

var update = flag.Bool("update", false, "write docs/formats.md anew")

// TestCheck holds the rule of every row: its own number and the one before are
// read, a newer one is said to be newer, anything else is refused.
func TestCheck(t *testing.T) {
	for i, row := range format.All() {
		id := format.ID(i)
		if row.Name == "" || len(row.Where) == 0 || row.Writer == "" || row.Readers == "" || row.Older == "" || row.Newer == "" || row.Lost == "" {
			t.Errorf("row %d says too little: %+v", i, row)
		}
		own := int64(row.Number)
		if own == 0 {
			if row.Member+row.Prefix != "" {
				t.Errorf("%s: a mark without a number", row.Name)
			}
			continue
		}
		if err := id.Check(own); err != nil {
			t.Errorf("%s: its own: %v", row.Name, err)
		}
		if err := id.Check(own - 1); (err == nil) != (own > 1) {
			t.Errorf("%s: the one before: %v", row.Name, err)
		}
		for _, n := range []int64{own + 1, own + 100} {
			if err := id.Check(n); !errors.Is(err, format.ErrNewer) || !strings.Contains(err.Error(), fmt.Sprint(n)) {
				t.Errorf("%s: %d: %v", row.Name, n, err)
			}
		}
		for _, n := range []int64{own - 2, 0, -1} {
			if err := id.Check(n); err == nil || errors.Is(err, format.ErrNewer) {
				t.Errorf("%s: %d: %v", row.Name, n, err)
			}
		}
	}
}

func TestCheckMark(t *testing.T) {
	for mark, want := range map[string]string{
		"gate.keys/1": "<nil>", "gate.keys/2": "a newer gate wrote it: it has format 2, this gate reads 1; it is left as it is",
		"gate.bundle/1": `"gate.keys/1" is wanted`, "gate.keys/": `"gate.keys/1" is wanted`, "gate.keys/x": `"gate.keys/1" is wanted`,
		"": `"gate.keys/1" is wanted`, "gate.keys/0": "it has format 0, this gate reads 1",
	} {
		if got := fmt.Sprint(format.Keys.CheckMark(mark)); got != want {
			t.Errorf("%q: %s, not %s", mark, got, want)
		}
	}
}

// TestPage holds that docs/formats.md has the table.
func TestPage(t *testing.T) {
	const page, begin, end = "../../docs/formats.md", "<!-- table -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the table")
	}
	want := before + begin + table() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("docs/formats.md is old: go test ./internal/format -update")
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| file | format | written by | read by | of the format before | of a newer gate | lost |\n|---|---|---|---|---|---|---|\n")
	for i, r := range format.All() {
		number := "none"
		switch {
		case r.Prefix != "" && r.Member != "":
			number = fmt.Sprintf("%d: `%s` is `%s`", r.Number, r.Member, format.ID(i).Mark())
		case r.Prefix != "":
			number = fmt.Sprintf("%d: it begins with “%s”", r.Number, format.ID(i).Mark())
		case r.Member != "":
			number = fmt.Sprintf("%d: `%s`", r.Number, r.Member)
		case r.Number > 0:
			number = fmt.Sprintf("%d, which the file does not say", r.Number)
		}
		fmt.Fprintf(&b, "| %s `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, strings.Join(r.Where, "`, `"), number, r.Writer, r.Readers, r.Older, r.Newer, r.Lost)
	}
	return b.String()
}
