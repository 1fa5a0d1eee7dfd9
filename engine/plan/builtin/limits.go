package builtin

import (
	"errors"
	"fmt"
	"strings"

	"gate/engine/plan/value"
)

// ErrUnsure ends an evaluation, in a [*Halt], where OPA is known to answer
// something that cannot be meant: whoever asks a plan then asks OPA.
var ErrUnsure = errors.New("only OPA can say what its answer is here")

// Limits of what one call may make. A call is one step of the machine, which
// counts afterwards what came out, so what could be huge is measured before.
const (
	maxText     = 64 << 20 // bytes of a string
	maxScan     = 4 << 20  // bytes of a text that is cut into pieces, each a value
	maxElements = 1 << 20  // elements of an array or a set
	maxDigits   = 10_000   // digits of a number
	maxLayout   = 1000     // bytes of a time layout

	maxReplacement = 1000 // bytes of what regex.replace puts for each match
)

// perWeight is how many bytes of text at most make one unit of a value's weight.
const perWeight = 32

// boundText refuses a string of n bytes that would be too long.
func boundText(ctx *Context, n int) error {
	if n > maxText || n < 0 {
		return fmt.Errorf("the result would be larger than %d MiB", maxText>>20)
	}
	return ctx.Alloc(n)
}

// pieceSize is what a value in an array takes, besides its own text.
const pieceSize = 32

// boundPieces refuses to cut a text that is too long, or into too many pieces
// for the memory that is left.
func boundPieces(ctx *Context, s string, pieces int) error {
	if len(s) > maxScan {
		return fmt.Errorf("the text is longer than %d MiB", maxScan>>20)
	}
	return ctx.Alloc(pieces * pieceSize)
}

// boundElements refuses n elements if they are too many.
func boundElements(ctx *Context, n int) error {
	if n > maxElements || n < 0 {
		return fmt.Errorf("the result would have more than %d elements", maxElements)
	}
	return ctx.Alloc(n * pieceSize)
}

// boundEncoding refuses what might make a text that is too long, at most factor
// times v written out.
func boundEncoding(ctx *Context, v value.Value, factor int) error {
	size := value.Weight(v)
	// Texts rarely need their worst case; what is short may have it.
	if size > maxText/perWeight || size*factor > 2*maxText/perWeight {
		return boundText(ctx, maxText+1)
	}
	return ctx.Alloc(size * perWeight)
}

// boundDigits refuses numbers that are too long to calculate with, so that
// squaring again and again ends.
func boundDigits(numbers ...value.Value) error {
	for _, n := range numbers {
		if digits(value.NumberText(n)) > maxDigits {
			return fmt.Errorf("a number of more than %d digits", maxDigits)
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
		if n = n*10 + int(d-'0'); n > maxDigits {
			break
		}
	}
	return len(mantissa) + n
}
