//go:build unix

package policies_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gate/engine"
	"gate/facts"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/rego"
	"gate/scopes"
)

// A linkWorld is a home and a project on the disk, with what decides about calls there.
type linkWorld struct {
	home, project string
	decide        func(tool string, input map[string]any) (hook.Decision, *hook.Facts)
}

func newLinkWorld(t *testing.T) linkWorld {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := linkWorld{home: root + "/home", project: root + "/home/project"}
	for file, text := range map[string]string{
		".claude/settings.json": "{}", ".claude/projects/x": "", ".ssh/id_rsa": "key", "project/a.txt": "a", "project/.git/HEAD": "ref: refs/heads/main\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(w.home+"/"+file), 0o700), os.WriteFile(w.home+"/"+file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	lib, src := library(t)
	for i, h := range src.Hooks {
		h := *h
		h.Timeout = time.Minute
		src.Hooks[i] = &h
	}
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	evaluator := rego.New(lib, []scopes.Source{src}, rego.WithCompileTime(time.Minute))
	reader := facts.New(facts.World{Home: w.home, User: "dev", OS: "linux", Project: w.project, Files: hostfs.Files{}})
	w.decide = func(tool string, input map[string]any) (hook.Decision, *hook.Facts) {
		var found *hook.Facts
		en, err := engine.New(set, engine.WithEvaluator(hook.Rego, evaluator), engine.WithFacts(func(ev *hook.Event) *hook.Facts {
			found = reader.Of(ev)
			return found
		}))
		if err != nil {
			t.Fatal(err)
		}
		return en.Decide(context.Background(), hook.Event{
			Name: hook.PreToolUse, Agent: "claude", Fields: map[string]any{"tool_name": tool, "tool_input": input, "cwd": w.project, "session_id": "s"},
		}), found
	}
	return w
}

// link makes a symbolic link in the project.
func (w linkWorld) link(t *testing.T, to, name string) {
	t.Helper()
	name = w.project + "/" + name
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Symlink(to, name)); err != nil {
		t.Fatal(err)
	}
}

// linked makes links of every form to what only a person may change, and returns the
// names under which it can be reached.
func (w linkWorld) linked(t *testing.T, file string) []string {
	dir, base := filepath.Split(file)
	w.link(t, file, "direct")
	w.link(t, strings.TrimSuffix(dir, "/"), "dir")
	w.link(t, "../.claude", "relative")
	w.link(t, w.project+"/dir", "twice")
	w.link(t, dir+"projects", "sub/up") // sub/up/.. is the directory above the target
	w.link(t, dir+"settings.local.json", "dangling")
	to := file
	for i := range 40 {
		w.link(t, to, fmt.Sprintf("chain/%d", i))
		to = fmt.Sprintf("%s/chain/%d", w.project, i)
	}
	return []string{"direct", "dir/" + base, "relative/" + base, "twice/" + base, "sub/up/../" + base, "dir/new/../" + base, "chain/0", "chain/39"}
}

// changes are calls that change what lies at a path.
func changes(p string) []map[string]any {
	var calls []map[string]any
	for _, line := range []string{"echo x > %s", "tee -a %s <<< x", "cp a.txt %s", "sed -i s/a/b/ %s", "chmod 777 %s", `python3 -c "open('%s','w')"`} {
		calls = append(calls, map[string]any{"command": fmt.Sprintf(line, p)})
	}
	return append(calls, map[string]any{"file_path": p, "content": "x"}, map[string]any{"file_path": p, "old_string": "a", "new_string": "b"},
		map[string]any{"path": p, "content": "x"})
}

// toolOf names the tool of an input of changes and looks.
func toolOf(input map[string]any) string {
	switch {
	case input["command"] != nil:
		return "Bash"
	case input["old_string"] != nil:
		return "Edit"
	case input["content"] != nil && input["file_path"] != nil:
		return "Write"
	case input["content"] != nil:
		return "mcp__fs__write_file"
	case input["path"] != nil:
		return "mcp__fs__read_file"
	}
	return "Read"
}

// looks are calls that show what lies at a path.
func looks(p string) []map[string]any {
	return []map[string]any{{"command": "cat " + p}, {"command": "cp " + p + " x; cat x"}, {"file_path": p}, {"path": p}}
}

// TestThreatLinks follows links that were made earlier: T21.
func TestThreatLinks(t *testing.T) {
	w := newLinkWorld(t)
	names := append(w.linked(t, w.home+"/.claude/settings.json"), "dangling")
	for _, name := range names {
		for _, input := range changes(name) {
			if name == "dangling" && strings.Contains(fmt.Sprint(input["command"]), "chmod") {
				continue
			}
			if d, _ := w.decide(toolOf(input), input); d.Effect < hook.Ask {
				t.Errorf("%v: %s", input, d.Effect)
			}
		}
	}
	w.link(t, w.home+"/.ssh/id_rsa", "key")
	w.link(t, w.home+"/.ssh", "keys")
	for _, name := range []string{"key", "keys/id_rsa"} {
		for _, input := range looks(name) {
			if d, _ := w.decide(toolOf(input), input); d.Effect < hook.Ask {
				t.Errorf("%v: %s", input, d.Effect)
			}
		}
	}
	for _, line := range []string{"rm -rf dir/", "rm -rf twice/*", "rm -r sub/up/..", "find -L dir -delete"} {
		if d, _ := w.decide("Bash", map[string]any{"command": line}); d.Effect < hook.Ask {
			t.Errorf("%s: %s", line, d.Effect)
		}
	}
	w.link(t, "a.txt", "honest")
	for _, input := range append(changes("honest"), looks("honest")...) {
		if strings.Contains(fmt.Sprint(input["command"]), "777") {
			continue
		}
		if d, _ := w.decide(toolOf(input), input); d.Effect != hook.Pass {
			t.Errorf("%v: %s: %q", input, d.Effect, said(d))
		}
	}
}

// TestThreatCircles denies what goes through links that lead in a circle, and lets the
// link itself be looked at, moved and removed: T21.
func TestThreatCircles(t *testing.T) {
	w := newLinkWorld(t)
	w.link(t, w.project+"/loop2", "loop1")
	w.link(t, w.project+"/loop1", "loop2")
	for _, name := range []string{"loop1", "loop1/x"} {
		for _, input := range append(changes(name), looks(name)...) {
			if d, _ := w.decide(toolOf(input), input); d.Effect != hook.Deny {
				t.Errorf("%v: %s", input, d.Effect)
			}
		}
	}
	for _, line := range []string{"rm loop1", "ls -l loop1", "mv loop1 y", "ln -sfn a.txt loop1"} {
		if d, _ := w.decide("Bash", map[string]any{"command": line}); d.Effect != hook.Pass {
			t.Errorf("%s: %s: %q", line, d.Effect, said(d))
		}
	}
}

// TestThreatHardLinks judges another name of a guarded file, made earlier, as that
// file: T22.
func TestThreatHardLinks(t *testing.T) {
	w := newLinkWorld(t)
	for file, name := range map[string]string{".claude/settings.json": "s", ".ssh/id_rsa": "k", "project/a.txt": "b"} {
		if err := os.Link(w.home+"/"+file, w.project+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range changes("s") {
		if strings.Contains(fmt.Sprint(input["command"]), "777") {
			continue
		}
		if d, _ := w.decide(toolOf(input), input); d.Effect < hook.Ask {
			t.Errorf("%v: %s", input, d.Effect)
		}
	}
	for _, input := range looks("k") {
		if d, _ := w.decide(toolOf(input), input); d.Effect < hook.Ask {
			t.Errorf("%v: %s", input, d.Effect)
		}
	}
	for _, input := range append(changes("b")[:4], looks("b")...) {
		if d, _ := w.decide(toolOf(input), input); d.Effect != hook.Pass {
			t.Errorf("%v: %s: %q", input, d.Effect, said(d))
		}
	}
}

// TestThreatSwaps decides while a link is swapped to and fro: T23. Which target the
// tool will meet, nobody can say. Each decision is that about the target in its facts,
// which the log keeps.
func TestThreatSwaps(t *testing.T) {
	w := newLinkWorld(t)
	targets := []string{w.home + "/.claude/settings.json", w.project + "/a.txt"}
	name, next := w.project+"/swapped", w.project+"/next"
	w.link(t, targets[0], "swapped")
	done := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if err := errors.Join(os.Symlink(targets[i%2], next), os.Rename(next, name)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	input := map[string]any{"file_path": name, "content": "x"}
	met := map[string]int{}
	for range 300 {
		d, found := w.decide("Write", input)
		var judged []string
		for _, p := range found.Paths {
			judged = append(judged, *p.Resolved)
		}
		if len(judged) != 1 || !slices.Contains(targets, judged[0]) {
			t.Fatalf("judged %q", judged)
		}
		met[judged[0]]++
		if want := judged[0] == targets[0]; (d.Effect == hook.Deny) != want {
			t.Errorf("%s was judged: %s %q", judged[0], d.Effect, said(d))
		}
	}
	close(done)
	swaps.Wait()
	t.Logf("%v", met)
}

// TestThreatSpecialFiles names files that must not be opened, or hold no end: T24. It ends.
func TestThreatSpecialFiles(t *testing.T) {
	w := newLinkWorld(t)
	if err := syscall.Mkfifo(w.project+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"fifo", "/dev/zero", "/dev/tty", "/proc/self/mem", ".", "not-there"} {
		for _, line := range []string{"sh %s", ". %s", "python3 %s", "make -f %s", "cat %s | sh", "git -c include.path=%s status", "curl -K %s https://example.com/"} {
			_, found := w.decide("Bash", map[string]any{"command": fmt.Sprintf(line, file)})
			if len(found.Shell.Commands) == 0 {
				t.Errorf(line+": no command", file)
			}
		}
	}
}
