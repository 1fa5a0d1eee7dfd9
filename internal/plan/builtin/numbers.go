package builtin

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"gate/internal/plan/value"
)

func numbersRange(ctx *Context, args []value.Value) (value.Value, error) {
	return span(ctx, args, big.NewInt(1))
}

func numbersRangeStep(ctx *Context, args []value.Value) (value.Value, error) {
	for i := range 2 {
		if _, err := wholeNumber(args, i); err != nil {
			return nil, err
		}
	}
	step, err := wholeNumber(args, 2)
	if err != nil {
		return nil, err
	}
	if step.Sign() <= 0 {
		return nil, errors.New("numbers.range_step: step must be a positive integer")
	}
	return span(ctx, args, step)
}

// span lists the numbers from one operand to the other, upwards or downwards.
func span(ctx *Context, args []value.Value, step *big.Int) (value.Value, error) {
	from, err := wholeNumber(args, 0)
	if err != nil {
		return nil, err
	}
	to, err := wholeNumber(args, 1)
	if err != nil {
		return nil, err
	}
	length := new(big.Int).Sub(to, from)
	length.Quo(length.Abs(length), step)
	if !length.IsInt64() || length.Int64() >= MaxElements {
		return nil, boundElements(ctx, MaxElements+1)
	}
	n := int(length.Int64()) + 1
	if err := boundElements(ctx, n); err != nil {
		return nil, err
	}
	if from.Cmp(to) > 0 {
		step = new(big.Int).Neg(step)
	}
	numbers := make([]value.Value, n)
	for i := range numbers {
		numbers[i] = value.FromBigInt(from)
		from.Add(from, step)
	}
	return value.NewArray(numbers...), nil
}

func toNumber(_ *Context, args []value.Value) (value.Value, error) {
	switch v := args[0].(type) {
	case value.Null:
		return value.Int(0), nil
	case value.Bool:
		if v {
			return value.Int(1), nil
		}
		return value.Int(0), nil
	case value.Int, value.Decimal:
		return v, nil
	case value.String:
		switch strings.ToLower(strings.TrimLeft(string(v), "+-")) {
		case "inf", "infinity", "nan":
			return nil, Operand(1, v, "valid number string")
		}
		if _, err := strconv.ParseFloat(string(v), 64); err != nil {
			return nil, err
		}
		if strings.ContainsAny(string(v), "_xX") {
			return nil, &Halt{ErrUnsure} // a number for Go: OPA makes one that no JSON can hold
		}
		return value.Number(string(v))
	}
	return nil, Operand(1, args[0], "null", "boolean", "number", "string")
}
