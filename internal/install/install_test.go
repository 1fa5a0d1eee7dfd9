package install_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/internal/install"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machine is a machine of its own in a temporary directory.
func machine(t testing.TB) install.Machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := install.Machine{
		OS: "linux", Root: root, Home: filepath.Join(root, "home", "dev"), Project: filepath.Join(root, "home", "dev", "project"),
		Command: []string{filepath.Join(root, "usr", "bin", "gate"), "hook"},
		UID:     os.Getuid(), ManagedDir: filepath.Join(root, "etc", "gate"),
	}
	m.UserDir = filepath.Join(m.Home, ".config", "gate")
	m.StateDir = filepath.Join(m.Home, ".local", "state", "gate")
	for _, dir := range []string{m.Project, m.UserDir, m.StateDir, m.ManagedDir} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	write(t, m.Command[0], "#!/bin/sh\n")
	must(t, os.Chmod(m.Command[0], 0o755))
	must(t, os.Chmod(root, 0o755))
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

// read returns a file's text, and "absent" for none.
func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return "absent"
	}
	must(t, err)
	return string(text)
}

func request(s install.Scope) install.Request { return install.Request{Agent: "claude", Scope: s} }

func doInstall(t testing.TB, m install.Machine, r install.Request) install.Plan {
	t.Helper()
	plan, err := m.Install(r)
	must(t, err)
	must(t, plan.Apply())
	return plan
}

func doUninstall(t testing.TB, m install.Machine, r install.Request) install.Plan {
	t.Helper()
	plan, err := m.Uninstall(r)
	must(t, err)
	must(t, plan.Apply())
	return plan
}

func userSettings(m install.Machine) string { return filepath.Join(m.Home, ".claude", "settings.json") }

// samples are settings that people have, and some that they hardly have.
func samples(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/settings/*.txtar")
	must(t, err)
	out := map[string]string{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		text := string(archive.Files[0].Data)
		out[name] = text
		out[name+" crlf"] = strings.ReplaceAll(text, "\n", "\r\n")
		out[name+" without a final newline"] = strings.TrimSuffix(text, "\n")
		out[name+" with a byte order mark"] = "\ufeff" + text
	}
	if len(out) < 16 {
		t.Fatalf("only %d samples", len(out))
	}
	for i, text := range []string{
		"", "\n", "  ", "\r\n", "\ufeff", "{}", "{}\n", "{\n}\n", "{\n}", "{ }", "\n{}\n", "{\n\n}\n", "{\r\n}\r\n", "{\t}",
		`{"a":1}`, `{"a":1}` + "\n", `{ "a": 1, }`, `{"hooks":{}}`, `{"hooks":{ }}`, `{"hooks":{"Stop":[]}}`, `{"hooks":{"Stop":[ ],"PreToolUse":[]}}`,
		"{\n  \"hooks\": {}\n}\n", "{\n  \"hooks\": {\n  }\n}\n", "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n", "{\n\"hooks\":{}}",
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]},"z":[{}]}`,
		"{/**/}", "{//\n}", "{\"a\":1//\n}", "{\"a\":1//\n,//x\n}", `{"hooks":{/**/}}`, `{"hooks":{"Stop":[/**/]}}`, "{\"hooks\":{\"Stop\":[//\n]}}",
		"{\"hooks\"//\n:{\"Stop\"/**/:/**/[/**/{}/**/,/**/]/**/,/**/}/**/,/**/}/**/", "//\n{}//", "{ \"a\" : 1 }\n\n\n",
		"{\"a\":{\"hooks\":{\"hooks\":[]}},\"hooks\":{\"hooks\":[]}}", "\t{\n\t\t\"a\": 1\n\t}",
		"{\n  \"hooks\": {\n    \"Stop\": [{}\n    ]\n  }\n}", "{\"a\":1,\r\n\"b\":2}", "{\n\n\n  \"a\": 1}", "{\"\":1//\r}",
	} {
		out[strings.ReplaceAll(strings.TrimSpace(string(rune('A'+i/26))+string(rune('a'+i%26))+" "+text), "/", "|")] = text
	}
	return out
}

// TestRoundTrip shows what the package promises: an installation changes
// nothing when it is repeated, and an uninstallation restores every byte.
func TestRoundTrip(t *testing.T) {
	for name, text := range samples(t) {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			file := userSettings(m)
			write(t, file, text)
			must(t, os.Chmod(file, 0o640))
			doInstall(t, m, request(install.User))
			installed := read(t, file)
			if again := doInstall(t, m, request(install.User)); !again.Empty() {
				t.Errorf("a second installation changes something:\n%s", again.Diff())
			}
			for s := range strings.Lines(text) {
				if line := strings.TrimSpace(s); len(line) > 3 && !strings.Contains(installed, line) && !strings.ContainsAny(line, "{}[],") {
					t.Errorf("the line %q is lost", line)
				}
			}
			if g := guard(t, m, install.User); !g.Complete {
				t.Errorf("not complete after installation: %+v\n%s", g, installed)
			}
			doUninstall(t, m, request(install.User))
			if got := read(t, file); got != text {
				t.Errorf("uninstallation leaves\n%q, want\n%q; installed was\n%s", got, text, installed)
			}
			info, err := os.Stat(file)
			if err == nil && info.Mode().Perm() != 0o640 {
				t.Errorf("mode is %v", info.Mode())
			}
			if left := listing(t, filepath.Dir(file)); !slices.Equal(left, []string{"settings.json"}) {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func guard(t testing.TB, m install.Machine, s install.Scope) install.Guard {
	t.Helper()
	for _, g := range m.Status().Agents[0].Guards {
		if g.Scope == s {
			return g
		}
	}
	return install.Guard{}
}

func listing(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestNothingThere installs where there is no file in every scope, and finds
// nothing at all afterwards.
func TestNothingThere(t *testing.T) {
	for _, s := range install.Scopes() {
		t.Run(string(s), func(t *testing.T) {
			m := machine(t)
			before := tree(t, m.Root)
			doInstall(t, m, request(s))
			if g := guard(t, m, s); !g.Complete || !g.InForce || g.Only != (s == install.Managed) {
				t.Errorf("after installation: %+v", g)
			}
			if again := doInstall(t, m, request(s)); !again.Empty() {
				t.Errorf("a second installation changes something:\n%s", again.Diff())
			}
			doUninstall(t, m, request(s))
			after := tree(t, m.Root)
			if s == install.Managed { // /etc is the system's
				after = slices.DeleteFunc(after, func(p string) bool { return p == "etc" })
				before = slices.DeleteFunc(before, func(p string) bool { return p == "etc" })
			}
			if !slices.Equal(before, after) {
				t.Errorf("left behind: %v, want %v", after, before)
			}
		})
	}
}

// tree lists everything below dir.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		out = append(out, path)
		return err
	}))
	return out
}

// TestGolden shows what is written.
func TestGolden(t *testing.T) {
	for _, file := range []string{"plain", "comments", "tabs", "unicode"} {
		t.Run(file, func(t *testing.T) {
			m := machine(t)
			archive, err := txtar.ParseFile("testdata/settings/" + file + ".txtar")
			must(t, err)
			write(t, userSettings(m), string(archive.Files[0].Data))
			plan, err := m.Install(request(install.User))
			must(t, err)
			got := []byte(strings.ReplaceAll(plan.Diff(), m.Root, ""))
			golden := "testdata/settings/" + file + ".diff"
			if *update {
				must(t, os.WriteFile(golden, got, 0o644))
			}
			if want := read(t, golden); !bytes.Equal(got, []byte(want)) {
				t.Errorf("the diff is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestResume holds that a session's name becomes part of a command only where it is one
// plain word, and that no command is made up.
func TestResume(t *testing.T) {
	for _, row := range [][3]string{
		{"claude", "0f3a-77", "claude --resume 0f3a-77"},
		{"codex", "0f3a-77", "codex resume 0f3a-77"},
		{"windsurf", "0f3a-77", ""},
		{"nobody", "0f3a-77", ""},
		{"claude", "", ""},
		{"claude", "--dangerously-skip-permissions", ""},
		{"claude", "x; rm -rf ~", ""},
	} {
		if got := install.Resume(row[0], row[1]); got != row[2] {
			t.Errorf("%s %q: %q, want %q", row[0], row[1], got, row[2])
		}
	}
}
