//go:build unix

package install_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gate/adapters"
	"gate/internal/install"
)

// A launched plugin is a plugin's launcher in a directory of its own.
type launched struct {
	file string   // the launcher
	dir  string   // it is started in
	env  []string // all of it
}

// launch makes a plugin. Its program says where it is, if it has one.
func launch(t *testing.T, agent string) launched {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/usr/local/lib/gate"} {
		if _, err := os.Stat(dir + "/gate-hook"); err == nil {
			t.Skip("gate is installed on this machine")
		}
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	files, err := install.PluginFiles(agent, false)
	must(t, err)
	l := launched{dir: filepath.Join(root, "project")}
	must(t, os.MkdirAll(filepath.Join(l.dir, ".git"), 0o755))
	for _, f := range files {
		if f.Executable {
			l.file = filepath.Join(root, "plugin", f.Path)
			program(t, l.file, f.Text)
		}
	}
	l.env = []string{"PATH=/usr/bin:/bin"}
	return l
}

func program(t *testing.T, name, text string) {
	t.Helper()
	write(t, name, text)
	must(t, os.Chmod(name, 0o755))
}

// run starts the launcher by a shell, "" for the one that it names.
func (l launched) run(t *testing.T, shell string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	words := append([]string{l.file}, args...)
	if shell != "" {
		words = append([]string{shell}, words...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = l.dir, l.env
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("{}"), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const sayWhere = "#!/bin/sh\necho \"$0 $*\"\n"

// TestLauncherFinds holds where the launcher takes its program from.
func TestLauncherFinds(t *testing.T) {
	for _, c := range []struct {
		name, at string // below the parent of project and plugin
		path     string // with ROOT for that parent
		in       string // the directory below it
		env      string
		found    bool
	}{
		{name: "in the plugin", at: "plugin/bin", found: true},
		{name: "on PATH", at: "tools", path: "ROOT/tools", found: true},
		{name: "on PATH with a blank and a colon at the end", at: "my tools", path: "/nowhere:ROOT/my tools:", found: true},
		{name: "in the project, which stands on PATH", at: "project/bin", path: "ROOT/project/bin"},
		{name: "in the project that the agent names", at: "other/bin", path: "ROOT/other/bin", env: "CLAUDE_PROJECT_DIR=ROOT/other"},
		{name: "in the repository above the directory", at: "project/bin", path: "ROOT/project/bin", in: "project/deep/er"},
		{name: "beside the repository", at: "projects/bin", path: "ROOT/projects/bin", in: "project/deep", found: true},
		{name: "in the project, by a link from outside", at: "project/bin", path: "ROOT/link"},
		{name: "relative", at: "project/bin", path: "bin:./bin:"},
		{name: "nothing on PATH, which is the directory itself", at: "project", path: ":"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := launch(t, "claude")
			root := filepath.Dir(l.dir)
			program(t, filepath.Join(root, c.at, "gate-hook"), sayWhere)
			must(t, os.Symlink(filepath.Join(root, "project", "bin"), filepath.Join(root, "link")))
			if c.in != "" {
				l.dir = filepath.Join(root, c.in)
				must(t, os.MkdirAll(l.dir, 0o755))
			}
			for _, v := range []string{"PATH=" + c.path, c.env} {
				l.env = append(l.env, strings.ReplaceAll(v, "ROOT", root))
			}
			for _, shell := range shells(t) {
				out, errs, status := l.run(t, shell, "--agent", "claude", "--event", "PreToolUse")
				want := filepath.Join(root, c.at, "gate-hook") + " --agent claude --event PreToolUse\n"
				if c.found && (out != want || status != 0) {
					t.Errorf("%s: %q %q %d, want %q", shell, out, errs, status, want)
				}
				if !c.found && (status != 2 || !strings.Contains(errs, "gate-hook is missing")) {
					t.Errorf("%s: %q %q %d, want a refusal", shell, out, errs, status)
				}
			}
		})
	}
}

// shells are those on this machine that read the launcher somewhere.
func shells(t *testing.T) []string {
	t.Helper()
	list := []string{""}
	for _, name := range []string{"dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			link := filepath.Join(t.TempDir(), "sh") // which is how bash knows what it is
			must(t, os.Symlink(path, link))
			list = append(list, link)
		}
	}
	return list
}

// TestLauncherMissing holds that each event is answered in its agent's form where there
// is no program: as the agent reads it, calls are refused and prompts are not.
func TestLauncherMissing(t *testing.T) {
	for _, agent := range install.Plugins() {
		l := launch(t, agent)
		adapter, _ := adapters.Lookup(agent)
		for _, event := range install.PluginEvents(agent) {
			args := []string{"--agent", agent, "--event", event}
			if event == "ConfigChange" {
				args = append(args, "--scope", "plugin")
			}
			out, errs, status := l.run(t, "", args...)
			ev := adapter.Named(event)
			var answer any
			if out != "" && json.Unmarshal([]byte(out), &answer) != nil {
				t.Errorf("%s %s: %q is no JSON", agent, event, out)
			}
			says := strings.Contains(out, "gate-hook is missing") && strings.Contains(out, "sh "+filepath.Dir(l.file)+"/setup.sh --programs")
			switch no := status == 2 || strings.Contains(out, "deny"); {
			case ev.Name == "PreToolUse" && !(no && says):
				t.Errorf("%s %s: %q %q %d is no refusal with a reason", agent, event, out, errs, status)
			case (ev.Name == "UserPromptSubmit" || ev.Name == "SessionStart") && no:
				t.Errorf("%s %s: %q %q %d shuts a person out", agent, event, out, errs, status)
			case agent == "claude" && (ev.Name == "UserPromptSubmit" || ev.Name == "SessionStart") && !says:
				t.Errorf("%s %s: %q tells the person nothing", agent, event, out)
			}
		}
	}
}

// TestLauncherHostile holds that nothing of the environment decides what is started, and
// that a plugin in a directory with an odd name answers with JSON all the same.
func TestLauncherHostile(t *testing.T) {
	call := []string{"--agent", "claude", "--event", "PreToolUse"}
	l := launch(t, "claude")
	program(t, filepath.Join(l.dir, ".local/share/gate/programs/gate-hook"), sayWhere)
	l.env = append(l.env, "HOME="+l.dir, "IFS=/", "CDPATH="+l.dir, "ENV="+l.dir+"/env", "BASH_ENV="+l.dir+"/env", "hook="+l.dir+"/x",
		"BASH_FUNC_[%%=() { echo taken; }", "BASH_FUNC_printf%%=() { echo taken; }", "BASH_FUNC_cd%%=() { echo taken; }", "BASH_FUNC_good%%=() { return 0; }")
	write(t, filepath.Join(l.dir, "env"), "echo taken\n")
	for _, shell := range shells(t) {
		out, errs, status := l.run(t, shell, call...)
		if status != 2 || strings.Contains(out, "taken") || !strings.Contains(out, `"permissionDecision":"deny"`) {
			t.Errorf("%s: %q %q %d", shell, out, errs, status)
		}
	}

	l = launch(t, "claude")
	odd := filepath.Join(filepath.Dir(l.dir), `a "b' $(touch x) \`)
	must(t, os.Rename(filepath.Dir(l.file), odd))
	l.file = filepath.Join(odd, "gate-hook")
	out, _, status := l.run(t, "", call...)
	if status != 2 || !json.Valid([]byte(out)) || !strings.Contains(out, "sh PLUGIN/setup.sh") {
		t.Errorf("%q %d", out, status)
	}
	program(t, filepath.Join(odd, "bin/gate-hook"), sayWhere)
	if out, _, status = l.run(t, "", call...); status != 0 || !strings.Contains(out, "--event PreToolUse") {
		t.Errorf("%q %d", out, status)
	}
	for _, args := range [][]string{nil, {"--agent", "codex", "--event", "PreToolUse"}, append(call, "--managed-dir", "/tmp")} {
		if out, _, status := l.run(t, "", args...); status != 2 || out != "" {
			t.Errorf("%q: %q %d, want a refusal", args, out, status)
		}
	}
}

// TestLauncherDead holds what becomes of a program that ends without an answer.
func TestLauncherDead(t *testing.T) {
	for _, c := range []struct {
		agent, event, text, want string
		status                   int
	}{
		{"claude", "UserPromptSubmit", "#!/bin/sh\nkill -9 $$\n", "gate doctor --fix", 0},
		{"claude", "PreToolUse", "#!/bin/sh\nkill -9 $$\n", "", -1}, // onFailure closes
		{"copilot", "preToolUse", "#!/bin/sh\nkill -9 $$\n", "gate doctor --fix", 2},
		{"copilot", "preToolUse", "#!/bin/sh\nexit 0\n", "", 0},
	} {
		l := launch(t, c.agent)
		program(t, filepath.Join(filepath.Dir(l.file), "bin", "gate-hook"), c.text)
		out, errs, status := l.run(t, "", "--agent", c.agent, "--event", c.event)
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s %s: %q %q %d", c.agent, c.event, out, errs, status)
		}
	}
}
