package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/places"
	"gate/scopes"
)

// TestManyLoaders holds that a line with many programs which load models costs no more than its length:
// what it names is read once.
func TestManyLoaders(t *testing.T) {
	dir := t.TempDir()
	text := "AutoModel.from_pretrained('x', trust_remote_code=True)\n" + strings.Repeat("#", 60_000)
	if err := os.WriteFile(filepath.Join(dir, "load.py"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := New(&Found{Sources: []scopes.Source{{Name: "none", Scope: hook.Policy, Authority: hook.Managed}}}, Machine{Dirs: places.Dirs{State: t.TempDir()}, Home: "/home/dev", Project: dir}, nil, func(*Gate) ([]engine.Option, engine.Evaluator, error) { return nil, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	event := func(name hook.Name, tool string, input map[string]any, output any) *hook.Event {
		return &hook.Event{Agent: "claude", Name: name, Gate: Now("dev", false), Fields: map[string]any{
			"hook_event_name": string(name), "session_id": "s", "cwd": dir, "tool_name": tool, "tool_use_id": "toolu_1", "tool_input": input, "tool_response": output,
		}}
	}
	page := event(hook.PostToolUse, "WebFetch", map[string]any{"url": "https://x.example/a"}, "try acme/model")
	if _, err := g.Answer(t.Context(), Recall(g.Dirs, page), page, func(*hook.Decision) bool { return false }); err != nil {
		t.Fatal(err)
	}
	took := func(n int) time.Duration {
		ev := event(hook.PreToolUse, "Bash", map[string]any{"command": strings.Repeat("python load.py a b c d e\n", n) + "python load.py acme/model"}, nil)
		start := time.Now()
		found := g.facts(ev).Flow
		took := time.Since(start)
		if !strings.Contains(strings.Join(whats(found), " "), foreignCode) {
			t.Errorf("%d programs: %v", n, whats(found))
		}
		return took
	}
	one := took(1)
	if many := took(300); many > 50*one+2*time.Second { // it was 4 seconds for 300, and 16 for 600
		t.Errorf("one takes %v, 300 take %v", one, many)
	}
}

func whats(list []hook.Flow) (all []string) {
	for _, f := range list {
		if f.What != nil {
			all = append(all, *f.What)
		}
	}
	return all
}
