package hook

import "iter"

// A FactObject is a part of facts that the document shows as an object. Whoever
// writes, reads or converts facts does it through this, so that no part is
// described twice; fields.go is made of the structs.
type FactObject interface {
	// member returns the name of a field and where it is kept, in the order of
	// names, counted from 0; no name after the last one. At is a pointer:
	// *bool, *int, *string, *[]string, *[]*string, *any, *[OptionalText],
	// *map[string][]any, *map[string]*string, or, where nil or the zero value is
	// null, **string, **bool, **[Span], *[TextOrNull], *[NumberOrNull]. It is a
	// [FactList], a [FactPart], a [KindName] or a *[Version] otherwise.
	member(i int) (name string, at any)
}

// Member returns the name of a field of o and where it is kept, counted from 0 in the
// order of names; no name after the last one.
func Member(o FactObject, i int) (name string, at any) { return o.member(i) }

type (
	// TextOrNull is a text that is null in the document when it is empty.
	TextOrNull string
	// NumberOrNull is a number that is null in the document when it is 0.
	NumberOrNull int
	// KindName is a text that a type alone decides: the kind of an effect.
	KindName string
)

// An OptionalText is a field that is missing where it would mean nothing.
type OptionalText struct {
	There bool
	Text  *string // nil when unknown
}

// A FactList is a list of objects.
type FactList interface {
	Len() int
	At(i int) FactObject
	Add() FactObject // a new one at the end
}

// A FactPart is an object that may be null.
type FactPart interface {
	Get() FactObject // nil for null
	Make() FactObject
}

// Members returns the names of an object's fields and where they are kept, in the
// order of names, without those that are missing.
func Members(o FactObject) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := 0; ; i++ {
			name, at := o.member(i)
			if name == "" {
				return
			}
			if optional, ok := at.(*OptionalText); ok {
				if !optional.There {
					continue
				}
				at = &optional.Text
			}
			if !yield(name, at) {
				return
			}
		}
	}
}

// FactText returns the text that a field keeps, nil for null; ok is false for a field
// of another type.
func FactText(at any) (s *string, ok bool) {
	switch at := at.(type) {
	case *string:
		return at, true
	case **string:
		return *at, true
	case *TextOrNull:
		if *at == "" {
			return nil, true
		}
		return (*string)(at), true
	case KindName:
		return (*string)(&at), true
	}
	return nil, false
}

type pointer[T any] interface {
	*T
	FactObject
}

type list[T any, P pointer[T]] struct{ at *[]T }

func (l list[T, P]) Len() int            { return len(*l.at) }
func (l list[T, P]) At(i int) FactObject { return P(&(*l.at)[i]) }
func (l list[T, P]) Add() FactObject {
	*l.at = append(*l.at, *new(T))
	return l.At(l.Len() - 1)
}

type part[T any, P pointer[T]] struct{ at **T }

func (p part[T, P]) Make() FactObject {
	*p.at = new(T)
	return P(*p.at)
}

func (p part[T, P]) Get() FactObject {
	if *p.at == nil {
		return nil
	}
	return P(*p.at)
}

// An OwnEffect is of a kind that settings add for programs of one's own. The zero
// value has no name and no fields.
type OwnEffect struct {
	Name   string
	Fields []OwnField // in the order of names; none is called kind or command
}

// An OwnField is one field of it: a plain value, or nil for unknown.
type OwnField struct {
	Name  string
	Value any
}

// kind returns its name.
func (e *OwnEffect) kind() string { return e.Name }

func (e *OwnEffect) member(of *FactEffect, i int) (string, any) {
	command, kind := e.before("command"), e.before("kind")+1
	switch {
	case i == command:
		return "command", (*NumberOrNull)(&of.Command)
	case i == kind:
		return "kind", KindName(e.Name)
	case i > kind:
		i--
	}
	if i > command {
		i--
	}
	if i >= len(e.Fields) {
		return "", nil
	}
	return e.Fields[i].Name, &e.Fields[i].Value
}

// before counts the fields before a name.
func (e *OwnEffect) before(name string) int {
	n := 0
	for n < len(e.Fields) && e.Fields[n].Name < name {
		n++
	}
	return n
}
