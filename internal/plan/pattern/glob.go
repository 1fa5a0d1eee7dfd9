package pattern

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"
)

// otherPart stands for the delimiters of a glob, which are known only when it is
// matched. Patterns that have this character get no program.
const otherPart = '\U0010FFFE'

// Glob returns the program of a glob, whatever its delimiters are; "" for one
// that is not valid, has classes of characters or is too large. It is for texts
// that are UTF-8.
func Glob(pattern string) Program {
	if strings.ContainsRune(pattern, otherPart) || !utf8.ValidString(pattern) {
		return ""
	}
	if _, err := glob.Compile(pattern); err != nil {
		return ""
	}
	for lexer := syntax.NewLexer(pattern); ; {
		switch lexer.Next().Type {
		case syntax.EOF:
			return compile(GlobExpression(pattern, []rune{otherPart}), otherPart)
		case syntax.Error, syntax.RangeOpen:
			return ""
		}
	}
}

// GlobExpression translates a glob that is valid to an expression of RE2.
func GlobExpression(pattern string, delimiters []rune) string {
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
