package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/setting"
)

// inherited are the variables that every command gets, where they are set.
// Others it has to name.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR",
	"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
	"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles",
}

// reserved are the beginnings of names that only gate sets.
var reserved = []string{"GATE_", "HOOK_", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_ENV_FILE"}

// command runs a program: the event goes to its standard input, and what it
// says and how it ends is the answer.
func (h *Handlers) command(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	if hears := speaks(by).hears; hears != nil {
		if ev = hears(h, by, ev); ev == nil {
			return engine.Answer{}
		}
	}
	j, err := h.job(ctx, by, ev)
	if err != nil {
		return commandAnswer(by, ev, &result{Err: err.Error()})
	}
	r := h.start(ctx, j)
	if r.Async {
		return engine.Answer{}
	}
	return commandAnswer(by, ev, &r)
}

// cut bounds a text that goes to the agent.
func cut(s string) string {
	const most = 16 << 10
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func lastLine(s string) string { return oneLine(s[strings.LastIndexByte(s, '\n')+1:]) }

// start runs a job: below a supervisor where there is one, else below this
// process.
func (h *Handlers) start(ctx context.Context, j *job) result {
	if len(h.Supervisor) > 0 {
		return supervised(ctx, h.Supervisor, j)
	}
	done, goOn := make(chan result, 1), make(chan struct{})
	go func() {
		r := run(ctx, j, false, func() { close(goOn) })
		select {
		case <-goOn:
			j.Late.keep(&r, h.Now())
		default:
			done <- r
		}
	}()
	select {
	case r := <-done:
		return r
	case <-goOn:
		return result{Async: true}
	}
}

// job is what a hook wants to have run for an event.
func (h *Handlers) job(ctx context.Context, by *hook.Hook, ev *hook.Event) (*job, error) {
	p := speaks(by)
	stdin, err := p.stdin(h, by, ev)
	if err != nil {
		return nil, err
	}
	var mark [16]byte
	rand.Read(mark[:]) // never fails
	j := &job{
		Dir: h.dirOf(by, ev), Stdin: stdin, Detaches: p.detaches != nil && p.detaches(by),
		Mark: fmt.Sprintf("GATE_RUN=%x", mark), Limit: timeouts[hook.Command],
		Limits: h.Limits, Late: h.late(by, ev),
	}
	if by.Timeout > 0 {
		j.Limit = by.Timeout
	}
	if by.Async {
		j.Async = &asyncJob{asyncLimit}
		if by.Timeout > 0 {
			j.Async.Limit = min(by.Timeout, maxAsync)
		}
	} else if deadline, ok := ctx.Deadline(); ok {
		j.Limit = min(j.Limit, time.Until(deadline))
	}
	j.Env = append(h.environment(by, ev), j.Mark)
	j.Path, j.Args, err = h.argv(by)
	return j, err
}

// argv is what a hook wants to have run: a Python function, a program with
// arguments, or a line for the shell.
func (h *Handlers) argv(by *hook.Hook) (path string, argv []string, err error) {
	if speaks(by) == &massgenCallable {
		return h.python(by)
	}
	line, _ := by.Config["command"].(string)
	args, exact := by.Config["args"].([]any)
	if !exact {
		path, err = h.shell()
		return path, []string{"sh", "-c", h.inSource(by, line)}, err
	}
	argv = []string{line}
	for _, a := range args {
		s, _ := a.(string)
		argv = append(argv, h.filledIn(by, s))
	}
	path, err = h.program(by, h.filledIn(by, line))
	return path, argv, err
}

// filledIn puts the directories in that Claude Code's hooks name in their
// arguments, where no shell does.
func (h *Handlers) filledIn(by *hook.Hook, s string) string {
	if by.Dialect != moment.Claude {
		return s
	}
	pairs := []string{"${CLAUDE_PROJECT_DIR}", h.Project}
	if by.Scope == hook.Plugin {
		pairs = append(pairs, "${CLAUDE_PLUGIN_ROOT}", h.Dirs[by.Source])
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// shell finds the POSIX shell.
func (h *Handlers) shell() (string, error) {
	if runtime.GOOS != "windows" {
		return "/bin/sh", nil
	}
	path, err := h.search("sh.exe")
	if err != nil {
		return "", errors.New("there is no sh here; give the program in command and the rest in args")
	}
	return path, nil
}

// dirOf is where a command runs: the agent's directory, or the next best that
// is there.
func (h *Handlers) dirOf(by *hook.Hook, ev *hook.Event) string {
	for _, dir := range []string{ev.Dir(), h.Project, h.Dirs[by.Source]} {
		if !filepath.IsAbs(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return filepath.VolumeName(os.TempDir()) + string(filepath.Separator)
}

// program finds the program that a hook with args names. What is relative is
// the source's own file, never one of where the agent is.
func (h *Handlers) program(by *hook.Hook, name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	own := h.own(by, name)
	if own != "" {
		return own, nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("there is no %s in the directory of %s", oneLine(name), by.Source)
	}
	return h.search(name)
}

// own returns the path of a file of the hook's source, "" if it has none of
// that name.
func (h *Handlers) own(by *hook.Hook, name string) string {
	dir := h.Dirs[by.Source]
	if dir == "" || !filepath.IsLocal(name) {
		return ""
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// search looks a program up in the absolute directories of PATH.
func (h *Handlers) search(name string) (string, error) {
	path, _ := h.lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in PATH", oneLine(name))
}

// inSource has a shell line that begins with a file of the hook's source run
// that file: "./check.sh" and "check.sh" must not be what lies in the agent's
// directory, which the agent may have written.
func (h *Handlers) inSource(by *hook.Hook, line string) string {
	word, rest := setting.CommandWord(line)
	if word == "" {
		return line
	}
	path := h.own(by, strings.TrimPrefix(word, "./"))
	switch {
	case path == "" && strings.Contains(word, "/") && !strings.HasPrefix(word, "/"):
		path = filepath.Join(h.Dirs[by.Source], word) // it is not there, and the shell will say so
		if h.Dirs[by.Source] == "" {
			path = "/nonexistent/" + word
		}
	case path == "":
		return line
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" + rest
}

// environment is what a command sees: a short list, what its hook names, and
// what the event is about.
func (h *Handlers) environment(by *hook.Hook, ev *hook.Event) []string {
	p := speaks(by)
	names := slices.Clone(p.inherits)
	if list, _ := by.Config["env"].([]any); p.named {
		for _, v := range list {
			if s, ok := v.(string); ok && !slices.ContainsFunc(reserved, func(p string) bool { return strings.HasPrefix(s, p) }) {
				names = append(names, s)
			}
		}
	}
	slices.Sort(names)
	var env []string
	for _, name := range slices.Compact(names) {
		if v, ok := h.lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	p.variables(h, by, ev, func(name, value string) { env = append(env, name+"="+value) })
	return env
}

// lookup looks a variable of the environment up. Of PATH only the absolute
// directories count: others would be where the agent is, which may have written
// what lies there.
func (h *Handlers) lookup(name string) (string, bool) {
	if h.Getenv == nil {
		return "", false
	}
	value, ok := h.Getenv(name)
	if name != "PATH" {
		return value, ok
	}
	dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator)), len(dirs) > 0
}
