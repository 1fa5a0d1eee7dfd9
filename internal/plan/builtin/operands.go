package builtin

import (
	"fmt"
	"math/big"

	"gate/internal/plan/value"
)

func operandError(pos int, format string, args ...any) error {
	return &TypeError{fmt.Sprintf("operand %d ", pos) + fmt.Sprintf(format, args...)}
}

func elementError(pos int, in, got value.Value, expected string) error {
	outer := value.KindOf(in)
	return operandError(pos, "must be %s of %ss but got %s containing %s", outer, expected, outer, value.KindOf(got))
}

// The readers of operands take the operands of a call and an index, and name the
// position in errors.

func text(args []value.Value, i int) (string, error) { return textOf(args[i], i+1) }

func textOf(v value.Value, pos int) (string, error) {
	s, err := typed[value.String](v, pos, "string")
	return string(s), err
}

// typed reads a value of one type, whose name is for the error.
func typed[T value.Value](v value.Value, pos int, name string) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, Operand(pos, v, name)
	}
	return t, nil
}

// texts reads as many strings as there are targets.
func texts(args []value.Value, targets ...*string) error {
	for i, to := range targets {
		s, err := text(args, i)
		if err != nil {
			return err
		}
		*to = s
	}
	return nil
}

func number(args []value.Value, i int) (value.Value, error) { return numberOf(args[i], i+1) }

func numberOf(v value.Value, pos int) (value.Value, error) {
	if value.IsNumber(v) {
		return v, nil
	}
	return nil, Operand(pos, v, "number")
}

// integer reads a number that is written as a whole one.
func integer(args []value.Value, i int) (int, error) {
	if !value.IsNumber(args[i]) {
		return 0, Operand(i+1, args[i], "number")
	}
	n, ok := value.AsInt(args[i])
	if !ok {
		return 0, operandError(i+1, "must be integer number but got floating-point number")
	}
	return int(n), nil
}

// wholeNumber reads a number that is whole, however it is written.
func wholeNumber(args []value.Value, i int) (*big.Int, error) {
	if !value.IsNumber(args[i]) {
		return nil, Operand(i+1, args[i], "integer")
	}
	if err := boundDigits(args[i]); err != nil {
		return nil, err
	}
	n, err := value.BigInt(args[i])
	if err != nil {
		return nil, operandError(i+1, "must be integer number but got floating-point number")
	}
	return n, nil
}

func array(args []value.Value, i int) (*value.Array, error) {
	return typed[*value.Array](args[i], i+1, "array")
}

func object(args []value.Value, i int) (*value.Object, error) {
	return typed[*value.Object](args[i], i+1, "object")
}

func set(args []value.Value, i int) (*value.Set, error) {
	return typed[*value.Set](args[i], i+1, "set")
}

// elements returns what an array or a set holds.
func elements(v value.Value) ([]value.Value, bool) {
	switch v := v.(type) {
	case *value.Array:
		return v.Elems(), true
	case *value.Set:
		return v.Elems(), true
	}
	return nil, false
}

// member returns what a collection holds under a key, nil if it has no such key.
func member(v, key value.Value) value.Value {
	switch v := v.(type) {
	case *value.Array:
		return v.Get(key)
	case *value.Object:
		return v.Get(key)
	case *value.Set:
		return v.Get(key)
	}
	return nil
}

// stringArray makes an array of texts.
func stringArray(list []string) value.Value {
	elems := make([]value.Value, len(list))
	for i, s := range list {
		elems[i] = value.String(s)
	}
	return value.NewArray(elems...)
}
