package rego

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan/builtin"
)

// The checks of single builtins. Operands of a wrong type pass: the builtin
// itself says so better.

func checkConcat(operands []*ast.Term) error {
	sep, ok := operands[0].Value.(ast.String)
	if !ok {
		return nil
	}
	n := 0
	each := func(t *ast.Term) bool {
		s, _ := t.Value.(ast.String)
		n += len(s) + len(sep)
		return n > builtin.MaxText
	}
	switch v := operands[1].Value.(type) {
	case *ast.Array:
		v.Until(each)
	case ast.Set:
		v.Until(each)
	}
	return tooLarge(n)
}

func checkReplace(operands []*ast.Term) error {
	s, ok1 := operands[0].Value.(ast.String)
	old, ok2 := operands[1].Value.(ast.String)
	to, ok3 := operands[2].Value.(ast.String)
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return tooLarge(len(s) + strings.Count(string(s), string(old))*len(to))
}

func checkReplaceN(operands []*ast.Term) error {
	patterns, ok1 := operands[0].Value.(ast.Object)
	s, ok2 := operands[1].Value.(ast.String)
	if !ok1 || !ok2 {
		return nil
	}
	n := len(s)
	patterns.Until(func(k, v *ast.Term) bool {
		old, ok := k.Value.(ast.String)
		to, _ := v.Value.(ast.String)
		if ok {
			n += strings.Count(string(s), string(old)) * len(to)
		}
		return n > builtin.MaxText
	})
	return tooLarge(n)
}

// checkRegexReplace takes the worst case: a match at every character, and each
// group the whole text once.
func checkRegexReplace(operands []*ast.Term) error {
	s, ok1 := operands[0].Value.(ast.String)
	to, ok2 := operands[2].Value.(ast.String)
	if !ok1 || !ok2 {
		return nil
	}
	groups := strings.Count(string(to), "$")
	if len(to) > builtin.MaxReplacement {
		return fmt.Errorf("the replacement is longer than %d bytes", builtin.MaxReplacement)
	}
	if groups > 0 && (groups+1)*len(s) > builtin.MaxText {
		return tooLarge((groups + 1) * len(s))
	}
	if len(s) > builtin.MaxScan {
		return fmt.Errorf("the text is longer than %d MiB", builtin.MaxScan>>20)
	}
	return nil
}

// checkSprintf refuses what could write more than a text may have.
func checkSprintf(operands []*ast.Term) error {
	format, ok1 := operands[0].Value.(ast.String)
	args, ok2 := operands[1].Value.(*ast.Array)
	if !ok1 || !ok2 {
		return nil
	}
	sizes := make([]int, args.Len())
	for i := range sizes {
		sizes[i] = textSize(args.Elem(i).Value, builtin.MaxText)
	}
	return tooLarge(builtin.FormatSize(string(format), sizes, builtin.MaxText))
}

func checkArrays(operands []*ast.Term) error {
	n := 0
	for _, o := range operands {
		if a, ok := o.Value.(*ast.Array); ok {
			n += a.Len()
		}
	}
	return tooMany(n)
}

func checkFlatten(operands []*ast.Term) error {
	n := 0
	var count func(t *ast.Term) bool
	count = func(t *ast.Term) bool {
		if a, ok := t.Value.(*ast.Array); ok {
			n++ // an empty array inside arrays is work, too
			return a.Until(count)
		}
		n++
		return n > 2*builtin.MaxElements
	}
	count(operands[0])
	return tooMany(n)
}

func tooMany(n int) error {
	if n > builtin.MaxElements {
		return fmt.Errorf("the result would have more than %d elements", builtin.MaxElements)
	}
	return nil
}

func checkRange(operands []*ast.Term) error {
	if err := checkNumbers(operands); err != nil {
		return err
	}
	from, ok1 := intOf(operands[0])
	to, ok2 := intOf(operands[1])
	if !ok1 || !ok2 {
		return nil
	}
	n := new(big.Int).Sub(to, from)
	n.Abs(n)
	if len(operands) > 2 {
		if step, ok := intOf(operands[2]); ok && step.Sign() > 0 {
			n.Quo(n, step)
		}
	}
	if n.Cmp(big.NewInt(builtin.MaxElements)) > 0 {
		return tooMany(builtin.MaxElements + 1)
	}
	return nil
}

func intOf(t *ast.Term) (*big.Int, bool) {
	n, ok := t.Value.(ast.Number)
	if !ok {
		return nil, false
	}
	return new(big.Int).SetString(string(n), 10)
}

// checkNumbers bounds the digits of all numbers that go in, so that squaring
// again and again ends.
func checkNumbers(operands []*ast.Term) error {
	n := 0
	add := func(t *ast.Term) bool {
		if num, ok := t.Value.(ast.Number); ok {
			n = max(n, digits(string(num)))
		}
		return n > builtin.MaxDigits
	}
	total := 0
	for _, o := range operands {
		switch v := o.Value.(type) {
		case ast.Number:
			add(o)
		case *ast.Array:
			v.Until(add)
			total = v.Len()
		case ast.Set:
			v.Until(add)
			total = v.Len()
		}
	}
	if n > builtin.MaxDigits || n*total > 100*builtin.MaxDigits && n > 20 {
		return fmt.Errorf("a number of more than %d digits", builtin.MaxDigits)
	}
	return nil
}

// digits returns how long a number is when it is written out.
func digits(s string) int {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if !ok {
		return len(s)
	}
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return builtin.MaxDigits + 1
	}
	return len(mantissa) + max(e, -e)
}

func checkShift(operands []*ast.Term) error {
	if by, ok := intOf(operands[1]); ok && by.Cmp(big.NewInt(3*builtin.MaxDigits)) > 0 {
		return fmt.Errorf("a shift by more than %d bits", 3*builtin.MaxDigits)
	}
	return checkNumbers(operands)
}

func checkLayout(operands []*ast.Term) error {
	a, ok := operands[0].Value.(*ast.Array)
	if !ok {
		return nil
	}
	for i := range a.Len() {
		if s, ok := a.Elem(i).Value.(ast.String); ok && len(s) > builtin.MaxLayout {
			return fmt.Errorf("a layout longer than %d bytes", builtin.MaxLayout)
		}
	}
	return nil
}

var errRef = errors.New("a schema with a $ref to another document; only references within it (#…) are followed")

// checkSchema refuses references that would open files or ask the network.
func checkSchema(operands []*ast.Term) error {
	schema := operands[len(operands)-1].Value
	if s, ok := schema.(ast.String); ok {
		v, err := ast.ValueFromReader(strings.NewReader(string(s)))
		if err != nil {
			return nil // no JSON: the builtin says so
		}
		schema = v
	}
	return refsWithin(schema)
}

func refsWithin(v ast.Value) (err error) {
	inside := func(t *ast.Term) bool {
		err = refsWithin(t.Value)
		return err != nil
	}
	switch v := v.(type) {
	case *ast.Array:
		v.Until(inside)
	case ast.Set:
		v.Until(inside)
	case ast.Object:
		v.Until(func(k, val *ast.Term) bool {
			key, _ := k.Value.(ast.String)
			text, isText := val.Value.(ast.String)
			switch {
			case !isText:
			case key == "$ref" && !strings.HasPrefix(string(text), "#"),
				(key == "$id" || key == "id") && strings.Contains(string(text), ":"),
				key == "$schema" && !strings.HasPrefix(string(text), "http://json-schema.org/draft-0"):
				err = errRef
				return true
			}
			return inside(val)
		})
	}
	return err
}
