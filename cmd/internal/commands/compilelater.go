package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/places"
)

// handedOver reports that gate-hook asked gate hook to answer: only then is
// there somebody for whom to compile.
func handedOver(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, dashes := strings.CutPrefix(arg, "-")
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
		return dashes && name == "spent"
	})
}

// compileLater has the places of a call compiled that have changed since they
// were, by a process of its own: the agent waits for this one to end. What goes
// wrong is for gate doctor to tell.
func (p process) compileLater(m core.Machine) {
	exe, err := installedGate()
	if err != nil {
		return
	}
	list := unprivileged(compilables(m.Dirs, m.Project))
	due := func(at compilable) bool { return at.quiet(time.Now()) && at.outdated() }
	if !slices.ContainsFunc(list, due) || build.Prepare(m.State, artifact.User) != nil || !claim(m.State, time.Now()) {
		return
	}
	cmd := laterCommand(exe, m)
	cmd.Env = []string{}
	detach(cmd)
	if cmd.Start() == nil {
		cmd.Process.Release()
	}
}

// laterCommand is the process that compiles the places of a machine.
func laterCommand(exe string, m core.Machine) *exec.Cmd {
	args := []string{"build", "--later", "--user-dir", m.User, "--state-dir", m.State}
	if m.ManagedNamed {
		args = append(args, "--managed-dir", m.Managed)
	}
	project := m.Project
	if project == "" {
		project = m.User // has none
	}
	cmd := exec.Command(exe, append(args, "--", project)...)
	cmd.Args[0], cmd.Dir = "gate", "/"
	return cmd
}

// claimFile says in [artifact.Dir] that a process is compiling, or has just failed
// to.
const claimFile = ".later"

// claim reports whether the caller is the one to start a process that compiles:
// of many calls at once one is, and after a process that got nowhere none is for
// a while.
func claim(state string, now time.Time) bool {
	name := filepath.Join(state, artifact.Dir, claimFile)
	if info, err := os.Lstat(name); err == nil {
		if now.Sub(info.ModTime()).Abs() < laterLimit || os.Remove(name) != nil {
			return false
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|hostfs.OpenFlags, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// unprivileged leaves out what only the administrator compiles: by hand, or when
// bundles come.
func unprivileged(list []compilable) []compilable {
	return slices.DeleteFunc(list, func(at compilable) bool { return at.kind == artifact.Managed })
}

// quiet reports a place that nobody is working on at the moment: who saves one
// file is likely to save another.
func (at compilable) quiet(now time.Time) bool {
	s, err := artifact.Look(at.dir)(".")
	return err == nil && !s.Missing && time.Unix(0, s.Changed).Add(quietTime).Before(now)
}

// quietTime is for how long nothing must have come or gone. Until then every call
// reads the files, so it is no longer than an editor takes to save two of them.
const quietTime = time.Second

// installedGate is the file of this program, which must be gate as people have it
// and nothing that only links the same code, such as a test.
func installedGate() (string, error) {
	exe, err := installedProgram()
	if err != nil {
		return "", err
	}
	if name := strings.TrimSuffix(filepath.Base(exe), ".exe"); name != "gate" {
		return "", fmt.Errorf("%s is not gate", exe)
	}
	return exe, nil
}

// outdated reports a place that another attempt may help.
func (at compilable) outdated() bool {
	_, err := at.dirs.Compiled(at.kind, at.dir, artifact.Maker())
	if err == nil || errors.Is(err, places.ErrRefused) {
		return false
	}
	return build.Possible(at.dir) == nil
}

// lockLimit is how long a process waits for another one that compiles.
const lockLimit = 200 * time.Millisecond

// laterLimit ends a process that compiles for nobody who waits.
const laterLimit = time.Minute

// afterwards compiles what has changed, for no reader, one process at a time.
func (f *compileFlags) afterwards(p process, projects []string) error {
	time.AfterFunc(laterLimit, func() { p.exit(exitFailed) })
	giveWay()
	todo, err := f.places(projects)
	if err != nil {
		return err
	}
	state := todo[0].dirs.State
	claimed := filepath.Join(state, artifact.Dir, claimFile)
	todo = slices.DeleteFunc(unprivileged(todo), func(at compilable) bool { return !at.outdated() })
	if len(todo) == 0 {
		os.Remove(claimed)
		return nil
	}
	if err := build.Prepare(state, artifact.User); err != nil {
		return err
	}
	// Whoever holds the lock does the work.
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	lock, err := hostfs.Lock(ctx, filepath.Join(state, artifact.Dir, ".lock"), os.O_CREATE)
	if err != nil {
		return err
	}
	defer lock.Close()
	whole := true
	for _, at := range todo {
		if at.outdated() { // another process may have been here
			c := at.build(false)
			whole = whole && c.written
		}
	}
	tidy(todo)
	if whole {
		os.Remove(claimed)
	}
	return nil
}
