package builtin

import (
	"errors"
	"math/big"
	"strings"

	"gate/engine/plan/value"
)

// maxExponentDigits bounds the exponent of an amount.
const maxExponentDigits = 6

var errExponent = errors.New("exponent too large")

// splitAmount cuts an amount into its number and its unit. An e belongs to the
// number if a digit or a sign follows.
func splitAmount(s string) (number, unit string, err error) {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	sign := func(i int) bool { return i < len(s) && (s[i] == '+' || s[i] == '-') }
	i := 0
	for i < len(s) {
		switch {
		case digit(i) || sign(i) || s[i] == '.':
			i++
		case (s[i] == 'e' || s[i] == 'E') && (digit(i+1) || sign(i+1)):
			if i++; sign(i) {
				i++
			}
			from := i
			for digit(i) {
				i++
			}
			if i-from > maxExponentDigits {
				return "", "", errExponent
			}
		default:
			return s[:i], s[i:], nil
		}
	}
	return s, "", nil
}

// amount reads the number of an amount of some unit.
func amount(args []value.Value, builtin, what string, prepare func(string) string) (number, unit string, err error) {
	s, err := text(args, 0)
	if err != nil {
		return "", "", err
	}
	s = prepare(strings.ReplaceAll(s, `"`, ""))
	if strings.Contains(s, " ") {
		return "", "", errors.New(builtin + ": spaces not allowed in resource strings")
	}
	number, unit, err = splitAmount(s)
	switch {
	case err != nil:
		return "", "", errors.New(builtin + ": " + err.Error())
	case number == "":
		return "", "", errors.New(builtin + ": no " + what + " provided")
	case len(number) > MaxDigits:
		return "", "", errors.New(builtin + ": " + errExponent.Error())
	}
	return number, unit, nil
}

// power returns base to the power of the prefix's place among k, m, g, t, p, e.
func power(base int64, prefix byte) (*big.Int, bool) {
	at := strings.IndexByte("kmgtpe", prefix|0x20)
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(at+1)), nil), at >= 0
}

func unitsParse(_ *Context, args []value.Value) (value.Value, error) {
	const name = "units.parse"
	number, unit, err := amount(args, name, "amount", func(s string) string { return s })
	if err != nil {
		return nil, err
	}
	factor, ok := unitFactor(unit)
	if !ok {
		if unit != "" {
			unit = unit[:1] + strings.ToLower(unit[1:])
		}
		return nil, errors.New(name + ": unit " + unit + " not recognized")
	}
	if digits(number) > MaxDigits {
		return nil, errors.New(name + ": " + errExponent.Error())
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil, errors.New(name + ": could not parse amount to a number")
	}
	if n.Mul(n, factor).IsInt() {
		return value.FromBigInt(n.Num()), nil
	}
	return value.Number(n.FloatString(10))
}

// unitFactor returns what a unit stands for. Only of the first letter the case
// counts: m is a thousandth, M a million.
func unitFactor(unit string) (*big.Rat, bool) {
	switch {
	case unit == "":
		return big.NewRat(1, 1), true
	case unit == "m":
		return new(big.Rat).SetFloat64(0.001), true
	case len(unit) == 1:
		n, ok := power(1000, unit[0])
		return new(big.Rat).SetInt(n), ok
	case len(unit) == 2 && unit[1]|0x20 == 'i':
		n, ok := power(1024, unit[0])
		return new(big.Rat).SetInt(n), ok
	}
	return nil, false
}

func unitsParseBytes(_ *Context, args []value.Value) (value.Value, error) {
	const name = "units.parse_bytes"
	number, unit, err := amount(args, name, "byte amount", strings.ToLower)
	if err != nil {
		return nil, err
	}
	factor, ok := byteFactor(unit)
	if !ok {
		return nil, errors.New(name + ": byte unit " + unit + " not recognized")
	}
	if digits(number) > MaxDigits {
		return nil, errors.New(name + ": " + errExponent.Error())
	}
	n, ok := new(big.Float).SetString(number)
	if !ok {
		return nil, errors.New(name + ": could not parse byte amount to a number")
	}
	whole, _ := n.Mul(n, new(big.Float).SetInt(factor)).Int(nil)
	return value.FromBigInt(whole), nil
}

// byteFactor returns what a unit in small letters stands for: k and kb are a
// thousand bytes, ki and kib 1024.
func byteFactor(unit string) (*big.Int, bool) {
	prefix, binary := strings.TrimSuffix(unit, "b"), false
	if rest, ok := strings.CutSuffix(prefix, "i"); ok {
		prefix, binary = rest, true
	}
	switch {
	case unit == "":
		return big.NewInt(1), true
	case len(prefix) != 1:
		return nil, false
	case binary:
		return power(1024, prefix[0])
	}
	return power(1000, prefix[0])
}
