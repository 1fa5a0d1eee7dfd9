package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"gate/hook"
	"gate/scopes"
)

// params are the values of all parameters of one source, and what is wrong with
// them by package.
type params struct {
	declared map[string]map[string]hook.Param // by package
	values   level                            // data.gate.params, nested by package
	faults   map[string]error
}

// A level is one component of a package path on the way to parameters; its type
// tells it from a parameter that is an object.
type level map[string]any

// paramsOf merges what settings say over what hooks declare.
func paramsOf(s *scopes.Source) params {
	p := params{
		declared: map[string]map[string]hook.Param{},
		values:   level{},
		faults:   map[string]error{},
	}
	for _, h := range s.Hooks {
		if h.Kind != hook.Rego {
			continue
		}
		p.declared[h.ID] = h.Params
		given := s.Params[h.ID]
		values, err := resolve(h, given)
		if err == nil {
			err = p.put(h, values)
		}
		if err != nil {
			p.faults[h.ID] = err
		}
	}
	return p
}

// resolve returns the value of each parameter that h declares.
func resolve(h *hook.Hook, given map[string]any) (map[string]any, error) {
	var errs []error
	values := make(map[string]any, len(h.Params))
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		param := h.Params[name]
		v, ok := given[name]
		if !ok {
			v = param.Default
		}
		if err := check(param, v); err != nil {
			errs = append(errs, fmt.Errorf("%s: parameter %s of %s: %w", h.Pos(), name, h.ID, err))
		}
		values[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := h.Params[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: %s has no parameter %s", h.Pos(), h.ID, name))
		}
	}
	return values, errors.Join(errs...)
}

// put adds the values of one package to the tree. Parameter x of package a and
// parameters of package a.x would be one document: that is refused.
func (p *params) put(h *hook.Hook, values map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	n := p.values
	for _, part := range strings.Split(h.ID, ".") {
		next, ok := n[part]
		if !ok {
			next = level{}
			n[part] = next
		}
		if n, ok = next.(level); !ok {
			return fmt.Errorf("%s: package %s has the name of a parameter of the package above", h.Pos(), h.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, taken := n[name]; taken {
			return fmt.Errorf("%s: parameter %s of %s has the name of a package below", h.Pos(), name, h.ID)
		}
		n[name] = values[name]
	}
	return nil
}

// check reports whether v has the parameter's type.
func check(p hook.Param, v any) error {
	got := typeOf(v)
	switch {
	case v == nil:
		return errors.New("no value and no default")
	case p.Type != got:
		return fmt.Errorf("%s where %s is wanted", got, p.Type)
	}
	return nil
}

// typeOf names the JSON Schema type of a decoded value.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number, float64, int, int64, uint64:
		return "number"
	case []any, []string:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// list names the declared parameters, one a line.
func (p *params) list() string {
	var names []string
	for pkg, declared := range p.declared {
		for name := range declared {
			names = append(names, pkg+"."+name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// plain returns the tree without the marks of its levels.
func (l level) plain() map[string]any {
	m := make(map[string]any, len(l))
	for k, v := range l {
		if below, ok := v.(level); ok {
			m[k] = below.plain()
			continue
		}
		m[k] = v
	}
	return m
}

// store returns the data document that the source's policies see: the values
// and what the source brings along.
func (p *params) store(data map[string]any) (storage.Store, error) {
	all, gate := maps.Clone(data), map[string]any{}
	if all == nil {
		all = map[string]any{}
	}
	if own, ok := all["gate"].(map[string]any); ok {
		gate = maps.Clone(own)
	}
	for _, key := range []string{"params", "lib"} {
		if _, taken := gate[key]; taken {
			return nil, fmt.Errorf("data.gate.%s is the product's own", key)
		}
	}
	gate["params"] = p.values.plain()
	all["gate"] = gate
	v, err := ast.InterfaceToValue(all)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	plain, err := ast.JSON(v) // in the types that the store knows
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return inmem.NewFromObjectWithOpts(plain.(map[string]any),
		inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true)), nil
}

// knows reports whether path, below data.gate.params, can lead to a declared
// parameter. One that cannot is a slip of the pen that would be undefined for
// ever, and with it the rule that reads it.
func (p *params) knows(path []string) bool {
	for pkg, declared := range p.declared {
		parts := strings.Split(pkg, ".")
		n := min(len(parts), len(path))
		if !slices.Equal(parts[:n], path[:n]) {
			continue
		}
		if len(path) <= len(parts) {
			return true
		}
		if _, ok := declared[path[len(parts)]]; ok {
			return true
		}
	}
	return len(path) == 0
}
