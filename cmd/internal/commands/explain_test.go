package commands

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/tell"
	"gate/engine"
	"gate/facts"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/setup"
	"gate/internal/sources"
)

// A still is a machine that never changes: /home/dev with a project, and the
// files of one test. A text that begins with "-> " is a symbolic link.
type still map[string]string

type stillInfo struct {
	name string
	mode fs.FileMode
	size int64
}

func (i stillInfo) Name() string       { return i.name }
func (i stillInfo) Size() int64        { return i.size }
func (i stillInfo) Mode() fs.FileMode  { return i.mode }
func (i stillInfo) ModTime() time.Time { return time.Time{} }
func (i stillInfo) IsDir() bool        { return i.mode.IsDir() }
func (i stillInfo) Sys() any           { return nil }

func (s still) Lstat(name string) (fs.FileInfo, error) {
	text, ok := s[name]
	switch {
	case strings.HasPrefix(text, "-> "):
		return stillInfo{path.Base(name), fs.ModeSymlink | 0o777, 0}, nil
	case ok:
		return stillInfo{path.Base(name), 0o644, int64(len(text))}, nil
	}
	for file := range s {
		if strings.HasPrefix(file, strings.TrimSuffix(name, "/")+"/") {
			return stillInfo{path.Base(name), fs.ModeDir | 0o755, 0}, nil
		}
	}
	return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

func (s still) Readlink(name string) (string, error) {
	if target, ok := strings.CutPrefix(s[name], "-> "); ok {
		return strings.TrimSpace(target), nil
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

func (s still) ReadFile(name string, limit int) ([]byte, error) {
	text, ok := s[name]
	if !ok || len(text) > limit || strings.HasPrefix(text, "-> ") {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// explained returns what gate explain prints for a line on a machine with
// files, and the text of its hints. Policies among the files, below user/, are
// the user's.
func explained(t *testing.T, line string, files []txtar.File) string {
	t.Helper()
	const home, project = "/home/dev", "/home/dev/project"
	dir := t.TempDir()
	machine := still{project + "/.git/HEAD": "ref: refs/heads/main\n"}
	for _, f := range files {
		name, users := strings.CutPrefix(f.Name, "user/")
		if !users {
			machine[path.Join(project, f.Name)] = string(f.Data)
			continue
		}
		name = filepath.Join(dir, "user", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reader := facts.New(facts.World{Home: home, User: "dev", OS: "linux", Project: project, Files: machine})
	g, err := setup.New(setup.Options{
		For:    sources.For{Machine: core.Machine{Dirs: dirs{Managed: filepath.Join(dir, "managed"), User: filepath.Join(dir, "user"), State: filepath.Join(dir, "state")}, Home: home, Project: project}},
		Engine: []engine.Option{engine.WithAllSteps(), engine.WithFacts(reader.Of)},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Reader = reader
	f := callFlags{tool: "Bash", cwd: project}
	ev, err := f.event(line)
	if err != nil {
		t.Fatal(err)
	}
	ev.Gate = hook.Gate{User: "dev", OS: "linux", Interactive: true, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	ctx := context.Background()
	p := process{env: []string{"HOME=" + home}}
	x, err := explainerOf(g)
	if err != nil {
		t.Fatal(err)
	}
	x.Read = func(file string) (string, error) {
		data, err := machine.ReadFile(file, 1<<10)
		return string(data), err
	}
	e := x.Of(ctx, ev, g.Decide(ctx, ev))
	text := strings.ReplaceAll(tell.Explanation(p.page(), &e, g, false), filepath.ToSlash(dir)+"/", "")
	// What others had to say is the library's business.
	text, _, _ = strings.Cut(text, "\nnot concerned:\n")
	text, _, _ = strings.Cut(text, "\nasked, without an objection:\n")
	return text
}

// withoutLines leaves line numbers out: they are the library's business, too.
func withoutLines(text string) string { return lineNumbers.ReplaceAllString(text, ".rego:N") }

var lineNumbers = regexp.MustCompile(`\.rego:\d+`)

// TestExplanations explains denials that surprise people. The comment of each
// file says what surprises; -update rewrites what is printed.
func TestExplanations(t *testing.T) {
	names, err := filepath.Glob("testdata/explain/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d explanations, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := len(a.Files) - 1
			if last < 1 || a.Files[0].Name != "line" || a.Files[last].Name != "explanation" {
				t.Fatal("the sections are line, files of the project, and explanation")
			}
			got := withoutLines(explained(t, strings.TrimSuffix(string(a.Files[0].Data), "\n"), a.Files[1:last]))
			if *update {
				a.Files[last].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(a.Files[last].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s\nif a policy changed: go test ./cmd/internal/commands -run TestExplanations -update", got, want)
			}
		})
	}
}

// TestExplainPage holds the example of docs/explain.md against what is printed.
func TestExplainPage(t *testing.T) {
	file := filepath.Join(root, "docs", "explain.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`(?s)(\$ gate explain "(.*?)"\n)(.*?)(\nasked, without an objection:\n)`)
	found := example.FindStringSubmatchIndex(string(page))
	if found == nil {
		t.Fatal("docs/explain.md has no example")
	}
	got := explained(t, string(page[found[4]:found[5]]), nil)
	if *update {
		page = slices.Concat(page[:found[6]], []byte(got), page[found[7]:])
		if err := os.WriteFile(file, page, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want := string(page[found[6]:found[7]]); withoutLines(got) != withoutLines(want) {
		t.Errorf("docs/explain.md says\n%s\ngate says\n%s\nif a policy changed: go test ./cmd/internal/commands -run TestExplainPage -update", want, got)
	}
}

// TestHostileLines shows lines that want to steer a terminal, or to fill it: no
// command prints a control character, and none a line that has no end.
func TestHostileLines(t *testing.T) {
	home := t.TempDir()
	for _, line := range []string{
		"rm -rf /\x1b[2J\x1b]0;title\a " + strings.Repeat("x", 100_000),
		"echo " + strings.Repeat("a", 100_000) + "; rm -rf /",
		"rm -rf /etc/\u202egnp.exe\u2066 \u200b/",
		strings.Repeat("ls\nrm -rf \\\n /etc\tfoo\n", 10),
		"rm -rf '/et\rc' \x9b2J",
		"echo " + strings.Repeat("日本語🎉", 300) + " > /etc/hosts",
		"rm -rf " + strings.Repeat("e\u0301", 500) + "/ /",
		strings.Repeat("rm -rf /etc; ", 20),
	} {
		for _, command := range []string{"explain", "try", "facts"} {
			var out, errs bytes.Buffer
			p := process{
				args: []string{
					command, "--managed-dir=" + home + "/m", "--user-dir=" + home + "/u", "--state-dir=" + home + "/s", "--", line,
				},
				stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: []string{"HOME=" + home},
			}
			run(t.Context(), p)
			if out.Len() == 0 {
				t.Errorf("%s %.40q: nothing, %s", command, line, errs.String())
			}
			if visible(out.String()) != out.String() || strings.Contains(out.String(), "\t") {
				t.Errorf("%s %.40q: prints what is not visible", command, line)
			}
			for text := range strings.Lines(out.String()) {
				if n := screen.Columns(text); n > 600 {
					t.Errorf("%s %.40q: a line of %d columns: %.80q", command, line, n, text)
					break
				}
			}
		}
	}
}
