package matcher

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A glob is a whole-text wildcard pattern: * is any run of characters, ? one
// character, [a-z] and [!a-z] one of a set, and a backslash takes what follows
// literally. Matching costs at most len(pattern) x len(text).
type glob []globToken

type globToken struct {
	star   bool
	any    bool // ?
	negate bool
	ranges []rune // pairs; a literal is one pair
}

func newGlob(pattern string) (glob, error) {
	var g glob
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		switch r {
		case '*':
			if len(g) == 0 || !g[len(g)-1].star {
				g = append(g, globToken{star: true})
			}
		case '?':
			g = append(g, globToken{any: true})
		case '[':
			t, n, err := globClass(pattern[i:])
			if err != nil {
				return nil, err
			}
			g = append(g, t)
			i += n
		case '\\':
			if i == len(pattern) {
				return nil, errors.New("a glob ends with a backslash")
			}
			r, n = utf8.DecodeRuneInString(pattern[i:])
			i += n
			fallthrough
		default:
			g = append(g, globToken{ranges: []rune{r, r}})
		}
	}
	return g, nil
}

// globClass reads a set up to and including its closing bracket.
func globClass(s string) (globToken, int, error) {
	var t globToken
	i := 0
	if strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^") {
		t.negate = true
		i++
	}
	for first := true; i < len(s); first = false {
		lo, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if lo == ']' && !first {
			return t, i, nil
		}
		hi := lo
		if rest := s[i:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			hi, n = utf8.DecodeRuneInString(rest[1:])
			i += 1 + n
		}
		if hi < lo {
			return t, 0, errors.New("a glob has a set with a range that runs backwards")
		}
		t.ranges = append(t.ranges, lo, hi)
	}
	return t, 0, errors.New(`a glob has "[" without "]"`)
}

func (t *globToken) holds(r rune) bool {
	if t.any {
		return true
	}
	for i := 0; i < len(t.ranges); i += 2 {
		if t.ranges[i] <= r && r <= t.ranges[i+1] {
			return !t.negate
		}
	}
	return t.negate
}

func (g glob) match(v string) Truth { return truth(g.matches(v)) }

func (g glob) matches(v string) bool {
	p, i := 0, 0
	star, from := -1, 0 // the last star, and where its run ends for now
	for i < len(v) {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case p < len(g) && g[p].star:
			star, from = p, i
			p++
		case p < len(g) && g[p].holds(r):
			p++
			i += n
		case star >= 0:
			_, n := utf8.DecodeRuneInString(v[from:])
			from += n
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(g) && g[p].star {
		p++
	}
	return p == len(g)
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
