// Package paths is the language of path patterns: of places, of conditions such as
// Write(src/**), of what a judge searches. In a segment * is any run of characters, ?
// one, [a-z] and [!a-z] one of a set, and a backslash takes what follows literally;
// ** as a whole segment stands for any number of them. Anchors are their users'. The
// patterns of shells are package facts/internal/glob's, glob.match is OPA's. Begin with [New].
package paths

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A Segment is a pattern of a whole text, which may have slashes where it is none
// of a path. It is read anew with each match: a process makes many, and asks most
// of them once, if at all. Matching costs at most len(pattern) x len(text).
type Segment string

// NewSegment reports what is wrong with a pattern. One that was not made by it and
// is wrong matches nothing at that place.
func NewSegment(pattern string) (Segment, error) {
	for at := 0; at < len(pattern); {
		_, n, err := token(pattern[at:], 0)
		if err != nil {
			return "", err
		}
		at += n
	}
	return Segment(pattern), nil
}

// token reads what a pattern begins with, a star not being expected. It
// reports whether that is r, and its length.
func token(pattern string, r rune) (holds bool, length int, err error) {
	c, n := utf8.DecodeRuneInString(pattern)
	switch c {
	case '?':
		return true, n, nil
	case '[':
		holds, length, err := class(pattern[n:], r)
		return holds, n + length, err
	case '\\':
		if n == len(pattern) {
			return false, 0, errors.New("a glob ends with a backslash")
		}
		c, length := utf8.DecodeRuneInString(pattern[n:])
		return c == r, n + length, nil
	}
	return c == r, n, nil
}

// class reads a set up to and including its closing bracket, and reports
// whether r is in it.
func class(s string, r rune) (holds bool, length int, err error) {
	i, negate, in := 0, false, false
	if strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^") {
		negate = true
		i++
	}
	for first := true; i < len(s); first = false {
		lo, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if lo == ']' && !first {
			return in != negate, i, nil
		}
		hi := lo
		if rest := s[i:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			hi, n = utf8.DecodeRuneInString(rest[1:])
			i += 1 + n
		}
		if hi < lo {
			return false, 0, errors.New("a glob has a set with a range that runs backwards")
		}
		in = in || lo <= r && r <= hi
	}
	return false, 0, errors.New(`a glob has "[" without "]"`)
}

// Matches holds the pattern against all of v.
func (g Segment) Matches(v string) bool {
	p, i := 0, 0
	star, from := -1, 0 // behind the last star, and where its run ends for now
	for i < len(v) {
		if p < len(g) && g[p] == '*' {
			p++
			star, from = p, i
			continue
		}
		r, n := utf8.DecodeRuneInString(v[i:])
		if p < len(g) {
			if holds, length, _ := token(string(g[p:]), r); holds { // without errors, or there would be no glob
				p += length
				i += n
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n = utf8.DecodeRuneInString(v[from:])
		from += n
		p, i = star, from
	}
	return strings.Trim(string(g[p:]), "*") == ""
}

// A Pattern is one of slash-separated paths.
type Pattern string

// New reports what is wrong with a pattern.
func New(pattern string) (Pattern, error) {
	for s := range strings.SplitSeq(pattern, "/") {
		if _, err := NewSegment(s); err != nil {
			return "", err
		}
	}
	return Pattern(pattern), nil
}

// Matches holds the pattern against a whole path.
func (p Pattern) Matches(path string) bool {
	steps := strings.Split(path, "/")
	return Walk(string(p), len(steps), func(s Segment, i int) bool { return s.Matches(steps[i]) })
}

// Walk holds a pattern against a path of so many steps, of which fits says whether
// a segment is the step of a number. Each ** takes as few steps as it can.
func Walk(pattern string, steps int, fits func(s Segment, step int) bool) bool {
	rest, more := pattern, true
	var deep string // what is behind the last **
	from := -1      // the step that follows it
	deeper := false // whether anything is behind it
	for i := 0; i < steps; {
		segment, after, further := strings.Cut(rest, "/")
		switch {
		case more && segment == "**":
			rest, more = after, further
			deep, deeper, from = rest, more, i
		case more && fits(Segment(segment), i):
			rest, more = after, further
			i++
		case from >= 0:
			from++
			rest, more, i = deep, deeper, from
		default:
			return false
		}
	}
	for more {
		var segment string
		if segment, rest, more = strings.Cut(rest, "/"); segment != "**" {
			return false
		}
	}
	return true
}

// maxAlternatives bounds the patterns that one with braces stands for, and its braces.
const maxAlternatives = 100

// Alternatives are the patterns that one with braces stands for: {.env,*.{go,sh}}.
// No pattern has braces otherwise. It reports false, and none, where a brace lacks
// its like, or where they are more than 100.
func Alternatives(pattern string) ([]string, bool) {
	open, depth := strings.IndexByte(pattern, '{'), 0
	if open < 0 && !strings.Contains(pattern, "}") {
		return []string{pattern}, true
	}
	if open < 0 || strings.Contains(pattern[:open], "}") || strings.Count(pattern, "{") > maxAlternatives {
		return nil, false
	}
	var ways []string
	for i, from := open, open+1; i < len(pattern); i++ {
		switch pattern[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 || depth == 1 && pattern[i] == ',' {
			ways = append(ways, pattern[from:i])
			from = i + 1
		}
		if depth == 0 {
			return among(pattern[:open], ways, pattern[i+1:])
		}
	}
	return nil, false
}

func among(before string, ways []string, after string) (out []string, ok bool) {
	for _, way := range ways {
		more, ok := Alternatives(before + way + after)
		if out = append(out, more...); !ok || len(out) > maxAlternatives {
			return nil, false
		}
	}
	return out, true
}
