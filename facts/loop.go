package facts

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (w *walker) while(s *state, c *syntax.WhileClause, in stream) stream {
	body := s.clone()
	out := w.stmts(body, c.Cond, in)
	out = concat(out, w.stmts(body, c.Do, in))
	w.again(s, body, func(again *state) {
		w.stmts(again, c.Cond, in)
		w.stmts(again, c.Do, in)
	})
	return unsure(out)
}

// again runs a loop's body a second time when the first changed what the body
// starts from, and leaves in s what may hold after the loop.
func (w *walker) again(s, body *state, run func(*state)) {
	before := s.clone()
	s.become(before, body)
	if !sameDirs(before.dirs, s.dirs) || changed(before, body) {
		second := s.clone()
		run(second)
		s.become(s.clone(), second)
	}
}

func sameDirs(a, b []string) bool { return strings.Join(a, "\x00") == strings.Join(b, "\x00") }

// changed reports a variable that the body set to a known text other than the
// one it had.
func changed(before, after *state) bool {
	for name, v := range after.vars {
		if v.array {
			continue
		}
		val := v.value.value()
		if val == nil || slices.ContainsFunc(v.value.parts, func(p part) bool { return p.spread }) {
			continue
		}
		if old, ok := before.vars[name]; !ok || old.value.value() == nil || *old.value.value() != *val {
			return true
		}
	}
	return false
}

const maxItems = 32

func (w *walker) forClause(s *state, c *syntax.ForClause, in stream) stream {
	var out stream
	if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
		for _, e := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
			if e != nil {
				w.arithmetic(s, e)
			}
		}
		body := s.clone()
		out = w.stmts(body, c.Do, in)
		s.become(s.clone(), body)
		return unsure(out)
	}
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok || loop.Name == nil {
		w.unknown("syntax", "a kind of loop gate does not know", 0, nil)
		return unsure(w.stmts(s.clone(), c.Do, in))
	}
	items := s.params
	if loop.InPos.IsValid() || len(loop.Items) > 0 {
		items = w.fields(s, loop.Items...)
	} else if !s.args {
		items = []field{holeField(&hole{why: "the arguments", empty: true})}
	}
	if len(items) > maxItems {
		alts := items
		items = []field{holeField(&hole{why: "one of many", taint: join(alts).taint()})}
	}
	for _, item := range items {
		body := s.clone()
		body.set(loop.Name.Value, item)
		out = concat(out, w.stmts(body, c.Do, in))
		s.become(s.clone(), body)
		s.vars[loop.Name.Value] = variable{value: item}
	}
	return unsure(out)
}
