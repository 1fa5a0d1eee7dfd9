package commands

import (
	"path"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/install"
	"gate/internal/places"
)

// TestPathsAreGuarded holds that every path that gate doctor --paths lists is one that
// facts guard: the two lists are of different packages, and a file on one of them only
// is either promised or protected for nothing.
func TestPathsAreGuarded(t *testing.T) {
	for _, os := range []string{"linux", "darwin"} {
		home := map[string]string{"linux": "/home/dev", "darwin": "/Users/dev"}[os]
		m := install.Machine{OS: os, Home: home, Project: home + "/app", Copies: places.Programs(home)}
		paths := m.Paths()
		if len(paths) < 20 {
			t.Fatalf("%s: %d paths", os, len(paths))
		}
		reader := facts.New(facts.World{OS: os, Home: home, Project: m.Project, Own: func() []facts.Place { return nil }})
		for _, p := range paths {
			file := p.Path
			if p.Tree {
				file = path.Join(file, "some", "file.json")
			}
			for tool, input := range map[string]map[string]any{
				"Write": {"file_path": file, "content": "x"},
				"Bash":  {"command": "cp /tmp/x '" + file + "'"},
			} {
				ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
					"hook_event_name": "PreToolUse", "cwd": m.Project, "tool_name": tool, "tool_input": input,
				}}
				if f := reader.Of(&ev); !guarded(f) {
					t.Errorf("%s: %s of %s (%s) has no effect self or persistence", os, tool, file, p.What)
				}
			}
		}
	}
}

// guarded reports an effect on what steers or guards an agent.
func guarded(f *hook.Facts) bool {
	for _, e := range f.Effects {
		if k := e.Kind(); k == "self" || k == "persistence" {
			return true
		}
	}
	return false
}
