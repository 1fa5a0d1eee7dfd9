package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/artifact"
	"gate/artifact/build"
	"gate/cmd/internal/hookpath"
	"gate/owned"
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
func (p process) compileLater(m hookpath.Machine) {
	exe, err := installedGate()
	if err != nil {
		return
	}
	list := unprivileged(compilables(m.Dirs, m.Project))
	later := func(at compilable) bool { return at.quiet(time.Now()) && at.outdated() }
	if !slices.ContainsFunc(list, later) || build.Prepare(m.State, artifact.User) != nil {
		return
	}
	args := append([]string{exe}, "build", "--later", "--user-dir", m.User, "--state-dir", m.State)
	if m.ManagedNamed {
		args = append(args, "--managed-dir", m.Managed)
	}
	project := m.Project
	if project == "" {
		project = m.User // has none
	}
	cmd := exec.Command(args[0], append(args[1:], "--", project)...)
	cmd.Dir = "/"
	cmd.Env = []string{}
	detach(cmd)
	if cmd.Start() == nil {
		cmd.Process.Release()
	}
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

// quietTime is for how long nothing must have come or gone.
const quietTime = 5 * time.Second

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
	if !errors.Is(err, artifact.ErrStale) && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return build.Possible(at.dir) == nil
}

// laterLimit ends a process that compiles for nobody who waits.
const laterLimit = time.Minute

// afterwards compiles what has changed, for no reader, one process at a time.
func (f *compileFlags) afterwards(p process, projects []string) error {
	time.AfterFunc(laterLimit, func() { p.exit(exitFailed) })
	todo, err := f.places(projects)
	if err != nil {
		return err
	}
	todo = slices.DeleteFunc(unprivileged(todo), func(at compilable) bool { return !at.outdated() })
	if len(todo) == 0 {
		return nil
	}
	state := todo[0].dirs.State
	if err := build.Prepare(state, artifact.User); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), laterLimit)
	defer cancel()
	lock, err := owned.Lock(ctx, filepath.Join(state, artifact.Dir, ".lock"), os.O_CREATE)
	if err != nil {
		return err
	}
	defer lock.Close()
	for _, at := range todo {
		if at.outdated() { // another process may have been here
			at.build(false)
		}
	}
	tidy(todo)
	return nil
}
