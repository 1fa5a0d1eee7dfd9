package shell

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
)

// A state is what one shell knows at one point of the line: variables,
// functions, aliases, directory. A subshell works on a clone.
type state struct {
	vars    map[string]variable
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	locals  map[string]*variable // of the running function: what they hide; nil for nothing
	shared  bool                 // the maps are nil or belong to another state, too: see own
	zero    *flow.Word           // $0, where it is known
	params  []flow.Word          // $1 …
	args    bool                 // params are known
	draft.Where
	old   []string   // OLDPWD
	stack [][]string // of pushd
	draft.Current
	status  status                    // of the last command
	failed  *state                    // what holds if the last command failed, where that is another thing
	ended   bool                      // exit, return, break: what follows does not run
	outer   map[string][]*syntax.Stmt // functions that may be there: defined on one way only, or of the shell that started this one
	exports bool                      // set -a

	stdin    *flow.Stream // of the shell, after exec < FILE; nil for that of the line
	open     []descriptor // beside the first three
	closed   []string     // descriptors that are closed, by their numbers
	replaced bool         // the command has opened descriptors that stay
	unread   string       // a file that the shell has run and gate has not read; "" for none
}

// A status is what is known of how a command ended.
type status byte

const (
	mayFail status = iota
	succeeds
	fails
)

// clone returns a state that changes apart from s.
func (s *state) clone() *state {
	s.shared = true
	c := *s
	return &c
}

// own makes the maps of s its own before they are written.
func (s *state) own() {
	if !s.shared {
		return
	}
	s.vars, s.funcs, s.aliases, s.locals = copied(s.vars), copied(s.funcs), copied(s.aliases), maps.Clone(s.locals)
	s.shared = false
}

// copied is a copy that can be written to, also of a map that is nil.
func copied[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// newState knows nothing. Most lines write none of its maps: own makes them.
func newState(dir string) *state {
	s := &state{shared: true}
	if dir != "" {
		s.Dirs = []string{dir}
	}
	return s
}

// newShell is what a shell that this one starts knows of it: what is exported.
// What is not may still have been, before the line: it is there or empty.
func (s *state) newShell() *state {
	c := s.clone()
	c.own()
	c.outer = maps.Clone(s.outer)
	c.joinFunctions(s.funcs, nil)
	c.funcs, c.aliases, c.locals = map[string]*syntax.Stmt{}, map[string]string{}, nil
	for array := range strings.FieldsSeq(naming) {
		delete(c.vars, array)
	}
	c.stdin, c.unread = nil, ""
	for name, v := range s.vars {
		switch {
		case v.exported || v.unset:
			if v.held != free {
				v.held = free // no attribute is handed on
				c.vars[name] = v
			}
		default:
			c.vars[name] = variable{value: flow.Either(v.first(), flow.Literal(""))}
		}
	}
	return c
}

// become replaces s by what holds after either of two ways was taken.
func (s *state) become(a, b *state) {
	a.fold()
	b.fold()
	switch {
	case a.ended && !b.ended:
		*s = *b
		return
	case b.ended && !a.ended:
		*s = *a
		return
	}
	m := a.clone()
	if !sameMap(a.vars, b.vars) {
		m.own()
		for name, vb := range b.vars {
			m.vars[name] = joinVariable(a.vars, name, vb)
		}
		for name, va := range a.vars {
			if _, ok := b.vars[name]; !ok {
				m.vars[name] = joinVariable(b.vars, name, va)
			}
		}
	}
	if !sameMap(a.funcs, b.funcs) || !sameMap(a.aliases, b.aliases) {
		m.own()
		m.outer = maps.Clone(a.outer)
		for name, bodies := range b.outer {
			for _, body := range bodies {
				m.joinFunctions(map[string]*syntax.Stmt{name: body}, nil)
			}
		}
		m.joinFunctions(a.funcs, b.funcs)
		m.joinFunctions(b.funcs, a.funcs)
		maps.Copy(m.aliases, b.aliases)
	}
	if !flow.SameWords(a.params, b.params) {
		m.args, m.params = false, nil
	}
	m.args = m.args && b.args
	m.Dirs = joinDirs(a.Dirs, b.Dirs)
	if m.Under == "" {
		m.Under = b.Under // names only tighten
	}
	m.old = joinDirs(a.old, b.old)
	m.Current = a.Current.Join(b.Current)
	if !slices.Equal(a.closed, b.closed) {
		m.closed = slices.Concat(a.closed, b.closed)
	}
	if len(a.stack) != len(b.stack) {
		m.stack = nil
	}
	m.ended = a.ended && b.ended
	m.status, m.failed = mayFail, nil
	*s = *m
}

// joinFunctions notes functions that only one of two ways has defined.
func (s *state) joinFunctions(has, other map[string]*syntax.Stmt) {
	for name, body := range has {
		if other[name] == body {
			continue
		}
		if s.outer == nil {
			s.outer = map[string][]*syntax.Stmt{}
		}
		if bodies := s.outer[name]; !slices.Contains(bodies, body) {
			s.outer[name] = append(bodies[:len(bodies):len(bodies)], body)
		}
		delete(s.funcs, name)
	}
}

func sameMap[M ~map[string]V, V any](a, b M) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func joinDirs(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := append([]string(nil), a...)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > draft.MaxDirs {
		return nil
	}
	return out
}

// hide keeps what a name means outside the running function.
func (s *state) hide(name string) {
	if s.locals == nil {
		return
	}
	if _, ok := s.locals[name]; ok {
		return
	}
	var kept *variable
	exported := false
	if v, ok := s.vars[name]; ok {
		if v.held == surely {
			return // it cannot be hidden
		}
		kept, exported = &v, v.exported
	}
	s.locals[name] = kept
	s.vars[name] = variable{value: flow.Literal(""), unset: true, exported: exported}
}

// restore undoes what a function hid.
func (s *state) restore(outer map[string]*variable) {
	s.own()
	for name, v := range s.locals {
		if v == nil {
			delete(s.vars, name)
			continue
		}
		s.vars[name] = *v
	}
	s.locals = outer
}
