package policycheck

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// data evaluates references below data.
func (c *checker) data(s *scope, ref ast.Ref) (value, int, *scope) {
	var names []string
	for _, t := range ref[1:] {
		name, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		names = append(names, string(name))
	}
	if len(names) > 2 && names[0] == "gate" && names[1] == "params" {
		return c.parameter(names[2:])
	}
	for n := len(names) - 1; n > 0; n-- {
		u := c.byName[strings.Join(names[:n], ".")]
		if u != nil && u.rules[names[n]] != nil {
			return c.rule(s, u, names[n]), n + 2, nil
		}
	}
	return anything, len(ref), nil
}

// parameter returns what a parameter may be: what settings say, and at first
// its default.
func (c *checker) parameter(names []string) (value, int, *scope) {
	for n := len(names) - 1; n > 0; n-- {
		u := c.byName[strings.Join(names[:n], ".")]
		if u == nil || u.hook == nil {
			continue
		}
		if p, ok := u.hook.Params[names[n]]; ok {
			return value{paramShape(&param{names[n], u}, p.Default)}, n + 4, nil
		}
	}
	return anything, len(names) + 3, nil
}

func paramShape(p *param, v any) *shape {
	switch v := v.(type) {
	case string:
		return &shape{kinds: text, defaults: []string{v}, param: p}
	case []any:
		items := &shape{kinds: text, param: p}
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return &shape{kinds: array}
			}
			items.defaults = append(items.defaults, s)
		}
		if len(v) == 0 {
			items = nil
		}
		return &shape{kinds: array, items: items}
	}
	return &shape{}
}
