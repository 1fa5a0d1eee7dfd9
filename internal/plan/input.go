package plan

import (
	"gate/hook"
	"gate/internal/plan/value"
)

// inputOf returns what policies see of an event. Most of its facts nobody reads.
func inputOf(ev *hook.Event) (value.Value, error) {
	facts := ev.Facts
	if facts == nil {
		facts = &hook.Facts{}
	}
	return value.Lazy(ev.DocumentWith(objectOf(facts)))
}

func objectOf(o hook.FactObject) *value.Object { return value.Deferred(fields{o}) }

// fields makes pairs of the fields of an object.
type fields struct{ hook.FactObject }

func (f fields) Pairs() []value.Pair {
	n := 0
	for name, _ := hook.Member(f, 0); name != ""; name, _ = hook.Member(f, n) {
		n++
	}
	pairs := make([]value.Pair, 0, n)
	for name, at := range hook.Members(f.FactObject) {
		pairs = append(pairs, value.Pair{Key: value.String(name), Value: valueOf(at)})
	}
	return pairs
}

// valueOf returns what a field keeps.
func valueOf(at any) value.Value {
	if s, ok := hook.FactText(at); ok {
		return textOrNull(s)
	}
	switch at := at.(type) {
	case *bool:
		return value.Bool(*at)
	case *[]string:
		return listOf(len(*at), func(i int) value.Value { return value.String((*at)[i]) })
	case *[]*string:
		return listOf(len(*at), func(i int) value.Value { return textOrNull((*at)[i]) })
	case hook.FactList:
		return listOf(at.Len(), func(i int) value.Value { return objectOf(at.At(i)) })
	case hook.FactPart:
		if o := at.Get(); o != nil {
			return objectOf(o)
		}
		return value.Null{}
	}
	v, err := value.From(hook.Plain(at))
	if err != nil {
		return value.Null{} // no document holds it, so nobody knows what it is
	}
	return v
}

func textOrNull(s *string) value.Value {
	if s == nil {
		return value.Null{}
	}
	return value.String(*s)
}

func listOf(n int, element func(i int) value.Value) *value.Array {
	elems := make([]value.Value, n)
	for i := range elems {
		elems[i] = element(i)
	}
	return value.List(elems)
}
