package drive

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gate/internal/strictjson"
)

// A limit is the time that a hook has, in seconds.
type limit int

func (l limit) duration() time.Duration { return time.Duration(l) * time.Second }

const (
	plenty  limit = 30 // of hooks that are not to be late
	scarce  limit = 2  // of those that are
	lateBy        = 6  // seconds that a late hook takes
	ending        = 3 * time.Second
	maxTail       = 600
)

// A said is how a hook answers an event.
type said struct {
	out     string // on standard output
	errs    string // on standard error
	status  int
	sleep   int    // seconds before it says anything
	killed  bool   // by a signal, after it read the event
	missing bool   // there is no such program
	only    string // answers so only to events that have this text, and has no opinion about others
}

// A scene is one run of a client.
type scene struct {
	calls  []toolCall        // what the model asks for, in one turn
	hooks  map[string][]said // by event of the kit's; several run side by side
	all    bool              // register every event that the client has
	time   limit             // of a hook; 0: plenty
	closed bool              // without the flags that let calls run unasked
	person string            // yes, no; "": nobody is there
}

// A trace is what happened in a run.
type trace struct {
	there  map[string]bool     // files that are in the project
	heard  map[string][]string // events that hooks read, by event of the kit's
	asked  bool                // the person was asked
	read   string              // what the client sent to the model
	turns  int                 // requests with tools that the model had
	status int
	late   bool // the client did not end
	tail   string
}

// how says how a run went, for people who look for what is wrong.
func (t *trace) how() string {
	end := fmt.Sprintf("it ended with status %d", t.status)
	if t.late {
		end = "it did not end in time"
	}
	text := fmt.Sprintf("%s, after %d requests to the model", end, t.turns)
	if t.tail != "" {
		text += ", and said: " + t.tail
	}
	return text
}

// play runs a scene in a home and a project of its own.
func (k *Kit) play(ctx context.Context, s scene) (*trace, error) {
	root, err := os.MkdirTemp("", "gate-hooks-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	values := map[string]any{"{root}": root, "{home}": filepath.Join(root, "home"), "{project}": filepath.Join(root, "project"), "{prompt}": "please do the task"}
	m, err := startModel([]turn{fillCalls(s.calls, values)})
	if err != nil {
		return nil, err
	}
	defer m.stop()
	values["{model}"] = m.base
	for _, dir := range []string{"home", "project", "hooks", "heard"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := k.files(root, s, values); err != nil {
		return nil, err
	}
	t, err := k.start(ctx, s, values)
	if err != nil {
		return nil, err
	}
	t.read, t.turns = m.read()
	return t, t.look(root, k.Host.Events)
}

// fillCalls puts a run's places into the arguments of calls.
func fillCalls(calls []toolCall, values map[string]any) []toolCall {
	var list []toolCall
	for _, c := range calls {
		c.Args, _ = fill(c.Args, values).(map[string]any)
		list = append(list, c)
	}
	return list
}

// files writes the client's configuration, with hooks.
func (k *Kit) files(root string, s scene, values map[string]any) error {
	hooks := map[string]any{}
	wait := cmp.Or(s.time, plenty)
	for event, native := range k.Host.Events {
		list := s.hooks[event]
		if list == nil && (s.all || event == "call") {
			list = []said{{}}
		}
		var entries []any
		for i, one := range list {
			command, err := k.hook(root, event, i, one)
			if err != nil {
				return err
			}
			if _, set := values["{gate plugin}"]; !set {
				values["{gate plugin}"] = plugin(command, wait)
			}
			entries = append(entries, fill(k.entry(), map[string]any{"{command}": command[0] + " '" + command[1] + "'", "{seconds}": int(wait), "{milliseconds}": int(wait) * 1000}))
		}
		if entries != nil {
			hooks[native] = entries
		}
	}
	values["{hooks}"] = hooks
	for _, path := range slices.Sorted(maps.Keys(k.Host.Files)) {
		file, _ := fill(path, values).(string)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		content := fill(k.Host.Files[path], values)
		text, plain := content.(string)
		if !plain {
			text = string(strictjson.Append(nil, content))
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hook writes a program of sh that keeps the event and answers, and returns how it is started.
func (k *Kit) hook(root, event string, i int, s said) ([]string, error) {
	name := fmt.Sprintf("%s-%d", event, i)
	file := filepath.Join(root, "hooks", name+".sh")
	var b strings.Builder
	heard := filepath.Join(root, "heard", name)
	fmt.Fprintf(&b, "f='%s'.$$\ncat > \"$f\"\n", heard)
	none := k.none()
	for _, only := range []string{s.only, k.alone()} {
		if only != "" {
			fmt.Fprintf(&b, "grep -q '%s' \"$f\" || { cat '%s.none'; exit 0; }\n", only, file)
		}
	}
	if s.killed {
		b.WriteString("kill -KILL $$\n")
	}
	if s.sleep > 0 {
		fmt.Fprintf(&b, "sleep %d\n", s.sleep)
	}
	out := s.out
	if out == "" && s.status == 0 && s.errs == "" {
		out = none
	}
	fmt.Fprintf(&b, "cat '%s.out'\ncat '%s.err' >&2\nexit %d\n", file, file, s.status)
	written := map[string]string{"": b.String(), ".out": out, ".err": s.errs, ".none": none}
	if s.missing {
		delete(written, "")
	}
	for end, text := range written {
		if err := os.WriteFile(file+end, []byte(text), 0o755); err != nil {
			return nil, err
		}
	}
	if s.missing {
		return []string{filepath.Join(root, "hooks", "no-such-program"), file}, nil
	}
	return []string{"/bin/sh", file}, nil
}

// entry is how one hook is configured, nil where the client's plugin asks a single program.
func (k *Kit) entry() any {
	if own := k.Host.Modes[k.Mode].Entry; own != nil {
		return own
	}
	return k.Host.Entry
}

// alone is the text that marks events before a call, where one program gets all events.
func (k *Kit) alone() string {
	if k.entry() == nil {
		return k.Host.Events["call"]
	}
	return ""
}

// none is what a hook without an opinion prints.
func (k *Kit) none() string {
	if v := k.Host.Answers["none"]; v != nil {
		return string(strictjson.Append(nil, v))
	}
	return ""
}

// environment is what the client sees of this machine: the programs, and a dead proxy, so
// that nothing but the model's address can be reached by programs that heed it.
func (k *Kit) environment(values map[string]any) []string {
	home := values["{home}"].(string)
	env := map[string]string{
		"PATH": k.Path, "HOME": home, "USER": "user", "SHELL": "/bin/sh", "TERM": "dumb", "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1",
		"XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local/share", "XDG_CACHE_HOME": home + "/.cache", "XDG_STATE_HOME": home + "/.local/state",
		"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost", "TMPDIR": values["{root}"].(string),
	}
	for name, text := range k.Host.Run.Env {
		env[name], _ = fill(text, values).(string)
	}
	for name, text := range k.Env {
		env[name] = text
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// start runs the client until it ends, or is ended.
func (k *Kit) start(ctx context.Context, s scene, values map[string]any) (*trace, error) {
	mode := k.Host.Modes[k.Mode]
	flags := mode.Args
	if !s.closed {
		flags = slices.Concat(mode.Args, mode.Open)
	}
	args := k.Host.Run.Args
	if s.person != "" {
		args = k.Host.Person.Args
	}
	if i := slices.Index(args, "{flags}"); i >= 0 {
		args = slices.Concat(args[:i], flags, args[i+1:])
	}
	args = slices.Concat(k.Command[1:], fillAll(args, values))
	ctx, cancel := context.WithTimeout(ctx, k.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Command[0], args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = values["{project}"].(string), k.environment(values), ending
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd.Process); return nil }
	t := &trace{there: map[string]bool{}, heard: map[string][]string{}}
	var errs tail
	cmd.Stderr = &errs
	var err error
	var out tail
	if s.person == "" {
		cmd.Stdout = &out
		err = cmd.Run()
	} else {
		err = k.talk(cmd, s.person, values, t, &out)
	}
	if cmd.Process == nil {
		return nil, fmt.Errorf("%s does not start: %w", strictjson.Visible(k.Command[0]), err)
	}
	endGroup(cmd.Process)
	t.status, t.late = cmd.ProcessState.ExitCode(), ctx.Err() != nil
	t.tail = strictjson.OneLine(strings.TrimSpace(errs.String() + " " + out.String()))
	return t, nil
}

// talk plays the person of a scene.
func (k *Kit) talk(cmd *exec.Cmd, answer string, values map[string]any, t *trace, keep io.Writer) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(out, 1<<16)
	text := ""
	for {
		for _, l := range k.Host.Person.Say {
			groups := regexp.MustCompile(l.On).FindStringSubmatch(text) // Read compiled it
			if (l.On == "") != (text == "") || groups == nil {
				continue
			}
			send := l.Send
			if l.Yes != "" {
				t.asked = true
				if send = l.No; answer == "yes" {
					send = l.Yes
				}
			}
			send, _ = fill(send, values).(string)
			for i, group := range groups {
				send = strings.ReplaceAll(send, "{"+strconv.Itoa(i)+"}", group)
			}
			if send != "" {
				io.WriteString(in, send+"\n") // a client that has gone says so by its output's end
			}
			if l.End {
				in.Close()
			}
		}
		if text, err = lines.ReadString('\n'); err != nil {
			break
		}
		keep.Write([]byte(text))
	}
	return cmd.Wait()
}

// look reads what hooks heard, and which files are there.
func (t *trace) look(root string, native map[string]string) error {
	list, err := os.ReadDir(filepath.Join(root, "heard"))
	if err != nil {
		return err
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(root, "heard", e.Name()))
		if err != nil {
			return err
		}
		event, _, _ := strings.Cut(e.Name(), "-")
		for name, word := range native {
			if strings.Contains(string(data), `"hook_event_name":"`+word+`"`) {
				event = name
			}
		}
		t.heard[event] = append(t.heard[event], string(data))
	}
	for _, name := range []string{original, rewritten, second} {
		_, err := os.Lstat(filepath.Join(root, "project", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		t.there[name] = err == nil
	}
	return nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	lock sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - maxTail; extra > 0 {
		t.data = append([]byte(nil), t.data[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return string(bytes.ToValidUTF8(t.data, nil))
}

// Version asks the client for its version.
func (k *Kit) Version(ctx context.Context) (string, error) {
	match, err := regexp.Compile(k.Host.Version.Match)
	if err != nil || len(k.Host.Version.Args) == 0 {
		return "", ErrNoVersion
	}
	dir, err := os.MkdirTemp("", "gate-hooks-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(k.Limit, DefaultLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Command[0], slices.Concat(k.Command[1:], k.Host.Version.Args)...)
	cmd.Dir, cmd.WaitDelay = dir, ending
	cmd.Env = k.environment(map[string]any{"{home}": dir, "{root}": dir, "{project}": dir, "{model}": "http://127.0.0.1:9"})
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s does not say its version: %w", strictjson.Visible(k.Command[0]), err)
	}
	groups := match.FindSubmatch(out)
	if len(groups) < 2 {
		return "", ErrNoVersion
	}
	return string(groups[1]), nil
}
