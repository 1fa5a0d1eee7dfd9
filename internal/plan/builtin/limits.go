package builtin

import (
	"errors"
	"fmt"
	"strings"

	"gate/internal/plan/value"
)

// ErrUnsure ends an evaluation, in a [*Halt], where OPA is known to answer
// something that cannot be meant: whoever asks a plan then asks OPA.
var ErrUnsure = errors.New("only OPA can say what its answer is here")

// Limits of what one call of a builtin may make, for plans and, in package
// internal/rego, for OPA. A call is one step, and what came out is counted
// afterwards only, so what could be huge is measured before.
const (
	MaxText     = 64 << 20 // bytes of a string
	MaxScan     = 4 << 20  // bytes of a text that is cut into pieces, each a value
	MaxElements = 1 << 20  // elements of an array or a set
	MaxDigits   = 10_000   // digits of a number
	MaxLayout   = 1000     // bytes of a time layout

	MaxReplacement = 1000 // bytes of what regex.replace puts for each match
)

// perWeight is how many bytes of text at most make one unit of a value's weight.
const perWeight = 32

// boundText refuses a string of n bytes that would be too long.
func boundText(ctx *Context, n int) error {
	if n > MaxText || n < 0 {
		return fmt.Errorf("the result would be larger than %d MiB", MaxText>>20)
	}
	return ctx.Alloc(n)
}

// pieceSize is what a value in an array takes, besides its own text.
const pieceSize = 32

// boundPieces refuses to cut a text that is too long, or into too many pieces
// for the memory that is left.
func boundPieces(ctx *Context, s string, pieces int) error {
	if len(s) > MaxScan {
		return fmt.Errorf("the text is longer than %d MiB", MaxScan>>20)
	}
	return ctx.Alloc(pieces * pieceSize)
}

// boundElements refuses n elements if they are too many.
func boundElements(ctx *Context, n int) error {
	if n > MaxElements || n < 0 {
		return fmt.Errorf("the result would have more than %d elements", MaxElements)
	}
	return ctx.Alloc(n * pieceSize)
}

// boundEncoding refuses what might make a text that is too long, at most factor
// times v written out.
func boundEncoding(ctx *Context, v value.Value, factor int) error {
	size := value.Weight(v)
	// Texts rarely need their worst case; what is short may have it.
	if size > MaxText/perWeight || size*factor > 2*MaxText/perWeight {
		return boundText(ctx, MaxText+1)
	}
	return ctx.Alloc(size * perWeight)
}

// boundDigits refuses numbers that are too long to calculate with, so that
// squaring again and again ends.
func boundDigits(numbers ...value.Value) error {
	for _, n := range numbers {
		if digits(value.NumberText(n)) > MaxDigits {
			return fmt.Errorf("a number of more than %d digits", MaxDigits)
		}
	}
	return nil
}

// digits returns how long a number is when it is written out.
func digits(number string) int {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(number), "e")
	if !ok {
		return len(number)
	}
	n := 0
	for _, d := range strings.TrimLeft(exponent, "+-") {
		if n = n*10 + int(d-'0'); n > MaxDigits {
			break
		}
	}
	return len(mantissa) + n
}
