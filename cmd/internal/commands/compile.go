package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/hostfs"
	"gate/internal/lastgood"
	"gate/internal/places"
	"gate/internal/sources"
	"gate/matcher"
)

// A compilable is a place that gate-hook may answer from the compiled form of.
type compilable struct {
	dirs dirs
	kind artifact.Kind // Managed, User or Project
	dir  string        // absolute
}

// compiled is what became of one.
type compiled struct {
	artifact.Content
	err     error // why nothing was made
	size    int
	written bool
}

// errNothing is the error of a directory that is not there, errNotOurs that of
// one that somebody else has to compile.
var (
	errNothing = errors.New("nothing is there")
	errNotOurs = errors.New("only the administrator can compile it")
)

// settleTime is how long is waited for a place to settle: that what was written a
// moment ago cannot be written again without anybody being able to tell. A place
// that takes longer to read has another attempt all the same.
const settleTime = 5 * time.Second

// missing reports that the place is not there.
func (at compilable) missing() bool {
	_, err := os.Lstat(at.dir)
	if err == nil && at.kind == artifact.Managed {
		p := places.Open(at.dir, ".", places.ManagedFiles(at.dirs))
		defer p.Close()
		return p == nil // to whoever decides
	}
	return errors.Is(err, fs.ErrNotExist)
}

// build makes the compiled form of a place and writes it, unless it is only to
// be checked.
func (at compilable) build(check bool) compiled { return at.buildKnowing(nil, check) }

// buildKnowing is build where some bundles were compared already.
func (at compilable) buildKnowing(known comparison, check bool) compiled {
	if !check {
		if err := at.prepare(); err != nil {
			return at.without(err)
		}
	}
	c := at.compile(known)
	if !check {
		c.keep(at)
	}
	return c
}

// without is a place that nothing was made of.
func (at compilable) without(err error) compiled {
	return compiled{Content: artifact.Content{Kind: at.kind, Place: at.dir}, err: err}
}

// bad reports a place that something is wrong with.
func (c *compiled) bad() bool {
	return c.Refused != "" || c.err != nil && !errors.Is(c.err, errNothing) && !errors.Is(c.err, errNotOurs)
}

// compile makes the compiled form of a place, and changes nothing.
func (at compilable) compile(known comparison) compiled {
	p, err := at.open()
	if err != nil {
		return at.without(err)
	}
	defer p.Close()
	_, lib := sources.Library(hook.User)
	b := build.Builder{Maker: artifact.Maker(), Lib: lib, Compile: build.Plan, Left: build.Left, Now: time.Now}
	if at.kind == artifact.Managed {
		b.Compile = known.compiler(p.Place, build.Plan)
	}
	base, check := at.dirs.CompiledIn(at.kind)
	// Forms of other places lie where the agent's own account writes: what is made
	// anew is made of the place itself.
	if at.kind == artifact.Managed {
		if old, err := artifact.OpenFile(base, artifact.Name(at.kind, at.dir), b.Maker, at.kind, check); err == nil {
			b.Old = old
		}
	}
	var c artifact.Content
	end := time.Now().Add(settleTime)
	for attempt := 1; ; attempt++ {
		c, err = b.Place(at.readable(p))
		if !errors.Is(err, build.ErrUnsettled) || attempt > 1 && time.Now().After(end) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return at.without(err)
	}
	if at.kind == artifact.User && c.Refused == "" {
		lastgood.In(at.dirs.State).KeepAll(p.Place)
	}
	return compiled{Content: c}
}

// readable is an open place for whoever compiles it.
func (at compilable) readable(p openPlace) build.Place {
	place := build.Place{Kind: at.kind, Dir: at.dir, Files: p.Files}
	if at.kind == artifact.Managed && p.root == nil {
		place.RootOnly = !at.dirs.ManagedNamed && rootOnly(p.Place)
		place.Bundles = func(note func(string)) ([]build.Bundle, map[string]any, error) {
			return bundlesIn(p.Place, place.RootOnly, note)
		}
	}
	return place
}

// An openPlace is one with a directory that may be empty.
type openPlace struct {
	*places.Place
	root *os.Root // of an empty one
}

func (p openPlace) Close() {
	p.Place.Close()
	if p.root != nil {
		p.root.Close()
	}
}

// open opens the place as whoever decides about a call does.
func (at compilable) open() (openPlace, error) {
	if at.missing() {
		return openPlace{}, errNothing
	}
	if err := build.Possible(at.dir); err != nil {
		return openPlace{}, err
	}
	var p *places.Place
	switch at.kind {
	case artifact.Managed:
		p = places.Open(at.dir, ".", places.ManagedFiles(at.dirs))
	case artifact.User:
		p = places.Open(at.dir, ".", places.UserFiles())
		lastgood.In(at.dirs.State).Guard(p)
	case artifact.Project:
		p = places.Open(filepath.Dir(at.dir), places.ProjectDir, nil)
	}
	switch {
	case p == nil:
		root, err := hostfs.OpenDir(at.dir)
		if err != nil {
			return openPlace{}, err
		}
		return openPlace{&places.Place{Dir: at.dir, Files: hostfs.Dir{Root: root}}, root}, nil
	case p.Err != nil:
		return openPlace{}, p.Err
	}
	return openPlace{Place: p}, nil
}

// prepare makes room for what will be made: in the place itself, if it is the
// administrator's, and so before that is looked at.
func (at compilable) prepare() error {
	if at.missing() {
		return nil // compile says so
	}
	base, _ := at.dirs.CompiledIn(at.kind)
	err := build.Prepare(base, at.kind)
	if err == nil && at.kind == artifact.Managed {
		err = writable(filepath.Join(base, artifact.Dir))
	}
	if at.kind == artifact.Managed && errors.Is(err, fs.ErrPermission) {
		return errNotOurs
	}
	return err
}

// writable reports why a directory cannot be written.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".draft-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// keep writes what was made.
func (c *compiled) keep(at compilable) {
	if c.err != nil {
		return
	}
	base, _ := at.dirs.CompiledIn(at.kind)
	name := artifact.Name(at.kind, at.dir)
	if c.err = build.Save(base, name, &c.Content); c.err != nil {
		return
	}
	c.written = true
	if info, err := os.Stat(filepath.Join(base, artifact.Dir, name)); err == nil {
		c.size = int(info.Size())
	}
}

// tidy removes compiled forms that nobody uses any more.
func tidy(todo []compilable) {
	keep := map[string][]string{}
	for _, at := range todo {
		base, _ := at.dirs.CompiledIn(at.kind)
		keep[base] = append(keep[base], artifact.Name(at.kind, at.dir))
	}
	for base, names := range keep {
		build.Clean(base, artifact.Maker(), time.Now(), names...) // what cannot be removed harms nobody
	}
}

// left are the policies that are not in the compiled form.
func (c *compiled) left() (list []artifact.Hook) {
	for _, p := range c.Sources {
		for _, h := range p.Hooks {
			if h.Why != "" {
				list = append(list, h)
			}
		}
	}
	return list
}

// backtracks lists the hooks whose matchers gate-hook has no engine for.
func (c *compiled) backtracks() (list []string) {
	for _, p := range c.Sources {
		for _, h := range p.Hooks {
			if _, err := matcher.Compile(h.Matcher, nil); errors.Is(err, matcher.ErrBacktracks) {
				list = append(list, h.ID)
			}
		}
	}
	return list
}

func (c *compiled) counts() (planned, handlers int) {
	for _, p := range c.Sources {
		for _, h := range p.Hooks {
			switch {
			case h.Kind != hook.Rego:
				handlers++
			case h.Why == "":
				planned++
			}
		}
	}
	return planned, handlers
}
