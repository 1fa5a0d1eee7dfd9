package facts

import (
	"maps"

	"mvdan.cc/sh/v3/syntax"
)

// A state is what one shell knows at one point of the line: variables,
// functions, aliases, directory. A subshell works on a clone.
type state struct {
	vars    map[string]variable
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	hashed  map[string]string // hash -p
	params  []field           // $1 …
	args    bool              // params are known
	dirs    []string          // where it may be; none means unknown
	old     []string          // OLDPWD and pushd
	ended   bool              // exit, return, break: what follows does not run
	remote  bool              // on another machine or in a container
}

// A variable is a scalar or an array.
type variable struct {
	value field
	list  []field // of an array
	array bool
}

func (s *state) clone() *state {
	c := *s
	c.vars = maps.Clone(s.vars)
	c.funcs = maps.Clone(s.funcs)
	c.aliases = maps.Clone(s.aliases)
	c.hashed = maps.Clone(s.hashed)
	return &c
}

func newState(dir string) *state {
	s := &state{vars: map[string]variable{}, funcs: map[string]*syntax.Stmt{}, aliases: map[string]string{}, hashed: map[string]string{}}
	if dir != "" {
		s.dirs = []string{dir}
	}
	return s
}

func (s *state) set(name string, f field) { s.vars[name] = variable{value: f} }

// become replaces s by what holds after either of two ways was taken.
func (s *state) become(a, b *state) {
	switch {
	case a.ended && !b.ended:
		*s = *b
		return
	case b.ended && !a.ended:
		*s = *a
		return
	}
	m := a.clone()
	for name, vb := range b.vars {
		m.vars[name] = joinVariable(m.vars, name, vb)
	}
	for name := range a.vars {
		if _, ok := b.vars[name]; !ok {
			m.vars[name] = joinVariable(b.vars, name, a.vars[name])
		}
	}
	for name, f := range b.funcs {
		m.funcs[name] = f
	}
	for name, t := range b.aliases {
		m.aliases[name] = t
	}
	m.dirs = joinDirs(a.dirs, b.dirs)
	m.ended = a.ended && b.ended
	*s = *m
}

func joinVariable(vars map[string]variable, name string, b variable) variable {
	a, ok := vars[name]
	if !ok && !b.array {
		// Not set in this line before: most likely nowhere else either.
		a = variable{value: literalField("")}
	}
	if a.array || b.array {
		if len(a.list) == len(b.list) && a.array == b.array {
			out := variable{array: true, list: make([]field, len(a.list))}
			for i := range a.list {
				out.list[i] = either(a.list[i], b.list[i])
			}
			return out
		}
		return variable{value: holeField(&hole{why: "an array set on one way only", empty: true, many: true})}
	}
	return variable{value: either(a.value, b.value)}
}

const maxDirs = 4

func joinDirs(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := append([]string(nil), a...)
	for _, d := range b {
		if !contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}
