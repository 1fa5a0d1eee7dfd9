package audit

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/strictjson"
)

// sameFacts holds that facts are kept as the tree is that policies see.
func sameFacts(t testing.TB, ev *hook.Event, f *hook.Facts) {
	t.Helper()
	var known secrets
	line := known.ofCall(ev, f)
	one, other := keeper{secrets: known, line: line}, keeper{secrets: known, line: line}
	want, seen := one.keep(f.Document(), maxFacts, "input", "facts")
	got, marked := other.facts(f)
	if len(seen.cuts) > 0 {
		want, seen = nil, marks{cuts: []Cut{{At: factsPointer}}}
	}
	if string(got) != string(want) || !reflect.DeepEqual(marked, seen) || got != nil && one.left != other.left {
		t.Errorf("%+v\n got %s, %v, room for %d\nwant %s, %v, room for %d", ev.Fields, got, marked, other.left, want, seen, one.left)
	}
}

// TestFacts keeps the facts of every line that package facts is tested with.
func TestFacts(t *testing.T) {
	lines, err := os.ReadFile("../../facts/testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	reader := facts.New(facts.World{Home: "/home/dev", OS: "linux"})
	n := 0
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "$"))
		for _, secret := range []string{"", "curl -u me:swordfish123 https://example.com; echo swordfish123; "} {
			ev := call("Bash", map[string]any{"command": secret + line})
			sameFacts(t, &ev, reader.Of(&ev))
			n++
		}
	}
	if n < 200 {
		t.Errorf("only %d lines", n)
	}
}

// TestFactsWhole keeps facts in which everything is known, and in which nothing
// is, with names that hold a secret or are no words.
func TestFactsWhole(t *testing.T) {
	text, yes, span := "password=hunter2hunter2 \u202e", true, &hook.Span{0, 4}
	command := hook.ShellCommand{
		ID: 1, Program: &text, Path: &text, Subcommand: &text, Operands: []*string{&text, nil}, Words: []hook.Word{{Value: &text, Span: span}, {}},
		Options: map[string][]any{"token": {true, text, nil}, "password=hunter2hunter2": {}, "a-b": nil}, Env: map[string]*string{"PASSWORD": &text, "X": nil},
		Dir: &text, Via: []string{"sudo", text}, Redirects: []hook.Redirect{{Op: ">", FD: 2, Target: &text, Span: span}, {}},
		Stdin: &hook.Stdin{From: "file", Command: 3, Text: &text, Path: &text}, PipeTo: 300, Depth: 5, Span: span,
	}
	own := &hook.OwnEffect{Name: "acme.deploy", Fields: []hook.OwnField{
		{Name: "apiKey", Value: text}, {Name: "could_be", Value: []any{text, 1, nil}}, {Name: "path", Value: text}, {Name: "with blanks", Value: map[string]any{"a": []string{text}, "b": strictjson.Texts(nil)}},
	}}
	read := &hook.FSRead{Place: hook.Place{Path: &text, Area: "project", CouldBe: []string{text}}}
	for _, f := range []hook.Facts{
		{},
		{Shell: &hook.Shell{}, Code: []hook.Code{{}}, Hosts: []hook.Host{{}}, Paths: []hook.Path{{}}, Effects: []hook.FactEffect{{}}, Unknown: []hook.Unknown{{}}},
		{Shell: &hook.Shell{Commands: []hook.ShellCommand{{Stdin: &hook.Stdin{}}}}},
		{
			Opaque: true, Unknown: []hook.Unknown{{Kind: "word", Why: text, Command: 2, Span: span}}, Shell: &hook.Shell{Dialect: "bash", Text: text, Commands: []hook.ShellCommand{command, command}},
			Code:  []hook.Code{{Command: 1, Language: "python", Text: &text, Source: "inline", Calls: []string{text, ""}}},
			Hosts: []hook.Host{{Command: 1, Host: &text, URL: &text, Access: "fetch"}},
			Paths: []hook.Path{{Command: 1, Raw: text, Path: &text, Resolved: &text, Access: "read", InProject: &yes, Glob: true}},
			Effects: []hook.FactEffect{
				{Command: 1, Is: own}, {Command: 1, Is: read}, {Is: &hook.Container{Mounts: []*string{&text, nil}}}, {Is: &hook.Container{Image: hook.OptionalText{There: true, Text: &text}}},
				{Is: &hook.Environment{Runs: true}}, {Is: &hook.Environment{Runs: text}}, {Is: &hook.SecretRead{Path: &text}},
			},
		},
		{Shell: &hook.Shell{Commands: make([]hook.ShellCommand, 300)}},
		{Effects: []hook.FactEffect{{Is: &hook.OwnEffect{Fields: []hook.OwnField{{Name: "text", Value: strings.Repeat("x", maxField+1)}}}}, {Is: &hook.SecretRead{What: strings.Repeat("x", maxField+1)}}}},
	} {
		ev := call("Bash", map[string]any{"command": text})
		sameFacts(t, &ev, &f)
	}
}

// TestKindOfSecret keeps which kind of secret an effect of gate's own is about, and nothing
// of what an author's effect has under that name.
func TestKindOfSecret(t *testing.T) {
	kind := "environment file"
	f := hook.Facts{Effects: []hook.FactEffect{
		{Is: &hook.NetSend{Secret: &kind}},
		{Is: &hook.OwnEffect{Name: "acme.store", Fields: []hook.OwnField{{Name: "secret", Value: "swordfish"}}}},
	}}
	var k keeper
	got, _ := k.facts(&f)
	if text := string(got); !strings.Contains(text, `"secret":"environment file"`) || strings.Contains(text, "swordfish") {
		t.Error(text)
	}
}
