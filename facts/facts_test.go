package facts_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/strictjson"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// world is the one that the lines in testdata are read in. Nothing in it
// exists: facts must not depend on the machine the tests run on.
func world() facts.World {
	return facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"}
}

func event(line string) *hook.Event {
	return &hook.Event{Name: hook.PreToolUse, Agent: "claude", Fields: map[string]any{
		"cwd": "/home/dev/project", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
}

// TestLines compares what lines amount to with testdata/lines.txt. A block is
// a line after "$ " (continued by "> "), then one effect or unknown a line.
func TestLines(t *testing.T) {
	const file = "testdata/lines.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader := facts.New(world())
	var out strings.Builder
	blocks := strings.Split(strings.TrimRight(string(data), "\n"), "\n\n")
	for i, block := range blocks {
		line, want, comment := parseBlock(block)
		if line == "" {
			out.WriteString(block)
		} else {
			got := summary(reader.Of(event(line)))
			if !*update && got != want {
				t.Errorf("%s\n got:\n%s want:\n%s", line, got, want)
			}
			out.WriteString(comment + "$ " + strings.ReplaceAll(line, "\n", "\n> ") + "\n" + strings.TrimRight(got, "\n"))
		}
		out.WriteString(strings.Repeat("\n", 1+min(1, len(blocks)-1-i)))
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(blocks) < 150 {
		t.Errorf("%d blocks in %s; it has lost most of them", len(blocks), file)
	}
}

func parseBlock(block string) (line, want, comment string) {
	for l := range strings.Lines(block + "\n") {
		text := strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(text, "#"):
			comment += text + "\n"
		case strings.HasPrefix(text, "$ "):
			line = text[2:]
		case strings.HasPrefix(text, "> ") || text == ">":
			line += "\n" + strings.TrimPrefix(strings.TrimPrefix(text, ">"), " ")
		default:
			want += l
		}
	}
	return strings.TrimRight(line, "\n"), want, comment
}

// summary says what facts amount to, one effect a line, leaving out what is
// false, null or empty.
func summary(f *hook.Facts) string {
	var b strings.Builder
	for _, e := range f.Effects {
		b.WriteString(e.Kind())
		attrs := hook.Tree(&e)
		delete(attrs, "kind")
		delete(attrs, "command")
		if e.Command > 0 {
			fmt.Fprintf(&b, " [%s]", program(f, e.Command))
		}
		for _, k := range slices.Sorted(maps.Keys(attrs)) {
			switch v := attrs[k].(type) {
			case nil:
			case bool:
				if v {
					b.WriteString(" " + k)
				}
			case []any:
				if len(v) > 0 {
					fmt.Fprintf(&b, " %s=%s", k, strictjson.Append(nil, v))
				}
			default:
				fmt.Fprintf(&b, " %s=%v", k, v)
			}
		}
		b.WriteByte('\n')
	}
	for _, u := range f.Unknown {
		if u.Kind != "word" {
			fmt.Fprintf(&b, "? %s: %s\n", u.Kind, u.Why)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func program(f *hook.Facts, id int) string {
	c := f.Shell.Commands[id-1]
	name := "?"
	if c.Program != nil {
		name = *c.Program
	}
	return strings.Join(append(slices.Clone(c.Via), name), " > ")
}

// TestShape pins the document that policies read.
func TestShape(t *testing.T) {
	f := facts.New(world()).Of(event("cd infra && AWS_PROFILE=prod terraform apply -auto-approve > log.txt"))
	got := strictjson.Indent(f.Document()) + "\n"
	const file = "testdata/shape.json"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s", got)
	}
}

// TestReadAgain writes facts as the log does and reads them: no option and no
// variable may get the name of another on the way.
func TestReadAgain(t *testing.T) {
	for _, line := range []string{
		"ls -aé", "rm -日本 x", `ls -$'\xff\xfe'`, `ls -$'a\xffb\xfe'`, `kubectl --$'\xff' --$'\xfe'=1 get x`, `env $'\xff'=1 $'\xfe'=2 ls`,
	} {
		text := strictjson.Append(nil, facts.New(world()).Of(event(line)).Document())
		if _, err := strictjson.Object(text, strictjson.Limits{}); err != nil {
			t.Errorf("%s: %v\n%s", line, err, text)
		}
	}
	f := facts.New(world()).Of(event("ls -aé"))
	if got := slices.Sorted(maps.Keys(f.Shell.Commands[0].Options)); !slices.Equal(got, []string{"a", "é"}) {
		t.Errorf("ls -aé: options %q", got)
	}
}

// TestSpans checks that every span points at the text it claims, in code points.
func TestSpans(t *testing.T) {
	line := `echo "ünïcödé" && rm -rf 'dist' "a b"`
	f := facts.New(world()).Of(event(line))
	runes := []rune(line)
	var got []string
	for _, c := range f.Shell.Commands {
		for _, w := range c.Words {
			got = append(got, string(runes[w.Span[0]:w.Span[1]]))
		}
	}
	want := []string{"echo", `"ünïcödé"`, "rm", "-rf", "'dist'", `"a b"`}
	if !slices.Equal(got, want) {
		t.Errorf("spans point at %q, want %q", got, want)
	}
}

func BenchmarkOf(b *testing.B) {
	for name, line := range map[string]string{
		"typical": "cd services/api && go test ./... 2>&1 | tail -n 20",
		"delete":  "rm -rf node_modules dist && npm ci",
		"nested":  `bash -lc "find . -name '*.go' -exec sh -c 'gofmt -l {}' \;"`,
	} {
		b.Run(name, func(b *testing.B) {
			reader := facts.New(world())
			ev := event(line)
			b.ReportAllocs()
			for b.Loop() {
				reader.Of(ev)
			}
		})
	}
}
