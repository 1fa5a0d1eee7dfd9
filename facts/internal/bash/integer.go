package bash

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Int reads a number as arithmetic does: 010 is 8, and 0x10 and 2#101 are
// numbers, too.
func Int(text string) (int, bool) {
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

// Truth is the number of a condition: 1 where it holds, else 0.
func Truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Assigned is the operator inside = and its kin: Add of AddAssgn, and Assgn
// itself. It reports false for those that assign nothing.
func Assigned(op syntax.BinAritOperator) (syntax.BinAritOperator, bool) {
	for _, x := range assignments {
		if x.op == op {
			return x.inside, true
		}
	}
	return 0, false
}

var assignments = [...]struct{ op, inside syntax.BinAritOperator }{
	{syntax.Assgn, syntax.Assgn}, {syntax.AddAssgn, syntax.Add}, {syntax.SubAssgn, syntax.Sub}, {syntax.MulAssgn, syntax.Mul},
	{syntax.QuoAssgn, syntax.Quo}, {syntax.RemAssgn, syntax.Rem}, {syntax.AndAssgn, syntax.And}, {syntax.OrAssgn, syntax.Or},
	{syntax.XorAssgn, syntax.Xor}, {syntax.ShlAssgn, syntax.Shl}, {syntax.ShrAssgn, syntax.Shr},
}

// Calculate is what an operator makes of two numbers. It reports false where
// bash would fail, and for operators that are no arithmetic.
func Calculate(op syntax.BinAritOperator, a, b int) (int, bool) {
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
		return Truth(a == b), true
	case syntax.Neq:
		return Truth(a != b), true
	case syntax.Lss:
		return Truth(a < b), true
	case syntax.Gtr:
		return Truth(a > b), true
	case syntax.Leq:
		return Truth(a <= b), true
	case syntax.Geq:
		return Truth(a >= b), true
	}
	return 0, false
}

// IsNumber reports a text of decimal digits and nothing else.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// IsDescriptor reports what may stand behind >& and <& for a descriptor: its number,
// with a dash where it moves, or a dash alone, which closes.
func IsDescriptor(s string) bool { return strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == "" }
