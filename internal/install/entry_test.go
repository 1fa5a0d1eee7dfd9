package install_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/install"
	moments "gate/internal/moment"
)

// settings is a file's meaning.
type settings struct {
	Hooks map[hook.Name][]struct {
		Matcher string
		Hooks   []struct {
			Type, Command, OnFailure string
			Args                     []string
			Timeout                  float64
		}
	}
}

// TestEvents holds the entries against the adapter: gate answers in time, and
// only what closes for its own errors blocks when gate is not there.
func TestEvents(t *testing.T) {
	m := machine(t)
	doInstall(t, m, install.Request{Agent: "claude", Scope: install.User, Also: []hook.Name{moments.MessageDisplay}})
	var s settings
	must(t, json.Unmarshal([]byte(read(t, userSettings(m))), &s))
	claude, _ := adapters.Lookup("claude")
	for _, moment := range moments.Moments() {
		n := moment.Name
		groups := s.Hooks[n]
		if never := n == moments.WorktreeCreate || n == moments.FileChanged; never != (len(groups) == 0) {
			t.Errorf("%s has %d entries", n, len(groups))
		}
		for _, g := range groups {
			h := g.Hooks[0]
			deadline := min(engine.Limit, claude.Deadline(n)*4/5).Seconds()
			if h.Timeout <= deadline {
				t.Errorf("%s: the client waits %g s, gate %g s", n, h.Timeout, deadline)
			}
			if h.OnFailure == "block" && !closes(claude, n) {
				t.Errorf("%s blocks when gate is not there, where gate itself leaves it open", n)
			}
			if h.OnFailure == "" && closes(claude, n) {
				t.Errorf("%s does not block when gate is not there, where gate itself closes", n)
			}
			want := []string{"hook", "--agent", "claude", "--event", string(n)}
			if n == "ConfigChange" {
				want = append(want, "--scope", "user")
			}
			want = append(want, "--user-dir", m.UserDir, "--state-dir", m.StateDir)
			is := append([]string{h.Command}, h.Args...)
			if n == hook.UserPromptSubmit && len(is) > 4 && is[0] == "/bin/sh" && is[1] == "-c" && strings.Contains(is[2], "gate doctor --fix") {
				is = is[4:]
			}
			if h.Type != "command" || !slices.Equal(is, append(slices.Clone(m.Command[:1]), want...)) {
				t.Errorf("%s: %+v", n, h)
			}
		}
	}
}

// closes reports whether the adapter answers an event that could not be read
// with a refusal.
func closes(a adapters.Adapter, n hook.Name) bool {
	return a.Render(&hook.Event{Agent: a.Name(), Name: n}, nil).Status == 2 || len(a.Render(&hook.Event{Name: n}, nil).Stdout) > 0 && a.Closes(n) &&
		!slices.Contains([]hook.Name{hook.UserPromptSubmit, hook.PreCompact}, n)
}

// TestOlderEntries brings entries of other versions up to date, takes all of them
// out, and leaves what others share with them.
func TestOlderEntries(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"another directory, shell form",
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"'/opt/my gate/gate' hook --agent claude --event Stop"}]}]}}`, `absent`},
		{"a group that others share", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/old/gate","args":["hook","--agent","claude"]},{"type":"command","command":"mine"}]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}]}}`},
		{"several of them", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/a/gate-hook --agent claude"},{"type":"command","command":"/b/gate.exe","args":["hook","--agent=claude"]}]},{"hooks":[{"type":"command","command":"gate hook --agent claude"}]}],"z":[]},"y":1}`,
			`{"hooks":{"z":[]},"y":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t)
			write(t, userSettings(m), c.before)
			doInstall(t, m, request(install.User))
			text := read(t, userSettings(m))
			if g := guard(t, m, install.User); !g.Complete || strings.Count(text, `"PreToolUse",`)+strings.Count(text, `"PreToolUse", `) < 1 {
				t.Errorf("%+v\n%s", g, text)
			}
			if n := strings.Count(text, `"claude"`); n != len(guard(t, m, install.User).Events) {
				t.Errorf("%d entries for %d events:\n%s", n, len(guard(t, m, install.User).Events), text)
			}
			doUninstall(t, m, request(install.User))
			if got := read(t, userSettings(m)); got != c.after && !(c.after == "absent" && got == "") {
				t.Errorf("uninstallation leaves %s, want %s", got, c.after)
			}
		})
	}
}

// TestForeign never takes somebody else's hook for gate's.
func TestForeign(t *testing.T) {
	for _, handler := range []string{
		`{"type":"command","command":"gate"}`, `{"type":"command","command":"/bin/gate hook"}`, `{"type":"command","command":"gate hook --agent codex"}`,
		`{"type":"command","command":"echo gate hook --agent claude"}`, `{"type":"command","command":"agate hook --agent claude"}`,
		`{"type":"command","command":"gate hook --agent claude | tee x"}`, `{"type":"command","command":"gate hook --agent claude; x"}`,
		`{"type":"command","command":"gate $(hook) --agent claude"}`, `{"type":"command","command":"gate hook --agent 'claude"}`,
		`{"type":"command","command":"gate","args":["hook","--agent","claude",1]}`, `{"type":"http","url":"gate hook --agent claude"}`,
		`{"type":"command","command":["gate","hook","--agent","claude"]}`, `{"type":"command","command":"gate-hooks --agent claude"}`,
	} {
		m := machine(t)
		before := `{"hooks":{"Stop":[{"hooks":[` + handler + `]}]}}`
		write(t, userSettings(m), before)
		if plan := doUninstall(t, m, request(install.User)); !plan.Empty() {
			t.Errorf("%s is taken for gate's", handler)
		}
		doInstall(t, m, request(install.User))
		if text := read(t, userSettings(m)); !strings.Contains(text, handler) {
			t.Errorf("%s is gone:\n%s", handler, text)
		}
		doUninstall(t, m, request(install.User))
		if got := read(t, userSettings(m)); got != before {
			t.Errorf("uninstallation leaves %s", got)
		}
	}
}

// TestRefusals names file and line, and touches nothing.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n  \"a\": 2\n}": `settings.json:3:3: "a" stands twice in one object; correct the file first`,
		"{\"a\":1}\n{":                  `:2:1: something follows the JSON value`,
		"[]":                            `:1: the file is an array where an object is wanted`,
		"\n\n\"x\"":                     `:3: the file is a string where an object is wanted`,
		"{\"hooks\":\n[]}":              `:2: "hooks" is an array where an object is wanted`,
		"{\"hooks\":{\n\"Stop\":\n{}}}": `:3: "Stop" is an object where an array is wanted`,
		"{\"hooks\":null}":              `:1: "hooks" is null where an object is wanted`,
		"// only this":                  `there are comments but no JSON value`,
		"{/*":                           `:1:2: the comment does not end`,
		"{\"a\":\"\x01\"}":              `a control character in a string`,
		"{\"a\":\"\xff\"}":              `invalid UTF-8`,
		"{\"a\":01}":                    `this is no JSON number`,
		"{\"a\":'x'}":                   `unexpected '\''`,
		"{\"a\":\"\\x\"}":               `an invalid escape`,
		"{\"a\":\u00a01}":               `unexpected '\u00a0'`,
		"{\"a\"1}":                      `a colon is missing`,
		"{\"a\":[1 2]}":                 `a comma or ']' is missing`,
		"{a:1}":                         `where a name in quotes is wanted`,
		"{\"a\":{\"b\":[":               `a '[' of line 1 is not closed`,
		strings.Repeat("[", 100):        `nested deeper than 64`,
		"{\"a\":\"" + strings.Repeat("x", 5<<20) + "\"}": `larger than`,
	} {
		m := machine(t)
		write(t, userSettings(m), text)
		_, err := m.Install(request(install.User))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), userSettings(m)) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if strings.Contains(want, "correct") || read(t, userSettings(m)) != text {
			if got := read(t, userSettings(m)); got != text {
				t.Errorf("%.40q became %q", text, got)
			}
		}
	}
}

// TestRequests refuses what cannot be done.
func TestRequests(t *testing.T) {
	m := machine(t)
	for want, change := range map[string]func(*install.Machine, *install.Request){
		`unknown agent "emacs"`:  func(_ *install.Machine, r *install.Request) { r.Agent = "emacs" },
		`unknown scope "system"`: func(_ *install.Machine, r *install.Request) { r.Scope = "system" },
		`there is no local scope for claude here; there is: user, managed`:          func(m *install.Machine, r *install.Request) { m.Project, r.Scope = "", install.Local },
		`there is no user scope for claude here; there is: project, local, managed`: func(m *install.Machine, _ *install.Request) { m.Home = "" },
		`a hook there replaces git`:     func(_ *install.Machine, r *install.Request) { r.Also = []hook.Name{moments.WorktreeCreate} },
		`a list of files to watch`:      func(_ *install.Machine, r *install.Request) { r.Also = []hook.Name{moments.FileChanged} },
		`"Nonsense" is no event`:        func(_ *install.Machine, r *install.Request) { r.Also = []hook.Name{"Nonsense"} },
		`"gate" is no absolute path`:    func(m *install.Machine, _ *install.Request) { m.Command = []string{"gate", "hook"} },
		`"" is no absolute path`:        func(m *install.Machine, _ *install.Request) { m.Command = nil },
		`"state" is no absolute path`:   func(m *install.Machine, _ *install.Request) { m.StateDir = "state" },
		`agents replace ${…}`:           func(m *install.Machine, _ *install.Request) { m.UserDir = "/${HOME}" },
		`gate's program`:                func(m *install.Machine, _ *install.Request) { m.Command = []string{filepath.Join(m.Root, "none")} },
		`is a directory`:                func(m *install.Machine, _ *install.Request) { m.Command = []string{m.Root} },
		`is no text that JSON can hold`: func(m *install.Machine, _ *install.Request) { m.UserDir = "/\xff" },
	} {
		m, r := m, request(install.User)
		change(&m, &r)
		if _, err := m.Install(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestManaged leaves other managed files alone and refuses to overwrite what is
// not gate's.
func TestManaged(t *testing.T) {
	m := machine(t)
	dir := filepath.Join(m.Root, "etc", "claude-code")
	base := filepath.Join(dir, "managed-settings.json")
	own := filepath.Join(dir, "managed-settings.d", "90-gate.json")
	const theirs = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`
	write(t, base, theirs)
	doInstall(t, m, install.Request{Agent: "claude", Scope: install.Managed, KeepBypass: true})
	if text := read(t, own); strings.Contains(text, "Bypass") || strings.Contains(text, "-dir") {
		t.Errorf("90-gate.json is\n%s", text)
	}
	doInstall(t, m, request(install.Managed))
	if text := read(t, own); !strings.Contains(text, `"disableBypassPermissionsMode": "disable"`) {
		t.Errorf("90-gate.json is\n%s", text)
	}
	if plan := doInstall(t, m, install.Request{Agent: "claude", Scope: install.Managed, KeepBypass: true}); !plan.Empty() {
		t.Errorf("what was forbidden is open again:\n%s", plan.Diff())
	}
	if read(t, base) != theirs {
		t.Error("the base file changed")
	}
	doUninstall(t, m, request(install.Managed))
	if read(t, own) != "absent" || read(t, base) != theirs {
		t.Errorf("uninstallation leaves\n%s\n%s", read(t, own), read(t, base))
	}

	// Entries that somebody copied into the base file go, too.
	write(t, base, strings.Replace(theirs, `{"type"`, `{"type": "command", "command": "/bin/gate hook --agent claude"}, {"type"`, 1))
	doUninstall(t, m, request(install.Managed))
	if got := read(t, base); strings.Contains(got, "gate") || !strings.Contains(got, `"command": "x"`) {
		t.Errorf("the base file is %s", got)
	}

	write(t, own, `{"model": "opus"}`)
	if _, err := m.Install(request(install.Managed)); err == nil || !strings.Contains(err.Error(), "not gate's; move them") {
		t.Errorf("over a foreign file: %v", err)
	}
}

// TestPaths lists real paths, of what is installed elsewhere too.
func TestPaths(t *testing.T) {
	m := machine(t)
	doInstall(t, m, request(install.User))
	other := m
	other.Command = []string{filepath.Join(m.Root, "opt", "gate"), "hook"}
	for _, c := range []struct {
		path string
		tree bool
	}{
		{m.Command[0], false}, {other.Command[0], false}, {m.UserDir, true}, {m.StateDir, true}, {m.ManagedDir, true},
		{userSettings(m), false}, {filepath.Join(m.Project, ".claude", "settings.json"), false},
		{filepath.Join(m.Project, ".claude", "settings.local.json"), false}, {filepath.Join(m.Root, "etc", "claude-code"), true},
	} {
		found := slices.ContainsFunc(other.Paths(), func(p install.Path) bool {
			return p.Path == c.path && p.Tree == c.tree && p.Real != "" && p.What != ""
		})
		if !found {
			t.Errorf("%s is not listed", c.path)
		}
	}
}

// TestSystems holds the managed directories of each system.
func TestSystems(t *testing.T) {
	for os, want := range map[string]string{
		"linux": "/etc/claude-code", "darwin": "/Library/Application Support/ClaudeCode",
	} {
		m := install.Machine{OS: os, Home: "/none"}
		if !slices.ContainsFunc(m.Paths(), func(p install.Path) bool { return p.Path == want && p.Tree }) {
			t.Errorf("%s: %s is not among the paths", os, want)
		}
	}
}

// TestJSON holds that reports can be printed as they are.
func TestJSON(t *testing.T) {
	m := machine(t)
	doInstall(t, m, request(install.Managed))
	for _, v := range []any{m.Status(), m.Doctor(), m.Paths()} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "null") || strings.Contains(string(text), `"Path"`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// TestOverHTTP has every event that is registered for be asked about, by HTTP
// where the client does that, and fail as the entry of a command would.
func TestOverHTTP(t *testing.T) {
	m := machine(t)
	doInstall(t, m, install.Request{Agent: "claude", Scope: install.User})
	var started settings
	must(t, json.Unmarshal([]byte(read(t, userSettings(m))), &started))
	var asked struct {
		Hooks map[hook.Name][]struct {
			Matcher string
			Hooks   []struct {
				Type, URL, Command, OnFailure string
				Args                          []string
				Timeout                       float64
				Headers                       map[string]string
				AllowedEnvVars                []string
			}
		}
	}
	must(t, json.Unmarshal([]byte(m.ClaudeOverHTTP("http://127.0.0.1:4283/", "GATE_TOKEN")), &asked))
	if len(asked.Hooks) != len(started.Hooks) {
		t.Errorf("%d events, not %d", len(asked.Hooks), len(started.Hooks))
	}
	for n, groups := range started.Hooks {
		if len(asked.Hooks[n]) != 1 || len(asked.Hooks[n][0].Hooks) != 1 {
			t.Errorf("%s: %+v", n, asked.Hooks[n])
			continue
		}
		was, is := groups[0].Hooks[0], asked.Hooks[n][0].Hooks[0]
		if groups[0].Matcher != asked.Hooks[n][0].Matcher || was.Timeout != is.Timeout || was.OnFailure != is.OnFailure {
			t.Errorf("%s: %+v, not %+v", n, is, was)
		}
		if n == hook.SessionStart || n == moments.Setup {
			if is.Type != "command" || is.Command != was.Command || !slices.Equal(is.Args, was.Args) {
				t.Errorf("%s: %+v, not %+v", n, is, was)
			}
			continue
		}
		if is.Type != "http" || is.URL != "http://127.0.0.1:4283/hook/claude/"+string(n) || is.Headers["Authorization"] != "Bearer $GATE_TOKEN" ||
			!slices.Equal(is.AllowedEnvVars, []string{"GATE_TOKEN"}) {
			t.Errorf("%s: %+v", n, is)
		}
	}
}
