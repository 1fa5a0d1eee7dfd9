package policycheck

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// kinds is a set of types that a value may have.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	number
	text
	array
	object
	set
)

var kindNames = []string{"null", "a boolean", "a number", "a string", "an array", "an object", "a set"}

func (k kinds) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// A shape is what is known of a value. The zero shape is anything.
type shape struct {
	kinds kinds // 0: any

	// Of texts. All nil: any text.
	enum     []string // nothing else occurs
	known    []string // occur among others
	except   []string // never occur
	form     *form    // what all of them look like; nil: nothing is known
	defaults []string // may be configured, and are so at first
	param    *param   // the parameter that defaults come from

	fields map[string]*shape // of an object
	rest   *shape            // what other fields of an object hold; nil: it has none
	items  *shape            // of an array or set; nil: anything

	union []*shape // it is one of these; the other fields mean nothing

	title   string // the event, tool or kind of effect that an object describes
	name    string // the field it stands in
	unknown string // how unknown shows: see the README of the schemas
	says    string // what it is, for people; "" where nobody wrote it down

	optional bool // the field may be missing
}

// A form is what all texts of a field look like.
type form struct {
	pattern *regexp.Regexp
	not     bool   // none of them matches pattern; else all do
	is      string // in words
}

// A param is where a parameter is declared.
type param struct {
	name string
	unit *unit
}

func (s *shape) any() bool { return s.kinds == 0 && len(s.union) == 0 }

// with returns a shape with another field.
func (s *shape) with(field string, v value) *shape {
	c := *s
	c.fields = maps.Clone(s.fields)
	c.fields[field] = &shape{union: v}
	return &c
}

func (s *shape) meets(t *shape) bool {
	if s.any() || t.any() {
		return true
	}
	common := s.kinds & t.kinds
	if common != text {
		return common != 0
	}
	switch {
	case s.enum != nil && t.enum != nil:
		return slices.ContainsFunc(s.enum, func(e string) bool { return slices.Contains(t.enum, e) })
	case s.enum != nil:
		return slices.ContainsFunc(s.enum, func(e string) bool { return !slices.Contains(t.except, e) })
	case t.enum != nil:
		return slices.ContainsFunc(t.enum, func(e string) bool { return !slices.Contains(s.except, e) })
	}
	return true
}
