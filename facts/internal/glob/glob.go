// Package glob holds names and texts against the patterns of a shell: * ? [...],
// groups, backslashes. The oracle is bash: an answer is bash's, or unknown. What a
// policy or a list of places calls a pattern is package paths'. Begin with [Compile],
// or with [May] for one name.
package glob

import "strings"

// May reports a name that the pattern matches where a shell expands names, in some
// case of its letters, or about which that is unknown.
func May(pattern, name string) bool {
	return Compile(pattern, Syntax{Names: true, Fold: true}).Match(name) != No
}

// MayPath is [May] component by component.
func MayPath(pattern, path string) bool {
	for {
		a, patterns, more := strings.Cut(pattern, "/")
		b, rest, deeper := strings.Cut(path, "/")
		if more != deeper || a != b && !May(a, b) {
			return false
		}
		if !more {
			return true
		}
		pattern, path = patterns, rest
	}
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

// Broad reports a component that matches nearly every name: it has a wildcard, and
// beside wildcards dots alone.
func Broad(component string) bool {
	wild := false
	for _, n := range Compile(component, Syntax{}).nodes {
		if n.kind == char && n.char != '.' {
			return false
		}
		wild = wild || n.kind != char
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
