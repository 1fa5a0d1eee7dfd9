package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectSQL reads testdata/code/*.sql.txt: a script, "=>" and the
// statements that are expected, separated by "; ".
func TestInspectSQL(t *testing.T) {
	inspect := map[string]func(string) []sqlStatement{
		"sql": inspectSQL,
		"redis": func(line string) []sqlStatement {
			s, ok := inspectRedis(strings.Fields(line))
			if !ok {
				return nil
			}
			return []sqlStatement{s}
		},
		"mongo": inspectMongo,
	}
	data, err := os.ReadFile(filepath.Join("testdata", "statements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "##") {
			continue
		}
		kind, rest, _ := strings.Cut(line, " | ")
		script, want, ok := strings.Cut(rest, " => ")
		if !ok || inspect[kind] == nil {
			t.Fatalf("statements.txt:%d: %q", i+1, line)
		}
		n++
		if got := formatSQL(inspect[kind](strings.ReplaceAll(script, "⏎", "\n"))); got != want {
			t.Errorf("statements.txt:%d: %s\n got %s\nwant %s", i+1, script, got, want)
		}
	}
	if n < 80 {
		t.Errorf("only %d lines", n)
	}
}

func formatSQL(all []sqlStatement) string {
	var out []string
	for _, s := range all {
		where := ""
		if s.where {
			where = " where"
		}
		out = append(out, fmt.Sprintf("%s(%s)%s %s", s.verb, s.object, where, s.access))
	}
	return strings.Join(out, "; ")
}

var sqlSeeds = []string{
	"'", "\"", "`", "[a", "$$", "$a$", "$1$", "/*", "/*!", "--\n", "--", "\\", "\\'", "'\\''", "\\! ", "\n.", ".shell x\n", ";", "(", ")", "with a as (", "with (delete ", "select load_file ", "select into ", "select ", "where ", "or 1=1 ", "do $$", "do 'do ",
	"create function ", "begin ", "end;", "drop table a;", "execute 'x';", "a.", "E'", "@", "#", "\n#", "\x00", "\xff", "explain analyze ", "into ", "=",
}

func FuzzInspectSQL(f *testing.F) {
	for _, s := range sqlSeeds {
		f.Add(s + s)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "statements.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(line, " | ")
		script, _, _ := strings.Cut(rest, " => ")
		f.Add(script)
	}
	f.Fuzz(checkSQL)
}

// checkSQL holds what every list of statements must satisfy.
func checkSQL(t *testing.T, text string) {
	all := inspectSQL(text)
	if s, ok := inspectRedis(strings.Fields(text)); ok {
		all = append(all, s)
	}
	for _, s := range append(all, inspectMongo(text)...) {
		if s.verb == "" || s.access != "read" && s.access != "write" && s.access != "delete" {
			t.Fatalf("%+v", s)
		}
	}
}

// TestInspectSQLHostile feeds 1 MiB of each seed: a quadratic step would keep
// the test from ending.
func TestInspectSQLHostile(t *testing.T) {
	for _, seed := range sqlSeeds {
		checkSQL(t, strings.Repeat(seed, (1<<20)/len(seed)))
	}
}

func BenchmarkInspectSQL(b *testing.B) {
	text := strings.Repeat("update users set name = 'x' where id = 1;\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		inspectSQL(text)
	}
}
