package builtin

import (
	"errors"
	"math"
	"math/big"

	"gate/internal/plan/value"
)

// Whole numbers are exact at any size. Everything else goes through floats of
// 64 bits of mantissa, as OPA's do, whose roundings are part of the result.

var (
	errDivideByZero = errors.New("divide by zero")
	errModuloByZero = errors.New("modulo by zero")
	errModuloFloat  = errors.New("modulo on floating-point number")
)

// smallInt reports numbers that OPA calculates with as machine integers.
func smallInt(v value.Value) (int64, bool) {
	n, ok := value.AsInt(v)
	return n, ok && n >= math.MinInt32 && n <= math.MaxInt32
}

func twoSmall(args []value.Value) (x, y int64, ok bool) {
	x, ok1 := smallInt(args[0])
	y, ok2 := smallInt(args[1])
	return x, y, ok1 && ok2
}

func twoNumbers(args []value.Value) error {
	for i := range 2 {
		if _, err := number(args, i); err != nil {
			return err
		}
	}
	return boundDigits(args[0], args[1])
}

// twoWhole returns both operands if they are whole numbers.
func twoWhole(args []value.Value) (x, y *big.Int, ok bool) {
	x, err1 := value.BigInt(args[0])
	y, err2 := value.BigInt(args[1])
	return x, y, err1 == nil && err2 == nil
}

// calculate takes the way of the smallest kind that holds both operands.
func calculate(args []value.Value, small func(x, y int64) int64,
	whole func(z, x, y *big.Int) *big.Int, float func(z, x, y *big.Float) *big.Float) (value.Value, error) {
	if err := twoNumbers(args); err != nil {
		return nil, err
	}
	if x, y, ok := twoSmall(args); ok {
		return value.Int(small(x, y)), nil
	}
	if x, y, ok := twoWhole(args); ok {
		return value.FromBigInt(whole(x, x, y)), nil
	}
	return value.FromBigFloat(float(new(big.Float), value.BigFloat(args[0]), value.BigFloat(args[1]))), nil
}

func plus(_ *Context, args []value.Value) (value.Value, error) {
	return calculate(args, func(x, y int64) int64 { return x + y }, (*big.Int).Add, (*big.Float).Add)
}

// minus takes numbers, or sets.
func minus(ctx *Context, args []value.Value) (value.Value, error) {
	left, right := value.KindOf(args[0]), value.KindOf(args[1])
	switch {
	case left == value.KindNumber && right == value.KindNumber:
		return calculate(args, func(x, y int64) int64 { return x - y }, (*big.Int).Sub, (*big.Float).Sub)
	case left == value.KindSet && right == value.KindSet:
		return difference(ctx, args)
	case left != value.KindNumber && left != value.KindSet:
		return nil, Operand(1, args[0], "number", "set")
	case right == value.KindNumber:
		return nil, Operand(2, args[1], "set")
	}
	return nil, Operand(2, args[1], "number")
}

func times(_ *Context, args []value.Value) (value.Value, error) {
	return calculate(args, func(x, y int64) int64 { return x * y }, (*big.Int).Mul, (*big.Float).Mul)
}

// divide is exact where small numbers divide; a zero dividend is not, since its
// quotient may be -0.
func divide(_ *Context, args []value.Value) (value.Value, error) {
	if err := twoNumbers(args); err != nil {
		return nil, err
	}
	if x, y, ok := twoSmall(args); ok && y != 0 && x != 0 && x%y == 0 {
		return value.Int(x / y), nil
	}
	by := value.BigFloat(args[1])
	if by.Sign() == 0 {
		return nil, errDivideByZero
	}
	return value.FromBigFloat(new(big.Float).Quo(value.BigFloat(args[0]), by)), nil
}

func remainder(_ *Context, args []value.Value) (value.Value, error) {
	if err := twoNumbers(args); err != nil {
		return nil, err
	}
	x, y, ok := twoWhole(args)
	switch {
	case !ok:
		return nil, errModuloFloat
	case y.Sign() == 0:
		return nil, errModuloByZero
	}
	return value.FromBigInt(x.Rem(x, y)), nil
}

// ofFloat calculates with one number: a whole one as it is, through whole, any
// other through float.
func ofFloat(args []value.Value, whole func(int64) int64, float func(*big.Float) *big.Float) (value.Value, error) {
	n, err := number(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundDigits(n); err != nil {
		return nil, err
	}
	if i, ok := smallInt(n); ok {
		return value.Int(whole(i)), nil
	}
	return value.FromBigFloat(float(value.BigFloat(n))), nil
}

func same(n int64) int64 { return n }

func abs(_ *Context, args []value.Value) (value.Value, error) {
	return ofFloat(args, func(n int64) int64 { return max(n, -n) }, func(f *big.Float) *big.Float { return f.Abs(f) })
}

// truncated returns f without its fraction.
func truncated(f *big.Float) *big.Float {
	i, _ := f.Int(nil)
	return new(big.Float).SetInt(i)
}

// round rounds halves away from zero.
func round(_ *Context, args []value.Value) (value.Value, error) {
	return ofFloat(args, same, func(f *big.Float) *big.Float {
		half := big.NewFloat(math.Copysign(0.5, float64(f.Sign())))
		return truncated(new(big.Float).Add(f, half))
	})
}

// ceil gives 1 for -0.5, and floor 0, since OPA does.
func ceil(_ *Context, args []value.Value) (value.Value, error) {
	return ofFloat(args, same, func(f *big.Float) *big.Float {
		whole := truncated(f)
		if whole.Signbit() || f.Cmp(whole) == 0 {
			return whole
		}
		return new(big.Float).Add(whole, big.NewFloat(1))
	})
}

func floor(_ *Context, args []value.Value) (value.Value, error) {
	return ofFloat(args, same, func(f *big.Float) *big.Float {
		whole := truncated(f)
		if !whole.Signbit() || f.Cmp(whole) == 0 {
			return whole
		}
		return new(big.Float).Sub(whole, big.NewFloat(1))
	})
}
