package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"

	"gate/engine/plan/value"
)

// A globPattern is a compiled pattern.
type globPattern interface{ matches(string) bool }

type plainGlob struct{ *glob.Pattern }

func (g plainGlob) matches(s string) bool { return g.Match(s) }

type regexGlob struct{ *regexp.Regexp }

func (g regexGlob) matches(s string) bool { return g.MatchString(s) }

func globMatch(ctx *Context, args []value.Value) (value.Value, error) {
	pattern, err := text(args, 0)
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
	if err := ctx.Spend(compileCost*len(pattern) + matchCost(ctx, pattern, s)); err != nil {
		return nil, err
	}
	compiled, err := ctx.Cached("glob", string(delimiters)+"\x00"+pattern, func() (any, error) {
		return compileGlob(pattern, delimiters)
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
func compileGlob(pattern string, delimiters []rune) (globPattern, error) {
	g, err := glob.Compile(pattern, delimiters...)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(pattern, "{") || !strings.Contains(pattern, "*") {
		return plainGlob{g}, nil
	}
	re, err := regexp.Compile(globRegex(pattern, delimiters))
	if err != nil {
		return nil, fmt.Errorf("glob: %w", err)
	}
	return regexGlob{re}, nil
}

// globRegex translates a pattern that compiled.
func globRegex(pattern string, delimiters []rune) string {
	char := `.`
	if len(delimiters) > 0 {
		char = class(delimiters, true)
	}
	var out strings.Builder
	out.WriteString(`(?s)\A(?:`)
	negated := false
	var low rune
	inClass := false
	for lexer := syntax.NewLexer(pattern); ; {
		t := lexer.Next()
		switch t.Type {
		case syntax.EOF, syntax.Error:
			out.WriteString(`)\z`)
			return out.String()
		case syntax.Text:
			if inClass {
				out.WriteString(class([]rune(t.Data), negated))
			} else {
				out.WriteString(regexp.QuoteMeta(t.Data))
			}
		case syntax.Any:
			out.WriteString(char + "*")
		case syntax.Super:
			out.WriteString(".*")
		case syntax.Single:
			out.WriteString(char)
		case syntax.RangeOpen:
			inClass, negated = true, false
		case syntax.RangeClose:
			inClass = false
		case syntax.Not:
			negated = true
		case syntax.RangeLo:
			low, _ = utf8.DecodeRuneInString(t.Data)
		case syntax.RangeHi:
			high, _ := utf8.DecodeRuneInString(t.Data)
			out.WriteString(classOf(fmt.Sprintf(`\x{%X}-\x{%X}`, low, high), negated))
		case syntax.TermsOpen:
			out.WriteString("(?:")
		case syntax.TermSeparator:
			out.WriteString("|")
		case syntax.TermsClose:
			out.WriteString(")")
		}
	}
}

// class returns a character class of RE2.
func class(runes []rune, negated bool) string {
	var members strings.Builder
	for _, r := range runes {
		fmt.Fprintf(&members, `\x{%X}`, r)
	}
	return classOf(members.String(), negated)
}

func classOf(members string, negated bool) string {
	if negated {
		return "[^" + members + "]"
	}
	return "[" + members + "]"
}

func globQuoteMeta(_ *Context, args []value.Value) (value.Value, error) {
	return changeText(args, glob.QuoteMeta)
}
