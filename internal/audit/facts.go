package audit

import (
	"slices"
	"strconv"

	"gate/hook"
)

// facts writes what keep makes of [hook.Facts.Document], without that tree:
// most records have facts, and they are most of it. It returns nil where there is
// no room for all of them.
func (k *keeper) facts(f *hook.Facts) (rendered, marks) {
	k.start(maxFacts, "input", "facts")
	k.left -= 4
	k.object(f)
	if k.left < 0 || len(k.cuts) > 0 {
		// Half of them would read as if there were no more.
		return nil, marks{cuts: []Cut{{At: factsPointer}}}
	}
	slices.Sort(k.redacted)
	return k.out.JSON, k.marks
}

func (k *keeper) object(o hook.FactObject) {
	if e, ok := o.(*hook.FactEffect); ok {
		if _, own := e.Is.(*hook.OwnEffect); own { // whose names may be no words
			k.own = true
			object(k, hook.Tree(e), func(v any) any { return v })
			k.own = false
			return
		}
	}
	k.out.Object()
	for name, at := range hook.Members(o) {
		k.out.Key(name)
		k.left -= len(name) + 4
		k.path = append(k.path, name)
		k.field(at)
		k.path = k.path[:len(k.path)-1]
	}
	k.out.EndObject()
}

// field writes what a field of facts keeps.
func (k *keeper) field(at any) {
	if v, ok := at.(*any); ok {
		k.value(*v)
		return
	}
	k.left -= 4
	if s, ok := hook.FactText(at); ok {
		k.textOrNull(s)
		return
	}
	switch at := at.(type) {
	case hook.FactList:
		k.elements(at.Len(), func(i int) { k.object(at.At(i)) })
	case hook.FactPart:
		if o := at.Get(); o != nil {
			k.object(o)
			return
		}
		k.out.Value(nil)
	case *[]string:
		k.elements(len(*at), func(i int) { k.out.Text(k.text((*at)[i])) })
	case *[]*string:
		k.elements(len(*at), func(i int) { k.textOrNull((*at)[i]) })
	case *map[string]*string:
		object(k, *at, func(v *string) any { return hook.Plain(&v) })
	case *map[string][]any:
		object(k, *at, func(v []any) any { return v })
	case **hook.Span:
		k.bounds(*at)
	default:
		k.out.Value(hook.Plain(at))
	}
}

func (k *keeper) textOrNull(s *string) {
	if s == nil {
		k.out.Value(nil)
		return
	}
	k.out.Text(k.text(*s))
}

// bounds writes a span of the line.
func (k *keeper) bounds(s *hook.Span) {
	if s == nil {
		k.out.Value(nil)
		return
	}
	from, to := s[0], s[1]
	if len(k.line) > 0 {
		from, to = k.line.move(from), k.line.move(to)
	} else {
		k.left -= 2 * 4
	}
	k.out.List()
	k.out.Int(int64(from))
	k.out.Int(int64(to))
	k.out.EndList()
}

// elements writes a list, each element by a function.
func (k *keeper) elements(n int, element func(i int)) {
	k.out.List()
	for i := range n {
		k.path = append(k.path, strconv.Itoa(i))
		k.left -= 4
		element(i)
		k.path = k.path[:len(k.path)-1]
	}
	k.out.EndList()
}
