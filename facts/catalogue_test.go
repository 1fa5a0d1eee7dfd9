package facts

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

var updateIndex = flag.Bool("update-index", false, "write catalogue.index anew")

// TestIndex keeps the index equal to the rows, and refuses two rows for a name.
func TestIndex(t *testing.T) {
	want := indexOf(t, embedded)
	if *updateIndex {
		if err := os.WriteFile("catalogue.index", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != catalogueIndex {
		t.Error("catalogue.index is stale: run go test ./facts -run TestIndex -update-index")
	}
}

func indexOf(t *testing.T, fsys fs.FS) string {
	files, err := fs.Glob(fsys, "catalogue/*.rows")
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			t.Fatal(err)
		}
		offset := 0
		for line := range strings.Lines(string(data)) {
			names, body, ok := strings.Cut(line, " {")
			if ok && names[0] != '#' {
				start := offset + len(names) + 1
				for name := range strings.SplitSeq(names, ",") {
					name = strings.TrimSpace(name)
					if other, twice := where[name]; twice {
						t.Errorf("%s: two rows: %s", name, other)
					}
					where[name] = fmt.Sprintf("%s\t%s\t%d\t%d\n", name, strings.TrimPrefix(file, "catalogue/"), start, len(strings.TrimRight(body, "\n"))+1)
				}
			}
			offset += len(line)
		}
	}
	var lines []string
	for _, l := range where {
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b string) int {
		x, _, _ := strings.Cut(a, "\t")
		y, _, _ := strings.Cut(b, "\t")
		return strings.Compare(x, y)
	})
	return strings.Join(lines, "")
}

func TestFind(t *testing.T) {
	c := newCatalogue()
	for _, name := range []string{"rm", "git push", "kubectl delete", "["} {
		if _, ok := c.lookup(name); !ok {
			t.Errorf("no row for %q", name)
		}
	}
	for _, name := range []string{"", "no-such-program", "rm\t", "git no-such-verb", "\x00", "zzzz", "!"} {
		if _, ok := c.lookup(name); ok {
			t.Errorf("a row for %q", name)
		}
	}
}
