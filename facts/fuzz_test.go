package facts_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/strictjson"
)

func seedLines(f *testing.F) {
	data, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "\n\n") {
		line, _, _ := parseBlock(block)
		f.Add(line)
	}
	for _, e := range readEntries(f, "testdata/bash.txt") {
		f.Add(e.line)
	}
}

// FuzzLine holds what is true of the facts of every line: they are consistent
// in themselves, and the same the next time.
func FuzzLine(f *testing.F) {
	seedLines(f)
	reader := facts.New(world())
	f.Fuzz(func(t *testing.T, line string) {
		got := reader.Of(event(line))
		consistent(t, line, got)
		restored(t, line, got)
		if a, b := document(got), document(reader.Of(event(line))); a != b {
			t.Errorf("two readings differ:\n%s\n%s", a, b)
		}
	})
}

// FuzzAround puts what a line does into a place where it still happens: every
// effect and every kind of unknown of the line must still be found.
func FuzzAround(f *testing.F) {
	seedLines(f)
	reader := facts.New(world())
	f.Fuzz(func(t *testing.T, line string) {
		alone := reader.Of(event(line))
		if !movable(line, alone) {
			return
		}
		want := findings(alone)
		for name, around := range surroundings(line) {
			got := reader.Of(event(around))
			if has(got, "limit") || has(got, "syntax") {
				continue // it is said
			}
			for found := range want {
				if !findings(got)[found] {
					t.Errorf("%s loses\n%s\n%q", name, found, around)
				}
			}
		}
	})
}

// movable reports a line that means the same wherever it stands: it is whole,
// it ends where it seems to end, and it is not so long that a few words more
// reach a limit.
func movable(line string, f *hook.Facts) bool {
	return !has(f, "syntax") && !has(f, "limit") && !has(f, "characters") && !strings.HasSuffix(line, `\`) && !strings.Contains(line, "\r")
}

// arguments matches what depends on the arguments of the shell, by name or by
// the value of another variable: sh -c has none, and the line itself has unknown
// ones.
var arguments = regexp.MustCompile(`\$\{!|\$[{(]?[#!]?[0-9@*#]|\bset\b|\bshift\b|\bfor\b|\bselect\b|\bdo\b|-v|\blocal\b|\bdeclare\b|\btypeset\b`)

func surroundings(line string) map[string]string {
	out := map[string]string{
		"after true":  "true\n" + line,
		"before true": line + "\ntrue",
		"subshell":    "(\n" + line + "\n)",
		"group":       "{\n" + line + "\n}",
		"if":          "if true; then\n" + line + "\nfi",
		"else":        "if true; then false; else\n" + line + "\nfi",
		"loop":        "while true; do\n" + line + "\ndone",
		"piped":       "{\n" + line + "\n} | cat",
		"background":  "{\n" + line + "\n} &",
		"and":         "true && {\n" + line + "\n}",
	}
	if !arguments.MatchString(line) {
		out["sh -c"] = "bash -c '\n" + strings.ReplaceAll(line, "'", `'\''`) + "'"
		out["function"] = "gate_f() {\n" + line + "\n}\ngate_f"
		out["eval"] = "eval '\n" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	}
	return out
}

// madeUp are names that mktemp may make, numbered in the order of their making.
var madeUp = regexp.MustCompile(`\bgate[0-9]+`)

// findings are effects without the number of their command, and kinds of
// unknowns.
func findings(f *hook.Facts) map[string]bool {
	out := map[string]bool{}
	for _, e := range f.Effects {
		attrs := hook.Tree(&e)
		delete(attrs, "command")
		delete(attrs, "shown") // goes to the agent, or on to where the line is put
		out[madeUp.ReplaceAllString(string(strictjson.Append(nil, attrs)), "gate")] = true
	}
	for _, u := range f.Unknown {
		out["unknown "+u.Kind] = true
	}
	return out
}

func has(f *hook.Facts, unknown string) bool {
	return slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == unknown })
}

func document(f *hook.Facts) string { return string(strictjson.Append(nil, f.Document())) }

// consistent checks that facts point only at what is there.
func consistent(t *testing.T, line string, f *hook.Facts) {
	t.Helper()
	n := len([]rune(line))
	span := func(what string, s *hook.Span) {
		if s != nil && (s[0] < 0 || s[1] > n || s[0] > s[1]) {
			t.Errorf("%s: span %v outside a line of %d", what, *s, n)
		}
	}
	commands := 0
	if f.Shell != nil {
		commands = len(f.Shell.Commands)
	}
	number := func(what string, id int) {
		if id < 0 || id > commands {
			t.Errorf("%s belongs to command %d of %d", what, id, commands)
		}
	}
	for i := range commands {
		c := f.Shell.Commands[i]
		if c.ID != i+1 {
			t.Errorf("command %d has the number %d", i+1, c.ID)
		}
		number("pipe", c.PipeTo)
		span("command", c.Span)
		if c.Stdin != nil {
			number("input", c.Stdin.Command)
		}
		for _, w := range c.Words {
			span("word", w.Span)
			if w.Value == nil && !f.Opaque {
				t.Error("an unknown word on a line that is not opaque")
			}
		}
		for _, r := range c.Redirects {
			span("redirect", r.Span)
		}
		if c.Program == nil && !has(f, "program") {
			t.Error("an unknown program that is not said")
		}
	}
	for _, e := range f.Effects {
		number("effect "+e.Kind(), e.Command)
	}
	for _, p := range f.Paths {
		number("path", p.Command)
	}
	for _, h := range f.Hosts {
		number("host", h.Command)
	}
	for _, c := range f.Code {
		number("code", c.Command)
	}
	for _, u := range f.Unknown {
		number("unknown "+u.Kind, u.Command)
		span("unknown "+u.Kind, u.Span)
	}
	if f.Opaque != (len(f.Unknown) > 0) {
		t.Errorf("opaque is %v with %d unknowns", f.Opaque, len(f.Unknown))
	}
}

// restored holds that facts come back from their document as a log has it.
func restored(t *testing.T, line string, f *hook.Facts) {
	t.Helper()
	want := document(f)
	doc, err := strictjson.Object([]byte(want), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := hook.FactsOf(doc, nil, line)
	if err != nil {
		t.Fatal(err)
	}
	if got := document(back); got != want {
		t.Errorf("restored:\n%s\nwere\n%s", got, want)
	}
	if (f.Shell == nil) != (back.Shell == nil) || f.Shell != nil && back.Shell.Text != f.Shell.Text {
		t.Error("restored with another line")
	}
}

func FuzzTool(f *testing.F) {
	f.Add("mcp__fs__write_file", "path", "/home/dev/.bashrc")
	f.Add("Write", "file_path", "x")
	f.Add("shell", "cmd", "rm -rf ~")
	reader := facts.New(world())
	f.Fuzz(func(t *testing.T, tool, field, value string) {
		ev := event("")
		ev.Fields["tool_name"] = tool
		ev.Fields["tool_input"] = map[string]any{field: value, "list": []any{value, map[string]any{field: value}}}
		consistent(t, value, reader.Of(ev))
	})
}
