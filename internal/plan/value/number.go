package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxExponent bounds the binary exponent of a number: beyond it, writing the
// number out would cost too much.
const maxExponent = 100_000

var (
	errNoNumber  = errors.New("invalid number: invalid float")
	errTooBig    = errors.New("invalid number: number too big")
	errNoInteger = errors.New("illegal value")
)

// Number returns the number that text says, in JSON's notation. It keeps the
// text: 1.0 stays 1.0. Numbers with a binary exponent beyond 100000 are an error.
func Number(text string) (Value, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if len(text) == 1 || text[0] != '0' && text[0] != '+' && text != "-0" {
			return Int(n), nil
		}
	}
	if !decimal(text) {
		return nil, errNoNumber
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 && !smallExponent(text, at) {
		f, ok := new(big.Float).SetString(text)
		if !ok {
			return nil, errNoNumber
		}
		if e := f.MantExp(nil); e > maxExponent || e < -maxExponent || f.IsInf() {
			return nil, errTooBig
		}
	}
	return Decimal(text), nil
}

// decimal reports text with digits, of which some may follow a point, and
// perhaps a sign and an exponent.
func decimal(text string) bool {
	mantissa, exponent := text, "0"
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa, exponent = text[:at], unsigned(text[at+1:])
	}
	whole, fraction, _ := strings.Cut(unsigned(mantissa), ".")
	return whole+fraction != "" && digits(whole) && digits(fraction) && exponent != "" && digits(exponent)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// smallExponent reports that a number is within bounds without working it out:
// a decimal digit takes at most four bits.
func smallExponent(text string, at int) bool {
	e, err := strconv.Atoi(text[at+1:])
	return err == nil && at+max(e, -e) <= maxExponent/4
}

// ofFloat returns the number f, which must be finite.
func ofFloat(f float64) Value {
	n, _ := Number(strconv.FormatFloat(f, 'g', -1, 64))
	return n
}

// IsNumber reports whether v is a number.
func IsNumber(v Value) bool { return v != nil && v.kind() == KindNumber }

// NumberText returns the text of a number, "" for other values.
func NumberText(v Value) string {
	switch v := v.(type) {
	case Int:
		return strconv.FormatInt(int64(v), 10)
	case Decimal:
		return string(v)
	}
	return ""
}

// AsInt returns a number that is written as an int64 or as one followed by
// zeros, such as 2.0. Others, 2e0 among them, are none.
func AsInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case Int:
		return int64(v), true
	case Decimal:
		whole, zeros, _ := strings.Cut(string(v), ".")
		if strings.Trim(zeros, "0") != "" || len(strings.TrimLeft(string(v), "+-")) > 19 {
			return 0, false
		}
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// BigInt returns a number as a whole one. It is an error if it is none.
func BigInt(v Value) (*big.Int, error) {
	if n, ok := v.(Int); ok {
		return big.NewInt(int64(n)), nil
	}
	text := NumberText(v)
	if i, ok := new(big.Int).SetString(text, 10); ok {
		return i, nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return nil, errNoInteger
	}
	return new(big.Int).Set(r.Num()), nil
}

// BigFloat returns a number as a float of big's precision, which is 64 bits. A
// value that is no number is zero.
func BigFloat(v Value) *big.Float {
	f, ok := new(big.Float).SetString(NumberText(v))
	if !ok {
		return new(big.Float)
	}
	return f
}

// FromBigInt returns the number i.
func FromBigInt(i *big.Int) Value {
	if i.IsInt64() {
		return Int(i.Int64())
	}
	return Decimal(i.String())
}

// FromBigFloat returns the number f: whole ones without an exponent.
func FromBigFloat(f *big.Float) Value {
	format := byte('g')
	if f.IsInt() {
		format = 'f'
	}
	text := f.Text(format, -1)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return Int(n)
	}
	return Decimal(text)
}

// compareNumbers compares any two numbers.
func compareNumbers(a, b Value) int {
	if i, ok := AsInt(a); ok {
		if j, ok := AsInt(b); ok {
			switch {
			case i < j:
				return -1
			case i > j:
				return 1
			}
			return 0
		}
	}
	x, y := NumberText(a), NumberText(b)
	if x == y {
		return 0
	}
	// OPA takes two fractions that are written with zeros at the end for equal
	// when they are the same float64.
	if trailing(x) && trailing(y) {
		f, err1 := strconv.ParseFloat(x, 64)
		g, err2 := strconv.ParseFloat(y, 64)
		if err1 == nil && err2 == nil && f == g {
			return 0
		}
	}
	return ratio(x).Cmp(ratio(y))
}

// trailing reports a fraction that ends in zeros.
func trailing(text string) bool {
	trimmed := strings.TrimRight(text, ".0")
	return trimmed != text && strings.Contains(trimmed, ".")
}

// ratio returns the exact value of a number.
func ratio(text string) *big.Rat {
	f, ok := new(big.Float).SetString(text)
	if !ok || f.Sign() == 0 || f.IsInf() {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("value: no number: %q", text))
	}
	return r
}

// nearest returns the float64 nearest to a number, infinite if it is too large.
func nearest(n Decimal) float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0
	}
	return f
}
