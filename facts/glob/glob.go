// Package glob matches names and paths against the patterns of a shell: * ? [...]
// and backslashes. The patterns of policies are package matcher's.
package glob

import "strings"

// Match reports whether a shell pattern (* ? [...] and backslashes)
// matches all of s. A star crosses slashes only in the callers that match one
// component at a time. It takes time proportional to both lengths.
func Match(pattern, s string) bool {
	var star, mark = -1, 0
	i, j := 0, 0
	for j < len(s) {
		if i < len(pattern) && pattern[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n, ok := matchOne(pattern[i:], s[j]); ok {
			i += n
			j++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// matchOne matches one character of the pattern; it returns its length.
func matchOne(pattern string, c byte) (int, bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	case '[':
		if end := strings.IndexByte(pattern[1:], ']'); end > 0 {
			set := pattern[1 : end+1]
			negated := set[0] == '!' || set[0] == '^'
			if negated {
				set = set[1:]
			}
			return end + 2, inSet(set, c) != negated
		}
	}
	return 1, pattern[0] == c
}

func inSet(set string, c byte) bool {
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return true
			}
			i += 2
			continue
		}
		if set[i] == c {
			return true
		}
	}
	return false
}

// Wild reports an unescaped wildcard.
func Wild(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// Unescape removes the backslashes of a pattern.
func Unescape(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// Broad reports a component that matches nearly every name: it has no letter
// or digit outside brackets, and not only dots.
func Broad(component string) bool {
	inside := false
	wild := false
	for i := 0; i < len(component); i++ {
		switch c := component[i]; {
		case c == '[':
			inside, wild = true, true
		case c == ']':
			inside = false
		case inside || c == '.':
		case c == '*' || c == '?':
			wild = true
		default:
			return false
		}
	}
	return wild
}

// Escape is the pattern that matches s alone.
func Escape(s string) string {
	if !strings.ContainsAny(s, `*?[\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// MatchPath matches a path component by component.
func MatchPath(pattern, p string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(p, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Match(a[i], b[i]) {
			return false
		}
	}
	return true
}
