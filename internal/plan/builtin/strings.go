package builtin

import (
	"strings"
	"unicode/utf8"

	"gate/internal/plan/value"
)

// twoTexts makes a builtin of a function of two strings.
func twoTexts[T any](args []value.Value, f func(a, b string) T) (T, error) {
	var a, b string
	if err := texts(args, &a, &b); err != nil {
		var none T
		return none, err
	}
	return f(a, b), nil
}

func testTexts(args []value.Value, f func(a, b string) bool) (value.Value, error) {
	holds, err := twoTexts(args, f)
	if err != nil {
		return nil, err
	}
	return value.Bool(holds), nil
}

func contains(_ *Context, args []value.Value) (value.Value, error) {
	return testTexts(args, strings.Contains)
}

func startsWith(_ *Context, args []value.Value) (value.Value, error) {
	return testTexts(args, strings.HasPrefix)
}

func endsWith(_ *Context, args []value.Value) (value.Value, error) {
	return testTexts(args, strings.HasSuffix)
}

func stringsCount(_ *Context, args []value.Value) (value.Value, error) {
	n, err := twoTexts(args, strings.Count)
	if err != nil {
		return nil, err
	}
	return value.Int(n), nil
}

func changeTexts(args []value.Value, f func(a, b string) string) (value.Value, error) {
	s, err := twoTexts(args, f)
	if err != nil {
		return nil, err
	}
	return value.String(s), nil
}

func trim(_ *Context, args []value.Value) (value.Value, error) {
	return changeTexts(args, strings.Trim)
}

func trimLeft(_ *Context, args []value.Value) (value.Value, error) {
	return changeTexts(args, strings.TrimLeft)
}

func trimRight(_ *Context, args []value.Value) (value.Value, error) {
	return changeTexts(args, strings.TrimRight)
}

func trimPrefix(_ *Context, args []value.Value) (value.Value, error) {
	return changeTexts(args, strings.TrimPrefix)
}

func trimSuffix(_ *Context, args []value.Value) (value.Value, error) {
	return changeTexts(args, strings.TrimSuffix)
}

func changeText(args []value.Value, f func(string) string) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	return value.String(f(s)), nil
}

func trimSpace(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, strings.TrimSpace)
}

func lower(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, strings.ToLower)
}

func upper(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, strings.ToUpper)
}

// stringsReverse turns the order of characters; bytes that are none stay as they
// are.
func stringsReverse(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, func(s string) string {
		reversed := make([]byte, 0, len(s))
		for len(s) > 0 {
			_, size := utf8.DecodeLastRuneInString(s)
			reversed = append(reversed, s[len(s)-size:]...)
			s = s[:len(s)-size]
		}
		return string(reversed)
	})
}

func concat(ctx *Context, args []value.Value) (value.Value, error) {
	sep, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	list, err := collection(args, 1)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(list))
	size := 0
	for i, e := range list {
		s, ok := e.(value.String)
		if !ok {
			return nil, elementError(2, args[1], e, "string")
		}
		parts[i] = string(s)
		if size += len(s) + len(sep); size > MaxText {
			break
		}
	}
	if err := boundText(ctx, size); err != nil {
		return nil, err
	}
	return value.String(strings.Join(parts, sep)), nil
}

func split(ctx *Context, args []value.Value) (value.Value, error) {
	var s, sep string
	if err := texts(args, &s, &sep); err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, strings.Count(s, sep)+1); err != nil {
		return nil, err
	}
	if last := &ctx.split; last.pieces == nil || last.text != s || last.at != sep {
		*last = splitText{s, sep, value.Freeze(stringArray(strings.Split(s, sep)))}
	}
	return ctx.split.pieces, nil
}

// A splitText is a text and its pieces: many policies ask for the words of the
// same command.
type splitText struct {
	text, at string
	pieces   value.Value
}

// splitN takes pieces from the front, or from the end if n is negative.
func splitN(ctx *Context, args []value.Value) (value.Value, error) {
	var s, sep string
	if err := texts(args, &s, &sep); err != nil {
		return nil, err
	}
	n, err := integer(args, 2)
	if err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, strings.Count(s, sep)+1); err != nil {
		return nil, err
	}
	if n < 0 {
		pieces := strings.Split(s, sep)
		return stringArray(pieces[max(len(pieces)+n, 0):]), nil
	}
	// One piece more than wanted holds the rest; a negative limit is none.
	pieces := strings.SplitN(s, sep, max(n+1, -1))
	return stringArray(pieces[:min(n, len(pieces))]), nil
}

func replace(ctx *Context, args []value.Value) (value.Value, error) {
	var s, old, to string
	if err := texts(args, &s, &old, &to); err != nil {
		return nil, err
	}
	if err := boundText(ctx, grown(s, old, to)); err != nil {
		return nil, err
	}
	return value.String(strings.NewReplacer(old, to).Replace(s)), nil
}

// grown returns how long a text gets at most when to is put for old.
func grown(s, old, to string) int {
	n := strings.Count(s, old)
	if len(to) > 0 && n > (MaxText-len(s))/len(to) {
		return MaxText + 1
	}
	return len(s) + n*len(to)
}

func replaceN(ctx *Context, args []value.Value) (value.Value, error) {
	patterns, err := object(args, 0)
	if err != nil {
		return nil, err
	}
	s, err := text(args, 1)
	if err != nil {
		return nil, err
	}
	pairs := make([]string, 0, 2*patterns.Len())
	size := len(s)
	for _, p := range patterns.Pairs() {
		old, ok := p.Key.(value.String)
		if !ok {
			return nil, operandError(1, "non-string key found in pattern object")
		}
		to, ok := p.Value.(value.String)
		if !ok {
			return nil, operandError(1, "non-string value found in pattern object")
		}
		pairs = append(pairs, string(old), string(to))
		if size += grown(s, string(old), string(to)) - len(s); size > MaxText {
			break
		}
	}
	if err := ctx.Spend(patterns.Len() * len(s) / perWeight); err != nil {
		return nil, err
	}
	if err := boundText(ctx, size); err != nil {
		return nil, err
	}
	return value.String(strings.NewReplacer(pairs...).Replace(s)), nil
}
