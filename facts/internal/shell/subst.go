package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
)

// substitution runs $(…) and returns what it stands for.
func (w *Shell) substitution(s *state, c *syntax.CmdSubst) flow.Word {
	sub := s.clone()
	w.Depth++
	before := len(w.Facts.Effects)
	out := w.apart(func() flow.Stream { return w.stmts(sub, c.Stmts, flow.Stream{}) })
	for _, e := range w.Facts.Effects[before:] {
		if read, ok := e.Is.(*hook.SecretRead); ok && out.Taint.Secret != "" {
			read.Shown = false // caught: where it goes decides
		}
	}
	if f, ok := readFile(c); ok { // $(< file)
		out = w.content(sub, w.word(sub, f))
	}
	w.Depth--
	if out.Text != nil {
		return flow.Word{Parts: []flow.Part{{Text: strings.TrimRight(*out.Text, "\n")}}}
	}
	if names := out.Names(); len(names) == 1 {
		return names[0]
	}
	h := &flow.Hole{Why: "the output of a command", Empty: true, Many: true, Taint: out.Taint, File: out.File}
	for _, text := range out.Could {
		h.Guess = append(h.Guess, strings.TrimRight(text, "\n"))
	}
	if out.All {
		h.Alts, h.Guess, h.Empty = h.Guess, nil, false
	}
	return flow.Unknown(h)
}

// readFile recognises $(< file).
func readFile(c *syntax.CmdSubst) (*syntax.Word, bool) {
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Redirs[0].Op == syntax.RdrIn {
		return c.Stmts[0].Redirs[0].Word, true
	}
	return nil, false
}

// process runs <(…) and >(…); the word is a file that carries the output.
func (w *Shell) process(s *state, p *syntax.ProcSubst) *flow.Hole {
	w.Depth++
	out := w.stmts(s.clone(), p.Stmts, flow.Stream{Some: p.Op == syntax.CmdOut}) // what is written there is not known yet
	w.Depth--
	name := fmt.Sprintf(fdPath+"gate-%d", len(w.Files)+len(w.Fed))
	if p.Op == syntax.CmdIn || p.Op == syntax.CmdInTemp {
		out.Some = true
		w.Written(name, out)
	} else {
		w.Feed(name, func(in flow.Stream) { w.stmts(s.clone(), p.Stmts, in) })
	}
	return &flow.Hole{Why: "a process substitution", Alts: []string{name}, Taint: out.Taint}
}

// evaluated follows text that bash expands a second time: subscripts in
// arithmetic, [[ -v ]], printf -v, read, declare.
func (w *Shell) evaluated(s *state, f flow.Word) {
	v := f.Value()
	if v == nil || !strings.ContainsAny(*v, "[") || !strings.Contains(*v, "$(") && !strings.Contains(*v, "`") {
		return
	}
	w.expandedAgain(s, f)
}

// expandedAgain runs the substitutions of a text that is expanded once more.
func (w *Shell) expandedAgain(s *state, f flow.Word) {
	v := f.Value()
	if v == nil || bash.TooDeep(*v) {
		return
	}
	w.nested++
	defer func() { w.nested-- }()
	doc, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(*v))
	if err != nil {
		w.Unknown("syntax", "a subscript that does not parse", 0, nil)
		return
	}
	if w.Depth++; w.Depth <= maxDepth {
		w.word(s.clone(), doc)
	}
	w.Depth--
}

// test walks [[ … ]].
func (w *Shell) test(s *state, e syntax.TestExpr) {
	switch e := e.(type) {
	case *syntax.Word:
		w.word(s, e)
	case *syntax.UnaryTest:
		if word, ok := e.X.(*syntax.Word); ok && e.Op == syntax.TsVarSet {
			w.evaluated(s, w.word(s, word))
			return
		}
		w.test(s, e.X)
	case *syntax.BinaryTest:
		if word, ok := e.Y.(*syntax.Word); ok && e.Op == syntax.TsAfter && strings.Contains(word.Lit(), "/") {
			w.Unknown("dialect", "in dash > between brackets writes to a file", 0, w.spanOf(word))
		}
		for _, x := range []syntax.TestExpr{e.X, e.Y} {
			if word, ok := x.(*syntax.Word); ok && numeric(e.Op) {
				w.operand(s, word)
				continue
			}
			w.test(s, x)
		}
	case *syntax.ParenTest:
		w.test(s, e.X)
	case nil:
	default:
		w.Unknown("syntax", "a kind of test gate does not know", 0, nil)
	}
}

func numeric(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}
