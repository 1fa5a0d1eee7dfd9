package places

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOwn holds that all programs are gate's own, whichever of them asks, and so are their copies.
func TestOwn(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := AccountHome()
	if home == "" {
		t.Fatal("the account has no home directory")
	}
	var all []string
	for _, place := range Own(Dirs{Managed: "/etc/gate", User: "/home/dev/.config/gate", State: "/home/dev/.local/state/gate"}) {
		if place.Class != "self" {
			t.Errorf("%+v", place)
		}
		all = append(all, place.Patterns...)
	}
	for _, want := range []string{"/home/dev/.config/gate/**", "/etc/gate", exe, Beside(exe, "gate"), Beside(exe, "gate-hook"), Beside(exe, "gate-server"), Programs(home), Programs(home) + "/**"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not among %q", want, all)
		}
	}
}

// TestPluginOf holds that a program in a plugin protects the plugin, and nothing more than that.
func TestPluginOf(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{
		"claude/.claude-plugin/plugin.json", "claude/hooks/hooks.json", "copilot/plugin.json", "copilot/hooks.json",
		"home/hooks.json", "other/.claude-plugin/plugin.json",
	} {
		name := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]string{
		"claude/bin/gate-hook": "claude", "copilot/bin/gate": "copilot", "copilot/gate-hook": "", "copilot/bin/x/gate": "", "home/bin/gate": "", "other/bin/gate": "",
	} {
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got := pluginOf(filepath.Join(root, program)); got != want {
			t.Errorf("%s: got %q, want %q", program, got, want)
		}
	}
}
