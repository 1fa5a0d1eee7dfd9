package powershell

import (
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
)

// A value is what an expression gives: items, a table or a block. The zero value is
// nothing: $null.
type value struct {
	items []flow.Word
	keys  []string // of a table, in their order, in lower case
	table map[string]value
	block *block
}

func literal(s string) value { return value{items: []flow.Word{flow.Literal(s)}} }

func unknown(why string, t flow.Taint) value {
	return value{items: []flow.Word{flow.Unknown(&flow.Hole{Why: why, Taint: t, Many: true, Empty: true})}}
}

// hole is unknown as one word.
func hole(why string, t flow.Taint) value {
	return value{items: []flow.Word{flow.Unknown(&flow.Hole{Why: why, Taint: t})}}
}

// word is the value as one text.
func (v value) word() flow.Word {
	switch {
	case v.table != nil:
		var parts []flow.Word
		for _, k := range v.keys {
			one := flow.Word{Parts: []flow.Part{{Text: k + "=", Quoted: true}}}
			one.Parts = append(one.Parts, v.table[k].word().Parts...)
			parts = append(parts, one)
		}
		return flow.Join(parts)
	case len(v.items) == 1:
		return v.items[0]
	case len(v.items) == 0:
		return flow.Literal("")
	}
	return flow.Join(v.items)
}

// text is the value as a known text, "" where it is not known.
func (v value) text() string { return flow.Text(v.word().Value()) }

func (v value) taint() flow.Taint {
	if v.table == nil && len(v.items) == 0 {
		return flow.Taint{}
	}
	return v.word().Taint()
}

// known reports that all of it is known.
func (v value) known() bool { return v.block == nil && v.word().Literal() }

// stream is what the value is in a pipeline.
func (v value) stream() flow.Stream {
	if v.table == nil && v.block == nil && len(v.items) == 0 {
		return flow.Stream{}
	}
	if v.block != nil {
		return flow.Stream{Some: true}
	}
	st := flow.Stream{Some: true, Taint: v.taint()}
	if v.table != nil {
		w := v.word()
		st.Text, st.Form = w.Value(), &w
		return st
	}
	st.Files = v.items
	var b flow.Word
	for _, w := range v.items {
		b.Parts = append(append(b.Parts, w.Parts...), flow.Part{Text: "\n", Quoted: true})
	}
	if st.Text = b.Value(); st.Text == nil {
		st.Form = &b
	}
	return st
}

// given is what a stream is as a value.
func given(st flow.Stream) value {
	if !st.Some {
		return value{}
	}
	if names := st.Handed(); len(names) > 0 {
		return value{items: names}
	}
	if text, ok := st.Left(); ok {
		var v value
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if len(v.items) == maxItems {
				return unknown("a text of many lines", st.Taint)
			}
			v.items = append(v.items, flow.Literal(line))
		}
		return v
	}
	if f, ok := st.Template(); ok {
		return value{items: []flow.Word{f}}
	}
	return unknown("the output of a command", st.Taint)
}

// either is one of two values.
func either(a, b value) value {
	switch {
	case a.block != nil && a.block == b.block:
		return a
	case len(a.items) == 1 && len(b.items) == 1 && a.table == nil && b.table == nil && a.block == nil && b.block == nil:
		return value{items: []flow.Word{flow.Either(a.items[0], b.items[0])}}
	case a.table == nil && b.table == nil && a.block == nil && b.block == nil && flow.SameWords(a.items, b.items):
		return a
	}
	return unknown("a variable that may have several values", a.taint().Merge(b.taint()))
}

// A state is what the shell knows at one point of the line.
type state struct {
	draft.Where
	vars    map[string]value
	funcs   map[string]*block
	aliases map[string]string
	stack   [][]string
	input   flow.Stream // $input
	ended   bool        // nothing that follows runs
}

func newState(at draft.Where) *state {
	return &state{Where: at, vars: map[string]value{}, funcs: map[string]*block{}, aliases: map[string]string{}}
}

func (s *state) clone() *state {
	c := *s
	c.vars, c.funcs, c.aliases = maps.Clone(s.vars), maps.Clone(s.funcs), maps.Clone(s.aliases)
	c.stack = slices.Clone(s.stack)
	return &c
}

// become makes s what holds after either of two ways.
func (s *state) become(a, b *state) {
	if a.ended && !b.ended {
		*s = *b
		return
	}
	if b.ended && !a.ended {
		*s = *a
		return
	}
	m := a.clone()
	for name, v := range b.vars {
		if old, ok := a.vars[name]; ok {
			m.vars[name] = either(old, v)
		} else {
			m.vars[name] = either(v, unknown("a variable that may not be set", flow.Taint{}))
		}
	}
	maps.Copy(m.funcs, b.funcs)
	maps.Copy(m.aliases, b.aliases)
	if !slices.Equal(a.Dirs, b.Dirs) {
		for _, d := range b.Dirs {
			if !slices.Contains(m.Dirs, d) {
				m.Dirs = append(slices.Clip(m.Dirs), d)
			}
		}
		if len(a.Dirs) == 0 || len(b.Dirs) == 0 || len(m.Dirs) > draft.MaxDirs {
			m.Dirs = nil
		}
	}
	m.ended = a.ended && b.ended
	*s = *m
}
