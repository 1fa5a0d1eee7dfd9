package matcher

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A Backtracker compiles an ECMAScript regular expression, and returns what tells
// whether a text has a match. It is for those that Go's package regexp does not
// run: they look around, refer back and the like. Package internal/backtracking
// has one. It and what it returns are safe for concurrent use.
type Backtracker func(pattern string) (match func(text string) Truth, err error)

// ErrBacktracks says that a regular expression takes a [Backtracker], and that
// none was given. Then it may also be no regular expression at all.
var ErrBacktracks = errors.New("it takes an engine that backtracks")

// newRegex compiles an ECMAScript regular expression. Most patterns mean the
// same in Go's linear-time syntax, after a translation; the rest is for b.
func newRegex(pattern string, b Backtracker) (item, error) {
	if re2, ok := translate(pattern); ok {
		if re, err := regexp.Compile(re2); err == nil {
			if neverMatches(re2) {
				return nil, fmt.Errorf("regular expression %q never matches", pattern)
			}
			return linear{re}, nil
		}
	}
	if b == nil {
		return nil, fmt.Errorf("regular expression %q: %w", pattern, ErrBacktracks)
	}
	match, err := b(pattern)
	if err != nil {
		hint := ""
		if strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, "?") {
			hint = fmt.Sprintf("; for a wildcard write glob:%s", pattern)
		}
		return nil, fmt.Errorf("not a regular expression: %w%s", err, hint)
	}
	return backtracking(match), nil
}

type linear struct{ re *regexp.Regexp }

func (l linear) match(v string) Truth { return truth(l.re.MatchString(v)) }

type backtracking func(text string) Truth

func (b backtracking) match(v string) Truth { return b(v) }

// translate writes an ECMAScript pattern in Go's syntax, or reports that it
// uses something that Go lacks or could read differently.
func translate(p string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x80:
			return "", false // case folding and code units: leave it to who backtracks
		case c == '.':
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		case c == '\\':
			i++
			if i == len(p) || !sameEscape(p[i]) {
				return "", false
			}
			b.WriteString(p[i-1 : i+1])
		case c == '[':
			end := class(p[i:])
			if end == 0 {
				return "", false
			}
			b.WriteString(p[i : i+end])
			i += end - 1
		case c == '(':
			b.WriteByte(c)
			if strings.HasPrefix(p[i:], "(?") {
				if !strings.HasPrefix(p[i:], "(?:") {
					return "", false
				}
				b.WriteString("?:")
				i += 2
			}
		case c == '{', c == '}', c == ']':
			return "", false // literal in some places, in one language only
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// sameEscape reports escapes that mean the same to both engines. \s does not:
// ECMAScript counts Unicode blanks.
func sameEscape(c byte) bool {
	return c < 0x80 && (strings.IndexByte("dDwWbB", c) >= 0 || !isWord(c) && c > ' ')
}

// class returns the length of a simple bracket expression at the beginning of
// p, 0 if it is not simple.
func class(p string) int {
	i := 1
	if strings.HasPrefix(p[i:], "^") {
		i++
	}
	first := i
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case c == ']':
			if i == first {
				return 0 // [] and [^] are whole classes in ECMAScript only
			}
			return i + 1
		case c == '\\':
			i++
			if i == len(p) || !sameEscape(p[i]) || p[i] == 'b' || p[i] == 'B' {
				return 0
			}
		case c == '[', c >= 0x80, c == '&', c == '~':
			return 0
		}
	}
	return 0
}

// neverMatches reports patterns that no text satisfies, such as a$b.
func neverMatches(re2 string) bool {
	parsed, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return false
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return false
	}
	type state struct {
		pc             uint32
		begun, reached bool // a character was taken; the end was demanded
	}
	seen := map[state]bool{}
	queue := []state{{pc: uint32(prog.Start)}}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		in := &prog.Inst[s.pc]
		next := state{in.Out, s.begun, s.reached}
		switch in.Op {
		case syntax.InstMatch:
			return false
		case syntax.InstFail:
			continue
		case syntax.InstAlt, syntax.InstAltMatch:
			queue = append(queue, state{in.Arg, s.begun, s.reached})
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(in.Arg)
			if op&syntax.EmptyBeginText != 0 && s.begun {
				continue
			}
			next.reached = s.reached || op&syntax.EmptyEndText != 0
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if s.reached {
				continue
			}
			next.begun = true
		}
		queue = append(queue, next)
	}
	return true
}
