package pattern

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// What is larger than this is left to package regexp.
const (
	maxPattern      = 4096
	maxInstructions = 1000
)

// Regex returns the program of an expression of RE2, "" for one that is not valid
// or too large.
func Regex(expression string) Program { return compile(expression, 0) }

// compile makes a program. The class of all characters but part, if it is not 0,
// stands for all that are no delimiters.
func compile(expression string, part rune) Program {
	if len(expression) > maxPattern {
		return ""
	}
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	re = re.Simplify()
	prog, err := syntax.Compile(re)
	if err != nil || len(prog.Inst) > maxInstructions {
		return ""
	}
	w := writer{part: part}
	flags := len(prog.Inst) << flagsBits
	if prog.StartCond()&syntax.EmptyBeginText != 0 {
		flags |= anchored
	}
	known, enough := required(re)
	if enough {
		flags |= decided
		prog, flags = &syntax.Prog{}, flags&(1<<flagsBits-1)
	}
	w.put(flags, landing(prog, uint32(prog.Start)), headSize+instruction*len(prog.Inst), 0)
	for i := range prog.Inst {
		w.instruction(prog, &prog.Inst[i])
	}
	w.words = append(w.words, w.tables...)
	w.words[headWords] = uint32(len(w.words))
	w.put(len(known))
	for _, c := range known {
		w.put(c.how | len(c.words)<<8)
		for _, word := range c.words {
			w.text(word)
		}
	}
	return w.program()
}

// A writer collects the words of a program.
type writer struct {
	words  []uint32
	tables []uint32
	part   rune
}

func (w *writer) put(words ...int) {
	for _, n := range words {
		w.words = append(w.words, uint32(n))
	}
}

func (w *writer) text(s string) {
	w.put(len(s))
	for len(s) > 0 {
		var b [4]byte
		s = s[copy(b[:], s):]
		w.put(int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24))
	}
}

func (w *writer) program() Program {
	out := make([]byte, 0, 4*len(w.words))
	for _, n := range w.words {
		out = append(out, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return Program(out)
}

// landing returns the instruction that an instruction leads to past those that do
// nothing.
func landing(prog *syntax.Prog, i uint32) int {
	for int(i) < len(prog.Inst) && (prog.Inst[i].Op == syntax.InstNop || prog.Inst[i].Op == syntax.InstCapture) {
		i = prog.Inst[i].Out
	}
	return int(i)
}

func (w *writer) instruction(prog *syntax.Prog, inst *syntax.Inst) {
	op, arg := opFail, 0
	switch inst.Op {
	case syntax.InstMatch:
		op = opMatch
	case syntax.InstAlt, syntax.InstAltMatch:
		op, arg = opFork, landing(prog, inst.Arg)
	case syntax.InstEmptyWidth:
		op, arg = opLook, int(inst.Arg)
	case syntax.InstRune1:
		op, arg = opRune, int(inst.Rune[0])
	case syntax.InstRuneAny:
		op = opAny
	case syntax.InstRuneAnyNotNL:
		op = opLine
	case syntax.InstRune:
		op, arg = w.class(ranges(inst))
	}
	w.put(op|arg<<8, landing(prog, inst.Out))
}

// class returns the instruction for a class of characters.
func (w *writer) class(pairs []rune) (op, arg int) {
	if w.part != 0 && slices.Equal(pairs, []rune{0, w.part - 1, w.part + 1, unicode.MaxRune}) {
		return opPart, 0
	}
	at := len(w.tables)
	w.tables = append(w.tables, uint32(len(pairs)/2))
	for _, r := range pairs {
		w.tables = append(w.tables, uint32(r))
	}
	return opRanges, at
}

// ranges returns the pairs of first and last characters that an instruction
// takes, in order.
func ranges(inst *syntax.Inst) []rune {
	if len(inst.Rune) != 1 {
		return inst.Rune
	}
	r := inst.Rune[0]
	all := []rune{r}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			all = append(all, f)
		}
		slices.Sort(all)
	}
	var pairs []rune
	for _, r := range all {
		pairs = append(pairs, r, r)
	}
	return pairs
}

// encodable reports whether a character of an expression stands in texts as its
// own bytes. The replacement character stands for bytes that are no text, too.
func encodable(r rune) bool { return utf8.ValidRune(r) && r != utf8.RuneError }
