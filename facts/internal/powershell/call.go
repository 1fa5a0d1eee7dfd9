package powershell

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// A call is one command while it is judged.
type call struct {
	place
	name string // as it was called
	args []arg
	word flow.Word // of the name
	id   int       // the number of the command, once it is listed
}

// An arg is a parameter, with a value where one is attached to it, or a value.
type arg struct {
	param    string // with its dash, without its colon
	value    value
	attached bool
	place    place
}

// command runs a command.
func (w *Shell) command(s *state, n *command, in flow.Stream) flow.Stream {
	c := &call{place: n.place}
	name := w.eval(s, n.name)
	for _, a := range n.args {
		w.argument(s, c, a)
	}
	var out flow.Stream
	switch {
	case name.block != nil && n.call == '.':
		out = w.block(s, w.bound(s, name.block, c), in)
	case name.block != nil:
		out = w.apart(s, name.block, in, func(inner *state) { w.bind(inner, name.block, c) })
	default:
		c.word = name.word()
		out = w.named(s, c, in)
	}
	return w.redirected(s, n.redirects, out, c.id)
}

// argument evaluates an argument of a call. A table that is splatted gives its
// entries as parameters.
func (w *Shell) argument(s *state, c *call, a argument) {
	if !a.splat {
		one := arg{param: strings.TrimSuffix(a.param, ":"), place: a.place, attached: strings.HasSuffix(a.param, ":")}
		if a.value != nil {
			one.value = w.eval(s, a.value)
		}
		c.args = append(c.args, one)
		return
	}
	v := w.eval(s, a.value)
	if v.table == nil {
		for _, item := range v.items {
			c.args = append(c.args, arg{value: value{items: []flow.Word{item}}, place: a.place})
		}
		return
	}
	for _, k := range v.keys {
		e := v.table[k]
		c.args = append(c.args, arg{param: "-" + k, value: e, attached: true, place: a.place})
	}
}

// named runs a command under each of the names that it can have.
func (w *Shell) named(s *state, c *call, in flow.Stream) flow.Stream {
	names, known := c.word.Variants()
	if !known {
		if i := strings.LastIndexAny(c.word.Text(), `/\`); i >= 0 && c.word.Parts[len(c.word.Parts)-1].Hole == nil && strings.ContainsAny(c.word.Parts[len(c.word.Parts)-1].Text, `/\`) {
			c.name = c.word.Text()[i+1:] // in a directory that is not known
			return w.run(s, c, in)
		}
		inv := w.invocation(c, in, false)
		w.List(s.Where, inv, nil, false)
		c.id = inv.ID
		w.Unknown("program", "which program runs is not known: "+c.word.Why(), inv.ID, c.word.Span)
		if t := c.word.Taint(); t.Remote {
			w.Effect(inv.ID, &hook.ExecRemote{Host: flow.Known(t.Host), URL: flow.Known(t.URL), Via: "substitution"})
		}
		for _, a := range c.args {
			w.runBlock(s, a.value)
		}
		for _, f := range inv.Given() {
			w.MaybePath(s.Where, inv.ID, "", f)
		}
		return flow.Stream{Some: true, From: inv.ID}
	}
	var out flow.Stream
	for i, name := range names {
		way := s
		if len(names) > 1 {
			way = s.clone()
		}
		c.name = name
		out = flow.Concat(out, w.run(way, c, in))
		if len(names) > 1 && i == 0 {
			*s = *way
		} else if len(names) > 1 {
			s.become(s.clone(), way)
		}
	}
	return out
}

// run runs a command that has a name.
func (w *Shell) run(s *state, c *call, in flow.Stream) flow.Stream {
	if w.steps++; w.steps > maxSteps || len(w.Commands()) > maxCommands {
		w.Limit("more commands than gate looks at")
		return flow.Stream{}
	}
	name := w.resolve(s, c)
	if body, ok := s.funcs[name]; ok {
		return w.function(s, name, body, c, in)
	}
	if strings.HasSuffix(name, ".ps1") {
		c.args = append([]arg{{param: "-File"}, {value: value{items: []flow.Word{slashed(c)}}}}, c.args...)
		name = "pwsh"
	}
	if out, done := w.builtin(s, c, name, in); done {
		return out
	}
	for _, a := range c.args {
		w.runBlock(s, a.value)
	}
	return w.ask(s, c, name, in)
}

// slashed is the name of the call as a path.
func slashed(c *call) flow.Word {
	if len(c.word.Parts) > 0 {
		return c.word
	}
	return flow.Literal(c.name)
}

// ask has the outside judge a command.
func (w *Shell) ask(s *state, c *call, name string, in flow.Stream) flow.Stream {
	inv := w.invocation(c, in, cmdlet(name))
	inv.Words[0] = flow.Word{Parts: []flow.Part{{Text: name, Quoted: true}}, Span: c.word.Span}
	w.Depth++
	out := w.outside.Run(inv, s.Where, name)
	w.Depth--
	c.id = inv.ID
	if text, ok := c.value("-OutVariable"); ok && text.known() {
		s.vars[strings.ToLower(strings.TrimPrefix(text.text(), "+"))] = given(out)
	}
	return out
}

// cmdlet reports the name of a cmdlet: a verb and a noun.
func cmdlet(name string) bool {
	verb, noun, ok := strings.Cut(name, "-")
	return ok && verb != "" && noun != "" && !strings.ContainsAny(name, `/\.`) && strings.Contains(verbs, " "+verb+" ")
}

// verbs are those that Microsoft approves of, and older ones.
const verbs = " add approve assert backup block build checkpoint clear close compare complete compress confirm connect convert convertfrom convertto copy debug" +
	" deny deploy disable disconnect dismount edit enable enter exit expand export find foreach format get grant group hide import initialize install invoke join limit lock measure" +
	" merge mount move new open optimize out ping pop protect publish push read receive redo register remove rename repair request reset resize resolve restart" +
	" restore resume revoke save search select send set show skip sort split start step stop submit suspend switch sync tee test trace unblock undo uninstall unlock" +
	" unprotect unpublish unregister update use wait watch where write setx "

// invocation is the call as the outside takes it.
func (w *Shell) invocation(c *call, in flow.Stream, isCmdlet bool) *draft.Invocation {
	inv := &draft.Invocation{Words: []flow.Word{c.word}, Stdin: in, Span: w.span(c.place)}
	if len(c.word.Parts) == 0 {
		inv.Words[0] = flow.Literal(c.name)
	}
	if in.Some {
		inv.Input = &hook.Stdin{From: "pipe", Command: in.From, Text: draft.Short(in.Text)}
	}
	last := ""
	for _, a := range c.args {
		span := w.span(a.place)
		values := a.items()
		if a.param != "" {
			last = a.param
			switch {
			case !a.attached:
				inv.Words = append(inv.Words, bareWord(a.param, span))
				continue
			case !isCmdlet:
				f := bareWord(a.param+":", span)
				f.Parts = append(f.Parts, a.value.word().Parts...)
				inv.Words = append(inv.Words, f)
				continue
			case a.value.text() == "True" || a.value.text() == "False":
				inv.Words = append(inv.Words, bareWord(a.param+":"+a.value.text(), span))
				continue
			}
			inv.Words = append(inv.Words, bareWord(a.param, span))
		}
		for i, v := range values {
			if i > 0 && last != "" && isCmdlet {
				inv.Words = append(inv.Words, bareWord(last, span))
			}
			if isCmdlet && !strings.EqualFold(last, "-LiteralPath") {
				v = loose(v)
			}
			if v.Span == nil {
				v.Span = span
			}
			inv.Words = append(inv.Words, v)
		}
		last = ""
	}
	if len(inv.Words) > maxItems*4 {
		inv.Words = inv.Words[:maxItems*4]
		w.Limit("a command with more words than gate looks at")
	}
	return inv
}

// items are the words that an argument's value stands for.
func (a arg) items() []flow.Word {
	switch {
	case a.value.block != nil:
		return []flow.Word{flow.Literal("{}")}
	case a.value.table != nil:
		return []flow.Word{a.value.word()}
	case len(a.value.items) == 0 && a.param == "":
		return []flow.Word{flow.Literal("")}
	}
	return a.value.items
}

func bareWord(s string, span *hook.Span) flow.Word {
	return flow.Word{Parts: []flow.Part{{Text: s}}, Span: span}
}

// loose is a word in which wildcards count: cmdlets expand them, also in quotes. A
// dash at its beginning is that of a text.
func loose(f flow.Word) flow.Word {
	out := flow.Word{Parts: append([]flow.Part(nil), f.Parts...), Span: f.Span}
	for i := range out.Parts {
		out.Parts[i].Quoted = i == 0 && strings.HasPrefix(out.Parts[i].Text, "-") && f.Parts[i].Quoted
	}
	return out
}

// value is the value of a parameter, which may be abbreviated to two letters.
func (c *call) value(param string) (value, bool) {
	for i, a := range c.args {
		if len(a.param) < 2 || len(a.param) > len(param) || !strings.EqualFold(a.param, param[:len(a.param)]) {
			continue
		}
		if a.attached {
			return a.value, true
		}
		if i+1 < len(c.args) && c.args[i+1].param == "" {
			return c.args[i+1].value, true
		}
		return value{}, true
	}
	return value{}, false
}

// positional are the values that stand behind no parameter. Those named are switches.
func (c *call) positional(switches string) (out []value) {
	for i, a := range c.args {
		if a.param != "" {
			continue
		}
		if i > 0 && c.args[i-1].param != "" && !c.args[i-1].attached && !strings.Contains(switches, " "+strings.ToLower(c.args[i-1].param)+" ") {
			continue
		}
		out = append(out, a.value)
	}
	return out
}

// function runs a function with the arguments of a call.
func (w *Shell) function(s *state, name string, body *block, c *call, in flow.Stream) flow.Stream {
	times := 0
	for _, n := range w.active {
		if n == name {
			times++
		}
	}
	if times > 2 {
		return flow.Stream{Some: true}
	}
	w.active = append(w.active, name)
	out := w.apart(s, body, in, func(inner *state) { w.bind(inner, body, c) })
	w.active = w.active[:len(w.active)-1]
	return out
}

// bound binds a block's parameters in the state itself.
func (w *Shell) bound(s *state, b *block, c *call) *block {
	w.bind(s, b, c)
	return b
}

// bind gives the parameters of a block the arguments of a call.
func (w *Shell) bind(s *state, b *block, c *call) {
	at := 0
	pos := c.positional("")
	all := value{}
	for _, v := range pos {
		all.items = append(all.items, v.items...)
	}
	s.vars["args"] = all
	for _, p := range b.params {
		v, named := c.value("-" + p.name)
		switch {
		case named:
		case at < len(pos):
			v = pos[at]
			at++
		case p.value != nil:
			v = w.eval(s, p.value)
		}
		if named && v.items == nil && v.table == nil && v.block == nil {
			v = literal("True")
		}
		s.vars[p.name] = v
	}
}

// runBlock runs a block that a command is handed, or those in a table.
func (w *Shell) runBlock(s *state, v value) {
	if v.block != nil {
		w.apart(s, v.block, flow.Stream{}, func(inner *state) {
			for _, name := range []string{"_", "psitem"} {
				if _, ok := inner.vars[name]; !ok {
					inner.vars[name] = unknown("an item of a pipeline", flow.Taint{})
				}
			}
		})
	}
	for _, k := range v.keys {
		w.runBlock(s, v.table[k])
	}
}

// runText runs a text that is only known as a value.
func (w *Shell) runText(s *state, f flow.Word, in flow.Stream, p place) flow.Stream {
	texts, known := f.Variants()
	t := f.Taint()
	id := w.lastID()
	if !known || t.Remote {
		if id == 0 || t.Remote && id > 0 {
			inv := &draft.Invocation{Words: []flow.Word{flow.Literal("invoke-expression"), f}, Span: w.span(p)}
			w.List(s.Where, inv, new("invoke-expression"), false)
			id = inv.ID
		}
		source := "inline"
		if t.Remote {
			source = "stdin"
		}
		return w.UnknownCode(id, "powershell", t, source, f.Why())
	}
	var out flow.Stream
	for _, text := range texts {
		if t.Hidden {
			w.Effect(id, &hook.ExecCode{Language: "powershell", Source: "inline", Known: true, Decoded: true})
		}
		w.nested++
		w.Depth++
		out = flow.Concat(out, w.script(s, text, in))
		w.Depth--
		w.nested--
	}
	return out
}
