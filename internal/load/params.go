package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
)

// params reads the declarations of parameters.
func (l *loader) params(h *hook.Hook, s section, value any) {
	decls, ok := value.(map[string]any)
	if !ok {
		l.fault("%s: params must map names to {type, default, description}", s.pos("params"))
		return
	}
	h.Params = make(map[string]hook.Param, len(decls))
	for _, name := range slices.Sorted(maps.Keys(decls)) {
		p, err := param(name, decls[name])
		if err != nil {
			l.fault("%s: param %q: %w", s.pos(name), name, err)
		}
		h.Params[name] = p
	}
}

func param(name string, value any) (p hook.Param, err error) {
	decl, ok := value.(map[string]any)
	if !ok {
		return p, fmt.Errorf("it must be {type, default, description}")
	}
	if !ast.IsVarCompatibleString(name) {
		return p, fmt.Errorf("a name is letters, digits and underscores")
	}
	for _, key := range slices.Sorted(maps.Keys(decl)) {
		if !slices.Contains(paramKeys, key) {
			return p, fmt.Errorf("unknown key %q%s", key, didYouMean(key, "", paramKeys))
		}
	}
	p.Type, _ = decl["type"].(string)
	if !slices.Contains(paramTypes, p.Type) {
		return p, fmt.Errorf("type must be one of %s", strings.Join(paramTypes, ", "))
	}
	if p.Description, ok = decl["description"].(string); !ok && decl["description"] != nil {
		return p, fmt.Errorf("description must be a string")
	}
	if p.Default, ok = decl["default"]; !ok {
		return p, fmt.Errorf("it has no default")
	}
	if p.Default, err = tree(p.Default); err != nil {
		return p, err
	}
	if got := typeName(p.Default); got != p.Type {
		return p, fmt.Errorf("the default is of type %s, not %s", got, p.Type)
	}
	if p.Values, err = allowed(p.Type, decl); err != nil {
		return p, err
	}
	if err := p.Check(p.Default); err != nil {
		return p, fmt.Errorf("the default: %w", err)
	}
	return p, nil
}

// allowed are the values that a declaration lets a parameter have, none where it lists none.
func allowed(kind string, decl map[string]any) (values []string, err error) {
	listed, ok := decl["values"]
	if !ok {
		return nil, nil
	}
	list, ok := listed.([]any)
	if !ok || len(list) == 0 || kind != "string" && kind != "array" {
		return nil, fmt.Errorf("values must list texts, and the type must be string or array")
	}
	for _, v := range list {
		text, ok := v.(string)
		if !ok || slices.Contains(values, text) {
			return nil, fmt.Errorf("values must list texts, each once: %v", v)
		}
		values = append(values, text)
	}
	return values, nil
}

// tree turns what YAML gives into what JSON would: numbers as text, no times.
func tree(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case int:
		return json.Number(strconv.Itoa(v)), nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%v is not a number that JSON has", v)
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = tree(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			var err error
			if out[k], err = tree(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v is neither text nor a number to JSON; quote it", v)
}

// checkParams finds parameters that are read and not declared: a policy would
// be silently undefined with them.
func (l *loader) checkParams(m module, h *hook.Hook) {
	prefix := ast.MustParseRef("data.gate.params")
	for _, t := range m.Package.Path[1:] {
		prefix = prefix.Append(t)
	}
	seen := map[string]bool{}
	ast.WalkRefs(m.Module, func(r ast.Ref) bool {
		if !r.HasPrefix(prefix) || len(r) == len(prefix) {
			return false
		}
		name, ok := r[len(prefix)].Value.(ast.String)
		if _, declared := h.Params[string(name)]; ok && !declared && !seen[string(name)] {
			seen[string(name)] = true
			known := slices.Sorted(maps.Keys(h.Params))
			hint := "; declare it in custom.gate.params"
			if len(known) > 0 {
				hint = didYouMean(string(name), "", known)
			}
			l.fault("%s:%d: param %q is not declared%s", m.name, r[0].Location.Row, string(name), hint)
		}
		return false
	})
}
