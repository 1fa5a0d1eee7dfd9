package builtin

import (
	"slices"
	"strings"

	"gate/internal/plan/value"
)

func anyPrefixMatch(ctx *Context, args []value.Value) (value.Value, error) {
	return anyAffix(ctx, args, strings.HasPrefix)
}

func anySuffixMatch(ctx *Context, args []value.Value) (value.Value, error) {
	return anyAffix(ctx, args, strings.HasSuffix)
}

// anyAffix reports whether one of some texts begins, or ends, with one of some
// others.
func anyAffix(ctx *Context, args []value.Value, match func(s, affix string) bool) (value.Value, error) {
	in, err := oneOrMore(args, 0)
	if err != nil {
		return nil, err
	}
	affixes, err := oneOrMore(args, 1)
	if err != nil {
		return nil, err
	}
	if err := ctx.Spend(len(in) * len(affixes)); err != nil {
		return nil, err
	}
	return value.Bool(slices.ContainsFunc(in, func(s string) bool {
		return slices.ContainsFunc(affixes, func(affix string) bool { return match(s, affix) })
	})), nil
}

// oneOrMore reads a string, or a set or an array of strings.
func oneOrMore(args []value.Value, i int) ([]string, error) {
	if s, ok := args[i].(value.String); ok {
		return []string{string(s)}, nil
	}
	list, ok := elements(args[i])
	if !ok {
		return nil, Operand(i+1, args[i], "string", "set", "array")
	}
	found := make([]string, len(list))
	for j, e := range list {
		s, ok := e.(value.String)
		if !ok {
			return nil, elementError(i+1, args[i], e, "string")
		}
		found[j] = string(s)
	}
	return found, nil
}
