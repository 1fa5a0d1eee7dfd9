// Package params works out the data that the policies of a source find: the
// values of their parameters, as hooks declare and settings give them, and what
// the source brings along.
//
// It is for evaluators, which all show policies the same. Start with [Of].
package params

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/scopes"
)

// Params are the values of all parameters of one source, and what is wrong with
// them by package. They are immutable.
type Params struct {
	hooks  []*hook.Hook // of the source, of all kinds
	values level        // data.gate.params, nested by package
	faults map[string]error
}

// A level is one component of a package path on the way to parameters; its type
// tells it from a parameter that is an object.
type level map[string]any

// Of merges what settings say over what the hooks of a source declare.
func Of(s *scopes.Source) *Params {
	p := &Params{hooks: s.Hooks, values: level{}, faults: map[string]error{}}
	for h := range p.policies() {
		given := s.Params[h.ID]
		if len(h.Params)+len(given) == 0 {
			continue
		}
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

// policies are the hooks that may declare parameters.
func (p *Params) policies() iter.Seq[*hook.Hook] {
	return func(yield func(*hook.Hook) bool) {
		for _, h := range p.hooks {
			if h.Kind == hook.Rego && !yield(h) {
				return
			}
		}
	}
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
		if err := param.Check(v); err != nil {
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
func (p *Params) put(h *hook.Hook, values map[string]any) error {
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

// Fault says what is wrong with the parameters of a package, nil if nothing is.
func (p *Params) Fault(pkg string) error { return p.faults[pkg] }

// Values returns data.gate.params.
func (p *Params) Values() map[string]any { return p.values.plain() }

// List names the declared parameters, one a line.
func (p *Params) List() string {
	var names []string
	for h := range p.policies() {
		for name := range h.Params {
			names = append(names, h.ID+"."+name)
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

// Document returns the data document that the source's policies see: the values
// of parameters, and data, which the source brings along. It is an error if data
// has what is the product's own.
func (p *Params) Document(data map[string]any) (map[string]any, error) {
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
	gate["params"] = p.Values()
	all["gate"] = gate
	return all, nil
}

// Knows reports whether path, below data.gate.params, can lead to a declared
// parameter. One that cannot is a slip of the pen that would be undefined for
// ever, and with it the rule that reads it.
func (p *Params) Knows(path []string) bool {
	for h := range p.policies() {
		parts := strings.Split(h.ID, ".")
		n := min(len(parts), len(path))
		if !slices.Equal(parts[:n], path[:n]) {
			continue
		}
		if len(path) <= len(parts) {
			return true
		}
		if _, ok := h.Params[path[len(parts)]]; ok {
			return true
		}
	}
	return len(path) == 0
}
