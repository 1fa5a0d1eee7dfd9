package commands

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/places"
	"gate/internal/session"
	"gate/internal/sources"
	"gate/internal/sync"
)

// answerOf is what a program answers to an event, without the id.
func answerOf(t *testing.T, program string, stdin string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), regexp.MustCompile(`\(gate [0-9a-z]{6}\)`).ReplaceAllString(stdout.String()+"\n"+stderr.String(), "(gate ID)")
}

// TestHandOverLarge has gate-hook hand over events of any size, whole.
func TestHandOverLarge(t *testing.T) {
	for _, size := range []int{0, 1 << 10, 70 << 10, 8 << 20, 17 << 20} {
		dir := t.TempDir()
		args := []string{"--agent", "claude", "--managed-dir", dir + "/m", "--user-dir", dir + "/u", "--state-dir", dir + "/s"}
		event := strings.Replace(bashEvent, "LINE", quoteJSON("git push --force origin main # "+strings.Repeat("x", size)), 1)
		status, answer := answerOf(t, "gate", event, append([]string{"hook"}, args...)...)
		thinStatus, thinAnswer := answerOf(t, "gate-hook", event, args...)
		if status != 2 || status != thinStatus || answer != thinAnswer {
			t.Errorf("%d bytes: gate %d: %s\ngate-hook %d: %s", size, status, answer, thinStatus, thinAnswer)
		}
	}
}

// TestHandOverAlone holds that a gate-hook without a gate beside it, or with one
// that others may write, closes.
func TestHandOverAlone(t *testing.T) {
	self, err := exec.LookPath("gate-hook")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{false, true} {
		dir := t.TempDir()
		alone := filepath.Join(dir, filepath.Base(self))
		if err := os.WriteFile(alone, program, 0o700); err != nil {
			t.Fatal(err)
		}
		if open {
			gate := filepath.Join(dir, strings.Replace(filepath.Base(self), "gate-hook", "gate", 1))
			if err := os.WriteFile(gate, program, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(gate, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		status, answer := answerOf(t, alone, strings.Replace(bashEvent, "LINE", `"ls"`, 1), "--agent", "claude", "--batch",
			"--managed-dir", dir+"/m", "--user-dir", dir+"/u", "--state-dir", dir+"/s")
		if status != 2 || !strings.Contains(answer, "cannot be handed over") || !strings.Contains(answer, `"permissionDecision":"deny"`) {
			t.Errorf("status %d: %s", status, answer)
		}
	}
}

// TestHandOverCounts holds that gate-hook counts calls by itself, where no gate is beside
// it, and that a call which it hands over after it has counted it is counted once.
func TestHandOverCounts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("u/policies/calls.rego", metadata("acme.calls")+`
deny contains sprintf("call %d, denied %d", [input.session.calls, input.session.denials]) if input.session.calls > 2
`)
	write("u/policies/faulty.rego", metadata("acme.faulty")+`
deny contains "never" if {
	endswith(input.tool_input.command, "faulty")
	to_number(input.tool_input.command) > 0
}
`)
	dirs := []string{"--managed-dir", dir + "/m", "--user-dir", dir + "/u", "--state-dir", dir + "/s"}
	if out, err := exec.Command("gate", append([]string{"build"}, dirs...)...).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	self, err := exec.LookPath("gate-hook")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, filepath.Base(self))
	if err := os.WriteFile(alone, program, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, call := range []struct {
		program, line, want string
		status              int
	}{
		{alone, "ls", "", 0},
		{"gate-hook", "echo faulty", "acme.faulty could not answer", 0}, // gate says why
		{alone, "ls", "call 3, denied 0", 2},
		{"gate", "ls", "call 4, denied 1", 2},
		{alone, "ls", "call 5, denied 2", 2},
	} {
		args := append([]string{"--agent", "claude"}, dirs...)
		if call.program == "gate" {
			args = append([]string{"hook"}, args...)
		}
		status, answer := answerOf(t, call.program, strings.Replace(bashEvent, "LINE", quoteJSON(call.line), 1), args...)
		if status != call.status || !strings.Contains(answer, call.want) {
			t.Errorf("call %d, %s %q: status %d: %s", i+1, call.program, call.line, status, answer)
		}
	}
}

// TestThinSession holds which calls of a session gate-hook answers itself while texts wait
// for it and hooks are registered in it: those that no such hook may be about. It is alone,
// so that it can hand nothing over.
func TestThinSession(t *testing.T) {
	dir := t.TempDir()
	alone := aloneProgram(t, "gate-hook")
	store := session.Store{Dir: filepath.Join(dir, "s", "sessions")}
	change := func(change func(*session.Memory) error) {
		t.Helper()
		if err := store.Update(t.Context(), session.Key{Agent: "claude", Session: "s"}, change); err != nil {
			t.Fatal(err)
		}
	}
	inject := func(text, tools string) {
		t.Helper()
		change(func(m *session.Memory) error {
			_, err := m.Inject(session.Injection{Text: text, Matcher: tools}, time.Now())
			return err
		})
	}
	register := func(r session.Registration, hooks ...*hook.Hook) {
		t.Helper()
		r.Text = "a text"
		r.Listen(hooks)
		change(func(m *session.Memory) error { _, err := m.Register(r, time.Now()); return err })
	}
	says := func(event, want string) {
		t.Helper()
		_, answer := answerOf(t, alone, event, "--agent", "claude", "--managed-dir", dir+"/m", "--user-dir", dir+"/u", "--state-dir", dir+"/s")
		if answer = strings.TrimSpace(answer); answer == "" && want == "" || want != "" && strings.Contains(answer, want) {
			return
		}
		t.Errorf("%s\nsays %q\nnot  %q", event, answer, want)
	}
	const handed = "the call cannot be handed over"
	inject("merge first", "Bash")
	says(readEvent, "")
	says(lsEvent, `"additionalContext":"merge first"`)
	says(lsEvent, "")
	inject("not for shells", "^(?!Bash$)")
	says(readEvent, handed)
	says(promptEvent, handed)
	change(func(m *session.Memory) error {
		m.Take(time.Now(), 1000, func(*session.Injection) bool { return true })
		return nil
	})

	register(session.Registration{Kind: session.Agent, Name: "reviewer", Agents: []string{"a1"}}, &hook.Hook{Events: []hook.Name{hook.PreToolUse}})
	says(lsEvent, "")
	says(helperEvent, handed)
	register(session.Registration{Kind: session.Skill, Name: "deploy"}, &hook.Hook{Events: []hook.Name{hook.PreToolUse, hook.PostToolUse}, Matcher: "Bash|Write"})
	says(lsEvent, handed)
	says(readEvent, "")
	says(promptEvent, "")
	register(session.Registration{Kind: session.File, Name: "odd"}, &hook.Hook{Events: []hook.Name{hook.UserPromptSubmit}}, &hook.Hook{Events: []hook.Name{hook.PreToolUse}, Matcher: "^(?!Read$)"})
	says(readEvent, handed)
	says(promptEvent, handed)
	register(session.Registration{Kind: session.File, Name: "of an earlier gate"})
	says(eventOf("Stop", `"stop_hook_active":false`), handed)
}

// TestAdministered holds that gate-hook knows the files that have a say beside
// settings, hooks and policies of the managed directory.
func TestAdministered(t *testing.T) {
	for _, name := range []string{sync.CurrentFile, sync.KeysFile, sync.SeenFile, sync.SyncedFile, sync.ChannelFile, sources.RecoveryFile} {
		first, _, _ := strings.Cut(name, "/")
		if !slices.Contains(places.Administered(), first) {
			t.Errorf("%s is not among them", name)
		}
	}
}

// TestHandOverServer holds that a call which a hook is to judge that asks a model or an
// MCP server is answered by gate-server where it lies beside gate and may be trusted,
// and is closed where it does not; that no other call needs it; and that it is
// handed over before a hook does anything.
func TestHandOverServer(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	ran := filepath.Join(dir, "ran")
	write("m/settings.json", `{"providers": {"p": {"type": "openai", "url": "http://127.0.0.1:1/v1", "model": "m"}}}`)
	write("m/policies/frozen.rego", metadata("acme.frozen")+`
deny contains "frozen" if yaml.unmarshal(input.tool_input.command).frozen
`)
	write("m/policies/unsure.rego", strings.Replace(metadata("acme.unsure"), "Bash", "mcp__c__d", 1)+`
consult contains {"hook": "later", "reason": "look at it"}
`)
	write("m/hooks.json", `{"hooks": [
		{"id": "first", "events": ["PreToolUse"], "priority": 1, "command": "echo x >> `+ran+`"},
		{"id": "searches", "events": ["PreToolUse"], "if": "WebSearch(secret*)", "prompt": "Safe?"},
		{"id": "writes", "events": ["PreToolUse"], "matcher": "mcp__a__b", "prompt": "Safe?"},
		{"id": "later", "events": ["PreToolUse"], "consult": true, "prompt": "Safe?"}]}`)
	write("m/policies/rewrites.rego", strings.Replace(metadata("acme.rewrites"), "Bash", "WebSearch", 1)+`
modify contains {"reason": "more", "input": object.union(input.tool_input, {"query": "secret x"})} if input.tool_input.query == "x"
`)
	dirs := []string{"--managed-dir", dir + "/m", "--user-dir", dir + "/u", "--state-dir", dir + "/s"}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile(self) // is every program, by its name
	if err != nil {
		t.Fatal(err)
	}
	kinds := filepath.Join(dir, "kinds")
	write("kinds/good", string(test))
	write("kinds/open", string(test))
	write("kinds/empty", "")
	if err := errors.Join(os.Chmod(kinds+"/good", 0o700), os.Chmod(kinds+"/open", 0o777), os.Chmod(kinds+"/empty", 0o700)); err != nil {
		t.Fatal(err)
	}
	const denied, closed, asked = "frozen", "cannot be handed over", "p/m cannot be asked"
	for _, c := range []struct{ name, tool, line, server, want string }{
		{"a policy takes OPA", "Bash", "frozen: true", "", denied},
		{"there is no gate-server", "mcp__a__b", "x", "", closed},
		{"there is one", "mcp__a__b", "x", "good", asked},
		{"others may write it", "mcp__a__b", "x", "open", closed},
		{"it is empty", "mcp__a__b", "x", "empty", closed},
		{"a policy consults a hook", "mcp__c__d", "x", "good", asked},
		{"and there is no gate-server", "mcp__c__d", "x", "", closed},
		{"a rewrite makes it the hook's", "WebSearch", "x", "good", asked},
		{"and there is no gate-server", "WebSearch", "x", "", closed},
	} {
		for _, program := range []string{"gate", "gate-hook"} {
			bin := t.TempDir()
			for name, kind := range map[string]string{"gate-hook": "good", "gate": "good", "gate-server": c.server} {
				if kind == "" {
					continue
				}
				if err := os.Link(filepath.Join(kinds, kind), filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			os.Remove(ran)
			event := strings.NewReplacer("LINE", quoteJSON(c.line)+`,"query":`+quoteJSON(c.line), `"Bash"`, quoteJSON(c.tool)).Replace(bashEvent)
			args := append([]string{"--agent", "claude"}, dirs...)
			if program == "gate" {
				args = append([]string{"hook"}, args...)
			}
			_, answer := answerOf(t, filepath.Join(bin, program), event, args...)
			if !strings.Contains(answer, c.want) {
				t.Errorf("%s, %s: %s\nwant %s", c.name, program, answer, c.want)
			}
			runs, _ := os.ReadFile(ran)
			if n := strings.Count(string(runs), "x"); c.tool != "WebSearch" && (n > 1 || c.want == closed && n > 0) {
				t.Errorf("%s, %s: the first hook ran %d times", c.name, program, n)
			}
		}
	}
	alone := filepath.Join(t.TempDir(), "gate")
	if err := os.Link(filepath.Join(kinds, "good"), alone); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"sync", "--now"}, {"mcp", "--", "true"}, {"bundle", "pull", "https://127.0.0.1:1/x.tar.gz", "x"}, {"eval", "--run-handlers"}} {
		if status, said := answerOf(t, alone, "", args...); status != exitFailed || !strings.Contains(said, "takes gate-server") {
			t.Errorf("gate %q: status %d, %s", args, status, said)
		}
	}
}

// metadata begins a policy.
func metadata(pkg string, more ...string) string {
	lines := append([]string{"# METADATA", "# title: " + pkg, "# description: D.", "# custom:", "#   gate:", "#     events: [PreToolUse]", "#     matcher: Bash"}, "")
	for i, line := range more {
		more[i] = "#     " + line
	}
	return strings.Join(append(lines[:7], more...), "\n") + "\npackage " + pkg + "\n"
}
