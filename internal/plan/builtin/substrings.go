package builtin

import (
	"errors"
	"strings"
	"unicode/utf8"

	"gate/internal/plan/value"
)

var errEmptySearch = errors.New("empty search character")

// searched reads the operands of indexof. Offsets in it count characters.
func searched(args []value.Value) (s, search string, err error) {
	if err := texts(args, &s, &search); err != nil {
		return "", "", err
	}
	if search == "" {
		return "", "", errEmptySearch
	}
	if !ascii(s) || !ascii(search) {
		// Bytes that are no character compare as U+FFFD.
		s, search = string([]rune(s)), string([]rune(search))
	}
	return s, search, nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func indexOf(_ *Context, args []value.Value) (value.Value, error) {
	s, search, err := searched(args)
	if err != nil {
		return nil, err
	}
	before, _, found := strings.Cut(s, search)
	if !found {
		return value.Int(-1), nil
	}
	return value.Int(utf8.RuneCountInString(before)), nil
}

// indexOfN finds occurrences that overlap, too.
func indexOfN(ctx *Context, args []value.Value) (value.Value, error) {
	s, search, err := searched(args)
	if err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, 0); err != nil {
		return nil, err
	}
	found, at := &value.Array{}, 0
	for {
		i := strings.Index(s, search)
		if i < 0 {
			return found, nil
		}
		if err := ctx.Spend(1 + len(search)/perWeight); err != nil {
			return nil, err
		}
		at += utf8.RuneCountInString(s[:i])
		found.Append(value.Int(at))
		_, size := utf8.DecodeRuneInString(s[i:])
		s, at = s[i+size:], at+1
	}
}

func substring(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	from, err := integer(args, 1)
	if err != nil {
		return nil, err
	}
	length, err := integer(args, 2)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return nil, errors.New("negative offset")
	}
	if ascii(s) {
		from = min(from, len(s))
		if length < 0 || length > len(s)-from {
			length = len(s) - from
		}
		return value.String(s[from : from+length]), nil
	}
	chars := []rune(s)
	if from == 0 && length >= len(chars) {
		return args[0], nil // as it is, bytes that are no characters included
	}
	from = min(from, len(chars))
	if length < 0 || length > len(chars)-from {
		length = len(chars) - from
	}
	return value.String(chars[from : from+length]), nil
}
