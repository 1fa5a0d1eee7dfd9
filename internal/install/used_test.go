package install_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/internal/install"
)

// TestUsed is the time of the newest transcript, wherever it lies, and of nothing else.
func TestUsed(t *testing.T) {
	home := t.TempDir()
	m := install.Machine{OS: "linux", Home: home}
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for name, later := range map[string]time.Duration{
		".claude/projects/-home-ana-shop/one.jsonl":  0,
		".claude/projects/-home-ana-site/two.jsonl":  time.Hour,
		".claude/projects/-home-ana-site/notes.md":   5 * time.Hour,
		".claude/projects/a/b/c/d/e/too-deep.jsonl":  6 * time.Hour,
		".codex/sessions/2026/11/19/rollout-1.jsonl": -time.Hour,
	} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at.Add(later), at.Add(later)); err != nil {
			t.Fatal(err)
		}
	}
	for agent, want := range map[string]time.Time{
		"claude": at.Add(time.Hour), "codex": at.Add(-time.Hour), "gemini": {}, "qwen": {}, "nobody": {},
	} {
		if got := m.Used(agent); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}
