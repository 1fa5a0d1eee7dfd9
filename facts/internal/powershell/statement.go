package powershell

import (
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// block runs the statements of a block in the state, and returns what they write.
func (w *Shell) block(s *state, b *block, in flow.Stream) flow.Stream {
	if w.calls++; w.calls > maxCalls {
		w.Limit("blocks nested deeper than gate follows")
		w.calls--
		return flow.Stream{Some: true}
	}
	defer func() { w.calls-- }()
	old := s.input
	s.input = in
	var out flow.Stream
	for _, n := range b.body {
		if s.ended { // what stands behind may be reached in a way that gate does not see
			after := s.clone()
			after.ended = false
			w.statement(after, n, in)
			continue
		}
		out = flow.Concat(out, w.statement(s, n, in))
	}
	s.input = old
	return out
}

// statement runs one statement.
func (w *Shell) statement(s *state, n node, in flow.Stream) flow.Stream {
	if w.steps++; w.steps > maxSteps {
		w.Limit("a line that takes more steps than gate follows")
		return flow.Stream{}
	}
	switch n := n.(type) {
	case *chain:
		return w.chain(s, n, in)
	case *assign:
		return w.assign(s, n)
	case *branch:
		return w.branch(s, n, in)
	case *loop:
		return w.loop(s, n, in)
	case *try:
		return w.try(s, n, in)
	case *function:
		s.funcs[n.name] = n.body
		return flow.Stream{}
	case *leave:
		var out flow.Stream
		if n.value != nil {
			out = w.statement(s, n.value, in)
		}
		s.ended = true
		return out
	}
	return w.eval(s, n).stream()
}

func (w *Shell) chain(s *state, c *chain, in flow.Stream) flow.Stream {
	out := w.pipeline(s, c.parts[0], in)
	for _, p := range c.parts[1:] {
		other := s.clone()
		out = flow.Concat(out, w.pipeline(other, p, in))
		other.ended = false
		s.become(s.clone(), other)
	}
	return out
}

func (w *Shell) pipeline(s *state, p *pipeline, in flow.Stream) flow.Stream {
	st := in
	for i, e := range p.elements {
		before := w.lastID()
		switch e := e.(type) {
		case *command:
			st = w.command(s, e, st)
		case *written:
			v := w.eval(s, e.value)
			st = w.redirected(s, e.redirects, v.stream(), 0)
		}
		if cmds := w.Commands(); i > 0 && st.From > 0 && before > 0 && before <= len(cmds) && len(cmds) > before && cmds[before-1].PipeTo == 0 {
			cmds[before-1].PipeTo = before + 1
		}
	}
	return st
}

// redirected judges the files that redirections open.
func (w *Shell) redirected(s *state, redirects []redirect, out flow.Stream, id int) flow.Stream {
	for _, r := range redirects {
		if r.target == nil {
			continue
		}
		target := w.eval(s, r.target)
		if len(target.items) == 0 { // $null
			if r.from == '1' || r.from == '*' {
				out = flow.Stream{}
			}
			continue
		}
		how := "overwrite"
		if r.add {
			how = "append"
		}
		content := out
		if r.from != '1' && r.from != '*' {
			content = flow.Stream{Some: true, From: id}
		}
		f := loose(target.word())
		f.Span = w.span(r.place)
		w.OutputTo(s.Where, id, f, how, content)
		if r.from == '1' || r.from == '*' {
			out = flow.Stream{From: id}
		}
	}
	return out
}

// assign gives variables their values.
func (w *Shell) assign(s *state, a *assign) flow.Stream {
	var v value
	if c, ok := a.value.(*chain); ok && len(c.parts) == 1 && len(c.parts[0].elements) == 1 {
		if e, ok := c.parts[0].elements[0].(*written); ok && len(e.redirects) == 0 {
			v = w.eval(s, e.value)
			w.set(s, a.target, a.op, v)
			return flow.Stream{}
		}
	}
	v = given(w.statement(s, a.value, flow.Stream{}))
	w.set(s, a.target, a.op, v)
	return flow.Stream{}
}

// set gives the target of an assignment a value.
func (w *Shell) set(s *state, target node, op string, v value) {
	switch t := target.(type) {
	case *cast:
		w.set(s, t.value, op, v)
	case *list:
		for i, item := range t.items {
			switch {
			case len(v.items) == len(t.items) && v.items[i].Literal():
				w.set(s, item, op, value{items: v.items[i : i+1]})
			default:
				w.set(s, item, op, unknown("one of several values", v.taint()))
			}
		}
	case *variable:
		switch {
		case op == "+=" && s.vars[t.name].table == nil && len(s.vars[t.name].items) == 1 && len(v.items) == 1:
			v = value{items: []flow.Word{flow.Append(s.vars[t.name].items[0], v.items[0])}}
		case op == "+=" && s.vars[t.name].table == nil && v.table == nil:
			v = value{items: append(s.vars[t.name].items[:len(s.vars[t.name].items):len(s.vars[t.name].items)], v.items...)}
		case op != "=":
			v = hole("a calculation", v.taint())
		}
		if len(v.items) > maxItems {
			v = unknown("a list of many items", v.taint())
		}
		s.vars[t.name] = v
		if name, ok := cutFold(t.name, "env:"); ok {
			w.environment(0, name, v)
		}
	case *member:
		w.setMember(s, t, v)
	case *index:
		if of, ok := t.of.(*variable); ok {
			w.setEntry(s, of.name, w.eval(s, t.at).text(), v)
		}
	}
}

func (w *Shell) setMember(s *state, t *member, v value) {
	of, ok := t.of.(*variable)
	if ok {
		w.setEntry(s, of.name, w.eval(s, t.name).text(), v)
		return
	}
	if ty, ok := t.of.(*typeName); ok && !harmlessType(ty.name) {
		w.puzzle("it changes ["+ty.name+"], which gate does not know", t.place)
	}
	w.eval(s, t.of)
}

// setEntry changes one entry of a table.
func (w *Shell) setEntry(s *state, name, key string, v value) {
	old := s.vars[name]
	if old.table == nil || key == "" {
		return
	}
	changed := value{keys: append([]string(nil), old.keys...), table: map[string]value{}}
	for k, e := range old.table {
		changed.table[k] = e
	}
	changed.put(key, v)
	s.vars[name] = changed
}

// environment judges a variable that programs see.
func (w *Shell) environment(id int, name string, v value) {
	if text := w.outside.Sets(id, upper(name), v.word()); text != "" {
		w.puzzle("a variable that makes programs run something", place{})
	}
}

func (w *Shell) branch(s *state, b *branch, in flow.Stream) flow.Stream {
	var out flow.Stream
	var ways []*state
	for i, c := range b.blocks {
		if i < len(b.conditions) {
			w.eval(s, b.conditions[i])
		}
		way := s.clone()
		out = flow.Concat(out, w.block(way, c, in))
		ways = append(ways, way)
	}
	if len(b.blocks) == len(b.conditions) {
		ways = append(ways, s.clone())
	}
	for i, way := range ways {
		if i == 0 {
			*s = *way
			continue
		}
		s.become(s.clone(), way)
	}
	if !out.Some {
		return out
	}
	return maybe(out)
}

// maybe is a stream that may or may not be written.
func maybe(st flow.Stream) flow.Stream { return flow.Unsure(st) }

// maxTurns bounds how many items of a list a loop goes through one by one.
const maxTurns = 16

func (w *Shell) loop(s *state, l *loop, in flow.Stream) flow.Stream {
	var over value
	if l.over != nil {
		over = w.eval(s, l.over)
	}
	var out flow.Stream
	turn := func(item value) {
		way := s.clone()
		if l.name != "" {
			way.vars[l.name] = item
		}
		for _, h := range l.heads {
			w.statement(way, h, flow.Stream{})
		}
		for _, b := range l.bodies {
			out = flow.Concat(out, w.block(way, b, in))
		}
		way.ended = false
		s.become(s.clone(), way)
	}
	switch {
	case l.over == nil && l.heads == nil: // begin, process, end
		for _, b := range l.bodies {
			out = flow.Concat(out, w.block(s, b, in))
		}
		return out
	case l.over == nil:
		changed := changedIn(l)
		for name := range changed {
			s.vars[name] = unknown("a variable of a loop", s.vars[name].taint())
		}
		before := w.lastID()
		turn(value{})
		w.breeds(s, l, before)
	case len(over.items) > 0 && len(over.items) <= maxTurns:
		for _, item := range over.items {
			turn(value{items: []flow.Word{item}})
		}
	default:
		turn(unknown("an item of a list", over.taint()))
	}
	return maybe(out)
}

// breeds judges a loop without an end that starts processes.
func (w *Shell) breeds(s *state, l *loop, before int) {
	if len(l.heads) != 1 {
		return
	}
	if head := w.eval(s, l.heads[0]).text(); head != "True" && head != "1" {
		return
	}
	for _, c := range w.Commands()[before:] {
		switch flow.Text(c.Program) {
		case "start-process", "start-job", "start-threadjob":
			w.Effect(c.ID, &hook.Process{Verb: "fork bomb"})
			return
		}
	}
}

// changedIn are the variables that the heads of a loop set.
func changedIn(l *loop) map[string]bool {
	out := map[string]bool{}
	for _, h := range l.heads {
		if a, ok := h.(*assign); ok {
			if v, ok := a.target.(*variable); ok {
				out[v.name] = true
			}
		}
	}
	return out
}

func (w *Shell) try(s *state, t *try, in flow.Stream) flow.Stream {
	out := w.block(s, t.body, in)
	s.ended = false
	for _, c := range t.catches {
		way := s.clone()
		way.vars["_"] = unknown("an error", flow.Taint{})
		out = flow.Concat(out, w.block(way, c, in))
		s.become(s.clone(), way)
	}
	if t.finally != nil {
		out = flow.Concat(out, w.block(s, t.finally, in))
	}
	return out
}

// apart runs a block where what it changes does not last.
func (w *Shell) apart(s *state, b *block, in flow.Stream, set func(*state)) flow.Stream {
	inner := s.clone()
	if set != nil {
		set(inner)
	}
	out := w.block(inner, b, in)
	s.Where = draft.Where{Dirs: inner.Dirs, Under: inner.Under, Remote: s.Remote, Windows: s.Windows}
	return out
}
