package glob

import (
	"slices"
	"strings"
)

// A node is a piece of a pattern.
type node struct {
	kind  kind
	char  rune     // itself, or the sign before a group
	set   *set     // of a bracket
	ways  [][]node // of a group
	empty bool     // of a group: it may match nothing
}

type kind uint8

const (
	char  kind = iota // itself
	wild              // ?
	star              // *
	class             // [...]
	group             // ?(…) and its kin
)

// maxDepth bounds groups within groups.
const maxDepth = 32

// A reader reads a pattern as bash's own functions do, quirks included.
type reader struct {
	text     []rune
	extended bool
	vague    bool
	odd      bool
	depth    int
	steps    int // of looking for the ends of brackets in vain
}

func (r *reader) sequence() []node {
	t := r.text
	out := make([]node, 0, len(t))
	for i := 0; i < len(t); i++ {
		c := t[i]
		if r.extended && i+1 < len(t) && t[i+1] == '(' && strings.ContainsRune("?*+@!", c) {
			n, end := r.group(t[i+2:])
			if end < 0 { // without its end all that follows stands for itself
				r.vague = r.vague || behindStar(out)
				return append(out, literal(t[i:])...)
			}
			n.char = c
			n.empty = strings.ContainsRune("?*!", c) || slices.ContainsFunc(n.ways, nothing)
			r.vague = r.vague || n.empty && behindStar(out)
			out = append(out, n)
			i += 1 + end
			continue
		}
		switch c {
		case '*':
			if len(out) == 0 || out[len(out)-1].kind != star {
				out = append(out, node{kind: star})
			}
		case '?':
			out = append(out, node{kind: wild})
		case '[':
			s, length := r.bracket(t[i+1:])
			if s == nil {
				out = append(out, node{char: c})
				continue
			}
			out = append(out, node{kind: class, set: s})
			i += length
		case '\\':
			if i++; i == len(t) {
				r.vague = true // some of bash's functions take it for itself
				return out
			}
			out = append(out, node{char: t[i]})
		default:
			out = append(out, node{char: c})
		}
	}
	return out
}

// nothing reports a sequence that may match the empty text.
func nothing(nodes []node) bool {
	return !slices.ContainsFunc(nodes, func(n node) bool { return n.kind != star && !n.empty })
}

// behindStar reports that a star ends the sequence, or a star and question marks.
// A group there that may match nothing has bash at odds with its own rules: it
// does not try the end of the text, and takes !(…) for its opposite.
func behindStar(nodes []node) bool {
	i := len(nodes) - 1
	for i >= 0 && nodes[i].kind == wild {
		i--
	}
	return i >= 0 && nodes[i].kind == star
}

func literal(t []rune) []node {
	out := make([]node, len(t))
	for i, c := range t {
		out[i].char = c
	}
	return out
}

// group reads what stands behind "(" and returns the length with ")", -1
// without one.
func (r *reader) group(t []rune) (node, int) {
	n := node{kind: group}
	if r.depth == maxDepth {
		r.vague = true
		return n, -1
	}
	whole := scan(t, false)
	if whole < 0 {
		return n, -1
	}
	for from := 0; from < whole; {
		length := scan(t[from:whole], true)
		if length < 0 {
			r.vague = true
			return n, -1
		}
		way := reader{text: t[from : from+length-1], extended: true, depth: r.depth + 1}
		n.ways = append(n.ways, way.sequence())
		r.vague = r.vague || way.vague
		from += length
	}
	return n, whole
}

// scan is the length of t up to and with the bracket that closes the group, or
// the "|" that ends its first way; -1 without one.
func scan(t []rune, way bool) int {
	depth, inside, first, special := 0, false, -1, rune(0)
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '\\':
			i++
		case c == '[' && !inside:
			inside, first = true, i+1
			if first < len(t) && (t[first] == '!' || t[first] == '^') {
				first++
			}
		case c == '[' && i+1 < len(t) && strings.ContainsRune(":.=", t[i+1]):
			special = t[i+1]
		case c == ']' && inside && special != 0 && t[i-1] == special:
			special = 0
		case c == ']' && inside && i != first:
			inside = false
		case inside:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return i + 1
			}
		case c == '|' && way && depth == 0:
			return i + 1
		}
	}
	return -1
}

// bracket reads what stands behind "[" and returns its length; nil where no
// bracket ends it, which stands for itself then.
func (r *reader) bracket(t []rune) (*set, int) {
	if r.steps > maxSteps {
		r.vague = true
		return nil, 0
	}
	s := &set{}
	i := 0
	if len(t) > 0 && (t[0] == '!' || t[0] == '^') {
		s.negated, i = true, 1
	}
	vague := false
	for first := true; i < len(t); first = false {
		c := t[i]
		switch {
		case c == ']' && !first:
			r.vague = r.vague || vague
			return s, i + 1
		case c == '[' && i+1 < len(t) && strings.ContainsRune(":=.", t[i+1]):
			end := i + 2
			for end < len(t) && 'a' <= t[end] && t[end] <= 'z' {
				end++
			}
			if t[i+1] == ':' && end+1 < len(t) && t[end] == ':' && t[end+1] == ']' {
				s.classes = append(s.classes, string(t[i+2:end]))
				i = end + 2
				continue
			}
			vague = true
		}
		lo, ok := element(t, &i)
		hi := lo
		if ok && i+1 < len(t) && t[i] == '-' && t[i+1] != ']' {
			i++
			vague = vague || i+1 < len(t) && t[i] == '[' && strings.ContainsRune(":=.", t[i+1])
			hi, ok = element(t, &i)
		}
		if !ok {
			i = len(t)
			r.vague = true
			break
		}
		r.odd = r.odd || first && c == ']' && s.negated // it looks for the end behind that one
		s.ranges = append(s.ranges, [2]rune{lo, hi})
	}
	r.steps += len(t)
	return nil, 0
}

// element reads one character of a bracket, which a backslash may precede.
func element(t []rune, i *int) (rune, bool) {
	if t[*i] == '\\' {
		*i++
	}
	if *i >= len(t) {
		return 0, false
	}
	*i++
	return t[*i-1], true
}
