package install

import (
	"slices"
	"strconv"
)

// member returns the value of a name in an object, or of names in objects within
// each other; nil if there is none or n is no object. n may be nil.
func (n *node) member(names ...string) *node {
	for _, name := range names {
		i := n.index(name)
		if i < 0 {
			return nil
		}
		n = n.items[i].value
	}
	return n
}

// index returns the position of a name in an object, -1 for none.
func (n *node) index(name string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	return slices.IndexFunc(n.items, func(it item) bool { return it.key.str == name })
}

// is reports whether n is a value of the kind { [ " 0 t f n. n may be nil.
func (n *node) is(kind byte) bool { return n != nil && n.kind == kind }

// text returns a string's value, "" for anything else.
func (n *node) text() string {
	if n.is('"') {
		return n.str
	}
	return ""
}

// strings returns the value of an array of strings, and false for anything else.
func (n *node) strings() ([]string, bool) {
	if !n.is('[') {
		return nil, false
	}
	out := []string{}
	for _, it := range n.items {
		if !it.value.is('"') {
			return nil, false
		}
		out = append(out, it.value.str)
	}
	return out, true
}

// number returns a number's value, and false for anything else.
func (d *document) number(n *node) (float64, bool) {
	if !n.is('0') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(d.text[n.start:n.end]), 64)
	return v, err == nil
}

// line returns the line of a node, counted from 1; 0 for none.
func (d *document) line(n *node) int {
	if n == nil {
		return 0
	}
	return line(d.text, n.start)
}

// typeName names a value's type for messages.
func (n *node) typeName() string {
	if n == nil {
		return "nothing"
	}
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}
