package hook_test

import (
	"os"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/strictjson"
)

// TestFactsOf restores the facts of every line that package facts is tested
// with, from their document as a log would have it.
func TestFactsOf(t *testing.T) {
	lines, err := os.ReadFile("../facts/testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	reader := facts.New(facts.World{Home: "/home/dev", OS: "linux"})
	n := 0
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "$"))
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"cwd": "/home/dev/project", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
		}}
		f := reader.Of(&ev)
		want := strictjson.Append(nil, f.Document())
		doc, err := strictjson.Object(want, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := hook.FactsOf(doc, line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := strictjson.Append(nil, back.Document()); string(got) != string(want) {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if (f.Shell == nil) != (back.Shell == nil) || f.Shell != nil && back.Shell.Text != f.Shell.Text {
			t.Errorf("%s: another line", line)
		}
		n++
	}
	if n < 100 {
		t.Errorf("only %d lines", n)
	}
}

func TestFactsOfRefuses(t *testing.T) {
	whole := func() map[string]any { return (&hook.Facts{Shell: &hook.Shell{}}).Document() }
	for name, spoil := range map[string]func(map[string]any){
		"schema":  func(doc map[string]any) { doc["schema"] = 99 },
		"missing": func(doc map[string]any) { delete(doc, "effects") },
		"type":    func(doc map[string]any) { doc["paths"] = "none" },
		"element": func(doc map[string]any) { doc["hosts"] = []any{"example.com"} },
		"command": func(doc map[string]any) {
			doc["shell"].(map[string]any)["commands"] = []any{map[string]any{"id": "one"}}
		},
	} {
		doc := whole()
		if _, err := hook.FactsOf(doc, ""); err != nil {
			t.Fatal(err)
		}
		spoil(doc)
		if _, err := hook.FactsOf(doc, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
