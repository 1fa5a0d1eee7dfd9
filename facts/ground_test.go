package facts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/hostfs"
)

// machine is a project on a disk, with links out of it, and what facts say of lines there.
func machine(t *testing.T, env map[string]string) (home string, ground func(line string) *hook.Ground) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := home + "/code/app"
	for name, text := range map[string]string{
		".ssh/id_rsa": "x", "bin/rg": "x", "code/app/main.go": "", "code/app/.env": "K=1", "code/app/src/x.go": "", "code/app/notes/b.md": "", "code/app/x.go/credentials.json": "", "code/other/c.md": "",
		"docs/a.md": "",
	} {
		must(t, os.MkdirAll(filepath.Dir(home+"/"+name), 0o755))
		must(t, os.WriteFile(home+"/"+name, []byte(text), 0o644))
	}
	for name, to := range map[string]string{"notes/x.md": home + "/.ssh/id_rsa", "src/h": home, "out": "../other", "in": "src"} {
		must(t, os.Symlink(to, project+"/"+name))
	}
	must(t, os.Symlink(home+"/.ssh/id_rsa", home+"/docs/y.md"))
	reader := facts.New(facts.World{Home: home, Project: project, Files: hostfs.Files{}, Getenv: func(name string) (string, bool) {
		v, ok := env[name]
		return strings.ReplaceAll(v, "HOME", home), ok
	}})
	return home, func(line string) *hook.Ground {
		f := reader.Of(&hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"cwd": project, "tool_name": "Bash", "tool_input": map[string]any{"command": line}}})
		return f.Shell.Ground
	}
}

func TestGroundFollowsLinks(t *testing.T) {
	home, ground := machine(t, map[string]string{"PATH": "/usr/bin"})
	for line, want := range map[string]string{
		"cat notes/b.md":                      "",
		"cat notes/x.md":                      "code/app/notes/x.md",
		"cat notes/*.md":                      "code/app/notes/x.md",
		"head -1 notes/?.md":                  "code/app/notes/x.md",
		"cat no*/[a-z].md":                    "code/app/notes/x.md",
		"for f in notes/*.md; do wc $f; done": "code/app/notes/x.md",
		"ls src":                              "",
		"ls src/*":                            "code/app/src/h",
		"ls src/h":                            "code/app/src/h",
		"cat src/*/.bashrc.md":                "",
		"cat src/*/docs/*.md":                 "code/app/src/h/docs/a.md code/app/src/h/docs/y.md",
		"ls out":                              "code/app/out",
		"cat ou*/c.md":                        "code/app/out/c.md",
		"cat in/*.go":                         "",
		"cat ~/docs/*.md":                     "docs/y.md",
	} {
		g := ground(line)
		if g == nil {
			t.Errorf("%s: nothing is known", line)
			continue
		}
		var is []string
		for _, p := range g.Leaves {
			is = append(is, strings.TrimPrefix(p, home+"/"))
		}
		if got := strings.Join(is, " "); got != want {
			t.Errorf("%s: leaves %q, not %q", line, got, want)
		}
	}
}

func TestGroundLooksBelow(t *testing.T) {
	_, ground := machine(t, map[string]string{"PATH": "/usr/bin"})
	for line, want := range map[string]string{
		"grep -rn x .": "app", "grep -rc x src": "src", "grep -r x": "app", "rg x": "app", "diff src notes": "notes src", "cat *.go": "x.go", "git add x.go": "x.go", "ls src": "", "find .": "", "cat main.go | rg x": "",
	} {
		g := ground(line)
		if g == nil {
			t.Errorf("%s: nothing is known", line)
			continue
		}
		var is []string
		for _, p := range g.Whole {
			is = append(is, filepath.Base(p))
		}
		if got := strings.Join(is, " "); got != want {
			t.Errorf("%s: all below %q, not %q", line, got, want)
		}
	}
	for line, want := range map[string]int{"grep -rn x .": 2, "cat x.go/*.json": 1, "grep -c x .env": 1, "cat main.go": 0, "ls .env": 0, "test -f .env": 0} {
		if g := ground(line); g == nil || len(g.Secrets) != want {
			t.Errorf("%s: secrets %v, not %d", line, g, want)
		}
	}
}

func TestGroundFindsPrograms(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/bin:/bin": "", "HOME/bin:/usr/bin": "rg", "HOME/code/app/bin:/usr/bin": "PATH", "bin:/usr/bin": "PATH", ":/usr/bin": "PATH", "/usr/bin:": "PATH",
	} {
		_, ground := machine(t, map[string]string{"PATH": path})
		if g := ground("ls; cat main.go | rg x"); g == nil || strings.Join(g.Programs, " ") != want {
			t.Errorf("PATH=%s: programs %v, not %q", path, g, want)
		}
	}
	_, ground := machine(t, map[string]string{"PATH": "/usr/bin", "LD_PRELOAD": "x", "BASH_FUNC_ls%%": "() { x; }"})
	if g := ground("ls"); g == nil || !slices.Equal(g.Programs, []string{"LD_PRELOAD", "ls"}) {
		t.Errorf("programs %v", g)
	}
	_, ground = machine(t, nil)
	if g := ground("ls"); g != nil {
		t.Errorf("without a PATH %v", g)
	}
}

// A ground that is not known as a whole is not known.
func TestGroundIsWhole(t *testing.T) {
	_, ground := machine(t, map[string]string{"PATH": "/usr/bin"})
	for _, line := range []string{"cat $X", "ls (", "ls **/*.go", "curl https://example.com", "python -c 'x'"} {
		if g := ground(line); g != nil {
			t.Errorf("%s: %v", line, g)
		}
	}
	if g := ground("ls"); g == nil || len(g.Assigns)+len(g.Forms)+len(g.Programs)+len(g.Leaves)+len(g.Whole)+len(g.Secrets) > 0 {
		t.Errorf("%v", g)
	}
}
