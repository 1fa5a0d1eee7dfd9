package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
)

func (w *Shell) while(s *state, c *syntax.WhileClause, in flow.Stream) flow.Stream {
	if always(c.Cond, c.Until) {
		w.unbounded(c.Cond, c.Do)
	}
	return w.rounds(s, in, func(body *state) flow.Stream {
		out := w.stmts(body, c.Cond, in)
		w.maybe++
		out = flow.Concat(out, w.stmts(body, c.Do, in))
		w.maybe--
		return out
	}, func(body *state) { w.stmts(body, c.Cond, in) })
}

// maxRounds bounds how often a loop's body is run.
const maxRounds = 16

// rounds runs a loop's body as long as it changes what the next round starts
// from, or reads another line, and leaves in s what may hold after the loop.
// At the end of the input only the condition runs once more.
func (w *Shell) rounds(s *state, in flow.Stream, run func(*state) flow.Stream, end func(*state)) flow.Stream {
	return w.inLoop(s, func() flow.Stream { return w.eachRound(s, in, run, end) })
}

func (w *Shell) eachRound(s *state, in flow.Stream, run func(*state) flow.Stream, end func(*state)) flow.Stream {
	var out flow.Stream
	body := s.clone()
	for n := 0; ; n++ {
		before, at := body.clone(), in.At()
		written := run(body)
		w.nextRound(body)
		if n == 0 {
			out = written
		}
		s.become(s.clone(), body)
		if n > 0 && n == maxRounds {
			break // with what no round shows held to be unknown
		}
		lines := in.At() != at && in.At() > 0
		if rest, ok := in.Left(); lines && ok && rest == "" {
			end(body)
			s.become(s.clone(), body)
			break
		}
		if !lines && !changed(before, body) {
			break
		}
		widen(before, body, n+1 == maxRounds)
	}
	return flow.Unsure(out)
}

// widen makes numbers that a round has changed unknown, because they go on
// changing; at the end everything that has changed.
func widen(before, body *state, all bool) {
	for name, v := range body.vars {
		old, ok := before.vars[name]
		if !ok || v.array || old.array {
			continue
		}
		_, was := old.value.Number()
		_, is := v.value.Number()
		switch {
		case flow.SameWords([]flow.Word{old.value}, []flow.Word{v.value}):
		case was && is:
			body.set(name, unknownNumber())
		case all:
			body.set(name, flow.Unknown(&flow.Hole{Why: "changed in a loop", Empty: true, Taint: v.value.Taint()}))
		}
	}
}

// changed reports that the body set a variable to a known text other than the
// one it had, or moved on in its arguments or directories.
func changed(before, after *state) bool {
	if strings.Join(before.Dirs, "\x00") != strings.Join(after.Dirs, "\x00") || !flow.SameWords(before.params, after.params) {
		return true
	}
	if sameMap(before.vars, after.vars) {
		return false
	}
	for name, v := range after.vars {
		if v.array {
			continue
		}
		val := v.value.Value()
		if val == nil || slices.ContainsFunc(v.value.Parts, func(p flow.Part) bool { return p.Spread }) {
			continue
		}
		if old, ok := before.vars[name]; !ok || old.value.Value() == nil || *old.value.Value() != *val {
			return true
		}
	}
	return false
}

const maxItems = 32

func (w *Shell) forClause(s *state, c *syntax.ForClause, in flow.Stream) flow.Stream {
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		return w.counted(s, c, loop, in)
	}
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok || loop.Name == nil {
		w.Unknown("syntax", "a kind of loop gate does not know", 0, nil)
		return flow.Unsure(w.stmts(s.clone(), c.Do, in))
	}
	items := s.params
	if loop.InPos.IsValid() || len(loop.Items) > 0 {
		items = w.arguments(s, loop.Items)
	} else if !s.args {
		items = []flow.Word{flow.Unknown(&flow.Hole{Why: "the arguments", Empty: true})}
	}
	if len(items) > maxItems {
		alts := items
		items = []flow.Word{flow.Unknown(&flow.Hole{Why: "one of many", Taint: flow.Join(alts).Taint()})}
	}
	w.maybe++
	defer func() { w.maybe-- }()
	return flow.Unsure(w.inLoop(s, func() flow.Stream { return w.each(s, loop.Name.Value, items, c.Do, in) }))
}

// each runs a loop's body with each value of its variable.
func (w *Shell) each(s *state, name string, items []flow.Word, do []*syntax.Stmt, in flow.Stream) flow.Stream {
	var out flow.Stream
	for _, item := range items {
		body := s.clone()
		body.set(name, item)
		out = flow.Concat(out, w.stmts(body, do, in))
		w.nextRound(body)
		s.become(s.clone(), body)
		s.set(name, item)
	}
	return out
}

// counted runs for ((…)) as long as its condition is known to hold.
func (w *Shell) counted(s *state, c *syntax.ForClause, loop *syntax.CStyleLoop, in flow.Stream) flow.Stream {
	if loop.Cond == nil {
		w.unbounded(nil, c.Do)
	}
	w.arithmeticIf(s, loop.Init)
	w.maybe++
	defer func() { w.maybe-- }()
	return flow.Unsure(w.inLoop(s, func() flow.Stream { return w.eachCount(s, c, loop, in) }))
}

func (w *Shell) eachCount(s *state, c *syntax.ForClause, loop *syntax.CStyleLoop, in flow.Stream) flow.Stream {
	var out flow.Stream
	for n := 0; ; n++ {
		holds, known := w.arithmeticIf(s, loop.Cond).Number()
		if known && holds == 0 && loop.Cond != nil {
			return out
		}
		if !known || n == maxItems {
			break
		}
		out = flow.Concat(out, w.stmts(s, c.Do, in))
		w.nextRound(s)
		w.arithmeticIf(s, loop.Post)
	}
	before, body := s.clone(), s.clone()
	w.arithmeticIf(body, loop.Post)
	widen(before, body, true)
	out = flow.Concat(out, w.stmts(body, c.Do, in))
	w.nextRound(body)
	s.become(before, body)
	return out
}

func (w *Shell) arithmeticIf(s *state, e syntax.ArithmExpr) flow.Word {
	if e == nil {
		return unknownNumber()
	}
	return w.arithmetic(s, e)
}
