package powershell

import (
	"strconv"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/secret"
)

// eval returns what an expression gives. The commands in it run.
func (w *Shell) eval(s *state, n node) value {
	if w.steps++; w.steps > 8*maxSteps {
		w.Limit("a line that takes more steps than gate follows")
		return value{}
	}
	switch n := n.(type) {
	case nil:
		return value{}
	case *text:
		f := flow.Word{Parts: []flow.Part{{Text: n.s, Quoted: n.quoted}}, Span: w.span(n.place)}
		return value{items: []flow.Word{f}}
	case *template:
		return w.template(s, n)
	case *variable:
		return w.lookup(s, n.name)
	case *list:
		var v value
		for _, item := range n.items {
			one := w.eval(s, item)
			if one.table != nil || one.block != nil {
				v.items = append(v.items, one.word())
				continue
			}
			v.items = append(v.items, one.items...)
		}
		return v
	case *table:
		var v value
		v.table = map[string]value{}
		for i, k := range n.keys {
			v.put(w.eval(s, k).text(), w.statementValue(s, n.values[i]))
		}
		return v
	case *group:
		var out value
		for i, st := range n.body {
			v := w.statementValue(s, st)
			if i == 0 {
				out = v
			} else if v.table == nil && v.block == nil {
				out.items = append(out.items[:len(out.items):len(out.items)], v.items...)
			}
		}
		return out
	case *scriptBlock:
		return value{block: n.body}
	case *cast:
		return w.cast(s, n)
	case *member:
		return w.member(s, n)
	case *index:
		return w.indexed(s, n)
	case *unary:
		v := w.eval(s, n.value)
		if n.op == "join" {
			return joined(v, "")
		}
		if n.op == "+" || n.op == "-" && v.known() {
			return value{items: []flow.Word{flow.Literal(strings.TrimPrefix(n.op, "+") + v.text())}}
		}
		return hole("a calculation", v.taint())
	case *binary:
		return w.operate(s, n)
	case *typeName:
		return literal("[" + n.name + "]")
	}
	return given(w.statement(s, n, flow.Stream{}))
}

// statementValue is what a statement gives where its value is asked for.
func (w *Shell) statementValue(s *state, n node) value {
	if c, ok := n.(*chain); ok && len(c.parts) == 1 && len(c.parts[0].elements) == 1 {
		if e, ok := c.parts[0].elements[0].(*written); ok && len(e.redirects) == 0 {
			return w.eval(s, e.value)
		}
	}
	return given(w.statement(s, n, flow.Stream{}))
}

func (v *value) put(key string, e value) {
	key = strings.ToLower(key)
	if _, ok := v.table[key]; !ok {
		v.keys = append(v.keys, key)
	}
	v.table[key] = e
}

// template puts a string together.
func (w *Shell) template(s *state, t *template) value {
	f := flow.Word{Span: w.span(t.place)}
	for _, p := range t.parts {
		one := w.eval(s, p)
		word := one.word()
		for _, part := range word.Parts {
			if t.quoted {
				part.Quoted = true
			}
			f.Parts = append(f.Parts, part)
		}
		if f.Size() > maxText || len(f.Parts) > maxItems {
			return hole("a text longer than gate follows", f.Taint())
		}
	}
	if len(f.Parts) == 0 {
		f.Parts = []flow.Part{{Quoted: t.quoted}}
	}
	return value{items: []flow.Word{merged(f)}}
}

// merged joins neighbouring parts that are the same kind of text.
func merged(f flow.Word) flow.Word {
	out := flow.Word{Span: f.Span}
	for _, p := range f.Parts {
		if n := len(out.Parts); n > 0 && p.Hole == nil && out.Parts[n-1].Hole == nil && out.Parts[n-1].Quoted == p.Quoted {
			out.Parts[n-1].Text += p.Text
			continue
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// lookup is what a variable holds.
func (w *Shell) lookup(s *state, name string) value {
	if v, ok := s.vars[name]; ok {
		return v
	}
	switch name {
	case "true":
		return literal("True")
	case "false":
		return literal("False")
	case "null":
		return value{}
	case "home":
		return literal(w.World.Home)
	case "pwd":
		if len(s.Dirs) == 1 {
			return literal(s.Dirs[0])
		}
	case "profile":
		return literal(w.World.Home + "/Documents/PowerShell/Microsoft.PowerShell_profile.ps1")
	case "input":
		return given(s.input)
	case "verbatim":
		return hole("a variable of cmd.exe", flow.Taint{})
	}
	if env, ok := cutFold(name, "env:"); ok {
		return w.variableOfEnvironment(env)
	}
	return unknown("the variable $"+name, flow.Taint{})
}

// folders are variables of the environment that name directories, below the home
// directory where they begin with a tilde.
const folders = " userprofile=~ home=~ homepath=~ appdata=~/AppData/Roaming localappdata=~/AppData/Local temp=~/AppData/Local/Temp tmp=~/AppData/Local/Temp" +
	" systemroot=C:/Windows windir=C:/Windows systemdrive=C: programdata=C:/ProgramData allusersprofile=C:/ProgramData comspec=C:/Windows/System32/cmd.exe public=C:/Users/Public homedrive=C: "

func (w *Shell) variableOfEnvironment(name string) value {
	if _, rest, ok := strings.Cut(folders, " "+name+"="); ok {
		dir, _, _ := strings.Cut(rest, " ")
		if below, ok := strings.CutPrefix(dir, "~"); ok {
			dir = w.World.Home + below
		}
		return literal(dir)
	}
	switch name {
	case "programfiles":
		return literal("C:/Program Files")
	case "programfiles(x86)":
		return literal("C:/Program Files (x86)")
	}
	t := flow.Taint{}
	if secret.Variable(upper(name)) {
		t.Secret = "environment variable " + upper(name)
	}
	return hole("the variable $env:"+name, t)
}

func (w *Shell) cast(s *state, n *cast) value {
	v := w.eval(s, n.value)
	switch n.to {
	case "char":
		if code, err := strconv.Atoi(v.text()); err == nil && code > 0 && code < 0x110000 {
			return literal(string(rune(code)))
		}
		return hole("a character", v.taint())
	case "scriptblock":
		return v
	case "void":
		return value{}
	case "wmiclass", "wmi", "adsi", "system.management.managementobject":
		w.puzzle("a cast to ["+n.to+"], which gate does not know", n.place)
	}
	return v
}

func joined(v value, sep string) value {
	out := flow.Word{}
	for i, item := range v.items {
		if i > 0 && sep != "" {
			out.Parts = append(out.Parts, flow.Part{Text: sep, Quoted: true})
		}
		out.Parts = append(out.Parts, item.Parts...)
	}
	if len(out.Parts) == 0 {
		return literal("")
	}
	return value{items: []flow.Word{merged(out)}}
}

// operate works out a binary operator.
func (w *Shell) operate(s *state, n *binary) value {
	l, r := w.eval(s, n.l), w.eval(s, n.r)
	t := l.taint().Merge(r.taint())
	switch n.op {
	case "+":
		if len(l.items) == 1 && len(r.items) == 1 {
			f := flow.Word{Parts: append(append([]flow.Part(nil), l.items[0].Parts...), r.items[0].Parts...)}
			if _, err := strconv.Atoi(l.text()); err != nil {
				return value{items: []flow.Word{merged(f)}}
			}
			return hole("a calculation", t)
		}
		if l.table == nil && r.table == nil && len(l.items)+len(r.items) <= maxItems {
			return value{items: append(l.items[:len(l.items):len(l.items)], r.items...)}
		}
	case "f":
		return formatted(l, r, t)
	case "join":
		if r.known() {
			return joined(l, r.text())
		}
	case "split":
		if l.known() && r.known() && strings.Trim(r.text(), ` ,;:/-_=`) == "" && r.text() != "" {
			var v value
			for part := range strings.SplitSeq(l.text(), r.text()) {
				v.items = append(v.items, flow.Literal(part))
			}
			if len(v.items) <= maxItems {
				return v
			}
		}
		return unknown("parts of a text", t)
	case "replace", "ireplace", "creplace":
		parts, ok := n.r.(*list)
		if ok && len(parts.items) == 2 && l.known() && len(l.items) == 1 && len(r.items) == 2 && r.known() && !strings.ContainsAny(r.items[0].Text()+r.items[1].Text(), `\^$.|?*+()[]{}`) {
			return literal(strings.ReplaceAll(l.text(), r.items[0].Text(), r.items[1].Text()))
		}
		return hole("a text in which something is replaced", t)
	case "??":
		return either(l, r)
	case "?":
		return r
	case "..":
		from, err1 := strconv.Atoi(l.text())
		to, err2 := strconv.Atoi(r.text())
		if err1 == nil && err2 == nil && from <= to && to-from < maxTurns {
			var v value
			for i := from; i <= to; i++ {
				v.items = append(v.items, flow.Literal(strconv.Itoa(i)))
			}
			return v
		}
		return unknown("a range", t)
	case "as":
		return l
	}
	return hole("a calculation", flow.Taint{})
}

// formatted is what -f gives.
func formatted(l, r value, t flow.Taint) value {
	form := l.text()
	if !l.known() {
		return hole("a formatted text", t)
	}
	f := flow.Word{}
	for form != "" {
		before, rest, found := strings.Cut(form, "{")
		f.Parts = append(f.Parts, flow.Part{Text: before, Quoted: true})
		if !found {
			break
		}
		number, after, ok := strings.Cut(rest, "}")
		i, err := strconv.Atoi(number)
		if !ok || err != nil || i < 0 || i >= len(r.items) {
			return hole("a formatted text", t)
		}
		f.Parts = append(f.Parts, r.items[i].Parts...)
		form = after
	}
	return value{items: []flow.Word{merged(f)}}
}

func (w *Shell) indexed(s *state, n *index) value {
	of, at := w.eval(s, n.of), w.eval(s, n.at)
	if of.table != nil {
		if v, ok := of.table[strings.ToLower(at.text())]; ok && at.known() {
			return v
		}
		return unknown("an entry of a table", of.taint())
	}
	i, err := strconv.Atoi(at.text())
	if i < 0 {
		i += len(of.items)
	}
	if err == nil && i >= 0 && i < len(of.items) && len(of.items) > 1 {
		return value{items: of.items[i : i+1]}
	}
	return unknown("an item of a list", of.taint())
}

func upper(name string) string { return strings.ToUpper(name) }

// cutFold cuts a prefix off, of which the case does not matter.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
