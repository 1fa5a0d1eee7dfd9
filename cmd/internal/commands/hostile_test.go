package commands

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/setup"
	"gate/internal/sources"
)

// userPolicy denies what no policy of the library does.
const userPolicy = `# METADATA
# title: mine
# custom:
#   gate:
#     events: [PreToolUse]
package acme.mine

deny contains "no whoami here" if input.tool_input.command == "whoami"
`

// TestHostileEnvironment runs the command line that gate install writes, with
// variables that somebody else chose: the verdicts are the same, and nothing
// is written where the variables point.
func TestHostileEnvironment(t *testing.T) {
	elsewhere := t.TempDir()
	for _, file := range []string{"gate/settings.json", ".config/gate/settings.json", ".gate/settings.json", "settings.json"} {
		path := filepath.Join(elsewhere, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"disableAllHooks": true}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 100_000)
	for _, name := range []string{
		"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_DIRS", "PATH", "TMPDIR", "USER", "LOGNAME", "SHELL",
		"GATE_USER_DIR", "GATE_STATE_DIR", "GATE_MANAGED_DIR", "GATE_DISABLE", "GATE_OFF", "GATE_CONFIG", "GATE_HOOK",
		"CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SESSION_ATTENDED", "GIT_DIR", "KUBECONFIG", "LD_PRELOAD", "LANG",
	} {
		for _, value := range []string{elsewhere, "", "relative", "/nonexistent", "/dev/zero", "/proc/self/mem", "../..", long, "a\nb", "\xff\xfe", "$(id)", "1"} {
			m := newMachine(t)
			m.write("user/policies/mine.rego", userPolicy)
			m.env = append(m.env, name+"="+value)
			for line, want := range map[string]int{"whoami": 2, "git push --force origin main": 2, "go test ./...": 0} {
				status, answer := m.hook(line)
				if status != want {
					t.Errorf("%s=%.40q: %s: status %d, want %d: %s", name, value, line, status, want, answer)
				}
				if want == 2 && !strings.Contains(answer, `"permissionDecision":"deny"`) {
					t.Errorf("%s=%.40q: %s: not denied in the agent's form: %s", name, value, line, answer)
				}
			}
			if _, err := os.Stat(filepath.Join(m.dir, "state", "decisions.jsonl")); err != nil {
				t.Errorf("%s=%.40q: nothing was logged: %v", name, value, err)
			}
		}
	}
	var left []string
	filepath.WalkDir(elsewhere, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "settings.json" {
			left = append(left, path)
		}
		return err
	})
	if len(left) > 0 {
		t.Errorf("written where a variable pointed: %s", left)
	}
}

// TestCutSettings cuts the user's settings off at every byte: no call passes
// more easily than with all of them.
func TestCutSettings(t *testing.T) {
	m := newMachine(t)
	m.write("user/policies/mine.rego", strings.Replace(userPolicy, "deny contains", "ask contains", 1))
	const settings = `{
  "policies": {"gate.git.push": "ask", "gate.git": "warn", "acme": "deny"},
  "exceptions": [{"policy": "acme.mine", "if": ["Bash(id)"], "project": "/nowhere", "until": "2999-01-31", "owner": "a", "reason": "b"}],
  "faults": "deny"
}
`
	effects := func() map[string]hook.Effect {
		t.Helper()
		g, err := setup.New(setup.Options{
			For: sources.For{Machine: core.Machine{Dirs: dirs{Managed: filepath.Join(m.dir, "managed"), ManagedNamed: true,
				User: filepath.Join(m.dir, "user"), State: filepath.Join(m.dir, "state")}, Home: m.dir, Project: m.project, LookupEnv: func(string) (string, bool) { return "", false }}},
		})
		out := map[string]hook.Effect{}
		for _, line := range []string{"whoami", "git push --force origin main", "git reset --hard", "ls"} {
			if err != nil {
				out[line] = hook.Deny
				continue
			}
			f := callFlags{tool: "Bash", cwd: m.project}
			ev, err := f.event(line)
			if err != nil {
				t.Fatal(err)
			}
			d := g.Decide(t.Context(), ev)
			out[line] = d.Effect
		}
		return out
	}
	m.write("user/settings.json", settings)
	whole := effects()
	if whole["whoami"] != hook.Ask || whole["ls"] != hook.Pass || whole["git push --force origin main"] != hook.Ask {
		t.Fatalf("with all of it: %v", whole)
	}
	for n := range len(settings) - 1 {
		m.write("user/settings.json", settings[:n])
		for line, effect := range effects() {
			if effect < whole[line] {
				t.Errorf("cut off after %d bytes: %s: %s, and %s with all of it", n, line, effect, whole[line])
			}
		}
	}
}

// TestCutPolicies cuts a policy of the user's off, after it decided about a
// call: what it denied stays denied, wherever the cut is.
func TestCutPolicies(t *testing.T) {
	rule := "\ndeny contains \"no id\" if input.tool_input.command == \"id\"\n"
	for _, file := range []string{"user/policies/mine.rego", "user/policies/deep/mine.rego"} {
		m := newMachine(t)
		text := userPolicy + rule
		m.write(file, text)
		if status, answer := m.hook("id"); status != 2 {
			t.Fatalf("%s: status %d: %s", file, status, answer)
		}
		for n := 0; n < len(text)-1; n += 7 {
			m.write(file, text[:n])
			if status, answer := m.hook("id"); status != 2 {
				t.Errorf("%s, cut off after %d bytes: status %d: %s", file, n, status, answer)
			}
		}
		m.write(file, userPolicy)
		if status, answer := m.hook("id"); status != 2 {
			t.Errorf("%s, cut off between two rules: status %d: %s", file, status, answer)
		}
	}
}

// TestCutEndless cuts settings off whose end cannot be told, after they decided
// about a call: no call passes until a person says that they are whole.
func TestCutEndless(t *testing.T) {
	for file, text := range map[string]string{
		"user/settings.toml": "log = true\nfaults = \"deny\"\ndeadline = \"20s\"\n",
		"user/settings.yaml": "log: true\nfaults: deny\ndeadline: 20s\n",
		"user/hooks.yaml":    "hooks:\n  Stop:\n    - command: a\n    - command: b\n",
	} {
		m := newMachine(t)
		m.write(file, text)
		if status, answer := m.hook("ls"); status != 0 {
			t.Fatalf("%s: status %d: %s", file, status, answer)
		}
		for n := range len(text) {
			m.write(file, text[:n])
			if status, answer := m.hook("ls"); status != 2 || !strings.Contains(answer, filepath.Base(file)) {
				t.Errorf("%s, cut off after %d bytes: status %d: %s", file, n, status, answer)
			}
		}
		short := text[:strings.Index(text[:len(text)-1], "\n")+1] // one line is left
		if strings.Contains(file, "hooks") {
			short = strings.TrimSuffix(text, "    - command: b\n")
		}
		m.write(file, short)
		d := dirs{Managed: filepath.Join(m.dir, "managed"), ManagedNamed: true,
			User: filepath.Join(m.dir, "user"), State: filepath.Join(m.dir, "state")}
		agrees := func(env ...string) error {
			display := &typist{}
			p := process{env: env, stderr: display, isTerminal: func() bool { return true }}
			display.keys, p.stdin = typed(t)
			return acceptWhole(p, d)
		}
		if err := agrees("CLAUDECODE=1"); !errors.Is(err, consent.InAgent) {
			t.Error(err)
		}
		if status, _ := m.hook("ls"); status != 2 {
			t.Errorf("%s: an agent accepted it", file)
		}
		if err := agrees(); err != nil {
			t.Fatal(err)
		}
		if status, answer := m.hook("ls"); status != 0 {
			t.Errorf("%s, accepted: status %d: %s", file, status, answer)
		}
		m.write(file, text+"# more\n")
		if status, answer := m.hook("ls"); status != 0 {
			t.Errorf("%s, longer: status %d: %s", file, status, answer)
		}
	}
}

// TestOwners gives files of each authority to others: managed and user ones
// close, with the file and the core.Remedy; a project may be anybody's.
func TestOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no owners here")
	}
	chmod := func(mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	chown := func(t *testing.T, file string) {
		if os.Geteuid() != 0 {
			t.Skip("only root gives files away")
		}
		if err := os.Chown(file, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, file string) {
		if err := os.Rename(file, file+".real"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Base(file)+".real", file); err != nil {
			t.Fatal(err)
		}
	}
	outside := func(t *testing.T, file string) {
		real := filepath.Join(t.TempDir(), "real")
		if err := os.Rename(file, real); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, file); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		file   string // below the machine's directory
		spoil  func(*testing.T, string)
		status int
		want   string
	}{
		{"managed settings, group-writable", "managed/settings.json", chmod(0o660), 2, "its group may write it (mode 0660): chmod g-w '"},
		{"managed settings, writable by all", "managed/settings.json", chmod(0o606), 2, "everybody may write it (mode 0606): chmod o-w '"},
		{"managed settings, foreign", "managed/settings.json", chown, 2, "it belongs to account 12345, not to 0: chown 0 '"},
		{"managed settings, a link", "managed/settings.json", link, 2, "a symbolic link; managed files must be files themselves"},
		{"managed settings, a link out", "managed/settings.json", outside, 2, "a symbolic link; managed files must be files themselves"},
		{"managed directory, group-writable", "managed", chmod(0o770), 2, "its group may write it (mode 0770): chmod g-w '"},
		{"managed directory, foreign", "managed", chown, 2, "it belongs to account 12345"},
		{"managed directory, a link", "managed", link, 2, "a symbolic link; managed files must be files themselves"},
		{"managed drop-in, group-writable", "managed/settings.d/x.json", chmod(0o660), 2, "its group may write it"},
		{"managed drop-ins, group-writable", "managed/settings.d", chmod(0o770), 2, "its group may write it"},
		{"managed drop-in, a link", "managed/settings.d/x.json", link, 2, "settings.d"},
		{"managed policy, group-writable", "managed/policies/mine.rego", chmod(0o660), 2, "its group may write it"},
		{"managed policy, foreign", "managed/policies/mine.rego", chown, 2, "it belongs to account 12345"},
		{"managed policies, foreign", "managed/policies", chown, 2, "it belongs to account 12345"},
		{"user settings, group-writable", "user/settings.json", chmod(0o620), 2, "its group may write it (mode 0620): chmod g-w '"},
		{"user settings, foreign", "user/settings.json", chown, 2, "it belongs to account 12345"},
		{"user settings, a link out", "user/settings.json", outside, 2, "symbolic link"},
		{"user settings, a link within", "user/settings.json", link, 0, ""},
		{"user directory, writable by all", "user", chmod(0o777), 2, "everybody may write it (mode 0777): chmod o-w '"},
		{"user policy, foreign", "user/policies/mine.rego", chown, 2, "it belongs to account 12345"},
		{"project settings, group-writable", "project/.gate/settings.json", chmod(0o666), 0, ""},
		{"project settings, a link out", "project/.gate/settings.json", outside, 0, "symbolic link"},
		{"project directory, a link out", "project/.gate", outside, 0, "symbolic link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			authority, _, _ := strings.Cut(test.file, "/")
			at := authority
			if authority == "project" {
				at = "project/.gate"
			}
			m.write(at+"/settings.json", `{"version": 1}`)
			m.write(at+"/policies/mine.rego", userPolicy)
			if authority == "managed" {
				m.write(at+"/settings.d/x.json", `{"version": 1}`)
			}
			if status, answer := m.hook("ls"); status != 0 {
				t.Fatalf("before: status %d: %s", status, answer)
			}
			file := filepath.Join(m.dir, filepath.FromSlash(test.file))
			test.spoil(t, file)
			status, answer := m.hook("ls")
			if status != test.status || !strings.Contains(answer, test.want) {
				t.Errorf("status %d, want %d with %q: %s", status, test.status, test.want, answer)
			}
			if test.want != "" && !strings.Contains(answer, filepath.Base(file)) {
				t.Errorf("the answer does not name %s: %s", file, answer)
			}
		})
	}
}

// TestLoadFaults breaks a source of each authority: managed and user ones
// close, the others are announced and inactive.
func TestLoadFaults(t *testing.T) {
	for _, test := range []struct {
		file, text string
		status     int
	}{
		{"managed/settings.json", "{", 2},
		{"managed/settings.d/x.json", `{"polices": {}}`, 2},
		{"managed/settings.d/x.txt", "", 2},
		{"managed/hooks.json", `{"hooks": {"PreToolUse": [{"type": "magic"}]}}`, 2},
		{"managed/policies/x.rego", "package", 2},
		{"user/settings.toml", "policies = 1\n", 2},
		{"user/hooks.yaml", "hooks: [\n", 2},
		{"user/policies/x.rego", "package", 2},
		{"project/.gate/settings.json", "{", 0},
		{"project/.gate/settings.local.json", "{", 0},
		{"project/.gate/hooks.toml", "hooks = ", 0},
		{"project/.gate/policies/x.rego", "package", 0},
		{"user/plugins/p/plugin.json", "{", 0},
		{"user/plugins/p/gate/policies/x.rego", "package", 0},
	} {
		m := newMachine(t)
		if strings.Contains(test.file, "plugins") {
			m.write("user/settings.json", `{"plugins": {"p": true}}`)
			m.write("user/plugins/p/plugin.json", `{"name": "p"}`)
		}
		m.write(test.file, test.text)
		status, answer := m.hook("ls")
		if status != test.status || !strings.Contains(answer, filepath.Base(test.file)) {
			t.Errorf("%s: status %d, want %d: %s", test.file, status, test.status, answer)
		}
		if status, answer := m.hook("git push --force origin main"); status != 2 {
			t.Errorf("%s: it frees a call that the library denies: status %d: %s", test.file, status, answer)
		}
	}
}
