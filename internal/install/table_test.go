package install_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gate/adapters"
	"gate/facts"
	"gate/hook"
	"gate/internal/install"
)

// others are the agents but Claude Code.
func others() []string {
	return slices.DeleteFunc(install.Agents(), func(name string) bool { return name == "claude" })
}

// TestAgents holds what is written for each agent where nothing was, as reviewed
// text; that a second time changes nothing; and that nothing is left.
func TestAgents(t *testing.T) {
	for _, agent := range others() {
		t.Run(agent, func(t *testing.T) {
			m := machine(t)
			m.Command, m.Program = []string{filepath.Join(m.Root, "usr", "bin", "gate-hook")}, m.Command[0]
			write(t, m.Command[0], "#!/bin/sh\n")
			must(t, os.Chmod(m.Command[0], 0o755))
			var got strings.Builder
			for _, s := range install.Scopes() {
				r := install.Request{Agent: agent, Scope: s}
				plan, err := m.Install(r)
				if err != nil {
					if !strings.Contains(err.Error(), "there is no") {
						t.Errorf("%s: %v", s, err)
					}
					continue
				}
				must(t, plan.Apply())
				for _, c := range plan.Changes {
					got.WriteString("-- " + string(s) + ": " + strings.TrimPrefix(c.Path, m.Root) + " --\n")
					got.WriteString(strings.ReplaceAll(string(c.After), m.Root, ""))
				}
				for _, f := range plan.Findings {
					got.WriteString("(" + string(f.Severity) + " " + f.ID + ": " + f.Message + ")\n")
				}
				if again, err := m.Install(r); err != nil || !again.Empty() {
					t.Errorf("%s: a second time: %v\n%s", s, err, again.Diff())
				}
				if agent == "codex" && s != install.Managed {
					doInstall(t, m, install.Request{Agent: agent, Scope: s, TrustHooks: true})
				}
				st := statusOf(t, m, agent)
				if !st.Guarded {
					t.Errorf("%s: not guarded: %+v", s, st)
				}
				doUninstall(t, m, r)
				for _, c := range plan.Changes {
					if _, err := os.Lstat(c.Path); err == nil {
						t.Errorf("%s is left: %q", c.Path, read(t, c.Path))
					}
				}
			}
			golden := filepath.Join("testdata", "agents", agent+".txt")
			if *update {
				write(t, golden, got.String())
			}
			if want := read(t, golden); got.String() != want {
				t.Errorf("%s (run with -update):\n%s", golden, got.String())
			}
		})
	}
}

func statusOf(t *testing.T, m install.Machine, agent string) install.AgentStatus {
	t.Helper()
	for _, a := range m.Status().Agents {
		if a.Agent == agent {
			return a
		}
	}
	return install.AgentStatus{}
}

// TestOthersOnly holds that who has gate in front of another agent is not told that
// Claude Code is not there, and who has it in front of none is.
func TestOthersOnly(t *testing.T) {
	m := machine(t)
	if list := m.Status().Agents; len(list) != 1 || list[0].Agent != "claude" {
		t.Errorf("without an agent: %v", list)
	}
	doInstall(t, m, install.Request{Agent: "gemini", Scope: install.User})
	if list := m.Status().Agents; len(list) != 1 || list[0].Agent != "gemini" {
		t.Errorf("with gemini: %v", list)
	}
	for _, f := range m.Doctor().Findings {
		if f.ID == "gate.missing" {
			t.Errorf("doctor: %v", f)
		}
	}
}

// TestEventsKnown holds that each event that gate registers for has a name that
// the agent's adapter knows.
func TestEventsKnown(t *testing.T) {
	for _, agent := range others() {
		a, ok := adapters.Lookup(agent)
		if !ok {
			t.Errorf("%s has no adapter", agent)
			continue
		}
		m := machine(t)
		for _, s := range []install.Scope{install.User, install.Project} {
			plan, err := m.Install(install.Request{Agent: agent, Scope: s})
			if err != nil {
				continue
			}
			must(t, plan.Apply())
			for _, g := range statusOf(t, m, agent).Guards {
				if len(g.Missing) > 0 || len(g.Events) == 0 {
					t.Errorf("%s: events %v, missing %v", agent, g.Events, g.Missing)
				}
				for _, n := range g.Events {
					if n == "" {
						continue // its plugin names them
					}
					if ev := a.Named(string(n)); ev.Name != n.Canonical() && ev.Native == nil || a.Deadline(n) <= 0 {
						t.Errorf("%s: %s is no event of the adapter", agent, n)
					}
				}
				if !slices.ContainsFunc(g.Events, func(n hook.Name) bool { return n == "" || a.Named(string(n)).Name == hook.PreToolUse }) {
					t.Errorf("%s: no event before a call", agent)
				}
			}
		}
	}
}

// foreignTOML are files that people have.
var foreignTOML = []string{
	"", "\n", "# a comment\n", "model = \"x\"", "model = \"x\"\r\n\r\n[tui]\r\n# c\r\nx = 1\r\n",
	"[features]\nweb = true # yes\n\n[hooks]\nmanaged_dir = \"/opt/hooks\"\n[[hooks.PreToolUse]]\nmatcher = \"^Bash$\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"/opt/hooks/x\"\n",
	"allow_managed_hooks_only = true\n[ features ] # what there is\nhooks = true\n", "[a]\nb = '''\n[x]\n'''\n",
	"\ufeffmodel = \"x\"\r\n[tui]\r\nx = 1", "\ufeff", "features.web = true\nmodel = \"x\"\n", "features.web = true\n[tui]\nx = 1", "[[x.y]]\nz = 1\n[features.more]\na = 1\n[[x.y]]\n",
	"[\"features\"]\nweb = true\n", "x = { y = [ 1, # one\n] }\n", "[hooks]\n[hooks.state]\n[hooks.state.\"a:b\"]\ntrusted_hash = \"x\"\n",
	"text = \"\"\"\n# gate: begin\nx # by gate install\n\"\"\"\n",
	"[features]", "web = 1\r\n[features]\r\n\r\n[hooks] # mine", "\ufeff[features]",
}

// TestForeignFiles holds that an installation into the files that people have comes
// out again to the byte, and takes nothing away meanwhile.
func TestForeignFiles(t *testing.T) {
	for nth, agent := range others() {
		t.Run(agent, func(t *testing.T) {
			for _, s := range []install.Scope{install.User, install.Managed} {
				sys := newMemory()
				m := sys.machine()
				m.Project = "/home/project"
				plan, err := m.Install(install.Request{Agent: agent, Scope: s})
				if err != nil || filepath.Ext(plan.Changes[0].Path) == ".js" || agent == "kiro" {
					continue // no such scope, or a file of gate's own
				}
				texts := foreignTOML
				if filepath.Ext(plan.Changes[0].Path) == ".json" {
					texts = foreignJSON(t)
				}
				for i, text := range texts {
					if i%8 != nth%8 && len(texts) > 50 && i < len(texts)-3 {
						continue // the code is the same: agents share the samples
					}
					if strings.Contains(text, "hooks =") && agent == "kimi" || strings.Contains(text, "[hooks") && agent == "kimi" {
						continue // another agent's layout
					}
					foreignRound(t, sys, m, install.Request{Agent: agent, Scope: s}, plan.Changes[0].Path, text)
				}
			}
		})
	}
}

func foreignJSON(t *testing.T) []string {
	var out []string
	for _, text := range samples(t) {
		out = append(out, text)
	}
	for seed := range uint64(12) {
		out = append(out, generate(rand.New(rand.NewPCG(seed, 3))))
	}
	slices.Sort(out)
	return append(out, `{"hooksConfig": {"disabled": ["x"]}, "version": 1, "disableAllHooks": false}`, `{"hooksConfig":{}}`,
		`{"hooks":{"preToolUse":[{"bash":"x"}],"pre_run_command":[{"command":"y"}]},"gate":{}}`)
}

func foreignRound(t *testing.T, sys *memory, m install.Machine, r install.Request, path, text string) {
	t.Helper()
	sys.files[key(path)] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	now := func() string {
		if f := sys.files[key(path)]; f != nil {
			return string(f.Data)
		}
		return "absent"
	}
	plan, err := m.Install(r)
	if err != nil {
		if now() != text {
			t.Fatalf("a refusal changed %q", text)
		}
		if strings.Contains(err.Error(), "do not go with what is there") {
			t.Errorf("%s: %q: %v", r.Scope, text, err)
		}
		return
	}
	must(t, plan.Apply())
	installed := now()
	if again, err := m.Install(r); err != nil || !again.Empty() {
		t.Fatalf("%q: a second time: %v\n%s", text, err, again.Diff())
	}
	var was, is map[string]any
	if json.Unmarshal([]byte(text), &was) == nil && json.Unmarshal([]byte(installed), &is) != nil {
		t.Fatalf("%q is JSON, what became of it is not:\n%s", text, installed)
	}
	rest := []byte(text) // everything that was there stands there still, in its order
	for _, c := range []byte(installed) {
		if len(rest) > 0 && c == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 && !strings.Contains(text, "gate") {
		t.Fatalf("%q lost %q:\n%s", text, rest, installed)
	}
	had := strings.Contains(text, "gate")
	doUninstall(t, m, r)
	if after := now(); !had && !bytes.Equal([]byte(after), []byte(text)) {
		t.Fatalf("%s: left is\n%q, want\n%q; installed was\n%s", r.Scope, after, text, installed)
	}
}

// TestTableFindings holds what is found where gate is installed and does not
// hold.
func TestTableFindings(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		scope       install.Scope
		from, to    string // in the file
		want        string
		guarded     bool
	}{
		{"an entry that looks at one tool", "codex", install.User, `"matcher": ".*"`, `"matcher": "^x$"`, "gate.entry", false},
		{"a time-out that is too short", "qwen", install.User, `"timeout": 60`, `"timeout": 1`, "gate.entry", false},
		{"one that does not fail closed", "cursor", install.User, `"failClosed": true, `, ``, "gate.entry", false},
		{"a missing event", "gemini", install.User, `"BeforeTool"`, `"Before"`, "gate.events", false},
		{"another program", "codex", install.User, `/usr/bin/gate`, `/usr/bin/other/gate`, "gate.program", false},
		{"hooks are switched off", "gemini", install.User, `"hooks": {`, `"hooksConfig": {"enabled": false}, "hooks": {`, "hooks.disabled", false},
		{"gate is switched off by its name", "gemini", install.User, `"hooks": {`, `"hooksConfig": {"disabled": ["gate"]}, "hooks": {`, "hooks.disabled", false},
		{"nothing", "codex", install.Managed, "", "", "gate.hidden", true},
		{"a managed hook of another event", "codex", install.Managed, `--event PreToolUse`, `--event Stop`, "gate.entry", false},
		{"a byte order mark", "cursor", install.User, "{\n  \"version\"", "\ufeff{\n  \"version\"", "settings.comments", false},
		{"a comment", "copilot", install.User, `"hooks": {`, "// mine\n\"hooks\": {", "settings.comments", false},
		{"a comma behind the last item", "auggie", install.User, "\n  }\n}", "\n  },\n}", "settings.comments", false},
		{"a comment that is read", "qwen", install.User, `"hooks": {`, "// mine\n\"hooks\": {", "gate.open", true},
		{"no JSON", "copilot", install.User, `"hooks": {`, `"hooks": {{`, "settings.syntax", false},
		{"another command of gate's", "droid", install.User, `/gate hook --agent droid --event PreToolUse`, `/gate install hook --dir --agent droid --event PreToolUse`, "gate.events", false},
		{"other managed settings", "droid", install.User, `/gate hook --agent`, `/gate hook --managed-dir /x --agent`, "gate.entry", false},
		{"a plugin that asks nobody", "opencode", install.User, "const COMMAND", "const NONE", "gate.entry", false},
		{"hooks that ask nobody", "kiro", install.Project, "/gate", "/true", "gate.entry", false},
	} {
		m := machine(t)
		plan := doInstall(t, m, install.Request{Agent: c.agent, Scope: c.scope})
		path := plan.Changes[0].Path
		text := read(t, path)
		if c.from != "" && !strings.Contains(text, c.from) {
			t.Fatalf("%s: %q is not in\n%s", c.name, c.from, text)
		}
		write(t, path, strings.ReplaceAll(text, c.from, c.to))
		s := statusOf(t, m, c.agent)
		if s.Guarded != c.guarded || !slices.ContainsFunc(s.Findings, func(f install.Finding) bool { return f.ID == c.want }) {
			t.Errorf("%s: guarded %v, %+v", c.name, s.Guarded, s.Findings)
		}
	}
}

// TestCodexTrust holds that Codex counts as guarded only where it would ask gate:
// it skips hooks without trust, and none runs where features.hooks is off.
func TestCodexTrust(t *testing.T) {
	const trust = "TRUST"
	for _, c := range []struct {
		name, config, project string
		scope                 install.Scope
		from, to              string // in requirements.toml
		want                  string
		guarded               bool
	}{
		{"no trust", "", "", install.User, "", "", "gate.untrusted", false},
		{"trust", trust, "", install.User, "", "", "gate.trust", true},
		{"trust in another file", "TRUST elsewhere", "", install.User, "", "", "gate.untrusted", false},
		{"trust in another event", "TRUST stop", "", install.User, "", "", "gate.untrusted", false},
		{"a trusted hook that is off", "TRUST off", "", install.User, "", "", "gate.untrusted", false},
		{"hooks are off", "[features]\nhooks = false\n" + trust, "", install.User, "", "", "hooks.disabled", false},
		{"hooks are off in the project", trust, "features.hooks = false\n", install.User, "", "", "hooks.disabled", false},
		{"no TOML", "[[[", "", install.User, "", "", "settings.unreadable", false},
		{"managed", "", "", install.Managed, "", "", "gate.hidden", true},
		{"hooks are off below a pin", "features.hooks = false\n", "", install.Managed, "", "", "gate.hidden", true},
		{"the pin is gone", "features.hooks = false\n", "", install.Managed, "hooks = true", "", "hooks.disabled", false},
		{"the pin says the opposite", "", "", install.Managed, "hooks = true", "hooks = false", "hooks.disabled", false},
	} {
		m := machine(t)
		path := doInstall(t, m, install.Request{Agent: "codex", Scope: c.scope}).Changes[0].Path
		if c.from != "" {
			text := read(t, path)
			write(t, path, strings.Replace(text, c.from, c.to, 1))
			if read(t, path) == text {
				t.Fatalf("%s: %q is not in\n%s", c.name, c.from, text)
			}
		}
		if c.config != "" {
			config := filepath.Join(m.Home, ".codex", "config.toml")
			before, how, trusts := strings.Cut(c.config, trust)
			text := ""
			if trusts {
				doInstall(t, m, install.Request{Agent: "codex", Scope: c.scope, TrustHooks: true})
				text = read(t, config)
			}
			switch how {
			case " elsewhere":
				text = strings.ReplaceAll(text, path, "/x/hooks.json")
			case " stop":
				text = strings.ReplaceAll(text, ":pre_tool_use:", ":x:")
			case " off":
				text = strings.ReplaceAll(text, "enabled = true", "enabled = false")
			}
			write(t, config, before+text)
		}
		if c.project != "" {
			write(t, filepath.Join(m.Project, ".codex", "config.toml"), c.project)
		}
		s := statusOf(t, m, "codex")
		if s.Guarded != c.guarded || !slices.ContainsFunc(s.Findings, func(f install.Finding) bool { return f.ID == c.want }) {
			t.Errorf("%s: guarded %v, %+v", c.name, s.Guarded, s.Findings)
		}
	}
}

// TestOwnFiles holds that the files gate is installed in are known for what they
// are by their names, whichever agent writes them.
func TestOwnFiles(t *testing.T) {
	for _, agent := range others() {
		for _, s := range []install.Scope{install.Project, install.User} {
			m := machine(t)
			plan, err := m.Install(install.Request{Agent: agent, Scope: s})
			if err != nil {
				if !strings.Contains(err.Error(), "there is no") {
					t.Error(err)
				}
				continue
			}
			path := plan.Changes[0].Path
			found := facts.New(facts.World{Home: m.Home, Project: m.Project}).Of(&hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
				"cwd": m.Project, "tool_name": "Write", "tool_input": map[string]any{"file_path": path, "content": "{}"},
			}})
			if !slices.ContainsFunc(found.Effects, func(e hook.FactEffect) bool { return e.Kind() == "self" }) {
				t.Errorf("%s, %s: a write of %s is like any other", agent, s, path)
			}
		}
	}
}

// TestPinned holds that what switches hooks off is refused in the managed scope
// and does nothing below a pin.
func TestPinned(t *testing.T) {
	m := machine(t)
	path := filepath.Join(m.Root, "etc", "qwen-code", "settings.json")
	write(t, path, "{\n  \"disableAllHooks\": true\n}\n")
	r := install.Request{Agent: "qwen", Scope: install.Managed}
	if _, err := m.Install(r); err == nil || !strings.Contains(err.Error(), "settings.json:2: disableAllHooks is true") {
		t.Error(err)
	}
	must(t, os.Remove(path))
	write(t, filepath.Join(m.Home, ".qwen", "settings.json"), `{"disableAllHooks": true}`)
	doInstall(t, m, r)
	if s := statusOf(t, m, "qwen"); !s.Guarded {
		t.Errorf("a user switched off what is pinned: %+v", s)
	}
}

// TestManagedElsewhere holds where the machine's files of the agents are on other
// systems, and that nothing is left there either.
func TestManagedElsewhere(t *testing.T) {
	const mac, windows = "Library/Application Support/", "ProgramData/"
	for agent, want := range map[string][2]string{
		"gemini": {mac + "GeminiCli/settings.json", windows + "gemini-cli/settings.json"}, "qwen": {mac + "QwenCode/settings.json", windows + "qwen-code/settings.json"},
		"cursor": {mac + "Cursor/hooks.json", windows + "Cursor/hooks.json"}, "windsurf": {mac + "Windsurf/hooks.json", windows + "Windsurf/hooks.json"},
	} {
		for i, os := range []string{"darwin", "windows"} {
			m := machine(t)
			m.OS = os
			r := install.Request{Agent: agent, Scope: install.Managed}
			top := filepath.Join(m.Root, filepath.FromSlash([]string{mac, windows}[i]))
			plan := doInstall(t, m, r)
			if want := filepath.Join(m.Root, filepath.FromSlash(want[i])); len(plan.Changes) != 1 || plan.Changes[0].Path != want {
				t.Errorf("%s, %s: %+v, want %s", agent, os, plan.Changes, want)
			}
			if text := read(t, plan.Changes[0].Path); strings.Contains(text, "/bin/sh") != (os != "windows" && agent != "cursor") {
				t.Errorf("%s, %s:\n%s", agent, os, text)
			}
			if s := statusOf(t, m, agent); !s.Guarded {
				t.Errorf("%s, %s: %+v", agent, os, s)
			}
			doUninstall(t, m, r)
			if left, err := filepath.Glob(filepath.Join(top, "*")); err != nil || len(left) > 0 {
				t.Errorf("%s, %s: left are %v, %v", agent, os, left, err)
			}
		}
	}
}

// FuzzTOML holds the round trip for whatever a TOML file says.
func FuzzTOML(f *testing.F) {
	for _, text := range foreignTOML {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.Contains(text, "gate") {
			return
		}
		for _, r := range []install.Request{{Agent: "codex", Scope: install.Managed}, {Agent: "kimi", Scope: install.User}} {
			sys := newMemory()
			m := sys.machine()
			path := "/home/.kimi-code/config.toml"
			if r.Agent == "codex" {
				path = "/etc/codex/requirements.toml"
			}
			sys.files[key(path)] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
			plan, err := m.Install(r)
			if err != nil {
				continue // refused, and nothing was done
			}
			must(t, plan.Apply())
			if again, err := m.Install(r); err != nil || !again.Empty() {
				t.Fatalf("%s: %q: a second time: %v\n%s", r.Agent, text, err, again.Diff())
			}
			doUninstall(t, m, r)
			if f := sys.files[key(path)]; f == nil || string(f.Data) != text {
				t.Fatalf("%s: %q is not what it was", r.Agent, text)
			}
		}
	})
}
