package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/internal/setting"
	"gate/internal/spelling"
	"gate/internal/verdict"
)

// undefined reports references of a file below data that nothing can ever
// define: to parameters that no policy of the source declares, to what the
// library does not have, and to what neither a file of the source nor its data
// holds. OPA takes such a reference for undefined, and a rule that reads it would
// never say anything.
func (s *source) undefined(m *module) error {
	var errs []error
	var said [][]string
	for _, ref := range m.refs {
		again := slices.ContainsFunc(said, func(path []string) bool {
			return len(ref.path) > len(path) && slices.Equal(ref.path[:len(path)], path)
		})
		if message := s.lacks(ref); message != "" && !again { // an import that is wrong is not said of each use
			said = append(said, ref.path)
			errs = append(errs, fmt.Errorf("%s:%d: %s", m.File, ref.row, message))
		}
	}
	return errors.Join(errs...)
}

// lacks says why nothing defines a reference, "" if something may.
func (s *source) lacks(ref dataRef) string {
	path, name := ref.path, dataName(ref.path)
	product := len(path) > 1 && path[0] == "gate"
	switch {
	case product && path[1] == "params":
		if !s.params.Knows(path[2:]) {
			return name + " is declared by no policy of this source"
		}
		return ""
	case product && setting.Shared("gate."+path[1]):
		if !s.lib.defines(path) {
			return "the library has no " + name
		}
		return ""
	case product && path[1] == "bundles", len(path) == 1 && path[0] == "gate", ref.perhaps:
		return ""
	}
	at, found := within(s.data, path)
	if found || s.files.defines(path) {
		return ""
	}
	hint := fmt.Sprintf("write a rule of package %s, or a data.json with it", strings.Join(path[:max(len(path)-1, 1)], "."))
	if right := s.meant(path, at); right != "" {
		hint = fmt.Sprintf("did you mean %q?", right)
	} else if product {
		hint = "policies see their own source, data.gate.lib and data.gate.proof"
	}
	return fmt.Sprintf("nothing here defines %s; %s", name, hint)
}

func dataName(path []string) string { return "data." + strings.Join(path, ".") }

// within follows a path through data as far as it leads: it returns how many of
// its parts are there, and whether all of them are or may be.
func within(data map[string]any, path []string) (n int, found bool) {
	at := any(data)
	for n, key := range path {
		if _, ok := at.([]any); ok {
			return n, true // OPA takes texts for places in a list, too
		}
		object, ok := at.(map[string]any)
		if !ok {
			return n, false
		}
		if at, ok = object[key]; !ok {
			return n, false
		}
	}
	return len(path), true
}

// meant returns what was probably meant by a path of which data holds the first
// n parts: the nearest name of as many parts, else one that ends alike.
func (s *source) meant(path []string, n int) string {
	var known []string
	for _, m := range s.files.all {
		known = append(known, "data."+m.Package)
		if m.parse() == nil {
			known = append(known, m.rules()...)
		}
	}
	at := s.data
	for _, key := range path[:n] {
		at, _ = at[key].(map[string]any)
	}
	for _, key := range slices.Sorted(maps.Keys(at)) {
		known = append(known, dataName(append(slices.Clone(path[:n]), key)))
	}
	name, last := dataName(path), "."+path[len(path)-1]
	alike := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return strings.Count(k, ".") != len(path) })
	if right := spelling.Nearest(name, alike); right != "" {
		return right
	}
	i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, last) })
	if i < 0 || verdict.Known(path[len(path)-1]) { // every policy has such rules
		return ""
	}
	return known[i]
}

// rules lists the names of a file's rules, from data on.
func (m *module) rules() []string {
	var names []string
	for _, r := range m.ast.Rules {
		if path := ground(r.Ref()); len(path) > 0 {
			names = append(names, dataName(path))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
