package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspect reads testdata/statements.txt: a script, "=>" and the
// statements that are expected, separated by "; ".
func TestInspect(t *testing.T) {
	inspect := map[string]func(string) []Statement{
		"sql": Inspect,
		"redis": func(line string) []Statement {
			s, ok := Redis(strings.Fields(line))
			if !ok {
				return nil
			}
			return []Statement{s}
		},
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
		if got := format(inspect[kind](strings.ReplaceAll(script, "⏎", "\n"))); got != want {
			t.Errorf("statements.txt:%d: %s\n got %s\nwant %s", i+1, script, got, want)
		}
	}
	if n < 60 {
		t.Errorf("only %d lines", n)
	}
}

func format(all []Statement) string {
	var out []string
	for _, s := range all {
		where := ""
		if s.Where {
			where = " where"
		}
		out = append(out, fmt.Sprintf("%s(%s)%s %s", s.Verb, s.Object, where, s.Access))
	}
	return strings.Join(out, "; ")
}

var seeds = []string{
	"'", "\"", "`", "[a", "$$", "$a$", "$1$", "/*", "/*!", "--\n", "--", "\\", "\\'", "'\\''", "\\! ", "\n.", ".shell x\n", ";", "(", ")", "with a as (", "with (delete ", "select load_file ", "select into ", "select ", "where ", "or 1=1 ", "do $$", "do 'do ",
	"create function ", "begin ", "end;", "drop table a;", "execute 'x';", "a.", "E'", "@", "#", "\n#", "\x00", "\xff", "explain analyze ", "into ", "=",
}

func FuzzInspect(f *testing.F) {
	for _, s := range seeds {
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
	f.Fuzz(check)
}

// check holds what every list of statements must satisfy.
func check(t *testing.T, text string) {
	all := Inspect(text)
	if s, ok := Redis(strings.Fields(text)); ok {
		all = append(all, s)
	}
	for _, s := range all {
		if s.Verb == "" || s.Access != "read" && s.Access != "write" && s.Access != "delete" {
			t.Fatalf("%+v", s)
		}
	}
}

// TestHostile feeds 1 MiB of each seed: a quadratic step would keep
// the test from ending.
func TestHostile(t *testing.T) {
	for _, seed := range seeds {
		check(t, strings.Repeat(seed, (1<<20)/len(seed)))
	}
}

func BenchmarkInspect(b *testing.B) {
	text := strings.Repeat("update users set name = 'x' where id = 1;\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Inspect(text)
	}
}

func TestFill(t *testing.T) {
	for text, want := range map[string]string{
		"select * from users where id = ?":    "select * from users where id = gate_unknown",
		"insert into t (a, b) values (1, '?)": "insert into t (a, b) values (1, 'gate_unknown)",
		"update logs_? set a = 1":             "update logs_gate_unknown set a = 1",
		`\d ?`:                                "", // a further command of the client's, for all that is known
		"select 1 ?":                          "",
		"?":                                   "",
		"delete from ?":                       "",
		"drop table ?":                        "",
	} {
		got, plain := Fill(text, '?')
		if got != want || plain != (want != "") {
			t.Errorf("Fill(%q) = %q, %t", text, got, plain)
		}
	}
}
