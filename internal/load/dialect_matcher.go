package load

import (
	"strings"
	"unicode"

	"gate/internal/backtracking"
	"gate/matcher"
)

// literally returns the glob that stands for a text and nothing else, in a
// form that no list of gate's takes apart.
func literally(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("*?[|,()", r), unicode.IsSpace(r):
			b.WriteString("[" + string(r) + "]")
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainName reports a text that gate takes for a name as it is.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != ""
}

// exactly matches one name.
func exactly(s string) string {
	if plainName(s) {
		return s
	}
	return "glob:" + literally(s)
}

// prefixed matches the names that begin with a text.
func prefixed(s string) string {
	switch {
	case s == "":
		return "*"
	case plainName(s):
		return s + "*"
	}
	return "glob:" + literally(s) + "*"
}

// containing matches the names that hold a text.
func containing(s string) string {
	if plainName(s) {
		return "contains:" + s
	}
	return "glob:*" + literally(s) + "*"
}

// expression matches what an unanchored regular expression finds, all of the
// pattern being one. gate would take some apart, or for a name.
func expression(s string) string {
	if _, err := matcher.Compile(s, backtracking.Compile); err != nil {
		return s // a mistake, which its compiler explains best
	}
	name := plainName(strings.ReplaceAll(strings.TrimSuffix(s, "*"), " ", "_"))
	if name || strings.ContainsAny(s, "|,") || strings.TrimSpace(s) != s || strings.HasPrefix(s, "glob:") || strings.HasPrefix(s, "contains:") {
		return "(?:" + s + ")"
	}
	return s
}

// anyOf joins alternatives. Without any nothing matches.
func anyOf(items []string) (string, bool) { return strings.Join(items, "|"), len(items) > 0 }

// items takes a list apart that "|" separates. The system's empty items match
// no name of a tool.
func items(s string, each func(string) string) []string {
	var out []string
	for item := range strings.SplitSeq(s, "|") {
		if item != "" {
			out = append(out, each(item))
		}
	}
	return out
}

// cocodeMatcher reads seed 003's HookMatcher: the whole pattern is of one form.
func cocodeMatcher(s string) (string, bool) {
	switch {
	case s == "":
		return "", true
	case strings.Contains(s, "|"):
		return anyOf(items(s, exactly))
	case strings.HasPrefix(s, "^"), strings.Contains(s, ".*"):
		return expression(s), true
	case strings.HasSuffix(s, "*"):
		return prefixed(strings.TrimSuffix(s, "*")), true
	}
	return exactly(s), true
}

// zephMatcher reads tokens: a name matches that contains one. An empty token
// is none.
func zephMatcher(s string) (string, bool) { return anyOf(items(s, containing)) }

// claudeMatcher reads a matcher as Claude Code does: names, or one regular
// expression.
func claudeMatcher(s string) (string, bool) {
	if s == "" || s == "*" {
		return "", true
	}
	list := strings.IndexFunc(s, func(r rune) bool { return !plainName(string(r)) && r != ' ' && r != ',' && r != '|' }) < 0
	if !list {
		return expression(s), true
	}
	var out []string
	for item := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == '|' }) {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return anyOf(out)
}

// MassgenMatcher is gate's form of a matcher of MassGen's; ever is false if it stands for
// no tool.
func MassgenMatcher(s string) (gates string, ever bool, err error) {
	gates, ever = massgenMatcher(s)
	_, err = matcher.Compile(gates, backtracking.Compile)
	return gates, ever, err
}

// massgenMatcher reads Python's fnmatch patterns.
func massgenMatcher(s string) (string, bool) {
	if strings.TrimSpace(s) == "" {
		return "", true
	}
	return anyOf(items(s, func(item string) string {
		item = strings.TrimSpace(item)
		if plainName(item) || item == "*" {
			return item
		}
		return "glob:" + fnmatch(item)
	}))
}

// fnmatch writes one of Python's patterns as gate does: there a backslash and a
// bracket that is not closed stand for themselves, and only "!" negates.
func fnmatch(s string) string {
	var b strings.Builder
	for s != "" {
		switch s[0] {
		case '*', '?':
			b.WriteByte(s[0])
			s = s[1:]
			continue
		case '[':
			if set, rest, ok := fnmatchSet(s[1:]); ok {
				b.WriteString(set)
				s = rest
				continue
			}
		}
		n := strings.IndexAny(s[1:], "*?[") + 1
		if n == 0 {
			n = len(s)
		}
		b.WriteString(literally(s[:n]))
		s = s[n:]
	}
	return b.String()
}

// fnmatchSet reads a set after its opening bracket. A "^" goes where gate does
// not take it for a negation, a backslash where no list of gate's sees it.
func fnmatchSet(s string) (set, rest string, ok bool) {
	body, negate := strings.CutPrefix(s, "!")
	end := strings.IndexByte(strings.TrimPrefix(body, "]"), ']')
	if end < 0 {
		return "", "", false
	}
	end += len(body) - len(strings.TrimPrefix(body, "]"))
	body, rest = body[:end], body[end+1:]
	body = strings.ReplaceAll(body, `\`, `\\`)
	if negate {
		return "[!" + body + "]", rest, true
	}
	if after, caret := strings.CutPrefix(body, "^"); caret {
		if body = after + "^"; after == "" {
			return "^", rest, true
		}
	}
	return "[" + body + "]", rest, true
}
