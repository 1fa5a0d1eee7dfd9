// Package matcher holds every pattern language that decides whether a hook
// concerns an event: exact names, lists, wildcards, globs, regular expressions
// and Tool(pattern) conditions.
//
// Patterns are compiled when a source is loaded, so that a mistake is reported
// to its author and not to a waiting agent. A match is a [Truth]: Unsure is a
// value, because "perhaps" must be able to deny and must never be able to
// allow. The package reads no files and knows no policies. Start
// with [Compile] for a hook's matcher and [ParseCondition] for its "if".
package matcher

import (
	"errors"
	"fmt"
	"strings"

	"gate/internal/paths"
)

// A Truth is the answer of a match. The zero Truth is No. Of several
// alternatives the largest counts.
type Truth uint8

const (
	No     Truth = iota
	Unsure       // timed out, or met something unknown: may tighten, must not loosen
	Yes
)

func (t Truth) String() string {
	return [...]string{"no", "unsure", "yes"}[min(t, Yes)]
}

func truth(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

// Limits. A pattern is written by a person; a value comes from an agent.
const (
	maxPattern = 2000 // bytes of a pattern
	maxItems   = 200  // items of a list

	// MaxValue is the longest value, in bytes, that is looked at. A longer one is
	// Unsure, unless the matcher matches everything.
	MaxValue = 4096
)

// A Matcher decides on the text that an event is matched on, usually the name
// of the tool; see [Subject]. The zero Matcher matches everything. It is safe
// for concurrent use.
type Matcher struct {
	items []item // none: everything
}

// An item is one alternative of a list.
type item interface {
	match(value string) Truth
}

// Compile compiles a hook's matcher. It is a list of items, separated by "|"
// or, if all of them are plain, by ","; blanks around them do not count. Any
// item may match. The form of each is detected:
//
//	"" or "*" (alone)    everything
//	Bash                 that name: letters, digits, "_", "-" and blanks
//	Bash*                names that begin so
//	glob:*_status        a whole name, with * ? and [a-z]
//	contains:task        names in which the text occurs
//	^mcp__.*             anything else: an ECMAScript regular expression, unanchored
//
// The names Task and Agent stand for each other. A
// pattern that can never match is an error. b is for regular expressions
// that Go's package regexp does not run; where b is nil, they are an error, [ErrBacktracks].
func Compile(pattern string, b Backtracker) (*Matcher, error) {
	m := &Matcher{}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("matcher of %d bytes; %d are allowed", len(pattern), maxPattern)
	}
	if t := strings.TrimSpace(pattern); t == "" || t == "*" {
		return m, nil
	}
	if tool, inner, ok := ruleSyntax(pattern); ok {
		return nil, fmt.Errorf("matcher %q never matches a tool: write matcher: %s and if: %s(%s)", pattern, tool, tool, inner)
	}
	parts := split(pattern)
	if len(parts) == 0 {
		return nil, fmt.Errorf("matcher %q names nothing, so it never matches", pattern)
	}
	if len(parts) > maxItems {
		return nil, fmt.Errorf("matcher with %d items; %d are allowed", len(parts), maxItems)
	}
	for _, p := range parts {
		it, err := compileItem(p, b)
		if err != nil {
			return nil, fmt.Errorf("matcher %q: %w", pattern, err)
		}
		if it == nil {
			return &Matcher{}, nil
		}
		m.items = append(m.items, it)
	}
	return m, nil
}

// All reports whether m matches everything.
func (m *Matcher) All() bool { return len(m.items) == 0 }

// Match reports whether value is one that m stands for. An alias of the value
// counts too.
func (m *Matcher) Match(value string) Truth {
	if m.All() {
		return Yes
	}
	if len(value) > MaxValue {
		return Unsure
	}
	t := m.match(value)
	if alias := alias(value); alias != "" && t != Yes {
		t = max(t, m.match(alias))
	}
	return t
}

func (m *Matcher) match(value string) Truth {
	t := No
	for _, it := range m.items {
		if t = max(t, it.match(value)); t == Yes {
			break
		}
	}
	return t
}

// Names returns the only values that m matches, aliases included, if it is a
// list of plain names; exact is false for all other matchers. It says nothing
// about values that are longer than [MaxValue].
func (m *Matcher) Names() (names []string, exact bool) {
	for _, it := range m.items {
		e, ok := it.(exactName)
		if !ok {
			return nil, false
		}
		names = append(names, string(e))
		if other := alias(string(e)); other != "" {
			names = append(names, other)
		}
	}
	return names, !m.All()
}

// alias returns the other name of a tool that has two.
func alias(tool string) string {
	switch tool {
	case "Task":
		return "Agent"
	case "Agent":
		return "Task"
	}
	return ""
}

// ruleSyntax recognises a permission rule, such as Bash(git push:*), where a
// matcher is wanted. As a regular expression it would never match.
func ruleSyntax(s string) (tool, inner string, ok bool) {
	tool, rest, found := strings.Cut(strings.TrimSpace(s), "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !found || !closed || !isName(tool) {
		return "", "", false
	}
	return tool, inner, inner == "" || inner == "*" || strings.ContainsAny(inner, " :/~")
}

// A glob is an item that matches a whole name.
type glob paths.Segment

func (g glob) match(v string) Truth { return truth(paths.Segment(g).Matches(v)) }

// compileItem returns nil for an item that matches everything.
func compileItem(s string, b Backtracker) (item, error) {
	if rest, ok := strings.CutPrefix(s, "glob:"); ok {
		if rest == "" {
			return nil, errors.New("glob: without a pattern")
		}
		g, err := paths.NewSegment(rest)
		return glob(g), err
	}
	if rest, ok := strings.CutPrefix(s, "contains:"); ok {
		if rest == "" {
			return nil, errors.New("contains: without a text")
		}
		return substring(rest), nil
	}
	if s == "*" {
		return nil, nil
	}
	if isName(s) {
		return exactName(s), nil
	}
	if p, ok := strings.CutSuffix(s, "*"); ok && isName(p) {
		return prefix(p), nil
	}
	return newRegex(s, b)
}

type exactName string

func (e exactName) match(v string) Truth { return truth(v == string(e)) }

type prefix string

func (p prefix) match(v string) Truth { return truth(strings.HasPrefix(v, string(p))) }

type substring string

func (s substring) match(v string) Truth { return truth(strings.Contains(v, string(s))) }

// isName reports a text that stands for itself.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isWord(c) && c != '-' && c != ' ' {
			return false
		}
	}
	return s != ""
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// split takes a list apart. A "|" inside brackets or after a backslash belongs
// to a regular expression; so does a comma unless every item is plain.
func split(s string) []string {
	if parts, ok := plainList(s); ok {
		return parts
	}
	var parts []string
	depth, class, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			parts = appendItem(parts, s[from:i])
			from = i + 1
		}
	}
	return appendItem(parts, s[from:])
}

func plainList(s string) (parts []string, ok bool) {
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == ',' }) {
		p = strings.TrimSpace(p)
		plain := p == "" || p == "*" || isName(strings.TrimSuffix(p, "*")) ||
			strings.HasPrefix(p, "glob:") || strings.HasPrefix(p, "contains:")
		if !plain {
			return nil, false
		}
		parts = appendItem(parts, p)
	}
	return parts, true
}

func appendItem(parts []string, p string) []string {
	if p = strings.TrimSpace(p); p != "" {
		parts = append(parts, p)
	}
	return parts
}
