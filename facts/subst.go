package facts

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitution runs $(…) and returns what it stands for.
func (w *walker) substitution(s *state, c *syntax.CmdSubst) field {
	sub := s.clone()
	w.depth++
	before := len(w.out.Effects)
	out := w.stmts(sub, c.Stmts, stream{})
	for _, e := range w.out.Effects[before:] {
		if e.Kind == "secret.read" && out.taint.secret != "" {
			e.Attrs["shown"] = false // caught: where it goes decides
		}
	}
	if f, ok := readFile(c); ok { // $(< file)
		out = w.fileStream(sub, w.word(sub, f))
	}
	w.depth--
	if out.text != nil {
		return field{parts: []part{{text: strings.TrimRight(*out.text, "\n")}}}
	}
	if names := out.names(); len(names) == 1 {
		return names[0]
	}
	return holeField(&hole{why: "the output of a command", empty: true, many: true, taint: out.taint})
}

// readFile recognises $(< file).
func readFile(c *syntax.CmdSubst) (*syntax.Word, bool) {
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Redirs[0].Op == syntax.RdrIn {
		return c.Stmts[0].Redirs[0].Word, true
	}
	return nil, false
}

// process runs <(…) and >(…); the word is a file that carries the output.
func (w *walker) process(s *state, p *syntax.ProcSubst) *hole {
	w.depth++
	out := w.stmts(s.clone(), p.Stmts, stream{})
	w.depth--
	name := fmt.Sprintf("/dev/fd/gate-%d", len(w.files))
	if p.Op == syntax.CmdIn || p.Op == syntax.CmdInTemp {
		out.some = true
		w.files[name] = out
	}
	return &hole{why: "a process substitution", alts: []string{name}, taint: out.taint}
}

// arithmetic evaluates an expression as far as it is literal. Words inside it
// run their substitutions, and text that bash evaluates again is followed.
func (w *walker) arithmetic(s *state, e syntax.ArithmExpr) field {
	unknown := holeField(&hole{why: "arithmetic"})
	switch e := e.(type) {
	case *syntax.Word:
		f := w.word(s, e)
		w.evaluated(s, f)
		v := f.value()
		if v == nil {
			return unknown
		}
		text := strings.TrimSpace(*v)
		if _, err := strconv.Atoi(text); err == nil {
			return literalField(text)
		}
		if syntax.ValidName(text) {
			if val, ok := s.vars[text]; ok && !val.array {
				w.evaluated(s, val.value)
				if n := val.value.value(); n != nil {
					if _, err := strconv.Atoi(*n); err == nil {
						return literalField(*n)
					}
				}
			}
		}
		return unknown
	case *syntax.BinaryArithm:
		x := w.arithmetic(s, e.X)
		y := w.arithmetic(s, e.Y)
		if n, ok := calculate(e.Op, x, y); ok {
			return literalField(strconv.Itoa(n))
		}
		if word, ok := e.X.(*syntax.Word); ok && assigns(e.Op) {
			s.set(strings.TrimSpace(word.Lit()), unknown)
		}
	case *syntax.UnaryArithm:
		x := w.arithmetic(s, e.X)
		if v := x.value(); v != nil && !e.Post && e.Op == syntax.Minus {
			if n, err := strconv.Atoi(*v); err == nil {
				return literalField(strconv.Itoa(-n))
			}
		}
		if word, ok := e.X.(*syntax.Word); ok && (e.Op == syntax.Inc || e.Op == syntax.Dec) {
			s.set(strings.TrimSpace(word.Lit()), unknown)
		}
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
	return unknown
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

func calculate(op syntax.BinAritOperator, x, y field) (int, bool) {
	vx, vy := x.value(), y.value()
	if vx == nil || vy == nil {
		return 0, false
	}
	a, err1 := strconv.Atoi(*vx)
	b, err2 := strconv.Atoi(*vy)
	if err1 != nil || err2 != nil {
		return 0, false
	}
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
	}
	return 0, false
}

// evaluated follows text that bash expands a second time: subscripts in
// arithmetic, [[ -v ]], printf -v, read, declare.
func (w *walker) evaluated(s *state, f field) {
	v := f.value()
	if v == nil || !strings.ContainsAny(*v, "[") || !strings.Contains(*v, "$(") && !strings.Contains(*v, "`") {
		return
	}
	w.nested++
	defer func() { w.nested-- }()
	doc, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(*v))
	if err != nil {
		w.unknown("syntax", "a subscript that does not parse", 0, nil)
		return
	}
	if w.depth++; w.depth <= maxDepth {
		w.word(s.clone(), doc)
	}
	w.depth--
}

// test walks [[ … ]].
func (w *walker) test(s *state, e syntax.TestExpr) {
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
		for _, x := range []syntax.TestExpr{e.X, e.Y} {
			if word, ok := x.(*syntax.Word); ok && numeric(e.Op) {
				w.evaluated(s, w.word(s, word))
				continue
			}
			w.test(s, x)
		}
	case *syntax.ParenTest:
		w.test(s, e.X)
	case nil:
	default:
		w.unknown("syntax", "a kind of test gate does not know", 0, nil)
	}
}

func numeric(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}
