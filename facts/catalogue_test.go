package facts

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/hook"
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
		t.Error("catalogue.index is stale: run go test ./facts -run TestIndex -update-index")
	}
}

func indexOf(t *testing.T, fsys fs.FS) string {
	files, err := fs.Glob(fsys, "catalogue/*.rows")
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
		names = append(names, strings.TrimPrefix(file, "catalogue/"))
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
	files, err := filepath.Glob("catalogue/*.rows")
	if err != nil {
		t.Fatal(err)
	}
	c, rows := newCatalogue(nil), 0
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

func TestFind(t *testing.T) {
	c := newCatalogue(nil)
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

// TestPrograms adds rows for programs of somebody's own.
func TestPrograms(t *testing.T) {
	rows := map[string]any{}
	for name, text := range map[string]string{
		"acme":        `{"verbs": true}`,
		"acme deploy": `{"options": "-e,--environment=text --key=use -n,--dry-run", "operands": ["text"], "effects": [{"kind": "acme.deploy", "environment": "$opt:environment", "if": ["!has:dry-run"]}]}`,
		"acme wipe":   `{"operands": ["delete*"]}`,
		"in-venv":     `{"stop": true, "operands": ["text", "command*"]}`,
	} {
		entry, err := strictjson.Object([]byte(text), strictjson.Limits{})
		if err == nil {
			err = CheckProgram(name, entry)
		}
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = entry
	}
	r := New(World{Home: "/home/dev", Project: "/p", Programs: rows})
	for line, want := range map[string]string{
		"acme deploy -e prod web":             "[acme.deploy]",
		"acme deploy --dry-run web":           "[]",
		"sudo acme deploy -e prod web":        "[acme.deploy]",
		"acme wipe /var/data":                 "[fs.delete]",
		"in-venv 3.12 rm -rf /":               "[fs.delete]",
		"acme deploy ~/.ssh/id_rsa":           "[acme.deploy secret.read]",
		"acme deploy --key ~/.ssh/id_rsa web": "[acme.deploy secret.read]",
		"other deploy":                        "[]",
	} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "cwd": "/p",
		}}
		var kinds []string
		for _, e := range r.Of(&ev).Effects {
			if !slices.Contains(kinds, e.Kind) {
				kinds = append(kinds, e.Kind)
			}
		}
		slices.Sort(kinds)
		if got := fmt.Sprint(kinds); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestProgramMistakes(t *testing.T) {
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
		if err := CheckProgram(name, entry); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := CheckProgram("acme", "rm"); err == nil {
		t.Error("a text is no row")
	}
}
