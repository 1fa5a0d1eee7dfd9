package setting

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"gate/internal/strictjson"
)

// A Kind is what a value of a setting is.
type Kind byte

// The kinds. The normal form of a value is how trees of a [Layer] hold it,
// whatever form the file has.
const (
	Anything     Kind = iota // not looked at
	Switched                 // true or false
	Truth                    // anything: true unless it is false; the normal form is a Switched
	Text                     // not empty, unless Min is negative
	Word                     // one of Words
	Whole                    // an integer of Min to Max
	Span                     // seconds or a time such as 500ms; the normal form is that of time.Duration
	Moment                   // a date or a time; the normal form is RFC 3339 in UTC
	Texts                    // a text or several; the normal form is a List
	SwitchedText             // true, false or a text
	Free                     // an object with keys of its own, or a text or list in place of one
	List                     // each as Of
	Map                      // names, and for each as Of
	Object                   // Fields and nothing else
	Version                  // 1
	Hooks                    // hooks as in a hook file; a [Layer] has none
)

// A Type says what a value is. The zero Type takes anything.
type Type struct {
	Kind     Kind
	Of       *Type         // of a List and a Map
	Fields   []Field       // of an Object
	Words    []string      // of a Word, the laxest first where one is stricter
	Pattern  string        // of a Text, and of the names in a Map; "": any
	Min, Max int           // of a Whole
	Longest  time.Duration // of a Span
	Zero     bool          // a Span may be 0
	Days     bool          // a Span may be in days, such as 7d
	Absolute bool          // a Text, or that of a SwitchedText, is an absolute path
	OneValue bool          // an Object is shown and weighed as one value, and not field by field
}

// A Bearing is what more of a value does to what is held back: true, a later
// word, a larger number, a longer list.
type Bearing byte

// The bearings.
const (
	Unclear  Bearing = iota // nobody can tell from the value
	Stricter                // something is held back more
	Looser                  // something is held back less
	Neutral                 // nothing that decides about a call
)

// A Field is one key of an object that settings hold.
type Field struct {
	Key      string
	Type     *Type // never nil in the table
	Required bool
	Bearing  Bearing
	Default  string // what holds where nothing is said, as a file would say it; "": nothing
	Own      bool   // a List in an Object has a say by itself, and not only where another field gives it one
	Says     string // what it is for, for the page; no full stop

	At func(any) any // a pointer to where the value lies in the struct that a pointer is given to; nil: nowhere
}

// FieldNamed returns the field of an Object, nil if there is none.
func (t *Type) FieldNamed(key string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Key == key {
			return &t.Fields[i]
		}
	}
	return nil
}

// Compare says whether is has more than was: both are in normal form, or nil where
// nothing is said. ok is false where that cannot be told.
func (f *Field) Compare(was, is any) (more int, ok bool) {
	switch f.Type.Kind {
	case Switched, Truth:
		on := func(v any) int {
			if v == true || v == nil && f.Default == "true" {
				return 1
			}
			return 0
		}
		return on(is) - on(was), true
	case Word:
		step := func(v any) int {
			text, _ := v.(string)
			return slices.Index(f.Type.Words, cmp.Or(text, f.Default))
		}
		return step(is) - step(was), true
	case Whole:
		size := func(v any) (n int) { f.put(&n, v); return n }
		return size(is) - size(was), true
	case Span:
		size := func(v any) time.Duration {
			text, _ := v.(string)
			d, _ := time.ParseDuration(cmp.Or(text, f.Default))
			return d
		}
		return cmp.Compare(size(is), size(was)), true
	case List:
		a, _ := was.([]any)
		b, _ := is.([]any)
		covers := func(all, some []any) bool {
			return !slices.ContainsFunc(some, func(v any) bool {
				return !slices.ContainsFunc(all, func(o any) bool { return Equal(v, o) })
			})
		}
		grows, shrinks := covers(b, a), covers(a, b)
		switch {
		case grows && shrinks:
			return 0, true
		case grows:
			return 1, true
		case shrinks:
			return -1, true
		}
	}
	return 0, Equal(was, is)
}

// treeOf makes the tree of a struct of the type, in normal form. What is silent
// is left out.
func (t *Type) treeOf(v any) map[string]any {
	out := map[string]any{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.At == nil && f.Type.Kind == Word {
			out[f.Key] = f.Type.Words[0] // there is no other
		} else if f.At != nil {
			if value := f.Get(f.At(v)); value != nil {
				out[f.Key] = value
			}
		}
	}
	return out
}

// fill is the reverse of treeOf. It passes over values of another type.
func (t *Type) fill(v any, tree map[string]any) {
	for i := range t.Fields {
		if f := &t.Fields[i]; f.At != nil && tree[f.Key] != nil {
			f.put(f.At(v), tree[f.Key])
		}
	}
}

// A composite is a value that is not a plain one.
type composite interface {
	tree(t *Type) any // nil if it is silent
	take(t *Type, v any)
}

// get returns the tree of what p points to, nil if it is silent.
func (f *Field) Get(p any) any {
	switch p := p.(type) {
	case composite:
		return p.tree(f.Type)
	case *string:
		if *p != "" {
			return *p
		}
	case *bool:
		return *p
	case **bool:
		if *p != nil {
			return **p
		}
	case *int:
		if *p != 0 || f.Required {
			return json.Number(strconv.Itoa(*p))
		}
	case *time.Duration:
		if *p > 0 {
			return p.String()
		}
	case *time.Time:
		return p.UTC().Format(time.RFC3339Nano)
	case *[]string:
		if len(*p) > 0 {
			return anys(*p)
		}
	case *map[string]any:
		if len(*p) > 0 {
			return *p
		}
	}
	return nil
}

// put is the reverse of get.
func (f *Field) put(p, v any) {
	text, _ := v.(string)
	switch p := p.(type) {
	case composite:
		p.take(f.Type, v)
	case *string:
		*p = text
	case *bool:
		*p = v == true
	case **bool:
		on := v == true
		*p = &on
	case *int:
		if n, ok := v.(json.Number); ok {
			x, _ := n.Float64()
			*p = int(x)
		}
	case *time.Duration:
		*p, _ = time.ParseDuration(text)
	case *time.Time:
		*p, _ = time.Parse(time.RFC3339Nano, text)
	case *[]string:
		*p = strictjson.Texts(v)
	case *map[string]any:
		*p, _ = v.(map[string]any)
	}
}

// An optional is a struct that a file may be silent about.
type optional[T any] struct{ at **T }

func (o optional[T]) tree(t *Type) any {
	if *o.at == nil {
		return nil
	}
	return t.treeOf(*o.at)
}

func (o optional[T]) take(t *Type, v any) {
	if m, ok := v.(map[string]any); ok {
		*o.at = new(T)
		t.fill(*o.at, m)
	}
}

// A plain is a struct that is always there.
type plain[T any] struct{ at *T }

func (p plain[T]) tree(t *Type) any    { return t.treeOf(p.at) }
func (p plain[T]) take(t *Type, v any) { optional[T]{&p.at}.take(t, v) }

// A listed is a list of structs.
type listed[T any] struct{ at *[]T }

func (l listed[T]) tree(t *Type) any {
	if len(*l.at) == 0 {
		return nil
	}
	out := make([]any, len(*l.at))
	for i := range *l.at {
		out[i] = t.Of.treeOf(&(*l.at)[i])
	}
	return out
}

func (l listed[T]) take(t *Type, v any) {
	list, _ := v.([]any)
	*l.at = make([]T, len(list))
	for i := range list {
		m, _ := list[i].(map[string]any)
		t.Of.fill(&(*l.at)[i], m)
	}
}

// A named is a map of structs.
type named[T any] struct{ at *map[string]T }

func (n named[T]) tree(t *Type) any {
	return mapped[T]{n.at, func(v T) any { return t.Of.treeOf(&v) }, nil}.tree(t)
}

func (n named[T]) take(t *Type, v any) {
	mapped[T]{n.at, nil, func(v any) (out T) {
		m, _ := v.(map[string]any)
		t.Of.fill(&out, m)
		return out
	}}.take(t, v)
}

// A mapped is a map of values, with what makes a tree of each and a value of each
// tree.
type mapped[T any] struct {
	at   *map[string]T
	from func(T) any
	of   func(any) T
}

func (m mapped[T]) tree(*Type) any {
	return treeEach(*m.at, func(_ string, v T) any { return m.from(v) })
}

// treeEach makes a tree of a map, nil of an empty one.
func treeEach[T any](in map[string]T, of func(name string, v T) any) any {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]any, len(in))
	for name, v := range in {
		out[name] = of(name, v)
	}
	return out
}

func (m mapped[T]) take(_ *Type, v any) {
	all, _ := v.(map[string]any)
	*m.at = make(map[string]T, len(all))
	for name, v := range all {
		(*m.at)[name] = m.of(v)
	}
}

// worded is a map of texts of one type.
func worded[T ~string](at *map[string]T) mapped[T] {
	return mapped[T]{at, func(v T) any { return string(v) }, func(v any) T { s, _ := v.(string); return T(s) }}
}

// nested is a map of maps.
func nested(at *map[string]map[string]any) mapped[map[string]any] {
	return mapped[map[string]any]{at, func(v map[string]any) any { return v }, func(v any) map[string]any { m, _ := v.(map[string]any); return m }}
}

// An unless is true where the file says false.
type unless bool

func (u *unless) tree(*Type) any      { return !bool(*u) }
func (u *unless) take(_ *Type, v any) { *u = v == false }

// valuesOf calls f for each value that is shown and weighed by itself: its key,
// and the way to it within v.
func (t *Type) valuesOf(key string, v any, f func(key string, value any, way ...string)) {
	switch all := v.(type) {
	case nil:
	case map[string]any:
		if t.Kind != Map && t.Kind != Object || t.OneValue {
			f(key, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if t.Kind == Map && t.Of.Kind == Map {
				t.Of.valuesOf(key+"."+name, all[name], func(key string, v any, way ...string) { f(key, v, append([]string{name}, way...)...) })
				continue
			}
			f(key+"."+name, all[name], name)
		}
	case []any:
		for i, e := range all {
			at := strconv.Itoa(i)
			m, _ := e.(map[string]any)
			switch name, ok := m["name"].(string); {
			case t.Of != nil && t.Of.Kind == Text:
				text, _ := e.(string)
				f(key+"."+text, true, at)
			case ok:
				m = maps.Clone(m)
				delete(m, "name")
				f(key+"."+name, m, at)
			default:
				f(key+"."+at, e, at)
			}
		}
	default:
		f(key, v)
	}
}

func anys(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}
