//go:build unix

package facts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/facts"
	"gate/hook"
)

// A sandbox is a scratch directory in which bash runs lines. The only programs
// on its PATH are recorders.
type sandbox struct {
	bash   string
	root   string
	env    []string
	reader *facts.Reader
}

// programs that lines call by PATH from where bash's own handler for unknown
// names does not reach: exec, xargs, another shell.
var linked = []string{"p", "q", "rm", "mv", "cp", "git", "ls", "touch", "curl", "sudo", "make", "npm", "go", "grep", "sink", "ssh", "chmod", "ln", "dd", "python", "watch", "time"}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	version, err := exec.Command(bash, "--norc", "--noprofile", "-c", "echo $BASH_VERSINFO").Output()
	if v := strings.TrimSpace(string(version)); err != nil || len(v) == 1 && v < "4" {
		t.Skipf("bash 4 or newer is needed to compare with, this is %q", v)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &sandbox{bash: bash, root: root}
	must(t, os.MkdirAll(b.path("bin"), 0o755))
	must(t, os.MkdirAll(b.path("home", "dir"), 0o755))
	for name := range harmless {
		must(t, os.Symlink(self, b.path("bin", name)))
	}
	for _, name := range linked {
		must(t, os.Symlink(self, b.path("bin", name)))
	}
	must(t, os.Symlink(self, b.path("recorder")))
	b.env = []string{
		"PATH=" + b.path("bin"), "HOME=" + b.path("home"), "USER=dev", "LC_ALL=C.UTF-8", recordLog + "=" + b.path("log"),
		recordReal + "=" + filepath.Dir(bash) + ":/usr/local/bin:/usr/bin:/bin",
		"BASH_FUNC_command_not_found_handle%%=() { ( exec -a \"$1\" '" + b.path("recorder") + "' \"${@:2}\" ); }",
	}
	b.reader = facts.New(facts.World{
		Home: b.path("home"), User: "dev", OS: "linux", Project: b.path("work"), Files: diskFiles{b.root},
		Getenv: func(string) (string, bool) { return "", false },
	})
	return b
}

func (b *sandbox) path(names ...string) string {
	return filepath.Join(append([]string{b.root}, names...)...)
}

// clean makes the directory that every line starts in.
func (b *sandbox) clean(t testing.TB) {
	must(t, os.RemoveAll(b.path("work")))
	for _, dir := range []string{"a/b", "c", "d e"} {
		must(t, os.MkdirAll(b.path("work", dir), 0o755))
	}
	for _, file := range []string{"x.txt", "y.txt", "z.go", "a/one", "a/b/two", "c/three", ".hidden"} {
		must(t, os.WriteFile(b.path("work", file), []byte("text of "+file+"\n"), 0o644))
	}
	must(t, os.Symlink(b.path("recorder"), b.path("work", "tool")))
	must(t, os.WriteFile(b.path("log"), nil, 0o644))
}

// run gives a line to bash and returns the programs it called.
func (b *sandbox) run(t testing.TB, line string, options ...string) []call {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bash, append(append([]string{"--norc", "--noprofile"}, options...), "-c", line)...)
	cmd.Args[0] = "bash"
	cmd.Dir, cmd.Env = b.path("work"), b.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer // until everything that holds it has ended
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("bash does not end: %v\n%s", err, line)
	}
	if cmd.Process != nil { // what the line left in the background
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	calls, err := readCalls(b.path("log"))
	must(t, err)
	return calls
}

// compare runs a line in bash and returns its facts, and what they do not say
// about the programs that it called.
func (b *sandbox) compare(t testing.TB, line string, options ...string) (f *hook.Facts, missed []string) {
	t.Helper()
	b.clean(t)
	ev := event(line)
	ev.Fields["cwd"] = b.path("work")
	f = b.reader.Of(ev)
	calls := b.run(t, line, options...)
	if slices.ContainsFunc(f.Unknown, structural) {
		return f, nil
	}
	if slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return hook.Tree(&e)["runs"] == "start-up code" }) {
		return f, nil // BASH_ENV: that something runs first is said
	}
	for _, c := range calls {
		if c.argv[0] == "" {
			continue // there is no program without a name
		}
		if why := listed(f, c); why != "" {
			missed = append(missed, why)
		}
	}
	return f, missed
}

// listed returns "" when facts have a command that is the call.
func listed(f *hook.Facts, c call) string {
	why := "not listed"
	for _, cmd := range f.Shell.Commands {
		if slices.ContainsFunc(cmd.Via, func(v string) bool { return strings.Fields(v)[0] == path.Base(c.argv[0]) }) {
			return "" // a wrapper is named by what it wraps
		}
		found := slices.ContainsFunc(cmd.Via, func(v string) bool { return v == "find" })
		if !sameWords(cmd.Words, c.argv, found) {
			continue
		}
		switch {
		case cmd.Dir != nil && *cmd.Dir != c.dir && !found: // -execdir
			why = fmt.Sprintf("listed in directory %s, ran in %s", *cmd.Dir, c.dir)
		case !sameEnv(cmd.Env, c.env):
			why = fmt.Sprintf("listed with other variables: %v", values(cmd.Env))
		case c.stdin != nil && cmd.Stdin != nil && cmd.Stdin.Text != nil && *cmd.Stdin.Text != *c.stdin:
			why = fmt.Sprintf("listed with input %q, read %q", *cmd.Stdin.Text, *c.stdin)
		default:
			return ""
		}
	}
	return fmt.Sprintf("%q: %s", c.argv, why)
}

func values(env map[string]*string) string {
	var b strings.Builder
	for k, v := range env {
		if v != nil {
			fmt.Fprintf(&b, "%s=%q ", k, *v)
		}
	}
	return b.String()
}

func sameEnv(want map[string]*string, got map[string]string) bool {
	for name, v := range want {
		if v != nil && got[name] != *v && !strings.ContainsAny(*v, "*?[") {
			return false
		}
	}
	return true
}

// sameWords matches the words of a command with arguments. A word that is not
// known is any number of arguments, a pattern those that it may match, and a
// directory of find what is found in it.
func sameWords(words []hook.Word, argv []string, found bool) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	v := words[0].Value
	if v != nil && len(argv) > 0 && (*v == argv[0] || strings.HasPrefix(*v, "/dev/fd/") && strings.HasPrefix(argv[0], "/dev/fd/")) {
		return sameWords(words[1:], argv[1:], found)
	}
	if v != nil && !strings.ContainsAny(*v, "*?[") && !found {
		return false
	}
	for n := range len(argv) + 1 {
		if sameWords(words[1:], argv[n:], found) {
			return true
		}
		if n < len(argv) && v != nil && !stands(*v, argv[n], found) {
			return false
		}
	}
	return false
}

// stands reports that an argument can come from a word of which only a pattern
// or a directory is known.
func stands(word, arg string, found bool) bool {
	if found && (strings.HasPrefix(arg, word+"/") || strings.HasPrefix(arg, "./")) || strings.ContainsAny(word, "[") || word == "**" {
		return true
	}
	ok, err := path.Match(strings.ToLower(word), strings.ToLower(arg))
	return ok && err == nil
}

// TestBash gives lines to a real bash: every program that it calls must be
// among the commands that facts list, unless facts say that they do not know.
// What facts do not know is written after each line in testdata/bash.txt.
func TestBash(t *testing.T) {
	const file = "testdata/bash.txt"
	b := newSandbox(t)
	var out strings.Builder
	entries := readEntries(t, file)
	opaque := 0
	for _, e := range entries {
		var f *hook.Facts
		for _, options := range modes(e.line) {
			var missed []string
			f, missed = b.compare(t, e.line, options...)
			for _, why := range missed {
				t.Errorf("%s\n%s", e.line, why)
			}
		}
		got := unknowns(f)
		if got != e.unknown && !*update {
			t.Errorf("%s\nnot known: %q, want %q", e.line, got, e.unknown)
		}
		out.WriteString(e.comment + "$ " + strings.ReplaceAll(e.line, "\n", "\n> ") + "\n")
		if got != "" {
			opaque++
			out.WriteString("? " + got + "\n")
		}
	}
	if *update {
		must(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	t.Logf("%d lines, of %d facts do not know all", len(entries), opaque)
}

// modes are the options that bash runs a line with.
func modes(line string) [][]string {
	if strings.Contains(line, "alias") {
		return [][]string{nil, {"-O", "expand_aliases"}}
	}
	return [][]string{nil}
}

// diskFiles reads files below a directory only.
type diskFiles struct{ root string }

func (d diskFiles) inside(name string) bool {
	return name == d.root || strings.HasPrefix(name, d.root+"/")
}

func (d diskFiles) Lstat(name string) (fs.FileInfo, error) {
	if !d.inside(name) {
		return nil, fs.ErrNotExist
	}
	return os.Lstat(name)
}

func (d diskFiles) Readlink(name string) (string, error) {
	if !d.inside(name) {
		return "", fs.ErrNotExist
	}
	return os.Readlink(name)
}

func (d diskFiles) ReadFile(name string, limit int) ([]byte, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(limit) {
		return nil, errors.New("not a small regular file")
	}
	return os.ReadFile(name)
}
