package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"gate/policytest"
)

// watchEvery is how often files are looked at. Looking at the times of a few
// hundred files costs a millisecond, works on every file system, and needs no
// word about directories that come and go.
const watchEvery = 300 * time.Millisecond

// keepRunning runs the tests, and again whenever a file changes, until the
// context ends. What cannot be run is told and waits for the next change.
func (f *testFlags) keepRunning(ctx context.Context, p process, args []string) (int, error) {
	for {
		before := stamps(args)
		if _, err := f.once(ctx, p, args); err != nil {
			fmt.Fprintf(p.stderr, "gate: %s\n", visible(err.Error()))
		}
		if ctx.Err() != nil {
			return exitOK, nil
		}
		fmt.Fprintln(p.stderr, "gate: waiting for a change; end with Ctrl-C")
		if !changed(ctx, args, before) {
			return exitOK, nil
		}
	}
}

// changed waits for a change and reports that there was one.
func changed(ctx context.Context, args []string, before map[string]stamp) bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if !maps.Equal(before, stamps(args)) {
			return true
		}
	}
}

// A stamp tells one state of a file from another.
type stamp struct {
	size     int64
	modified time.Time
}

// stamps looks at all files that policies and tests consist of.
func stamps(args []string) map[string]stamp {
	out := map[string]stamp{}
	for _, arg := range args {
		if ext := filepath.Ext(arg); ext == ".rego" || ext == ".yaml" {
			arg = filepath.Dir(arg) // its neighbours are part of it
		}
		_ = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // gone since, which is a change, too
			case name != arg && d.IsDir() && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir(), !strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, policytest.CasesSuffix):
				return nil
			}
			if info, err := d.Info(); err == nil {
				out[name] = stamp{info.Size(), info.ModTime()}
			}
			return nil
		})
	}
	return out
}

// A counter tells a person at a terminal how far something long is.
type counter struct {
	p     process
	what  string
	shown bool
}

func newCounter(p process, what string) *counter { return &counter{p: p, what: what} }

func (g *counter) at(done, total int) {
	if g.p.isTerminal == nil || !g.p.isTerminal() {
		return
	}
	g.shown = true
	fmt.Fprintf(g.p.stderr, "\r%d of %d %s", done, total, g.what)
}

func (g *counter) done() {
	if g.shown {
		fmt.Fprint(g.p.stderr, "\r\x1b[K")
	}
}
