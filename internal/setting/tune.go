package setting

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"gate/hook"
)

// mayTune reports whether a layer may set level, params and
// exceptions of a hook: those of its own standing and above, and the user's
// where managed settings delegate it by name.
func (s *Settings) MayTune(l *Layer, h *hook.Hook) bool {
	if s.Behind(l, h) {
		return false
	}
	return Standing(l.Authority) <= Standing(h.Authority) || l.Authority == hook.User && h.Authority == hook.Managed && s.delegated(h)
}

func (s *Settings) delegated(h *hook.Hook) bool {
	return s.managedSay(func(l *Layer) bool {
		return !s.Behind(l, h) && s.Leads(l, h) && slices.ContainsFunc(l.Delegate, func(key string) bool { return Covers(key, h.ID) })
	})
}

// precedence orders the layers that may tune a hook: the highest first, but
// what is delegated to the user is the user's. Local settings come before the
// project's of the same standing.
func (s *Settings) Precedence(h *hook.Hook) []*Layer {
	var out []*Layer
	order := []hook.Authority{hook.Managed, hook.User, hook.Local, hook.Project}
	if h.Authority == hook.Managed && s.delegated(h) {
		order = []hook.Authority{hook.User, hook.Managed}
	}
	for _, a := range order {
		for i := range s.Layers {
			if s.Layers[i].Authority == a && s.MayTune(&s.Layers[i], h) {
				out = append(out, &s.Layers[i])
			}
		}
	}
	return out
}

// A tuning asks for the layers that may tune hooks one after the other: those of
// one source have the same, unless something is delegated by name.
type Tuning struct {
	Settings *Settings
	last     *hook.Hook
	layers   []*Layer // of last, in precedence
}

func (t *Tuning) layersFor(h *hook.Hook) []*Layer {
	alike := t.last != nil && t.last.Authority == h.Authority && t.last.Library == h.Library && t.last.Source == h.Source
	if !alike || t.Settings.delegate() {
		t.last, t.layers = h, t.Settings.Precedence(h)
	}
	return t.layers
}

func (s *Settings) delegate() bool {
	return s.managedSay(func(l *Layer) bool { return len(l.Delegate) > 0 })
}

// Off returns what reports hooks that these layers switch off by name, before there
// is a [Set]; nil where they switch off none. It is about the library and what
// stands below managed authority: what is managed has an order, which only a set
// knows. The error is that of [Combine].
func Off(layers ...Layer) (func(*hook.Hook) bool, error) {
	some := false
	for i := range layers {
		for _, level := range layers[i].Policies {
			some = some || level == LevelOff
		}
	}
	if !some {
		return nil, nil
	}
	settings, err := Combine(layers...)
	if err != nil {
		return nil, err
	}
	tuned := Tuning{Settings: &settings}
	return func(h *hook.Hook) bool {
		if !h.Library && h.Authority == hook.Managed {
			return false
		}
		said := settings.Level(h, tuned.layersFor(h))
		return said.Level == LevelOff && !said.delegated(h)
	}, nil
}

// LibraryOff reports that layers, which off is [Off] of, switch off the library in
// one word: off says so of each of its policies. managed says that it stands beside
// managed sources.
func LibraryOff(off func(*hook.Hook) bool, managed bool, layers ...Layer) bool {
	const all = "gate" // the group that has all of the library, and nothing else
	for i := range layers {
		if len(layers[i].Delegate) > 0 {
			return false
		}
		for key := range layers[i].Policies {
			if key != all && Covers(all, key) {
				return false
			}
		}
	}
	return off != nil && off(&hook.Hook{ID: all, Library: true, Scope: hook.Policy, Authority: LibraryAuthority(managed), Source: "library"})
}

// A saying is a value with the place that it comes from.
type saying struct {
	Layer *Layer
	Key   string // as in policies
	Level Level
}

// delegated reports that the user switched off a policy of the administrator, who
// left that to the user. It is run all the same and nothing follows, so that the log
// has what it let through.
func (c saying) delegated(h *hook.Hook) bool {
	return c.Layer != nil && c.Layer.Authority == hook.User && h.Authority == hook.Managed && h.Kind == hook.Rego
}

func (c saying) Pos() string {
	if c.Layer == nil {
		return ""
	}
	return c.Layer.Pos(KeyPolicies + "." + c.Key)
}

// level returns the level of a hook by the layers that may tune it: of the first authority that says anything
// about it, what is said most exactly, and of that the strictest; a later bundle
// counts where it is stricter still.
func (s *Settings) Level(h *hook.Hook, layers []*Layer) saying {
	var best saying
	for len(layers) > 0 {
		n := 1
		for n < len(layers) && sameRank(layers[0], layers[n]) {
			n++
		}
		if best.Layer != nil && Standing(best.Layer.Authority) != Standing(layers[0].Authority) {
			break
		}
		said := mostExact(layers[:n], h)
		switch {
		case said.Layer == nil:
		case best.Layer == nil && !s.Barred(said.Layer, h), best.Layer != nil && said.Level.strictness() > best.Level.strictness():
			best = said
		}
		layers = layers[n:]
	}
	return best
}

// params returns what the layers that may tune a policy give to its parameters
// over what its source already holds.
func (s *Settings) Params(h *hook.Hook, layers []*Layer, given map[string]any) map[string]any {
	out := maps.Clone(given)
	for i := len(layers) - 1; i >= 0; i-- {
		values := layers[i].Params[h.ID]
		if s.Barred(layers[i], h) {
			continue
		}
		if len(values) > 0 && out == nil {
			out = map[string]any{}
		}
		maps.Copy(out, values)
	}
	return out
}

// exceptions returns the compiled exceptions to a hook. One that does not
// compile is none.
func (s *Settings) Exceptions(h *hook.Hook, layers []*Layer) []*exception {
	var out []*exception
	for _, l := range layers {
		for i, e := range l.Exceptions {
			if e.Policy != h.ID || !s.Leads(l, h) {
				continue
			}
			if c, err := compileException(e, l.Pos(indexed(KeyExceptions, i))); err == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

func indexed(key string, i int) string { return key + "." + strconv.Itoa(i) }

// tune gives the policies of a source the parameters that settings set.
func (t *Tuning) Tune(src *Source) {
	params := maps.Clone(src.Params)
	for _, h := range src.Hooks {
		if values := t.Settings.Params(h, t.layersFor(h), src.Params[h.ID]); len(values) > 0 {
			if params == nil {
				params = map[string]map[string]any{}
			}
			params[h.ID] = values
		}
	}
	src.Params = params
}

// unset returns the parameters that a hook waits for, nil if it takes part: one
// of them has a value, or it needs none.
func (src *Source) Unset(h *hook.Hook) []string {
	for _, name := range h.WhenSet {
		value, given := src.Params[h.ID][name]
		if !given {
			value = h.Params[name].Default
		}
		if !zero(value) {
			return nil
		}
	}
	return h.WhenSet
}

// zero reports a JSON tree that stands for no value.
func zero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.Number:
		n, err := v.Float64()
		return err == nil && n == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == false || v == "" || v == 0 || v == 0.0
}

// strict makes every fault of a source and its hooks close, without changing
// the hooks that the caller holds.
func (src *Source) Close() {
	src.strict = true
	src.Hooks = slices.Clone(src.Hooks)
	for i, h := range src.Hooks {
		c := *h
		c.OnFault = hook.FaultDeny
		src.Hooks[i] = &c
	}
}

// equal compares JSON trees.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}
