package facts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gate/facts"
	"gate/hook"
	"gate/internal/hostfs"
)

// aRepository makes a repository that git itself writes, with the settings of an agent
// that start gate.
func aRepository(t *testing.T) (project string, git func(args ...string), write func(name, text string)) {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write = func(name, text string) {
		t.Helper()
		file := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	write("README.md", "x\n")
	git("add", "README.md")
	git("commit", "-qm", "one")
	git("branch", "other")
	git("tag", "one")
	git("update-ref", "refs/remotes/origin/old", "main")
	git("pack-refs", "--all")
	return project, git, write
}

const gateSettings = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/gate/gate-hook --agent claude"}]}]}}`

// TestGitPutsGateAway holds which lines of git take away the settings that start
// gate: by what git's own index says of the file.
func TestGitPutsGateAway(t *testing.T) {
	project, git, write := aRepository(t)
	home := t.TempDir()
	self := func(line string) bool {
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"hook_event_name": "PreToolUse", "cwd": project, "tool_name": "Bash", "tool_input": map[string]any{"command": line},
		}}
		f := facts.New(facts.World{Home: home, OS: "linux", Project: project, Files: hostfs.Files{}}).Of(ev)
		return slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return e.Kind() == "self" })
	}
	holds := func(state string, want map[string]bool) {
		t.Helper()
		for line, wanted := range want {
			if got := self(line); got != wanted {
				t.Errorf("%s: %s: self is %t", state, line, got)
			}
		}
	}
	all := func(is bool, lines ...string) map[string]bool {
		m := map[string]bool{}
		for _, line := range lines {
			m[line] = is
		}
		return m
	}
	harmless := all(false, "git stash list", "git stash pop", "git stash push --staged", "git switch -c new", "git checkout -b new",
		"git checkout README.md", "git checkout -- README.md", "git reset", "git reset --soft HEAD~1", "git stash push -- README.md", "git status",
		"git checkout --detach", "git switch --detach", "git checkout --orphan new", "git stash push README.md docs", "git checkout src/1234567a.go")
	every := []string{"git stash", "git stash -u", "git stash save wip", "git reset --hard", "git reset --hard other", "git switch other", "git checkout other", "git switch -"}

	holds("no settings", all(false, every...))
	write(".claude/settings.json", gateSettings)
	holds("untracked", harmless)
	holds("untracked", all(true, "git stash -u", "git stash --include-untracked -m wip", "git stash push -a", "cd .claude && git stash -u"))
	holds("untracked", all(false, "git stash", "git stash save wip", "git reset --hard", "git reset --hard other", "git switch other", "git checkout other"))

	git("add", ".claude")
	git("commit", "-qm", "two")
	holds("committed", harmless)
	holds("committed", all(true, "git reset --hard other", "git switch other", "git checkout other", "git switch -", "git checkout -f other", "git switch --detach HEAD~1",
		"git checkout HEAD~1", "git checkout main^", "git checkout @{1}", "git checkout 0a1b2c3d", "git switch -c new other", "git switch -C main other",
		"git checkout -b new HEAD~1", "git checkout -B main other", "git switch --orphan new",
		"git checkout one", "git checkout tags/one", "git checkout origin/old", "git checkout old"))
	holds("committed", all(false, "git stash", "git stash -u", "git reset --hard", "git reset --hard HEAD"))

	write(".claude/settings.json", gateSettings+"\n")
	if err := os.Chtimes(filepath.Join(project, ".claude/settings.json"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	holds("changed", harmless)
	holds("changed", all(true, every...))
	holds("changed", all(true, "git stash push .", "git stash push -m x .", "git stash push -- :/", "git stash push ./", "git stash push -- '*.json'", "git checkout -f"))

	write(".claude/settings.json", `{"enabledPlugins": {"fmt@acme": true}}`)
	holds("changed, with another plugin", all(false, every...))
	write(".claude/settings.json", `{"enabledPlugins": {"gate@acme": true}}`)
	holds("changed, with gate as a plugin", all(true, every...))
	write(".claude/settings.json", gateSettings+"\n")

	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude/settings.json"), []byte(gateSettings), 0o644); err != nil {
		t.Fatal(err)
	}
	holds("changed, and the person's own settings start gate", all(false, every...))
}
