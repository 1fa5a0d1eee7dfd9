package core

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// A Bundle is a signed bundle in force, or on trial.
type Bundle struct {
	hook.Bundle
	Expires time.Time // zero: never
	Synced  time.Time // when it was last found to be the newest; zero: never
}

// Remedy is what repairs bundles on the disk. It needs the administrator.
const Remedy = "gate sync --now, run by the administrator, puts it right"

// An aged is a bundle that is too old, and what follows.
type aged struct {
	name    string
	text    string // a whole sentence
	follows setting.Consequence
}

// clockSlack is how much later than now a sync may be: clocks are set right, and
// some are a time zone off.
const clockSlack = 24 * time.Hour

// aged lists what is wrong with the age of bundles, and that none has come yet. A clock that was set back
// makes nothing young again: it is never earlier than the last sync. A sync that
// lies far ahead proves nothing.
func (f *Found) aged(now time.Time, s setting.Stale) []aged {
	clock := now
	for _, b := range f.Bundles {
		if b.Synced.After(now) && b.Synced.Sub(clock) <= clockSlack {
			now = b.Synced
		}
	}
	var list []aged
	if f.Enrolling {
		list = append(list, aged{"", "this machine is enrolling: it takes signed bundles, and none has come yet; the policies of gate and of its own files decide alone", s.Enrolling})
	}
	for _, b := range f.Bundles {
		what := fmt.Sprintf("the bundle %s version %d", b.Name, b.Version)
		switch {
		case b.Trial:
		case !b.Expires.IsZero() && !now.Before(b.Expires):
			list = append(list, aged{b.Name, fmt.Sprintf("%s expired on %s", what, b.Expires.UTC().Format("2006-01-02 15:04 MST")), s.Expired})
		case b.Synced.IsZero():
			list = append(list, aged{b.Name, what + " was never synced with where it comes from", s.Then})
		case b.Synced.Sub(clock) > clockSlack:
			list = append(list, aged{b.Name, fmt.Sprintf("%s was last synced on %s, which is still to come: the clock of this machine is wrong, or what the sync wrote", what,
				b.Synced.UTC().Format("2006-01-02 15:04 MST")), s.Then})
		case now.Sub(b.Synced) > s.After:
			list = append(list, aged{b.Name, fmt.Sprintf("%s was last synced on %s, more than %s ago", what,
				b.Synced.UTC().Format("2006-01-02 15:04 MST"), span(s.After)), s.Then})
		}
	}
	return list
}

// span writes a time in days where it is whole days.
func span(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", days)
	}
	return d.String()
}

const staleSource = "managed age"

// RecoverySource is the source of what is said about a recovery file.
const RecoverySource = "managed recovery"

// weighAge lets the age of bundles have its consequence. The policies stay as
// they are.
func (f *Found) weighAge(now time.Time, s setting.Stale) {
	src := scopes.Source{Name: staleSource, Scope: hook.Policy, Authority: hook.Managed}
	for _, a := range f.aged(now, s) {
		text := a.text + "; " + Remedy
		if slices.Contains(f.MayAge, a.name) {
			a.follows = setting.StaleWarn
		}
		switch a.follows {
		case setting.StaleClose:
			src.Faults = append(src.Faults, *hook.Faultf(hook.FaultLoad, "%s", text))
		case setting.StaleAsk:
			f.ageing = append(f.ageing, text) // the reason says it, too, where it has a part in the decision
			f.Say(&src, "gate.age", hook.Reason{Effect: hook.Ask, Reason: text})
		default:
			f.ageing = append(f.ageing, text)
		}
	}
	if len(src.Faults)+len(src.Hooks) > 0 {
		f.Sources = append(f.Sources, src)
	}
}

// ageWarnings are the sentences about old bundles that a decision does not give
// as its reason.
func (f *Found) ageWarnings(d *hook.Decision) []string {
	return slices.DeleteFunc(slices.Clone(f.ageing), func(text string) bool {
		return slices.ContainsFunc(d.Reasons, func(r hook.Reason) bool { return r.Source == staleSource && r.Reason == text })
	})
}

// Named are the bundles as a decision names them.
func (f *Found) Named() (list []hook.Bundle) {
	for _, b := range f.Bundles {
		list = append(list, b.Bundle)
	}
	return list
}

// Asides is what people should hear of bundles now and then, but not with each
// harmless call.
func (f *Found) Asides() []string {
	if f.Relaxed == "" {
		return f.ageing
	}
	return append(slices.Clone(f.ageing), f.Relaxed)
}

// Ageing are the bundles that are too old, a sentence each, once [New] has
// looked.
func (f *Found) Ageing() []string { return f.ageing }

// Say gives a source of gate's own one hook, which says one thing about each
// tool call.
func (f *Found) Say(src *scopes.Source, id string, r hook.Reason) {
	if slices.ContainsFunc(src.Hooks, func(h *hook.Hook) bool { return h.ID == id }) {
		return
	}
	src.Hooks = append(src.Hooks, &hook.Hook{
		ID: id, Kind: hook.Inline, Scope: src.Scope, Authority: src.Authority, Source: src.Name, Events: []hook.Name{hook.PreToolUse},
	})
	r.Source = src.Name
	f.SpeakFor(src.Name, r)
}

// SpeakFor has gate itself say what the hooks of a source, which must be of kind
// [hook.Inline], have to say. Without an effect it is a warning.
func (f *Found) SpeakFor(source string, r hook.Reason) {
	if f.said == nil {
		f.said = said{}
	}
	f.said[source] = r
}

// said is what gate itself says for sources: for those whose hooks cannot judge
// any more, and about the age of bundles.
type said map[string]hook.Reason

// A speaker answers inline hooks: gate's own, and by others those of a program.
type speaker struct {
	said
	others engine.Evaluator // nil: there are none
}

// Evaluate implements [engine.Evaluator].
func (s speaker) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		reason, own := s.said[h.Source]
		if !own && s.others != nil {
			answers[i] = s.others.Evaluate(ctx, hooks[i:i+1], ev)[0]
			continue
		}
		reason.ID = h.ID
		if reason.Effect == hook.Pass {
			answers[i].Verdict.Warnings = []hook.Reason{reason}
			continue
		}
		answers[i].Verdict.Reasons = []hook.Reason{reason}
	}
	return answers
}
