package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
)

// fdPath is the directory of the files that stand for descriptors: those of the shell
// which runs the line, never those of this process.
const fdPath = "/dev/fd/"

// A descriptor is one that the line has opened beside the first three. What it reads
// is the content of its file below fdPath.
type descriptor struct {
	name string
	to   flow.Word // the file that writing to it reaches; no word for none
}

// descriptor returns the file that writing to a descriptor reaches.
func (s *state) descriptor(name string) (to flow.Word, ok bool) {
	name = strings.TrimSuffix(name, "-")
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].name == name {
			return s.open[i].to, true
		}
	}
	return flow.Word{}, false
}

// firstFree is the number of the first descriptor that bash gives to {name}.
const firstFree = 10

// descriptor reads what stands before a redirection: a number, or {name} for a
// variable that gets one.
func (w *Shell) descriptor(s *state, text string) (fd int, name string) {
	if strings.HasPrefix(text, "{") {
		fd = firstFree + len(s.open)
		s.setNamed(strings.Trim(text, "{}"), flow.Literal(strconv.Itoa(fd)))
		return fd, strconv.Itoa(fd)
	}
	fd, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return -1, ""
	case fd <= 2:
		return fd, ""
	}
	return fd, text
}

// input is what a redirection gives to read, and whether it opens anything to read.
func (w *Shell) input(s *state, r redirect) (in flow.Stream, opens bool) {
	v := r.target.Value()
	switch r.op {
	case syntax.RdrIn, syntax.RdrInOut:
		in = w.content(s, r.target)
		if host, ok := w.Connection(r.target); ok {
			in.Taint.Remote, in.Taint.Host = true, host
		}
		return in, true
	case syntax.DplIn, syntax.DplOut:
		if v == nil || !bash.IsDescriptor(*v) || r.op == syntax.DplOut && r.name == "" {
			return in, false
		}
		name := strings.TrimSuffix(*v, "-")
		if st, ok := w.Files[fdPath+name]; ok {
			return st, true
		}
		return flow.Stream{Some: true}, strings.Trim(name, "0") != ""
	}
	return in, false
}

// opens is the file that writing to the descriptor of a redirection reaches.
func (w *Shell) opens(s *state, r redirect) flow.Word {
	switch r.op {
	case syntax.RdrIn:
		return flow.Word{}
	case syntax.DplIn, syntax.DplOut:
		if v := r.target.Value(); v != nil {
			to, _ := s.descriptor(*v)
			return to
		}
	}
	return r.target
}

// handsOut judges exec with a peer as one of the first three descriptors: the shell
// itself is on the connection then.
func (w *Shell) handsOut(s *state, r redirect, id int) bool {
	if !s.replaced || r.name != "" {
		return false
	}
	to := r.target
	if v := to.Value(); v != nil && bash.IsDescriptor(*v) {
		to, _ = s.descriptor(*v)
	}
	host, ok := w.Connection(to)
	if ok {
		w.Effect(id, &hook.ExecShell{How: "reverse", Host: new(host)})
	}
	return ok
}

// coprocess runs a command beside the shell, with a pipe to it and one from it, whose
// descriptors are in an array.
func (w *Shell) coprocess(s *state, c *syntax.CoprocClause) {
	name := "COPROC"
	if c.Name != nil {
		if v := w.word(s, c.Name).Value(); v != nil {
			name = *v
		}
	}
	from, to := strconv.Itoa(firstFree+len(s.open)), strconv.Itoa(firstFree+len(s.open)+1)
	into := flow.Literal(fdPath + to)
	s.replace(name, variable{array: true, list: []flow.Word{flow.Literal(from), flow.Literal(to)}})
	s.set(name+"_PID", unknownNumber())
	s.open = append(s.open[:len(s.open):len(s.open)], descriptor{from, flow.Word{}}, descriptor{to, into})
	run := func(in flow.Stream) {
		out := w.stmt(s.clone(), c.Stmt, in)
		out.Some = true
		w.Written(fdPath+from, w.opened(out))
	}
	run(flow.Stream{Some: true}) // what is written to it is not known yet
	w.Feed(fdPath+to, run)
	s.replaced = true // the descriptors stay
}
