package builtin

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"gate/internal/plan/value"
)

// sprintf hands strings and numbers to fmt as Go's own, everything else as its
// text in Rego.
func sprintf(ctx *Context, args []value.Value) (value.Value, error) {
	format, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	operands, err := array(args, 1)
	if err != nil {
		return nil, err
	}
	if err := boundText(ctx, formatted(format, operands)); err != nil {
		return nil, err
	}
	natives := make([]any, operands.Len())
	for i, v := range operands.Elems() {
		if natives[i], err = native(v); err != nil {
			return nil, err
		}
	}
	return value.String(fmt.Sprintf(format, natives...)), nil
}

// native returns what fmt gets for a value. A number that is written as a
// fraction or with an exponent is a float64, or its text if it is too large for
// one.
func native(v value.Value) (any, error) {
	switch v := v.(type) {
	case value.Int:
		return int64(v), nil
	case value.String:
		return string(v), nil
	case value.Decimal:
		if err := boundDigits(v); err != nil {
			return nil, err
		}
		if strings.ContainsAny(string(v), ".eE") {
			if f, err := strconv.ParseFloat(string(v), 64); err == nil {
				return f, nil
			}
			return string(v), nil
		}
		if n, ok := value.AsInt(v); ok {
			return n, nil
		}
		if n, ok := new(big.Int).SetString(string(v), 10); ok {
			return n, nil
		}
		return string(v), nil
	}
	return value.Text(v), nil
}

// formatted bounds what a format can write with these operands.
func formatted(format string, operands *value.Array) int {
	sizes := make([]int, operands.Len())
	for i, v := range operands.Elems() {
		sizes[i] = min(value.Weight(v), MaxText/perWeight) * perWeight
	}
	return FormatSize(format, sizes, MaxText)
}

// FormatSize bounds, in bytes, what sprintf can write for operands whose texts
// are of these sizes: of each verb its width, or its operand in the verb's worst
// notation. It stops to count once there are more than enough.
func FormatSize(format string, sizes []int, enough int) int {
	largest := 0
	for _, size := range sizes {
		largest = max(largest, size)
	}
	n, next := len(format), 0
	for i := 0; i < len(format) && n <= enough; i++ {
		if format[i] != '%' {
			continue
		}
		v := verbOf(format[i+1:])
		i += v.length
		size := largest
		if !v.indexed && next < len(sizes) {
			size = sizes[next]
		}
		next++
		n += max(v.width, size*v.factor)
	}
	return n
}

// A verb is one directive of a format.
type verb struct {
	length  int  // in bytes, without the percent sign
	width   int  // the largest width or precision
	indexed bool // it names its operand
	factor  int  // how much longer than its text the operand may get
}

// widest is what package fmt allows for a width; a star can ask for all of it.
const widest = 1_000_000

func verbOf(s string) verb {
	v := verb{factor: 1}
	number := 0
	for v.length < len(s) {
		// A byte that is no character is one byte, whatever U+FFFD takes.
		r, size := utf8.DecodeRuneInString(s[v.length:])
		v.length += size
		switch {
		case r >= '0' && r <= '9':
			number = min(number*10+int(r-'0'), widest)
			v.width = max(v.width, number)
			continue
		case r == '*':
			v.width = widest
		case r == '[':
			v.indexed = true
		case strings.ContainsRune("+-# .]", r):
		case strings.ContainsRune("qxXUb", r):
			v.factor = 10
			return v
		default:
			return v
		}
		number = 0
	}
	return v
}

// formatInt writes a number without its fraction in one of four bases.
func formatInt(_ *Context, args []value.Value) (value.Value, error) {
	n, err := number(args, 0)
	if err != nil {
		return nil, err
	}
	base, err := number(args, 1)
	if err != nil {
		return nil, err
	}
	radix := 0
	switch value.NumberText(base) {
	case "2", "8", "10", "16":
		b, _ := value.AsInt(base)
		radix = int(b)
	default:
		return nil, operandError(2, "must be one of {2, 8, 10, 16}")
	}
	if err := boundDigits(n); err != nil {
		return nil, err
	}
	whole, ok := new(big.Int).SetString(value.NumberText(n), 10)
	if !ok {
		whole, _ = value.BigFloat(n).Int(nil)
	}
	return value.String(whole.Text(radix)), nil
}

// templateString joins the parts of a template: strings as they are, and sets
// for what may be undefined, of at most one value.
func templateString(ctx *Context, args []value.Value) (value.Value, error) {
	parts, err := array(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundEncoding(ctx, args[0], 1); err != nil {
		return nil, err
	}
	var out []byte
	for _, p := range parts.Elems() {
		if s, ok := p.(*value.Set); ok {
			switch s.Len() {
			case 0:
				p = value.String("<undefined>")
			case 1:
				p = s.Elems()[0]
			default:
				return nil, &Halt{fmt.Errorf("template-strings must not produce multiple outputs")}
			}
		} else if k := value.KindOf(p); k == value.KindArray || k == value.KindObject {
			return nil, &Halt{fmt.Errorf("illegal argument type: %s", k)}
		}
		if s, ok := p.(value.String); ok {
			out = append(out, s...)
		} else {
			out = value.AppendText(out, p)
		}
	}
	return value.String(out), nil
}
