package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// FactsOf is the reverse of [Facts.Document]: the facts whose document doc is,
// such as a log has kept. flow is what input.flow was, nil for none. line is the text
// of the shell line, which no document holds. The error says what in doc is not as this version writes it: such facts
// are to be worked out anew.
func FactsOf(doc map[string]any, flow any, line string) (*Facts, error) {
	f := &Facts{}
	if err := restore(f, doc); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	if flow != nil && !Set(list[Flow, *Flow]{&f.Flow}, flow) {
		return nil, errors.New("flow: not as this version writes it")
	}
	if f.Shell != nil {
		f.Shell.Text = line
	}
	return f, nil
}

// restore reads an object from its document.
func restore(o FactObject, doc map[string]any) error {
	if e, ok := o.(*FactEffect); ok {
		kind, _ := doc["kind"].(string)
		if e.Is = NewEffect(kind); e.Is == nil {
			e.Is = ownEffect(kind, doc)
		}
	}
	fields := 0
	for i := 0; ; i++ {
		name, at := o.member(i)
		if name == "" {
			break
		}
		v, there := doc[name]
		if _, optional := at.(*OptionalText); !there && optional {
			continue
		}
		if fields++; !there || !Set(at, v) {
			return fmt.Errorf("%s is not as this version writes it", name)
		}
	}
	if fields != len(doc) {
		return fmt.Errorf("fields that %T does not have", o)
	}
	return nil
}

func ownEffect(kind string, doc map[string]any) *OwnEffect {
	own := &OwnEffect{Name: kind}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if name != "kind" && name != "command" {
			own.Fields = append(own.Fields, OwnField{Name: name})
		}
	}
	return own
}

// Set puts a value of a document where a field is kept (see [FactObject]). It reports
// whether the field can have that value, which it has in part if not.
func Set(at, v any) bool {
	switch at := at.(type) {
	case *string:
		return set(at, v)
	case **string:
		return setPointer(at, v)
	case *TextOrNull:
		return v == nil || set((*string)(at), v)
	case KindName:
		return v == string(at)
	case *OptionalText:
		at.There = true
		return setPointer(&at.Text, v)
	case *bool:
		return set(at, v)
	case **bool:
		return setPointer(at, v)
	case *int:
		return setNumber(at, v)
	case *NumberOrNull:
		return v == nil || setNumber((*int)(at), v)
	case *Version:
		var n int
		return setNumber(&n, v) && n == FactsSchema
	case **Span:
		return setSpan(at, v)
	case *any:
		*at = v
		return true
	case *[]string:
		return setList(at, v, set[string])
	case *[]*string:
		return setList(at, v, setPointer[string])
	case *map[string]*string:
		return setMap(at, v, setPointer[string])
	case *map[string][]any:
		return setMap(at, v, set[[]any])
	case FactList:
		elements, ok := v.([]any)
		for _, e := range elements {
			doc, is := e.(map[string]any)
			ok = ok && is && restore(at.Add(), doc) == nil
		}
		return ok
	case FactPart:
		doc, ok := v.(map[string]any)
		return v == nil || ok && restore(at.Make(), doc) == nil
	}
	return false
}

func set[T any](at *T, v any) (ok bool) {
	*at, ok = v.(T)
	return ok
}

func setPointer[T any](at **T, v any) bool {
	if v == nil {
		*at = nil
		return true
	}
	*at = new(T)
	return set(*at, v)
}

func setList[T any](at *[]T, v any, set func(*T, any) bool) bool {
	elements, ok := v.([]any)
	*at = make([]T, len(elements))
	for i, e := range elements {
		ok = ok && set(&(*at)[i], e)
	}
	return ok
}

func setMap[T any](at *map[string]T, v any, set func(*T, any) bool) bool {
	m, ok := v.(map[string]any)
	*at = make(map[string]T, len(m))
	for k, e := range m {
		var one T
		ok = ok && set(&one, e)
		(*at)[k] = one
	}
	return ok
}

func setNumber(at *int, v any) bool {
	switch n := v.(type) {
	case int:
		*at = n
		return true
	case json.Number:
		i, err := n.Int64()
		*at = int(i)
		return err == nil
	}
	return false
}

func setSpan(at **Span, v any) bool {
	if v == nil {
		return true
	}
	ends, ok := v.([]any)
	if !ok || len(ends) != 2 {
		return false
	}
	*at = &Span{}
	return setNumber(&(*at)[0], ends[0]) && setNumber(&(*at)[1], ends[1])
}
