package scopes

import (
	"cmp"
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/setting"
)

// judge says whether a row counts.
func (s *Set) judge(r *setting.Row, all []setting.Row) {
	top, rest, _ := strings.Cut(r.Key, ".")
	if r.Why = setting.RightTo(top, r.Authority); r.Why != "" {
		return
	}
	switch top {
	case setting.KeyPolicies, setting.KeyParams, setting.KeyExceptions:
		s.judgeTuning(r, top, rest)
		return
	case setting.KeyDisable:
		if r.Counts = r.Value == false || s.settings.Disables(r.Layer); !r.Counts {
			r.Why = "of bundles only the first may switch off, and the machine's own settings come before it"
		}
		return
	case setting.KeyDelegate:
		r.Counts = true
		return
	}
	row := setting.Named(top)
	if r.Why = row.Who.Bars(&s.settings, r.Layer); r.Why != "" {
		return
	}
	inForce := row.InForce(&s.settings, r.Key)
	r.Counts = setting.Equal(r.Value, inForce)
	for _, o := range all {
		switch {
		case o.Key != r.Key || o.Pos == r.Pos || setting.Equal(o.Value, r.Value):
		case r.Counts:
			r.Why = "overrides " + o.Pos
		case setting.Equal(o.Value, inForce):
			r.Why = "overridden by " + o.Pos
		}
	}
}

// judgeTuning says whether a level, a parameter or an exception counts for at
// least one hook.
func (s *Set) judgeTuning(r *setting.Row, top, rest string) {
	var names []string // hooks that it is for
	for i := range s.given {
		for _, h := range s.given[i].Hooks {
			if !s.tunes(r, top, rest, h) {
				continue
			}
			names = append(names, h.ID)
			switch {
			case s.settings.Behind(r.Layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s belongs to %s, which comes before %s", h.ID, h.Source, r.Bundle))
			case s.settings.Barred(r.Layer, h) && !(top == setting.KeyPolicies && s.wins(r, top, rest, h)):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s is gate's own: %s may loosen nothing of it, unless what comes first delegates it", h.ID, r.Bundle))
			case top == setting.KeyExceptions && !s.settings.Leads(r.Layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("what comes before %s speaks of %s already", r.Bundle, h.ID))
			case !s.settings.MayTune(r.Layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s settings cannot tune %s, which is %s", r.Authority, h.ID, h.Authority))
			case top == setting.KeyParams && misfit(h, rest, r.Value) != "" && (!declares(h, rest) || s.wins(r, top, rest, h)):
				r.Why, r.Breaks = misfit(h, rest, r.Value)+", and cannot answer while this stands", h.ID
			case s.wins(r, top, rest, h):
				r.Counts = true
			default:
				r.Why = cmp.Or(r.Why, s.instead(top, rest, h))
			}
		}
	}
	if len(names) == 0 {
		r.Why = "there is no such policy here"
	}
	if r.Counts {
		r.Why = ""
	}
}

// tunes reports whether a row is about a hook.
func (s *Set) tunes(r *setting.Row, top, rest string, h *hook.Hook) bool {
	switch top {
	case setting.KeyPolicies:
		return setting.Covers(rest, h.ID)
	case setting.KeyParams:
		name, ok := strings.CutPrefix(rest, h.ID+".")
		return ok && (declares(h, rest) || !strings.Contains(name, "."))
	}
	policy, _ := r.Value.(map[string]any)["policy"].(string)
	return policy == h.ID
}

// declares reports whether a hook has the parameter of a row.
func declares(h *hook.Hook, rest string) bool {
	_, ok := h.Params[strings.TrimPrefix(rest, h.ID+".")]
	return ok
}

// misfit is why the value of a row is none for the parameter of a hook, "" if it
// is one.
func misfit(h *hook.Hook, rest string, value any) string {
	name := strings.TrimPrefix(rest, h.ID+".")
	param, ok := h.Params[name]
	if !ok {
		return fmt.Sprintf("%s has no parameter %s", h.ID, name)
	}
	if err := param.Check(value); err != nil {
		return fmt.Sprintf("%s cannot take it (%s)", h.ID, err)
	}
	return ""
}

// wins reports whether a row that may tune a hook is the one that does.
func (s *Set) wins(r *setting.Row, top, rest string, h *hook.Hook) bool {
	switch top {
	case setting.KeyPolicies:
		said := s.settings.Level(h, s.settings.Precedence(h))
		return said.Layer != nil && said.Pos() == r.Pos && said.Key == rest
	case setting.KeyParams:
		value, ok := s.settings.Params(h, s.settings.Precedence(h), nil)[strings.TrimPrefix(rest, h.ID+".")]
		return ok && setting.Equal(value, r.Value)
	}
	return true
}

func (s *Set) instead(top, rest string, h *hook.Hook) string {
	if top == setting.KeyPolicies {
		return "overridden by " + s.settings.Level(h, s.settings.Precedence(h)).Pos()
	}
	name := strings.TrimPrefix(rest, h.ID+".")
	for _, l := range s.settings.Precedence(h) {
		if _, ok := l.Params[h.ID][name]; ok {
			return "overridden by " + l.Pos(setting.KeyParams+"."+rest)
		}
	}
	return "overridden"
}
