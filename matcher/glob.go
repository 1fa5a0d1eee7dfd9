package matcher

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A glob is a whole-text wildcard pattern: * is any run of characters, ? one
// character, [a-z] and [!a-z] one of a set, and a backslash takes what follows
// literally. It is read anew with each match: a process makes many, and asks
// most of them once, if at all. Matching costs at most len(pattern) x len(text).
type glob string

func newGlob(pattern string) (glob, error) {
	for at := 0; at < len(pattern); {
		_, n, err := globToken(pattern[at:], 0)
		if err != nil {
			return "", err
		}
		at += n
	}
	return glob(pattern), nil
}

// globToken reads what a pattern begins with, a star not being expected. It
// reports whether that is r, and its length.
func globToken(pattern string, r rune) (holds bool, length int, err error) {
	c, n := utf8.DecodeRuneInString(pattern)
	switch c {
	case '?':
		return true, n, nil
	case '[':
		holds, length, err := globClass(pattern[n:], r)
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

// globClass reads a set up to and including its closing bracket, and reports
// whether r is in it.
func globClass(s string, r rune) (holds bool, length int, err error) {
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

func (g glob) match(v string) Truth { return truth(g.matches(v)) }

func (g glob) matches(v string) bool {
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
			if holds, length, _ := globToken(string(g[p:]), r); holds { // without errors, or there would be no glob
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

// A pathGlob matches slash-separated paths: * stays within a segment, ** as a
// whole segment stands for any number of them.
type pathGlob []pathSegment

type pathSegment struct {
	deep bool // **
	glob glob
}

func newPathGlob(pattern string) (pathGlob, error) {
	var p pathGlob
	for s := range strings.SplitSeq(pattern, "/") {
		if s == "**" {
			if len(p) == 0 || !p[len(p)-1].deep {
				p = append(p, pathSegment{deep: true})
			}
			continue
		}
		g, err := newGlob(s)
		if err != nil {
			return nil, err
		}
		p = append(p, pathSegment{glob: g})
	}
	return p, nil
}

func (p pathGlob) matches(path string) bool {
	segments := strings.Split(path, "/")
	k, i := 0, 0
	deep, from := -1, 0
	for i < len(segments) {
		switch {
		case k < len(p) && p[k].deep:
			deep, from = k, i
			k++
		case k < len(p) && p[k].glob.matches(segments[i]):
			k++
			i++
		case deep >= 0:
			from++
			k, i = deep+1, from
		default:
			return false
		}
	}
	for k < len(p) && p[k].deep {
		k++
	}
	return k == len(p)
}
