package commands

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
)

// TestWatchSyncs: a process that lives long, such as gate mcp, judges by the
// bundle that came into force after it was started, and closes once that is
// damaged, without a restart.
func TestWatchSyncs(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	managed := filepath.Join(dir, "managed")
	gate := func(args ...string) {
		t.Helper()
		var said strings.Builder
		if status := run(t.Context(), process{args: args, clients: clients(), stdin: strings.NewReader(""), stdout: &said, stderr: &said, exit: func(int) { t.Error("it would exit") }}); status != 0 {
			t.Fatalf("gate %q: status %d\n%s", args, status, said.String())
		}
	}
	file := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	release := func(version, program string) {
		t.Helper()
		file("company/.manifest", `{"roots": ["company"], "metadata": {"gate": {"name": "company", "version": `+version+`}}}`)
		file("company/company/freeze.rego", "# METADATA\n# title: Freeze\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage company.freeze\n\n"+
			"deny contains \"frozen\" if {\n\tsome command in input.facts.shell.commands\n\tcommand.program == \""+program+"\"\n}\n")
		archive := "company-" + version + ".tar.gz"
		gate("bundle", "build", "company", "-o", archive)
		gate("bundle", "sign", archive, "--keys", "keys.json", "--key", "alice=alice.pem")
		gate("sync", "--now", "--from", archive, "--name", "company", "--managed-dir", managed, "--user-dir", dir, "--state-dir", dir)
	}
	gate("keys", "generate", "alice")
	gate("keys", "add", "alice", "alice.pub.pem", "--root", "--bundle", "company", "--key", "alice=alice.pem")
	keys, err := os.ReadFile("keys.json")
	if err != nil {
		t.Fatal(err)
	}
	file(filepath.Join(managed, "keys.json"), string(keys))
	release("1", "deploy")

	w := &watch{keeper: setup.NewKeeper(true), Options: setup.Options{
		For: sources.For{Machine: core.Machine{Dirs: places.Dirs{Managed: managed, ManagedNamed: true, User: filepath.Join(dir, "user"), State: filepath.Join(dir, "state")}, LookupEnv: func(string) (string, bool) { return "", false }}, Live: true},
	}}
	judge := func(line string) hook.Decision {
		t.Helper()
		return w.decide(context.Background(), hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
			"session_id": "s", "cwd": dir, "tool_name": "Bash", "tool_input": map[string]any{"command": line},
		}})
	}
	wants := func(when string, deploy, ship hook.Effect) {
		t.Helper()
		if got, other := judge("deploy prod"), judge("ship it"); got.Effect != deploy || other.Effect != ship {
			t.Errorf("%s: %s and %s, want %s and %s", when, got.Effect, other.Effect, deploy, ship)
		}
	}
	wants("version 1", hook.Deny, hook.Pass)
	release("2", "ship")
	wants("version 2", hook.Pass, hook.Deny)
	file(filepath.Join(managed, "bundles", "current.json"), "{")
	wants("damaged", hook.Deny, hook.Deny)
}
