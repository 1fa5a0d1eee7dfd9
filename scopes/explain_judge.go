package scopes

import (
	"cmp"
	"fmt"
	"strings"

	"gate/hook"
)

// judge says whether a row counts.
func (s *Set) judge(r *Row, all []Row) {
	top, rest, _ := strings.Cut(r.Key, ".")
	if r.Why = RightTo(top, r.Authority); r.Why != "" {
		return
	}
	switch top {
	case keyPolicies, keyParams, keyExceptions:
		s.judgeTuning(r, top, rest)
		return
	case keyDisable:
		if r.Counts = r.Value == false || s.settings.disables(r.layer); !r.Counts {
			r.Why = "of bundles only the first may switch off, and the machine's own settings come before it"
		}
		return
	case keyDelegate:
		r.Counts = true
		return
	}
	row := Named(top)
	if r.Why = row.Who.bars(&s.settings, r.layer); r.Why != "" {
		return
	}
	inForce := row.inForce(&s.settings, r.Key)
	r.Counts = equal(r.Value, inForce)
	for _, o := range all {
		switch {
		case o.Key != r.Key || o.Pos == r.Pos || equal(o.Value, r.Value):
		case r.Counts:
			r.Why = "overrides " + o.Pos
		case equal(o.Value, inForce):
			r.Why = "overridden by " + o.Pos
		}
	}
}

// judgeTuning says whether a level, a parameter or an exception counts for at
// least one hook.
func (s *Set) judgeTuning(r *Row, top, rest string) {
	var names []string // hooks that it is for
	for i := range s.given {
		for _, h := range s.given[i].Hooks {
			if !s.tunes(r, top, rest, h) {
				continue
			}
			names = append(names, h.ID)
			switch {
			case s.settings.behind(r.layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s belongs to %s, which comes before %s", h.ID, h.Source, r.Bundle))
			case s.settings.barred(r.layer, h) && !(top == keyPolicies && s.wins(r, top, rest, h)):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s is gate's own: %s may loosen nothing of it, unless what comes first delegates it", h.ID, r.Bundle))
			case top == keyExceptions && !s.settings.leads(r.layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("what comes before %s speaks of %s already", r.Bundle, h.ID))
			case !s.settings.mayTune(r.layer, h):
				r.Why = cmp.Or(r.Why, fmt.Sprintf("%s settings cannot tune %s, which is %s", r.Authority, h.ID, h.Authority))
			case top == keyParams && misfit(h, rest, r.Value) != "" && (!declares(h, rest) || s.wins(r, top, rest, h)):
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
func (s *Set) tunes(r *Row, top, rest string, h *hook.Hook) bool {
	switch top {
	case keyPolicies:
		return covers(rest, h.ID)
	case keyParams:
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
func (s *Set) wins(r *Row, top, rest string, h *hook.Hook) bool {
	switch top {
	case keyPolicies:
		said := s.settings.level(h, s.settings.precedence(h))
		return said.layer != nil && said.pos() == r.Pos && said.key == rest
	case keyParams:
		value, ok := s.settings.params(h, s.settings.precedence(h), nil)[strings.TrimPrefix(rest, h.ID+".")]
		return ok && equal(value, r.Value)
	}
	return true
}

func (s *Set) instead(top, rest string, h *hook.Hook) string {
	if top == keyPolicies {
		return "overridden by " + s.settings.level(h, s.settings.precedence(h)).pos()
	}
	name := strings.TrimPrefix(rest, h.ID+".")
	for _, l := range s.settings.precedence(h) {
		if _, ok := l.Params[h.ID][name]; ok {
			return "overridden by " + l.Pos(keyParams+"."+rest)
		}
	}
	return "overridden"
}
