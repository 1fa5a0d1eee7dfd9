package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// A Template is an effect as a row writes it.
type Template struct {
	Kind  string
	Conds []string
	attrs map[string]any
}

func parseTemplate(e any) (Template, error) {
	m, _ := e.(map[string]any)
	kind, _ := m["kind"].(string)
	if kind == "" {
		return Template{}, errors.New("an effect without kind")
	}
	t := Template{Kind: kind, attrs: map[string]any{}}
	for k, v := range m {
		switch k {
		case "kind":
		case "command":
			return t, fmt.Errorf("%s: command is for gate to say", kind)
		case "if":
			list, _ := v.([]any)
			for _, c := range list {
				s, _ := c.(string)
				t.Conds = append(t.Conds, s)
			}
		default:
			t.attrs[k] = v
		}
	}
	return t, t.check()
}

// Effect returns the effect; value says what stands for a value of the row.
func (t *Template) Effect(value func(any) any) hook.EffectKind {
	e := t.empty()
	for i := 0; ; i++ {
		name, at := hook.Member(&e, i)
		if name == "" {
			return e.Is
		}
		if v, given := t.attrs[name]; given {
			hook.Set(at, value(v))
		}
	}
}

// empty returns an effect of the kind with nothing known of it.
func (t *Template) empty() hook.FactEffect {
	if e := hook.NewEffect(t.Kind); e != nil {
		return hook.FactEffect{Is: e}
	}
	own := &hook.OwnEffect{Name: t.Kind}
	for _, name := range slices.Sorted(maps.Keys(t.attrs)) {
		own.Fields = append(own.Fields, hook.OwnField{Name: name})
	}
	return hook.FactEffect{Is: own}
}

// check reports a field that the kind does not have, or that can never have the
// value which the row gives it.
func (t *Template) check() error {
	e, left := t.empty(), maps.Clone(t.attrs)
	for i := 0; ; i++ {
		name, at := hook.Member(&e, i)
		if name == "" {
			break
		}
		v, given := left[name]
		delete(left, name)
		for _, example := range examples(v) {
			if given && !hook.Set(at, example) {
				return fmt.Errorf("%s: %s cannot be %v", t.Kind, name, v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		return fmt.Errorf("%s has no field %q", t.Kind, name)
	}
	return nil
}

// examples are values that a value of a row may stand for.
func examples(v any) []any {
	s, _ := v.(string)
	name, _, _ := strings.Cut(s, ":")
	switch name {
	case "$has":
		return []any{true}
	case "$opt", "$operand":
		return []any{"", nil}
	case "$operands":
		return []any{[]any{"", nil}}
	}
	return []any{v}
}
