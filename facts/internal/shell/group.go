package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
)

// group expands what stands in an extended glob. The parser keeps it as text: its
// alternatives are words, as those of a case are.
func (x *expander) group(p *syntax.ExtGlob) {
	text := p.Pattern.Value
	x.qualified(p)
	if !strings.ContainsAny(text, "$`<>") {
		return
	}
	if x.Depth >= maxDepth || bash.TooDeep(text) {
		x.Limit("patterns nested deeper than gate follows")
		return
	}
	if x.parsed += len(text); x.parsed > maxParsed {
		x.Limit("a shell text longer than gate reads")
		return
	}
	x.nested++
	x.Depth++
	defer func() { x.nested, x.Depth = x.nested-1, x.Depth-1 }()
	file, _, err := bash.Parse("case x in " + text + ") ;; esac")
	if err == nil && len(file.Stmts) == 1 {
		if c, ok := file.Stmts[0].Cmd.(*syntax.CaseClause); ok && len(c.Items) == 1 && len(c.Items[0].Stmts) == 0 {
			for _, word := range c.Items[0].Patterns {
				x.word(x.state, word)
			}
			return
		}
	}
	// Blanks and empty alternatives are no words of a case.
	document, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text))
	if err != nil {
		x.Unknown("syntax", "a group of a pattern that does not parse", 0, nil)
		return
	}
	x.word(x.state, document)
}

// qualified looks for what zsh takes for qualifiers of a pattern instead of a group:
// *(e:'CODE':) and *(+FUNCTION) run code. Qualifiers have neither | nor ( in them.
func (x *expander) qualified(p *syntax.ExtGlob) {
	text := withoutClasses(p.Pattern.Value)
	code, found := "", text == ""
	if !strings.ContainsAny(text, "|(") {
		i := strings.IndexAny(text, "e+")
		if found = found || strings.Contains(text, ":"); i >= 0 && strings.Trim(text[:i], qualifiers) == "" {
			switch rest := text[i+1:]; {
			case text[i] == '+' && rest != "" && (rest[0] == '_' || isLetter(rest[0])):
				code, found = rest, true
			case text[i] == 'e' && rest != "" && !isLetter(rest[0]) && (rest[0] < '0' || rest[0] > '9'):
				code, found = rest[1:], true
				if end := strings.IndexByte(code, closing(rest[0])); end >= 0 {
					code = code[:end]
				}
			}
		}
	}
	if found {
		x.Unknown("dialect", "in zsh this pattern can run code", 0, x.spanOf(p))
	}
	if code = strings.Trim(code, `'" `); code != "" {
		x.Line("glob qualifier", code)
	}
}

// qualifiers are the letters that may stand before the code in a group.
const qualifiers = "-^/F.@=p*%rwxAIERWXsStuUGdlaLmcMTNnDoOPhkY0123456789,[]"

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// closing is the delimiter that ends what another begins.
func closing(open byte) byte {
	switch open {
	case '{':
		return '}'
	case '[':
		return ']'
	case '<':
		return '>'
	}
	return open
}

// withoutClasses drops [:alpha:] and its like, whose colons are no delimiters.
func withoutClasses(text string) string {
	if !strings.Contains(text, "[:") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "[:")
		b.WriteString(before)
		_, after, closed := strings.Cut(rest, ":]")
		if !found || !closed {
			b.WriteString(rest)
			return b.String()
		}
		text = after
	}
}
