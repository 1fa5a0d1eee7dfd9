package facts

import (
	"slices"
	"strings"
	"testing"
)

// TestGuarded holds what counts as starting by itself in a project, and what does not.
func TestGuarded(t *testing.T) {
	got := Guarded(World{OS: "linux", Home: "/home/dev"})
	for _, want := range strings.Fields(".git/hooks/** .git/config .claude/settings.json .mcp.json .gate/** .husky/** .githooks/** .envrc .vscode/tasks.json .vscode/settings.json " +
		".cursor/mcp.json .qwen/settings.json .gemini/settings.json .codex/config.toml .opencode/plugin/** .claude/agents/** .claude/skills/** .claude/commands/** lefthook.yml " +
		".devcontainer/devcontainer.json mise.toml .exrc") {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not guarded", want)
		}
	}
	for _, p := range got {
		if strings.ContainsAny(strings.TrimSuffix(p, "/**"), "*?[") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") ||
			slices.Contains(strings.Fields("package.json Makefile .npmrc Jenkinsfile bin/activate"), p) || strings.HasPrefix(p, "bin/") {
			t.Errorf("%s is guarded", p)
		}
	}
}
