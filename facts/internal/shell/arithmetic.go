package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
)

func unknownNumber() flow.Word { return flow.Unknown(&flow.Hole{Why: "arithmetic"}) }

func numberField(n int) flow.Word { return flow.Literal(strconv.Itoa(n)) }

// arithmetic evaluates an expression as far as it is literal. Words inside it
// run their substitutions, and text that bash evaluates again is followed.
func (w *Shell) arithmetic(s *state, e syntax.ArithmExpr) flow.Word {
	switch e := e.(type) {
	case *syntax.Word:
		return w.operand(s, e)
	case *syntax.BinaryArithm:
		return w.binaryArithmetic(s, e)
	case *syntax.UnaryArithm:
		return w.unaryArithmetic(s, e)
	case *syntax.ParenArithm:
		return w.arithmetic(s, e.X)
	case *syntax.FlagsArithm:
		if e.X != nil {
			w.arithmetic(s, e.X)
		}
	case nil:
	default:
		w.Unknown("syntax", "a kind of arithmetic gate does not know", 0, nil)
	}
	return unknownNumber()
}

// operand evaluates a word: a number, a variable, or text that is an
// expression itself.
func (w *Shell) operand(s *state, word *syntax.Word) flow.Word {
	f := w.word(s, word)
	v := f.Value()
	if v == nil {
		return unknownNumber()
	}
	return w.expression(s, *v)
}

// expression evaluates text as arithmetic, which runs the substitutions in the
// subscripts that it holds.
func (w *Shell) expression(s *state, text string) flow.Word {
	text = strings.TrimSpace(text)
	if n, ok := bash.Int(text); ok {
		return numberField(n)
	}
	if text == "" {
		return numberField(0)
	}
	if w.Depth > maxDepth || bash.TooDeep(text) {
		w.Limit("arithmetic nested deeper than gate follows")
		return unknownNumber()
	}
	w.Depth++
	w.nested++
	defer func() { w.Depth--; w.nested-- }()
	if syntax.ValidName(text) {
		v, ok := s.lookup(text)
		if !ok {
			return unknownNumber()
		}
		if v.unset {
			return numberField(0)
		}
		if val := v.first().Value(); val != nil && *val != text {
			return w.expression(s, *val)
		}
		return unknownNumber()
	}
	if !strings.ContainsAny(text, "[+-*/%<>=!&|^~?:(), \t\n") {
		return unknownNumber() // not an expression
	}
	e, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Arithmetic(strings.NewReader(text))
	if err != nil {
		w.evaluated(s, flow.Literal(text))
		return unknownNumber()
	}
	if word, ok := e.(*syntax.Word); ok && word.Lit() == text {
		return unknownNumber()
	}
	return w.arithmetic(s, e)
}

// evaluatedLater follows text that an integer variable or a reference takes
// for an expression.
func (w *Shell) evaluatedLater(s *state, f flow.Word) {
	if v := f.Value(); v != nil {
		w.expression(s, *v)
	}
}

func (w *Shell) binaryArithmetic(s *state, e *syntax.BinaryArithm) flow.Word {
	switch e.Op {
	case syntax.AndArit, syntax.OrArit, syntax.TernQuest:
		return w.shortCircuit(s, e)
	}
	if inner, ok := bash.Assigned(e.Op); ok {
		y := w.arithmetic(s, e.Y)
		f := y
		if e.Op != syntax.Assgn {
			f = unknownNumber()
			a, ok1 := w.arithmetic(s, e.X).Number()
			b, ok2 := y.Number()
			if n, ok := bash.Calculate(inner, a, b); ok && ok1 && ok2 {
				f = numberField(n)
			}
		}
		w.store(s, e.X, f)
		return f
	}
	x := w.arithmetic(s, e.X)
	y := w.arithmetic(s, e.Y)
	if e.Op == syntax.Comma {
		return y
	}
	a, ok1 := x.Number()
	b, ok2 := y.Number()
	if n, ok := bash.Calculate(e.Op, a, b); ok && ok1 && ok2 {
		return numberField(n)
	}
	return unknownNumber()
}

// shortCircuit evaluates && || and ?:, whose right side may not happen.
func (w *Shell) shortCircuit(s *state, e *syntax.BinaryArithm) flow.Word {
	x, known := w.arithmetic(s, e.X).Number()
	way := func(e syntax.ArithmExpr, runs bool) flow.Word {
		if known && runs {
			return w.arithmetic(s, e)
		}
		other := s.clone()
		f := w.arithmetic(other, e)
		if !known {
			s.become(s.clone(), other)
		}
		return f
	}
	truth := func(f flow.Word) flow.Word {
		n, ok := f.Number()
		if !ok {
			return unknownNumber()
		}
		return numberField(bash.Truth(n != 0))
	}
	if colon, ok := e.Y.(*syntax.BinaryArithm); ok && e.Op == syntax.TernQuest {
		a, b := way(colon.X, x != 0), way(colon.Y, x == 0)
		switch {
		case !known:
			return flow.Either(a, b)
		case x != 0:
			return a
		}
		return b
	}
	and := e.Op == syntax.AndArit
	y := truth(way(e.Y, (x != 0) == and))
	if known && (x != 0) != and {
		return numberField(bash.Truth(x != 0))
	}
	if !known {
		return unknownNumber()
	}
	return y
}

func (w *Shell) unaryArithmetic(s *state, e *syntax.UnaryArithm) flow.Word {
	x := w.arithmetic(s, e.X)
	n, ok := x.Number()
	switch e.Op {
	case syntax.Inc, syntax.Dec:
		next := unknownNumber()
		if ok {
			next = numberField(n + 1 - 2*bash.Truth(e.Op == syntax.Dec))
		}
		w.store(s, e.X, next)
		if !e.Post {
			return next
		}
		return x
	case syntax.Minus:
		n = -n
	case syntax.BitNegation:
		n = ^n
	case syntax.Not:
		n = bash.Truth(n == 0)
	case syntax.Plus:
	default:
		ok = false
	}
	if !ok {
		return unknownNumber()
	}
	return numberField(n)
}

// store assigns to a variable or to an element of an array.
func (w *Shell) store(s *state, e syntax.ArithmExpr, f flow.Word) {
	word, ok := e.(*syntax.Word)
	if !ok {
		return
	}
	if name := strings.TrimSpace(word.Lit()); name != "" {
		s.set(name, f)
		return
	}
	if v := w.word(s, word).Value(); v != nil && syntax.ValidName(*v) { // $((  $N = 1 ))
		s.set(*v, f)
	}
	if len(word.Parts) == 1 {
		if p, ok := word.Parts[0].(*syntax.ParamExp); ok && p.Short && p.Index != nil {
			v := s.vars[s.target(p.Param.Value)]
			if key, ok := w.key(s, v, p.Index); ok {
				s.replace(p.Param.Value, v.with(key, f))
				return
			}
			s.replace(p.Param.Value, unknownArray())
		}
	}
}
