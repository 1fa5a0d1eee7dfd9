package confine

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gate/internal/confine/profile"
	"gate/internal/confine/proxy"
)

// Run runs the program and waits for its end. An error means that it did not run at all, as
// far as that is known: an Outcome beside it says what was found all the same.
func (c Command) Run() (Outcome, error) {
	if len(c.Args) == 0 {
		return Outcome{}, errors.New("there is no program to run")
	}
	version := landlock()
	if why := missing(version); why != "" {
		return Outcome{}, fmt.Errorf("nothing can be confined here: %s", why)
	}
	out, err := c.full(version)
	var lack *lackError
	if !errors.As(err, &lack) {
		return out, err
	}
	if strings.HasPrefix(lack.step, "lay a copy") {
		c.Store = "" // the kernel lays nothing over: caches cannot be changed
		return c.Run()
	}
	if why := onlyFull(c.Profile, version); why != "" {
		return Outcome{}, fmt.Errorf("profile %s cannot be held here: %w, and without that %s", c.Profile.Name, lack, why)
	}
	return c.files(version)
}

// A lackError says what the kernel refused while everything was set up.
type lackError struct {
	step string
	err  error
}

func (e *lackError) Error() string {
	if e.step == "" {
		return "this account cannot make namespaces: " + e.err.Error()
	}
	return "cannot " + e.step + ": " + e.err.Error()
}

func (e *lackError) Unwrap() error { return e.err }

// full runs the program in namespaces of its own. What takes long is done side by side:
// init enters its namespaces while this process finds out what the program is to see.
func (c Command) full(version int) (Outcome, error) {
	exit, err := c.exit()
	if err != nil {
		return Outcome{}, err
	}
	r, err := newRun()
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	r.exit = exit
	r.start(namespaces, func(s *script) {
		s.enter(c.Profile.Limits)
		if exit != nil {
			s.listen(theirs)
		}
	})
	stores, unlock, err := c.stores()
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	l, err := lay(c.Profile, c.Place, stores, c.Store != "", c.Env)
	if err != nil {
		return Outcome{}, err
	}
	unstage, err := l.stage(c.Store)
	if err != nil {
		return Outcome{}, err
	}
	defer unstage()
	env := environ(c.Profile, c.Env, tempDir)
	program, dir, err := c.find(l, env)
	if err != nil {
		return Outcome{}, err
	}
	for _, name := range l.stubs {
		s, err := newStub(name)
		if err != nil {
			return Outcome{}, err
		}
		defer s.done()
	}
	setup := newScript()
	setup.newRoot(l, dir)
	setup.abdicate()
	var before snapshot
	var w *watch
	defer func() { w.end() }()
	out, err := r.run(setup, func() (s *script, err error) {
		before = l.look()
		if slices.ContainsFunc(l.mounts, func(m mount) bool { return l.changes(m.at) }) {
			if w, err = l.newWatch(before); err != nil {
				return nil, fmt.Errorf("nothing would look for what the program leaves, were this process killed: %w", err)
			}
		}
		s = newScript()
		s.landlock(version, only(c.Profile, l.tables, l.grants()))
		s.limit(c.Profile.Limits)
		s.seccomp(ofNamespaces(version))
		s.exec(r, program, c.Args, env)
		return s, nil
	})
	out.Level = Full
	if err == nil || r.ready { // after a failure as well, since something may have run by then
		var whole bool
		out.Planted, whole = l.after(before)
		out.Unsearched = !whole
		out.Repository = l.takeOver()
	}
	if exit != nil {
		out.Refused = exit.Refused()
	}
	return out, err
}

// files runs the program restricted by Landlock and seccomp alone.
func (c Command) files(version int) (Outcome, error) {
	l, err := lay(c.Profile, c.Place, nil, false, c.Env)
	if err != nil {
		return Outcome{}, err
	}
	if i := slices.IndexFunc(l.mounts, func(m mount) bool { return m.kind == again && !m.write }); i >= 0 {
		return Outcome{}, fmt.Errorf("profile %s cannot be held here: without namespaces nothing keeps %s as it is", c.Profile.Name, l.mounts[i].at)
	}
	temp, err := os.MkdirTemp("", "gate-run-")
	if err != nil {
		return Outcome{}, err
	}
	defer os.RemoveAll(temp)
	env := environ(c.Profile, c.Env, temp)
	program, dir, err := c.find(l, env)
	if err != nil {
		return Outcome{}, err
	}
	grants, err := l.enumerated(temp)
	if err != nil {
		return Outcome{}, err
	}
	r, err := newRun()
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	s := newScript()
	s.call("enter "+dir, unix.SYS_CHDIR, s.text(dir))
	s.call("tie itself to the launcher", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	s.landlock(version, only(c.Profile, l.tables, grants))
	s.limit(c.Profile.Limits)
	s.seccomp(newFilter(filterFor{families: []uint32{unix.AF_NETLINK}}))
	s.exec(r, program, c.Args, env)
	out, err := r.run(nil, func() (*script, error) { return s, nil })
	out.Level = Files
	return out, err
}

// onlyFull says why a profile can be held with namespaces only; "" where it need not.
func onlyFull(p Profile, version int) string {
	if version < landlockScopes {
		return "signals to other programs could not be held by this version of Landlock"
	}
	return p.OnlyFull()
}

// find looks the program up, and the directory that it starts in, as it will see them.
func (c Command) find(l *layout, env []string) (program, dir string, err error) {
	dir, _, err = l.tables.physical(c.Dir)
	if err != nil {
		return "", "", err
	}
	if !l.sees(dir) {
		return "", "", fmt.Errorf("profile %s does not let a program see %s, where it would start", c.Profile.Name, c.Dir)
	}
	found := &ProgramError{Name: c.Args[0], Err: errors.New("not found")}
	for _, name := range lookIn(c.Args[0], env, dir) {
		real, _, err := l.tables.physical(name)
		if err != nil {
			continue
		}
		info, err := os.Stat(real)
		switch {
		case err != nil:
		case !l.sees(real):
			found = &ProgramError{Name: c.Args[0], Err: fmt.Errorf("profile %s does not let it be seen", c.Profile.Name)}
		case info.IsDir() || info.Mode()&0o111 == 0:
			found = &ProgramError{Name: c.Args[0], Found: true, Err: syscall.EACCES}
		default:
			return name, dir, nil
		}
	}
	return "", "", found
}

// mostStores is how many runs in one project at the same time have caches that they can
// change.
const mostStores = 16

// stores makes the directories for the changes of caches, and keeps other runs out of
// them.
func (c Command) stores() (stores []string, unlock func(), err error) {
	if c.Store == "" || len(c.Profile.Cache) == 0 {
		return nil, func() {}, nil
	}
	for n := range mostStores {
		dir := fmt.Sprintf("%s/%d", c.Store, n)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, fmt.Errorf("caches: %w", err)
		}
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("caches: %w", err)
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
			unix.Close(fd)
			continue
		}
		for _, name := range c.Profile.Cache {
			at := dir + "/" + strings.ReplaceAll(strings.Trim(name, "/"), "/", "+")
			clearWork(at)
			for _, part := range []string{"/up", "/work"} {
				if err := os.MkdirAll(at+part, 0o755); err != nil {
					unix.Close(fd)
					return nil, nil, fmt.Errorf("caches: %w", err)
				}
			}
			stores = append(stores, at)
		}
		return stores, func() {
			for _, at := range stores {
				clearWork(at)
			}
			unix.Close(fd)
		}, nil
	}
	return nil, func() {}, nil
}

// clearWork removes the kernel's own files: directories that not even this account can
// enter. In them lies a mark that changes may not have reached the disk, and it stops a
// new layer. A cache may lack them. It reports that nothing is left.
func clearWork(store string) bool {
	work := path.Join(store, "work", "work") // the directory that the kernel makes in its own
	if err := unix.Chmod(work, 0o700); err != nil {
		return err == unix.ENOENT // mostly there is none
	}
	mark := []string{work + "/incompat", work + "/incompat/volatile"}
	for _, dir := range mark {
		unix.Chmod(dir, 0o700)
	}
	unix.Rmdir(mark[1])
	unix.Rmdir(mark[0])
	if unix.Rmdir(work) != nil { // a run that was killed leaves more
		return os.RemoveAll(work) == nil
	}
	return true
}

// grants are what Landlock lets a program do in the new root.
func (l *layout) grants() []grant {
	grants := []grant{{"/", true, unix.LANDLOCK_ACCESS_FS_READ_DIR}, {"/dev", true, rightsDevices}}
	for _, m := range l.mounts {
		if m.rights != 0 {
			grants = append(grants, grant{m.at, m.dir, m.rights})
		}
	}
	return grants
}

// enumerated are the grants without namespaces: rules add up, so directories that have
// something hidden below are opened and every other entry named.
func (l *layout) enumerated(temp string) ([]grant, error) {
	grants := []grant{{"/proc", true, rightsProc}, {temp, true, rightsWrite}}
	for name := range strings.FieldsSeq("null zero full random urandom tty") {
		if exists("/dev/" + name) {
			grants = append(grants, grant{"/dev/" + name, false, rightsDevices})
		}
	}
	var add func(name string, dir bool, rights uint64) error
	add = func(name string, dir bool, rights uint64) error {
		switch {
		case profile.WithinAny(name, l.masks):
			return nil
		case !slices.ContainsFunc(l.masks, func(mask string) bool { return profile.Within(mask, name) }):
			grants = append(grants, grant{name, dir, rights})
			return nil
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || e.Type().IsRegular() {
				if err := add(path.Join(name, e.Name()), e.IsDir(), rights); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, m := range l.mounts {
		if m.kind == bound && !m.device {
			if err := add(m.at, m.dir, m.rights); err != nil {
				return nil, err
			}
		}
	}
	return grants, nil
}

// only takes the right to start programs from whatever the profile does not name for
// that.
func only(p Profile, t *tables, grants []grant) []grant {
	if len(p.Programs) == 0 {
		return grants
	}
	for i := range grants {
		if !profile.WithinAny(grants[i].at, p.Programs) {
			grants[i].rights &^= rightsRun
		}
	}
	for _, name := range slices.Concat(p.Programs, loaders) {
		if real, _, err := t.physical(name); err == nil {
			if info, err := os.Lstat(real); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
				grants = append(grants, grant{real, info.IsDir(), rightsRun})
			}
		}
	}
	return grants
}

// loaders start every program that is linked to libraries.
var loaders = []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"}

// limit adds the steps that bound what the program uses.
func (s *script) limit(of Limits) {
	for _, r := range []struct {
		what     string
		resource uintptr
		most     uint64
	}{
		{"processes", unix.RLIMIT_NPROC, uint64(of.Processes)},
		{"files", unix.RLIMIT_NOFILE, uint64(of.Files)},
		{"memory", unix.RLIMIT_DATA, uint64(of.Memory)},
		{"processor time", unix.RLIMIT_CPU, uint64((of.CPU + time.Second - 1) / time.Second)},
	} {
		var now unix.Rlimit
		if r.resource == unix.RLIMIT_NOFILE && unix.Prlimit(os.Getppid(), unix.RLIMIT_NOFILE, nil, &now) == nil {
			// The runtime of this program has raised its own; a program gets what the caller has.
		} else if unix.Getrlimit(int(r.resource), &now) != nil {
			continue
		}
		if r.most != 0 {
			now.Max = min(now.Max, r.most)
			now.Cur = min(now.Cur, now.Max)
		} else if r.resource != unix.RLIMIT_NOFILE {
			continue
		}
		s.call("limit "+r.what, unix.SYS_PRLIMIT64, 0, r.resource, addr(s, &now), 0)
	}
}

// exec adds the steps that start the program.
func (s *script) exec(r *run, program string, args, env []string) {
	def := new([4]uintptr)
	for sig := uintptr(1); sig <= 64; sig++ {
		var now [4]uintptr
		if _, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&now)), 8, 0, 0); errno == 0 && now[0] > 1 {
			s.call("reset signals", unix.SYS_RT_SIGACTION, sig, addr(s, def), 0, 8)
		}
	}
	s.call("reset signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, addr(s, &r.child.mask), 0, 8)
	s.call("close files", unix.SYS_CLOSE_RANGE, 3, uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC)
	s.call("run "+program, unix.SYS_EXECVE, s.text(program), s.texts(args), s.texts(env))
}

// A run is one start of a program.
type run struct {
	child    *child
	scripts  []*script // of the child, to be kept
	init     bool      // the program has an init
	exit     *proxy.Proxy
	ours     int          // where news come from
	theirs   int          // where they go to, -1 when it is closed
	pid      atomic.Int64 // of what the launcher waits for; 0 before its start and after its end
	dumpable uintptr
	ready    bool // all was set up, and the program was to begin
}

// theirs is the number by which init knows where news go.
const theirs = 3

func newRun() (*run, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &run{ours: pair[0], theirs: pair[1], child: &child{fd: uintptr(pair[1]), all: ^uint64(0), soon: unix.Timespec{Nsec: 3_000_000}}}, nil
}

// start has init made in namespaces of its own, where it makes the first steps. Whether it
// could be made is known later: see [run.started].
func (r *run) start(flags uintptr, steps func(s *script)) {
	s := newScript()
	if r.theirs != theirs {
		s.call("keep a socket", unix.SYS_DUP3, uintptr(r.theirs), theirs, unix.O_CLOEXEC)
	}
	s.call("close files", unix.SYS_CLOSE_RANGE, theirs+1, uintptr(^uint32(0)), 0)
	steps(s)
	r.init, r.scripts, r.child.fd = true, append(r.scripts, s), theirs
	r.child.early = s.part()
	// Init hides itself, and with it whatever shares its memory.
	r.dumpable, _, _ = syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_DUMPABLE, 0, 0)
	if errno := r.child.start(flags); errno != 0 {
		r.child.started = -int32(errno)
	}
}

// started waits until init was made.
func (r *run) started() error {
	pid, errno := r.child.init()
	unix.Close(r.theirs)
	r.theirs = -1
	if errno != 0 {
		return &lackError{err: errno}
	}
	r.pid.Store(int64(pid))
	return nil
}

// close ends what is left of a run. Init has no further use for the memory then.
func (r *run) close() {
	if r.init && r.theirs >= 0 {
		r.started() // nothing came of it
	}
	r.end()
	if r.init {
		r.child.gone()
		syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, r.dumpable, 0)
	}
	unix.Close(r.ours)
	if r.theirs >= 0 {
		unix.Close(r.theirs)
	}
	runtime.KeepAlive(r)
}

// handed are signals that a program gets though they were sent to the launcher.
func handed() (signals []os.Signal) {
	for _, sig := range []os.Signal{
		unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT, unix.SIGWINCH,
	} {
		if !signal.Ignored(sig) {
			signals = append(signals, sig)
		}
	}
	return signals
}

// run runs the program and waits for its end. While init sets everything up, this process
// prepares what the program's process does: the program begins when both are done. There is
// a setup where there is an init.
func (r *run) run(setup *script, prepare func() (program *script, err error)) (Outcome, error) {
	if r.init {
		if err := r.started(); err != nil {
			return Outcome{}, err
		}
		r.scripts = append(r.scripts, setup)
		r.child.setup = setup.part()
		r.goOn()
	}
	// It is for good: to stop takes as long again, and only the end of this process follows.
	// It must come before the program. Otherwise the news that the program stopped would
	// stop this process a second time, after the terminal did.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handed()...)
	program, err := prepare()
	if err != nil {
		r.end()
		return Outcome{}, err
	}
	r.scripts = append(r.scripts, program)
	r.child.program = program.part()
	if r.init {
		r.goOn()
	} else if err := r.now(); err != nil {
		return Outcome{}, err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case sig := <-signals:
				r.send(sig.(syscall.Signal))
			case <-done:
				return
			}
		}
	}()
	return r.follow()
}

// goOn tells init to go on. Nothing hears it where init has ended: news of that follow.
func (r *run) goOn() { unix.Sendto(r.ours, []byte{1}, unix.MSG_NOSIGNAL, nil) }

// now starts the program without an init.
func (r *run) now() error {
	r.child.prepare()
	pid, errno := r.child.shielded(sharing|unix.CLONE_VFORK, wayProgram)
	unix.Close(r.theirs)
	r.theirs = -1
	if errno != 0 {
		return &lackError{err: errno}
	}
	r.pid.Store(int64(pid))
	return nil
}

// send hands a signal on: to init, which knows whether the program has it already, or to
// the program itself.
func (r *run) send(sig syscall.Signal) {
	pid := int(r.pid.Load())
	if pid == 0 {
		return // it has ended
	}
	if !r.init {
		if pgid, err := unix.Getpgid(pid); err != nil || pgid == unix.Getpgrp() && sig != unix.SIGTERM && sig != unix.SIGHUP {
			return // it has it from whoever sent it to the process group
		}
		syscall.Kill(pid, sig)
		return
	}
	info := &siginfo{signo: int32(sig), code: codeQueue, pid: int32(os.Getpid())}
	syscall.RawSyscall6(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(sig), uintptr(unsafe.Pointer(info)), 0, 0, 0)
}

// follow reads the news of the processes until they have ended.
func (r *run) follow() (Outcome, error) {
	var last *news
	if r.exit != nil {
		defer r.exit.Close()
	}
	for listening := false; ; {
		var n news
		buf := unsafe.Slice((*byte)(unsafe.Pointer(&n)), unsafe.Sizeof(n))
		var rights [24]byte // of one file
		size, extra, _, _, err := unix.Recvmsg(r.ours, buf, rights[:], unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR || err == unix.ECONNRESET { // init ended before it heard a word, and its news are still there
			continue
		}
		if err != nil || size != len(buf) {
			break // the other end is gone
		}
		if n.kind == newsListener {
			if listening || r.exit == nil {
				continue
			}
			listening = true
			l, err := listenerOf(rights[:extra])
			if err != nil {
				syscall.Kill(int(r.pid.Load()), syscall.SIGKILL)
				continue
			}
			defer l.Close()
			go r.exit.Serve(l)
			continue
		}
		if n.kind == newsReady {
			r.ready = true
			continue
		}
		if n.kind == newsStopped {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			continue
		}
		if last == nil {
			last = &n
		}
	}
	status := r.wait()
	if r.init {
		r.child.release() // the thread ends while this process looks at what was left
	}
	switch {
	case last == nil && r.init:
		return Outcome{Status: 128 + int(unix.SIGKILL)}, nil // init was killed, and the program with it
	case last == nil:
		return Outcome{Status: statusOf(status)}, nil
	case last.kind == newsEnded:
		return Outcome{Status: statusOf(unix.WaitStatus(last.detail))}, nil
	}
	return Outcome{}, r.failure(*last)
}

// end ends the processes, and waits for it.
func (r *run) end() {
	if r.init {
		r.child.release()
	}
	if r.pid.Load() > 0 {
		syscall.Kill(int(r.pid.Load()), syscall.SIGKILL)
		r.wait()
	}
}

// wait waits for the end of the process.
func (r *run) wait() (status unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(int(r.pid.Load()), &status, 0, nil); err != unix.EINTR {
			r.pid.Store(0)
			return status
		}
	}
}

// failure says what a step failed of.
func (r *run) failure(n news) error {
	steps := r.child.setup
	switch n.kind {
	case newsEarly:
		steps = r.child.early
	case newsProgram:
		steps = r.child.program
	}
	err := syscall.Errno(n.detail)
	if int(n.step) >= len(steps.steps) || n.step < 0 {
		return &lackError{"start a process", err}
	}
	what := steps.steps[n.step].what
	if program, ok := strings.CutPrefix(what, "run "); ok && n.kind == newsProgram {
		return &ProgramError{Name: program, Found: err != syscall.ENOENT, Err: err}
	}
	return &lackError{what, err}
}

// statusOf is a status as shells say it.
func statusOf(s unix.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}
