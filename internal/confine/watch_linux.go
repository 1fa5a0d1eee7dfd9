package confine

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gate/internal/confine/repository"
	"gate/internal/strictjson"
)

// A program that has the launcher killed, such as by running for too long, must not thereby
// keep what it left from being set aside. So a process of its own waits for the end of the
// launcher. Where the launcher has done the work it says so, and the process ends. Otherwise
// the process becomes a launcher that only sweeps.

// A watch is a process that waits for the end of the launcher.
type watch struct{ done int }

// highest are the numbers from which on a watch keeps its files.
const highest = 700

// newWatch starts a watch. It is called before the program begins.
func (l *layout) newWatch(before snapshot) (*watch, error) {
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &most); err != nil || most.Cur < highest+2 {
		return nil, fmt.Errorf("this account can have only %d files open", most.Cur)
	}
	plan, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(plan)
	document := strictjson.Append(nil, l.document(before))
	if len(document) > mostPlan {
		return nil, fmt.Errorf("too many files of the project start by themselves: the plan has %d bytes, and %d are allowed", len(document), mostPlan)
	}
	if err := writeAll(plan, document); err != nil {
		return nil, err
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(null)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	w := &watch{done: pipe[1]}
	defer unix.Close(pipe[0])
	if err := w.fork(null, pipe[0], plan); err != nil {
		unix.Close(w.done)
		return nil, err
	}
	return w, nil
}

// fork starts the process: a child of nobody, in a session of its own, that holds nothing of
// the caller's.
func (w *watch) fork(null, end, plan int) error {
	s := newScript()
	s.call("leave the session", unix.SYS_SETSID).how = may
	for fd := range uintptr(3) {
		s.call("close files", unix.SYS_DUP3, uintptr(null), fd, 0)
	}
	s.call("hold a file", unix.SYS_DUP3, uintptr(end), highest, unix.O_CLOEXEC)
	s.call("hold a file", unix.SYS_DUP3, uintptr(plan), highest+1, 0)
	s.call("close files", unix.SYS_CLOSE_RANGE, 3, highest-1, 0)
	s.call("close files", unix.SYS_CLOSE_RANGE, highest+2, uintptr(^uint32(0)), 0)
	s.call("wait", unix.SYS_READ, highest, addr(s, new([8]byte)), 1).how = unlessMore
	c := &child{all: ^uint64(0)}
	s.call("reset signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, addr(s, &c.mask), 0, 8)
	s.call("sweep", unix.SYS_EXECVE, s.text("/proc/self/exe"), s.texts([]string{"gate-run", SweepFlag, strconv.Itoa(highest + 1)}), s.texts(nil))
	c.program = s.part()
	c.prepare()
	pid, errno := c.shielded(sharing|unix.CLONE_VFORK, wayWatch)
	runtime.KeepAlive(c)
	runtime.KeepAlive(s)
	if errno != 0 {
		return errno
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(int(pid), &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	if failed := status.ExitStatus(); failed != 0 {
		return fmt.Errorf("the process that waits for the end could not start: %w", syscall.Errno(failed))
	}
	return nil
}

// end has the watch end: what it is there for was done. A nil watch needs no end.
func (w *watch) end() {
	if w == nil {
		return
	}
	unix.Write(w.done, []byte{1})
	unix.Close(w.done)
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil && err != unix.EINTR {
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}

// mostPlan is how many bytes the plan of a sweep may have.
const mostPlan = 64 << 20

// Sweep finishes the work of a launcher that was killed, by the plan in an open file: it
// sets aside what its program has left.
func Sweep(fd int) error {
	time.Sleep(sweepAfter)
	if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), "plan")
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostPlan))
	if err != nil {
		return err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: mostPlan, Keys: mostPlan}) // every key takes a byte
	if err != nil {
		return err
	}
	l, before, err := layoutFrom(doc)
	if err != nil {
		return err
	}
	l.after(before)
	l.takeOver()
	if l.staged != "" {
		removeStage(l.staged)
	}
	return nil
}

// sweepAfter is how long the kernel gets to end a killed launcher's processes: all of them
// are told to end before the launcher is gone.
const sweepAfter = 500 * time.Millisecond

// document is what [layout.after] needs of a layout, as a JSON tree; paths are in base64.
func (l *layout) document(before snapshot) map[string]any {
	var dirs, git []string
	for _, m := range l.mounts {
		if m.kind == bound && m.dir && m.write && m.from == m.at {
			dirs = append(dirs, m.at)
		}
	}
	for dir := range l.git {
		git = append(git, dir)
	}
	slices.Sort(git)
	var marks []string
	for name, mark := range before {
		marks = append(marks, name+"\x00"+mark)
	}
	var layers []string
	for _, m := range l.mounts {
		if m.base != nil {
			texts := m.base.Texts()
			layers = append(append(layers, m.store, strconv.Itoa(len(texts))), texts...)
		}
	}
	doc := map[string]any{}
	for name, list := range map[string][]string{
		"dirs": dirs, "git": git, "held": l.held, "watch": l.watch, "masks": l.masks, "place": {l.tables.world.Home, l.tables.world.Project}, "before": marks,
		"layers": layers, "staged": {l.staged},
	} {
		texts := make([]any, len(list))
		for i, text := range list {
			texts[i] = base64.StdEncoding.EncodeToString([]byte(text))
		}
		doc[name] = texts
	}
	return doc
}

// layoutFrom reads what [layout.document] has written.
func layoutFrom(doc map[string]any) (l *layout, before snapshot, err error) {
	lists := map[string][]string{}
	for _, name := range []string{"dirs", "git", "held", "watch", "masks", "place", "before", "layers", "staged"} {
		for _, text := range strictjson.Texts(doc[name]) {
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, nil, err
			}
			lists[name] = append(lists[name], string(data))
		}
	}
	if len(lists["place"]) != 2 || len(lists["staged"]) != 1 {
		return nil, nil, fmt.Errorf("the plan says no place")
	}
	l = &layout{
		tables: newTables(Place{Home: lists["place"][0], Project: lists["place"][1]}),
		held:   lists["held"], watch: lists["watch"], masks: lists["masks"], git: map[string]bool{},
	}
	for _, dir := range lists["git"] {
		l.git[dir] = true
	}
	for _, dir := range lists["dirs"] {
		l.mounts = append(l.mounts, mount{at: dir, from: dir, write: true, dir: true})
	}
	l.staged = lists["staged"][0]
	for list := lists["layers"]; len(list) > 1; {
		n, err := strconv.Atoi(list[1])
		if err != nil || n < 0 || n > len(list)-2 {
			return nil, nil, fmt.Errorf("the plan says no repository")
		}
		base, err := repository.FromTexts(list[2 : 2+n])
		if err != nil {
			return nil, nil, err
		}
		l.mounts = append(l.mounts, mount{at: base.Git, kind: layered, store: list[0], base: base})
		list = list[2+n:]
	}
	before = snapshot{}
	for _, text := range lists["before"] {
		name, mark, _ := strings.Cut(text, "\x00")
		before[name] = mark
	}
	return l, before, nil
}
