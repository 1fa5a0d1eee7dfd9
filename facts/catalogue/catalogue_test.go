package catalogue

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/strictjson"
)

var updateIndex = flag.Bool("update-index", false, "write catalogue.index anew")

// TestIndex keeps the index equal to the rows, and refuses two rows for a name.
func TestIndex(t *testing.T) {
	want := indexOf(t, os.DirFS("."))
	if *updateIndex {
		if err := os.WriteFile("catalogue.index", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != catalogueIndex {
		t.Error("catalogue.index is stale: run go test ./facts/catalogue -run TestIndex -update-index")
	}
}

func indexOf(t *testing.T, fsys fs.FS) string {
	files, err := fs.Glob(fsys, "*.rows")
	if err != nil {
		t.Fatal(err)
	}
	where, names := map[string]string{}, []string{}
	var entries []indexEntry
	for i, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil || len(data) >= 1<<24 || i > 255 {
			t.Fatal(file, len(data), err)
		}
		names = append(names, file)
		if rowsOf(names[i]) != string(data) {
			t.Errorf("rowsOf does not have %s", file)
		}
		offset := 0
		for line := range strings.Lines(string(data)) {
			if list, _, ok := cutRow(line); ok {
				if len(line) >= 1<<16 {
					t.Fatalf("%s: a row of %d bytes: %s", file, len(line), list)
				}
				for name := range strings.SplitSeq(list, ",") {
					name = strings.TrimSpace(name)
					if other, twice := where[name]; twice {
						t.Errorf("%s: two rows: %s and %s", name, other, file)
					}
					where[name] = file
					entries = append(entries, indexEntry{hashName(name), uint8(i), uint32(offset), uint16(len(line))})
				}
			}
			offset += len(line)
		}
	}
	slices.SortFunc(entries, func(a, b indexEntry) int { return bytes.Compare(a.bytes(), b.bytes()) })
	index := strings.Join(names, " ") + "\n"
	for _, e := range entries {
		index += string(e.bytes())
	}
	return index
}

// TestCatalogue reads every row, by each of its names.
func TestCatalogue(t *testing.T) {
	files, err := filepath.Glob("*.rows")
	if err != nil {
		t.Fatal(err)
	}
	c, rows := New(nil), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			names, text, ok := cutRow(line)
			if !ok {
				continue
			}
			rows++
			for name := range strings.SplitSeq(names, ",") {
				name = strings.TrimSpace(name)
				if c.find(name) != text {
					t.Errorf("%s: %s is not found", file, name)
				}
				if _, err := parseRow(name, text); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	if rows < 1000 {
		t.Errorf("%d rows", rows)
	}
}

func TestLookup(t *testing.T) {
	c := New(nil)
	for _, name := range []string{"rm", "git push", "kubectl delete", "["} {
		if _, ok := c.Lookup(name); !ok {
			t.Errorf("no row for %q", name)
		}
	}
	for _, name := range []string{"", "no-such-program", "rm\t", "git no-such-verb", "\x00", "zzzz", "!"} {
		if _, ok := c.Lookup(name); ok {
			t.Errorf("a row for %q", name)
		}
	}
}

func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ row, want string }{
		"rm":       {`{}`, "gate knows rm already"},
		"git x":    {`{}`, "gate knows git already"},
		"./acme":   {`{}`, "no name of a program"},
		" acme":    {`{}`, "no name of a program"},
		"acme":     {`{"special": "git"}`, "special is for gate's own rows"},
		"acme one": {`{"option": "-x"}`, "unknown field"},
		"acme two": {`{"operands": ["reads"]}`, `unknown role "reads"`},
		"acme odd": {`{"effects": [{"verb": "x"}]}`, "an effect without kind"},
	} {
		entry, err := strictjson.Object([]byte(c.row), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(name, entry); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := Check("acme", "rm"); err == nil {
		t.Error("a text is no row")
	}
}
