package glob

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Syntax is how a shell reads patterns. The zero value is bash's: groups are
// off, a character is a code point, case counts, any character may come first.
type Syntax struct {
	Extended bool   // groups ?(a|b) *(…) +(…) @(…) !(…), as with shopt -s extglob
	Locale   Locale // says which characters there are, and how they are ordered
	Fold     bool   // a text matches if it does in any case
	Names    bool   // a leading dot is matched by a dot alone, as where names are expanded
}

// A Locale is what LC_ALL and its kin may say, as far as patterns depend on it.
type Locale uint8

// The zero value is right wherever the language is not known.
const (
	Language Locale = iota // UTF-8, ordered as some language has it
	Points                 // C.UTF-8: ordered by code points
	Bytes                  // C, POSIX: a character is a byte
)

// A Pattern is a pattern that was read. It does not change.
type Pattern struct {
	syntax Syntax
	text   string
	form
}

// A form is a pattern in characters: code points, or bytes.
type form struct {
	nodes []node
	bytes bool
	vague bool // what it matches depends on what gate does not know
	odd   bool // bash takes a wrong length to be the only one of its matches
}

// An Answer says whether a pattern matches.
type Answer uint8

// Unknown is for collation (ranges beyond ASCII, [=a=], [.a.]), for classes of
// characters that systems do not agree about, for text that is UTF-8 in part, and
// for matches that take more than maxSteps.
const (
	No Answer = iota
	Unknown
	Yes
)

// Compile reads a pattern. None is wrong: a bracket or a group without its end
// stands for itself.
func Compile(pattern string, syntax Syntax) *Pattern {
	p := &Pattern{syntax: syntax, text: pattern}
	p.form = p.in(syntax.Locale == Bytes || !utf8.ValidString(pattern))
	return p
}

func (p *Pattern) in(bytes bool) form {
	r := reader{text: units(p.text, bytes), extended: p.syntax.Extended}
	nodes := r.sequence()
	own := strings.ContainsAny(p.text, "\x01\x7f") // bash's signs for what is quoted
	return form{nodes: nodes, bytes: bytes, vague: r.vague || own, odd: r.odd}
}

// units are the characters of a text.
func units(s string, bytes bool) []rune {
	if !bytes {
		return []rune(s)
	}
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return out
}

// text is the reverse of units.
func text(s []rune, bytes bool) string {
	if !bytes {
		return string(s)
	}
	out := make([]byte, len(s))
	for i, r := range s {
		out[i] = byte(r)
	}
	return string(out)
}

// on begins a match. As in bash, pattern and text are bytes where one of them is
// no UTF-8; of pieces that are some bash makes code points again, which nobody
// needs to follow.
func (p *Pattern) on(s string) match {
	m := match{form: p.form, Syntax: p.syntax}
	if !m.bytes && !utf8.ValidString(s) {
		m.form = p.in(true)
	}
	m.vague = m.vague || m.bytes && p.syntax.Locale != Bytes && (multibyte(p.text) || multibyte(s))
	m.text = units(s, m.bytes)
	return m
}

// multibyte reports what may be a character of several bytes: systems know longer
// ones than UTF-8 has, and bash makes one where a backslash is in between.
func multibyte(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1] >= 0xc0 && (!utf8.RuneStart(s[i]) || s[i] == '\\') {
			return true
		}
	}
	return false
}

// Match holds the pattern against all of s.
func (p *Pattern) Match(s string) Answer {
	if !p.vague && p.differs(s) {
		return No
	}
	m := p.on(s)
	at := m.starts(0)
	m.pass(m.nodes, at)
	switch {
	case m.vague:
		return Unknown
	case at[len(m.text)]:
		return Yes
	}
	return No
}

// differs reports a text that begins or ends with another letter than the pattern:
// most do, where many names are held against one.
func (p *Pattern) differs(s string) bool {
	n := len(p.nodes)
	if n == 0 {
		return s != ""
	}
	other := func(n node, at int) bool {
		if n.kind != char || n.char >= utf8.RuneSelf {
			return false
		}
		return at < 0 || at >= len(s) || rune(s[at]) != n.char && !(p.syntax.Fold && unicode.ToLower(rune(s[at])) == unicode.ToLower(n.char))
	}
	return other(p.nodes[0], 0) || other(p.nodes[n-1], len(s)-1)
}

// Trim cuts off what the pattern matches at the beginning of s, or at its end:
// the shortest such text, or the longest. It reports whether that is known.
func (p *Pattern) Trim(s string, end, longest bool) (string, bool) {
	m := p.on(s)
	if end {
		m.nodes = reversed(m.nodes)
		slices.Reverse(m.text)
	}
	at := m.starts(0)
	m.pass(m.nodes, at)
	cut := slices.Index(at, true)
	if longest {
		cut = lastTrue(at)
	}
	rest := m.text[max(cut, 0):]
	if end {
		slices.Reverse(rest)
	}
	return text(rest, m.bytes), !m.vague
}

func lastTrue(at []bool) int {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] {
			return i
		}
	}
	return -1
}

// reversed is the pattern of the texts that read backwards.
func reversed(nodes []node) []node {
	out := slices.Clone(nodes)
	slices.Reverse(out)
	for i := range out {
		if out[i].kind == group {
			out[i].ways = slices.Clone(out[i].ways)
			for j, way := range out[i].ways {
				out[i].ways[j] = reversed(way)
			}
		}
	}
	return out
}

// Replace puts a text in the place of the first longest match: anywhere, or at
// the beginning ('#') or at the end ('%') alone; with all, of each match. It
// reports whether the outcome is known.
func (p *Pattern) Replace(s, with string, anchor byte, all bool) (string, bool) {
	m := p.on(s)
	switch {
	case p.text == "" && anchor == '#':
		return with + s, true
	case p.text == "" && anchor == '%':
		return s + with, true
	case p.text == "":
		return s, true
	}
	m.vague = m.vague || p.strange(&m) || s == "" && nothing(m.nodes) && slices.ContainsFunc(m.nodes, isGroup)
	late := m.late()
	var out []rune
	put := units(with, m.bytes)
	for i := 0; i <= len(m.text) && !m.vague; i++ {
		end := m.longest(i, anchor == '%')
		switch {
		case end >= 0 && (i < len(m.text) || i == 0 || anchor == '%'):
			m.vague = m.vague || i+late == len(m.text)
			out = append(out, put...)
			if end > i {
				i = end - 1
			} else if i < len(m.text) {
				out = append(out, m.text[i])
			}
			if !all || anchor != 0 {
				return text(append(out, m.text[min(i+1, len(m.text)):]...), m.bytes), !m.vague
			}
		case anchor == '#':
			return s, !m.vague
		case i < len(m.text):
			out = append(out, m.text[i])
		}
	}
	return text(out, m.bytes), !m.vague
}

// strange reports a pattern that bash does not look for as it matches it. It puts
// stars around it, which may make a group of the first one, and none where it sees
// one, be that behind a backslash; and it takes a wrong length for the only one.
func (p *Pattern) strange(m *match) bool {
	fixed := !slices.ContainsFunc(m.nodes, func(n node) bool { return n.kind == group || n.kind == star })
	return m.odd && fixed || p.syntax.Extended && strings.HasPrefix(p.text, "(") || strings.HasPrefix(p.text, "*") && strings.HasSuffix(p.text, `\*`)
}

func isGroup(n node) bool { return n.kind == group }

// late is how far before the end of a text bash may miss a match of a pattern that
// begins with a group: it looks for it as if that stood behind a star. It is
// negative for others.
func (m *match) late() int {
	for i, n := range m.nodes {
		switch {
		case n.kind == wild:
		case n.empty && n.char != '?' && n.char != '*':
			return i
		default:
			return -1
		}
	}
	return -1
}

// longest is where the longest match that begins at i ends, -1 without one.
func (m *match) longest(i int, whole bool) int {
	if n := m.nodes; len(n) > 0 && n[0].kind == char && (i == len(m.text) || m.text[i] != n[0].char) {
		return -1
	}
	rest := *m
	rest.text, rest.Names = m.text[i:], false
	at := rest.starts(0)
	rest.pass(rest.nodes, at)
	m.vague, m.steps = rest.vague, rest.steps
	switch end := lastTrue(at); {
	case end < 0, whole && end < len(rest.text):
		return -1
	default:
		return i + end
	}
}

// Recase changes each character that the pattern matches, or the first of s
// alone; the empty pattern matches any. It reports whether the outcome is known.
func (p *Pattern) Recase(s string, upper, first bool) (string, bool) {
	m := p.on(s)
	for i, r := range m.text {
		if first && i > 0 || m.vague {
			break
		}
		changed, certain := recased(r, upper, m.bytes)
		if changed == r && certain {
			continue
		}
		one := match{form: m.form, Syntax: m.Syntax, text: m.text[i : i+1], steps: m.steps}
		at := one.starts(0)
		one.pass(one.nodes, at)
		m.vague, m.steps = one.vague, one.steps
		if at[1] || p.text == "" {
			m.text[i], m.vague = changed, m.vague || !certain
		}
	}
	return text(m.text, m.bytes), !m.vague
}

// recased changes the case of a character. Of those beyond ASCII systems may
// know other pairs: it reports whether they agree.
func recased(r rune, upper, bytes bool) (changed rune, certain bool) {
	there, back := unicode.ToLower, unicode.ToUpper
	if upper {
		there, back = back, there
	}
	switch changed = there(r); {
	case r < utf8.RuneSelf:
		return changed, true
	case bytes:
		return r, true
	case changed == r:
		return r, back(r) != r && there(back(r)) == r || caseless(r)
	}
	return changed, back(changed) == r
}

// maxSteps bounds what a match costs: a step is a look at one character.
const maxSteps = 1 << 22

// A match is a text that is held against a pattern. It follows all ways at once:
// a set of positions, which each node moves on.
type match struct {
	form
	Syntax
	text  []rune
	steps int
}

func (m *match) starts(at int) []bool {
	set := make([]bool, len(m.text)+1)
	set[at] = true
	return set
}

// pass turns the positions where nodes begin into those where they end.
func (m *match) pass(nodes []node, at []bool) {
	for i := range nodes {
		n := &nodes[i]
		if !m.affords(len(at)) {
			return
		}
		switch n.kind {
		case star:
			from := slices.Index(at, true)
			if from == 0 && m.hidden(0) {
				at[0] = false
				from = slices.Index(at, true)
			}
			for j := max(from, 0); from >= 0 && j < len(at); j++ {
				at[j] = true
			}
		case group:
			m.group(n, at)
		default:
			for j := len(at) - 1; j > 0; j-- {
				at[j] = at[j-1] && m.holds(n, j-1)
			}
			at[0] = false
		}
	}
}

// affords counts steps. Once the outcome is unknown none is worth it.
func (m *match) affords(steps int) bool {
	m.steps += steps
	m.vague = m.vague || m.steps > maxSteps
	return !m.vague
}

// hidden reports a leading dot that a wildcard does not match.
func (m *match) hidden(i int) bool {
	return m.Names && i == 0 && len(m.text) > 0 && m.text[0] == '.'
}

// holds reports whether the node of one character matches that at i.
func (m *match) holds(n *node, i int) bool {
	r := m.text[i]
	switch {
	case n.kind == char && !m.Fold:
		return r == n.char
	case n.kind == char:
		return r == n.char || unicode.ToLower(r) == unicode.ToLower(n.char)
	case m.hidden(i):
		return false
	case n.kind == wild:
		return true
	case !m.Fold:
		return m.sure(m.has(n, r))
	}
	return m.sure(max(m.has(n, r), m.has(n, unicode.ToLower(r)), m.has(n, unicode.ToUpper(r))))
}

func (m *match) has(n *node, r rune) Answer {
	if m.bytes {
		return n.set.has(r, Bytes)
	}
	return n.set.has(r, m.Locale)
}

func (m *match) sure(a Answer) bool {
	m.vague = m.vague || a == Unknown
	return a == Yes
}

// group is pass for a group.
func (m *match) group(n *node, at []bool) {
	if n.char == '!' {
		m.others(n, at)
		return
	}
	first := m.union(n.ways, at)
	switch n.char {
	case '@':
		copy(at, first)
	case '?':
		or(at, first)
	case '*', '+':
		if n.char == '+' {
			copy(at, first)
		} else {
			or(at, first)
		}
		for fresh := first; slices.Contains(fresh, true) && !m.vague; {
			fresh = m.union(n.ways, fresh)
			for i := range fresh {
				fresh[i] = fresh[i] && !at[i]
			}
			or(at, fresh)
		}
	}
}

// others is pass for !(…): from each position to all that no way leads to.
func (m *match) others(n *node, at []bool) {
	out := make([]bool, len(at))
	for i := range at {
		if !at[i] || m.hidden(i) || m.vague {
			continue
		}
		ends := m.union(n.ways, m.starts(i))
		for j := i; j < len(at); j++ {
			out[j] = out[j] || !ends[j]
		}
	}
	copy(at, out)
}

// union is where any of the ways ends that begin at.
func (m *match) union(ways [][]node, at []bool) []bool {
	out := make([]bool, len(at))
	for _, way := range ways {
		if !m.affords(len(at)) {
			break
		}
		ends := slices.Clone(at)
		m.pass(way, ends)
		or(out, ends)
	}
	return out
}

func or(to, from []bool) {
	for i := range to {
		to[i] = to[i] || from[i]
	}
}
