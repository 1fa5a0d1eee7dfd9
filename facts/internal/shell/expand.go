package shell

import (
	"cmp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
)

// fields expands words as bash does: braces, tilde, parameters, commands,
// arithmetic, splitting. Wildcards stay in the text, unquoted.
func (w *Shell) fields(s *state, words ...*syntax.Word) []flow.Word {
	return w.expanded(expander{Shell: w, state: s, split: true}, words)
}

// arguments expands the words of a command, of which those that look like
// assignments may have a tilde after the name.
func (w *Shell) arguments(s *state, words []*syntax.Word) []flow.Word {
	return w.expanded(expander{Shell: w, state: s, split: true, names: true}, words)
}

func (w *Shell) expanded(like expander, words []*syntax.Word) []flow.Word {
	var out []flow.Word
	for _, word := range words {
		for _, parts := range bash.Braces(word) {
			x := like
			x.parts(parts, false)
			fields := x.finish()
			for i := range fields {
				fields[i] = w.bounded(fields[i])
				fields[i].Span = w.spanOf(word)
				expandWildcards(fields[i])
			}
			out = append(out, fields...)
			if len(out) > maxWords {
				w.Unknown("limit", "more words than gate looks at", 0, nil)
				return out
			}
		}
	}
	return out
}

// expandWildcards marks wildcards that stand for the files they match from
// here on, whatever quotes a variable that holds them is put into.
func expandWildcards(f flow.Word) {
	for i, p := range f.Parts {
		if p.Hole == nil && !p.Quoted && strings.ContainsAny(p.Text, "*?[") {
			f.Parts[i].Spread = true
		}
	}
}

// word expands one word to one field, without splitting: an assignment, a
// redirection, the word of a case.
func (w *Shell) word(s *state, word *syntax.Word) flow.Word {
	return w.oneField(expander{Shell: w, state: s}, word)
}

// assigned expands the value of an assignment, in which a tilde may also
// follow a colon.
func (w *Shell) assigned(s *state, word *syntax.Word) flow.Word {
	return w.oneField(expander{Shell: w, state: s, colons: true}, word)
}

func (w *Shell) oneField(x expander, word *syntax.Word) flow.Word {
	if word == nil {
		return flow.Literal("")
	}
	x.parts(word.Parts, false)
	f := w.bounded(flow.Join(x.finish()))
	for i := range f.Parts {
		f.Parts[i].Kept = false
	}
	f.Span = w.spanOf(word)
	return f
}

// An expander builds the fields of one word.
type expander struct {
	*Shell
	state   *state
	split   bool
	escapes string // what a backslash escapes between double quotes; "" means the usual
	names   bool   // a tilde may follow NAME=
	colons  bool   // a tilde may follow a colon
	groups  bool   // it is a pattern that is held against a text
	inside  bool   // in an expansion in double quotes: single quotes are text
	cur     flow.Word
	open    bool // cur holds something, if only quotes
	out     []flow.Word
}

func (x *expander) add(p flow.Part) {
	x.open = true
	for len(x.holes) > 0 && p.Hole == nil {
		before, rest, _ := strings.Cut(p.Text, holeName)
		number, after, ok := strings.Cut(rest, "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 || n >= len(x.holes) {
			break
		}
		if before = strings.TrimSuffix(strings.TrimSuffix(before, "{"), "$"); before != "" {
			x.cur.Parts = append(x.cur.Parts, flow.Part{Text: before, Quoted: p.Quoted})
		}
		x.cur.Parts = append(x.cur.Parts, flow.Part{Hole: x.holes[n]})
		if p.Text = strings.TrimPrefix(after, "}"); p.Text == "" {
			return
		}
	}
	x.cur.Parts = append(x.cur.Parts, p)
}

// holeName begins the names of the variables that stand for holes: see template.
const holeName = "gate_unknown_"

func (x *expander) flush() {
	if x.open {
		x.out = append(x.out, x.cur)
	}
	x.cur, x.open = flow.Word{}, false
}

func (x *expander) finish() []flow.Word {
	x.flush()
	return x.out
}

func (x *expander) parts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		if foreign(parts[i:], i == 0, quoted) {
			x.Unknown("dialect", "in zsh or fish it is another part or more words of a variable", 0, x.spanOf(p))
		}
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			if !quoted && strings.Contains(text, "~") {
				text = x.tildes(text, i == 0 && !x.open, i+1 == len(parts))
			}
			x.literal(text, quoted)
		case *syntax.SglQuoted:
			text := p.Value
			switch {
			case p.Dollar:
				text = bash.Unescape(text)
				text, _, _ = strings.Cut(text, "\x00")
			case x.inside && strings.ContainsAny(text, "$`\\"):
				x.add(flow.Part{Hole: &flow.Hole{Why: "quotes inside an expansion", Empty: true}})
				continue
			case x.inside:
				text = "'" + text + "'"
			}
			x.add(flow.Part{Text: text, Quoted: true})
		case *syntax.DblQuoted:
			x.open = x.open || !onlyList(p)
			x.parts(p.Parts, true)
		case *syntax.ParamExp:
			x.param(p, quoted)
		case *syntax.CmdSubst:
			x.values([]flow.Word{x.substitution(x.state, p)}, quoted, false)
		case *syntax.ArithmExp:
			x.values([]flow.Word{x.arithmetic(x.state, p.X)}, true, false)
		case *syntax.ProcSubst:
			x.add(flow.Part{Hole: x.process(x.state, p)})
		case *syntax.ExtGlob:
			x.group(p)
			switch text := p.Op.String() + p.Pattern.Value + ")"; {
			case !x.groups:
				x.add(flow.Part{Text: "*"}) // what it matches is judged as "anything"
			case strings.ContainsAny(text, "$`\"'\\"):
				x.add(flow.Part{Hole: &flow.Hole{Why: "an expansion in a group of a pattern"}})
			default:
				x.add(flow.Part{Text: text})
			}
		case *syntax.BraceExp:
			x.add(flow.Part{Text: "*"})
		default:
			x.Unknown("syntax", "a part of a word gate does not know", 0, nil)
			x.add(flow.Part{Hole: &flow.Hole{Why: "unknown syntax", Empty: true, Many: true}})
		}
	}
}

// foreign reports $=name, $~name and $^name, with which zsh splits a variable into words,
// looks for files or repeats a word, and at the start of a word $name[1], which is an
// element or a letter in zsh and fish.
func foreign(parts []syntax.WordPart, first, quoted bool) bool {
	text := ""
	for _, p := range parts[:min(2, len(parts))] {
		switch p := p.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.ParamExp:
			if !first || !p.Short || text != "" {
				return false
			}
			text = "$"
		}
	}
	if _, lit := parts[0].(*syntax.Lit); !lit {
		inner, _, closed := strings.Cut(strings.TrimPrefix(text, "$["), "]")
		return closed && inner != "" && strings.Trim(inner, "0123456789,") == ""
	}
	at := strings.IndexByte(text, '$')
	return !quoted && at >= 0 && at+2 < len(text) && (at == 0 || text[at-1] != '\\') && strings.IndexByte("=~^", text[at+1]) >= 0 && (isLetter(text[at+2]) || text[at+2] == '_')
}

// onlyList reports "$@" and "${a[@]}", which are no word at all when empty.
func onlyList(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || indexAll(p) == "@")
}

// literal adds text with its backslashes resolved.
func (x *expander) literal(text string, quoted bool) {
	if text == "" {
		return
	}
	if !strings.Contains(text, `\`) {
		x.add(flow.Part{Text: text, Quoted: quoted})
		return
	}
	escapes := cmp.Or(x.escapes, "$`\"\\")
	var run strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			run.WriteByte(c)
			continue
		}
		next := text[i+1]
		switch {
		case next == '\n':
			i++
		case quoted && strings.IndexByte(escapes, next) < 0:
			run.WriteByte(c)
		case quoted:
			run.WriteByte(next)
			i++
		default:
			x.add(flow.Part{Text: run.String()})
			run.Reset()
			x.add(flow.Part{Text: string(next), Quoted: true})
			i++
		}
	}
	x.add(flow.Part{Text: run.String(), Quoted: quoted})
}

// spanOf converts a node's place to code points; nil inside nested text.
func (w *Shell) spanOf(n syntax.Node) *hook.Span {
	if w.nested > 0 || n == nil {
		return nil
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from >= to || to > len(w.text) {
		return nil
	}
	return &hook.Span{w.points(from), w.points(to)}
}

// bounded is f in as few pieces as can be, or a hole when it is longer than
// gate follows: x=$x$x doubles.
func (w *Shell) bounded(f flow.Word) flow.Word {
	size := 0
	for _, p := range f.Parts {
		size += len(p.Text)
	}
	if len(f.Parts) <= maxParts && size <= maxText {
		return f
	}
	if size <= maxText && f.Literal() {
		var parts []flow.Part
		for _, p := range f.Parts {
			if p.Text == "" {
				continue // between two backslashes
			}
			if n := len(parts); n > 0 && parts[n-1].Quoted == p.Quoted && parts[n-1].Spread == p.Spread && parts[n-1].Kept == p.Kept {
				parts[n-1].Text += p.Text
				continue
			}
			parts = append(parts, p)
		}
		if len(parts) <= maxParts {
			f.Parts = parts
			return f
		}
	}
	w.Limit("a text longer than gate follows")
	return flow.Word{Parts: []flow.Part{{Hole: &flow.Hole{Why: "a text longer than gate follows", Empty: true, Many: true, Taint: f.Taint()}}}, Span: f.Span}
}
