package builtin

import (
	"fmt"
	"math/big"
	"slices"
	"unicode/utf8"

	"gate/internal/plan/value"
)

func count(_ *Context, args []value.Value) (value.Value, error) {
	switch v := args[0].(type) {
	case *value.Array:
		return value.Int(v.Len()), nil
	case *value.Object:
		return value.Int(v.Len()), nil
	case *value.Set:
		return value.Int(v.Len()), nil
	case value.String:
		return value.Int(utf8.RuneCountInString(string(v))), nil
	}
	return nil, Operand(1, args[0], "array", "object", "set", "string")
}

// collection reads an operand that is a set or an array.
func collection(args []value.Value, i int) ([]value.Value, error) {
	if list, ok := elements(args[i]); ok {
		return list, nil
	}
	return nil, Operand(i+1, args[i], "set", "array")
}

func sum(_ *Context, args []value.Value) (value.Value, error) {
	return accumulate(args, 0, (*big.Int).Add, (*big.Float).Add)
}

func product(_ *Context, args []value.Value) (value.Value, error) {
	return accumulate(args, 1, (*big.Int).Mul, (*big.Float).Mul)
}

// accumulate is exact if all elements are whole numbers.
func accumulate(args []value.Value, start int64,
	exact func(z, x, y *big.Int) *big.Int, float func(z, x, y *big.Float) *big.Float) (value.Value, error) {
	list, err := collection(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundAccumulation(list); err != nil {
		return nil, err
	}
	whole := big.NewInt(start)
	for i, e := range list {
		if !value.IsNumber(e) {
			break
		}
		n, err := value.BigInt(e)
		if err != nil {
			break
		}
		exact(whole, whole, n)
		if i == len(list)-1 {
			return value.FromBigInt(whole), nil
		}
	}
	if len(list) == 0 {
		return value.Int(start), nil
	}
	// A float takes the precision of what is put into it first.
	result := new(big.Float)
	if start != 0 {
		result = big.NewFloat(float64(start))
	}
	for _, e := range list {
		if !value.IsNumber(e) {
			return nil, elementError(1, args[0], e, "number")
		}
		float(result, result, value.BigFloat(e))
	}
	return value.FromBigFloat(result), nil
}

// boundAccumulation bounds the digits of all factors together.
func boundAccumulation(list []value.Value) error {
	if err := boundDigits(list...); err != nil {
		return err
	}
	longest := 0
	for _, e := range list {
		longest = max(longest, digits(value.NumberText(e)))
	}
	if longest > 20 && longest*len(list) > 100*MaxDigits {
		return fmt.Errorf("a number of more than %d digits", MaxDigits)
	}
	return nil
}

// maximum is undefined for what is empty.
func maximum(_ *Context, args []value.Value) (value.Value, error) {
	return extreme(args, func(order int) bool { return order <= 0 })
}

func minimum(_ *Context, args []value.Value) (value.Value, error) {
	return extreme(args, func(order int) bool { return order >= 0 })
}

// extreme returns the last element that replaces all before it.
func extreme(args []value.Value, replaces func(order int) bool) (value.Value, error) {
	list, err := collection(args, 0)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	found := list[0]
	for _, e := range list[1:] {
		if replaces(value.Compare(found, e)) {
			found = e
		}
	}
	return found, nil
}

func sorted(_ *Context, args []value.Value) (value.Value, error) {
	list, err := collection(args, 0)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, value.Compare)
	return value.NewArray(list...), nil
}
