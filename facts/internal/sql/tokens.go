package sql

import "strings"

// A tokenKind tells tokens apart.
type tokenKind uint8

const (
	wordToken tokenKind = iota + 1 // a word, in lower case
	nameToken                      // a quoted identifier
	textToken                      // a text
	numberToken
	markToken
	metaToken // a line for the client program, with its \ or .
)

// A token is one token of a statement.
type token struct {
	kind tokenKind
	text string
}

func (t token) is(mark string) bool { return t.kind == markToken && t.text == mark }

// tokens are the tokens of one statement.
type tokens []token

func (t tokens) at(i int) token {
	if i >= 0 && i < len(t) {
		return t[i]
	}
	return token{}
}

// word returns the i-th token when it is a word.
func (t tokens) word(i int) string {
	if tok := t.at(i); tok.kind == wordToken {
		return tok.text
	}
	return ""
}

// find returns the index of the first of these words, or -1.
func (t tokens) find(words ...string) int {
	for i := range t {
		for _, w := range words {
			if t[i].kind == wordToken && t[i].text == w {
				return i
			}
		}
	}
	return -1
}

// skip returns the first index from i on that is none of these words.
func (t tokens) skip(i int, words ...string) int {
	for ; i < len(t); i++ {
		known := false
		for _, w := range words {
			known = known || t.word(i) == w
		}
		if !known {
			break
		}
	}
	return i
}

// kind reads what is created or dropped, and where its name stands.
func (t tokens) kind(i int) (string, int) {
	i = t.skip(i, "or", "replace", "temp", "temporary", "unique", "external", "global", "local", "unlogged", "virtual", "materialized", "foreign", "recursive")
	kind := t.word(i)
	return kind, t.skip(i+1, "if", "not", "exists", "concurrently", "only")
}

// name reads a name with its qualification.
func (t tokens) name(i int) string {
	name := ""
	for ; i < len(t) && len(name) < 256; i++ {
		switch tok := t[i]; {
		case tok.is(".") && name != "":
			name += "."
			continue
		case tok.kind == markToken, tok.kind == metaToken:
			return name
		case name != "" && !strings.HasSuffix(name, "."):
			return name
		default:
			name += tok.text
		}
	}
	return name
}

// firstText returns the first text from i on.
func (t tokens) firstText(i int) string {
	for ; i < len(t); i++ {
		if t[i].kind == textToken {
			return t[i].text
		}
	}
	return ""
}

// rest joins the words behind the first.
func (t tokens) rest() string {
	var b strings.Builder
	for i := 1; i < len(t) && b.Len() < 1000; i++ {
		if i > 1 && t[i].kind != markToken && t[i-1].kind != markToken {
			b.WriteByte(' ')
		}
		b.WriteString(t[i].text)
	}
	return b.String()
}

// close returns the index of the parenthesis that closes around i, or the end.
func (t tokens) close(i int) int {
	for depth := 0; i < len(t); i++ {
		switch {
		case t[i].is("("):
			depth++
		case t[i].is(")"):
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(t)
}

// ended reports whether the body of a routine ends with the last word.
func (t tokens) ended() bool {
	return t.word(len(t)-1) == "end" || t.find("begin") < 0
}
