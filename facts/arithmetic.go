package facts

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func unknownNumber() field { return holeField(&hole{why: "arithmetic"}) }

func numberField(n int) field { return literalField(strconv.Itoa(n)) }

// number is the known value of an evaluated expression.
func (f field) number() (int, bool) {
	v := f.value()
	if v == nil {
		return 0, false
	}
	return bashInt(*v)
}

// bashInt reads a number as arithmetic does: 010 is 8, 0x10 and 2#101 too.
func bashInt(text string) (int, bool) {
	text = strings.TrimSpace(text)
	base := 10
	switch before, digits, ok := strings.Cut(text, "#"); {
	case ok:
		b, err := strconv.Atoi(before)
		if err != nil || b < 2 || b > 36 {
			return 0, false
		}
		base, text = b, digits
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		base, text = 16, text[2:]
	case len(text) > 1 && text[0] == '0':
		base, text = 8, text[1:]
	}
	if strings.HasPrefix(text, "+") || strings.Contains(text, "_") {
		return 0, false
	}
	n, err := strconv.ParseInt(text, base, 64)
	return int(n), err == nil
}

// arithmetic evaluates an expression as far as it is literal. Words inside it
// run their substitutions, and text that bash evaluates again is followed.
func (w *walker) arithmetic(s *state, e syntax.ArithmExpr) field {
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
		w.unknown("syntax", "a kind of arithmetic gate does not know", 0, nil)
	}
	return unknownNumber()
}

// operand evaluates a word: a number, a variable, or text that is an
// expression itself.
func (w *walker) operand(s *state, word *syntax.Word) field {
	f := w.word(s, word)
	v := f.value()
	if v == nil {
		return unknownNumber()
	}
	return w.expression(s, *v)
}

// expression evaluates text as arithmetic, which runs the substitutions in the
// subscripts that it holds.
func (w *walker) expression(s *state, text string) field {
	text = strings.TrimSpace(text)
	if n, ok := bashInt(text); ok {
		return numberField(n)
	}
	if text == "" {
		return numberField(0)
	}
	if w.depth > maxDepth || tooDeep(text) {
		w.limit("arithmetic nested deeper than gate follows")
		return unknownNumber()
	}
	w.depth++
	w.nested++
	defer func() { w.depth--; w.nested-- }()
	if syntax.ValidName(text) {
		v, ok := s.lookup(text)
		if !ok {
			return unknownNumber()
		}
		if v.unset {
			return numberField(0)
		}
		if val := v.first().value(); val != nil && *val != text {
			return w.expression(s, *val)
		}
		return unknownNumber()
	}
	if !strings.ContainsAny(text, "[+-*/%<>=!&|^~?:(), \t\n") {
		return unknownNumber() // not an expression
	}
	e, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Arithmetic(strings.NewReader(text))
	if err != nil {
		w.evaluated(s, literalField(text))
		return unknownNumber()
	}
	if word, ok := e.(*syntax.Word); ok && word.Lit() == text {
		return unknownNumber()
	}
	return w.arithmetic(s, e)
}

// evaluatedLater follows text that an integer variable or a reference takes
// for an expression.
func (w *walker) evaluatedLater(s *state, f field) {
	if v := f.value(); v != nil {
		w.expression(s, *v)
	}
}

func (w *walker) binaryArithmetic(s *state, e *syntax.BinaryArithm) field {
	switch e.Op {
	case syntax.AndArit, syntax.OrArit, syntax.TernQuest:
		return w.shortCircuit(s, e)
	}
	if assigns(e.Op) {
		y := w.arithmetic(s, e.Y)
		f := y
		if e.Op != syntax.Assgn {
			f = unknownNumber()
			a, ok1 := w.arithmetic(s, e.X).number()
			b, ok2 := y.number()
			op, _ := assigned(e.Op)
			if n, ok := calculate(op, a, b); ok && ok1 && ok2 {
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
	a, ok1 := x.number()
	b, ok2 := y.number()
	if n, ok := calculate(e.Op, a, b); ok && ok1 && ok2 {
		return numberField(n)
	}
	return unknownNumber()
}

// shortCircuit evaluates && || and ?:, whose right side may not happen.
func (w *walker) shortCircuit(s *state, e *syntax.BinaryArithm) field {
	x, known := w.arithmetic(s, e.X).number()
	way := func(e syntax.ArithmExpr, runs bool) field {
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
	truth := func(f field) field {
		n, ok := f.number()
		if !ok {
			return unknownNumber()
		}
		return numberField(boolInt(n != 0))
	}
	if colon, ok := e.Y.(*syntax.BinaryArithm); ok && e.Op == syntax.TernQuest {
		a, b := way(colon.X, x != 0), way(colon.Y, x == 0)
		switch {
		case !known:
			return either(a, b)
		case x != 0:
			return a
		}
		return b
	}
	and := e.Op == syntax.AndArit
	y := truth(way(e.Y, (x != 0) == and))
	if known && (x != 0) != and {
		return numberField(boolInt(x != 0))
	}
	if !known {
		return unknownNumber()
	}
	return y
}

func (w *walker) unaryArithmetic(s *state, e *syntax.UnaryArithm) field {
	x := w.arithmetic(s, e.X)
	n, ok := x.number()
	switch e.Op {
	case syntax.Inc, syntax.Dec:
		next := unknownNumber()
		if ok {
			next = numberField(n + 1 - 2*boolInt(e.Op == syntax.Dec))
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
		n = boolInt(n == 0)
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
func (w *walker) store(s *state, e syntax.ArithmExpr, f field) {
	word, ok := e.(*syntax.Word)
	if !ok {
		return
	}
	if name := strings.TrimSpace(word.Lit()); name != "" {
		s.set(name, f)
		return
	}
	if v := w.word(s, word).value(); v != nil && variableName(*v) { // $((  $N = 1 ))
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

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func assigns(op syntax.BinAritOperator) bool {
	_, ok := assigned(op)
	return ok || op == syntax.Assgn
}

// assigned is the operator inside += and its kin.
func assigned(op syntax.BinAritOperator) (syntax.BinAritOperator, bool) {
	switch op {
	case syntax.AddAssgn:
		return syntax.Add, true
	case syntax.SubAssgn:
		return syntax.Sub, true
	case syntax.MulAssgn:
		return syntax.Mul, true
	case syntax.QuoAssgn:
		return syntax.Quo, true
	case syntax.RemAssgn:
		return syntax.Rem, true
	case syntax.AndAssgn:
		return syntax.And, true
	case syntax.OrAssgn:
		return syntax.Or, true
	case syntax.XorAssgn:
		return syntax.Xor, true
	case syntax.ShlAssgn:
		return syntax.Shl, true
	case syntax.ShrAssgn:
		return syntax.Shr, true
	}
	return 0, false
}

func calculate(op syntax.BinAritOperator, a, b int) (int, bool) {
	switch op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo:
		if b != 0 {
			return a / b, true
		}
	case syntax.Rem:
		if b != 0 {
			return a % b, true
		}
	case syntax.Pow:
		n := 1
		for range min(max(b, 0), 64) {
			n *= a
		}
		return n, b >= 0 && b <= 64
	case syntax.And:
		return a & b, true
	case syntax.Or:
		return a | b, true
	case syntax.Xor:
		return a ^ b, true
	case syntax.Shl:
		return a << (b & 63), true
	case syntax.Shr:
		return a >> (b & 63), true
	case syntax.Eql:
		return boolInt(a == b), true
	case syntax.Neq:
		return boolInt(a != b), true
	case syntax.Lss:
		return boolInt(a < b), true
	case syntax.Gtr:
		return boolInt(a > b), true
	case syntax.Leq:
		return boolInt(a <= b), true
	case syntax.Geq:
		return boolInt(a >= b), true
	}
	return 0, false
}
