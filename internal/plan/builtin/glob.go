package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"

	"gate/internal/plan/pattern"
	"gate/internal/plan/value"
)

// A globPattern is a compiled pattern.
type globPattern interface{ matches(string) bool }

type plainGlob struct{ *glob.Pattern }

func (g plainGlob) matches(s string) bool { return g.Match(s) }

type regexGlob struct{ *regexp.Regexp }

func (g regexGlob) matches(s string) bool { return g.MatchString(s) }

func globMatch(ctx *Context, args []value.Value) (value.Value, error) {
	p, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	delimiters, err := delimitersOf(args)
	if err != nil {
		return nil, err
	}
	s, err := text(args, 2)
	if err != nil {
		return nil, err
	}
	if matches, known, err := ctx.matchGlob(p, s, delimiters); known || err != nil {
		return value.Bool(matches), err
	}
	if err := ctx.Spend(compileCost*len(p) + matchCost(ctx, p, s)); err != nil {
		return nil, err
	}
	compiled, err := ctx.Cached("glob", string(delimiters)+"\x00"+p, func() (any, error) {
		return compileGlob(p, delimiters)
	})
	if err != nil {
		return nil, err
	}
	return value.Bool(compiled.(globPattern).matches(s)), nil
}

// delimitersOf reads what a star does not match: none for null, a dot for an
// empty array.
func delimitersOf(args []value.Value) ([]rune, error) {
	switch v := args[1].(type) {
	case value.Null:
		return nil, nil
	case *value.Array:
		if v.Len() == 0 {
			return []rune{'.'}, nil
		}
		runes := make([]rune, v.Len())
		for i, e := range v.Elems() {
			s, ok := e.(value.String)
			if !ok {
				return nil, elementError(2, v, e, "string")
			}
			if utf8.RuneCountInString(string(s)) != 1 {
				return nil, elementError(2, v, e, "rune")
			}
			runes[i], _ = utf8.DecodeRuneInString(string(s))
		}
		return runes, nil
	}
	return nil, Operand(2, args[1], "array", "null")
}

// compileGlob takes the library for patterns that it matches in about linear
// time. Stars within alternatives make it go back again and again, so these
// become a pattern of RE2, which means the same.
func compileGlob(p string, delimiters []rune) (globPattern, error) {
	g, err := glob.Compile(p, delimiters...)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(p, "{") || !strings.Contains(p, "*") {
		return plainGlob{g}, nil
	}
	re, err := regexp.Compile(pattern.GlobExpression(p, delimiters))
	if err != nil {
		return nil, fmt.Errorf("glob: %w", err)
	}
	return regexGlob{re}, nil
}

func globQuoteMeta(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, glob.QuoteMeta)
}
