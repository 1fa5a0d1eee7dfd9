package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/consent"
	"gate/engine"
	"gate/hook"
	"gate/scopes"
	"gate/scopes/load"
	"gate/session"
)

// addRegistered adds the hooks that hold for the session of the event, or for
// the sub-agent that it is about.
func (l *loaded) addRegistered(s setting) {
	if s.session == nil || s.session.known == nil {
		return
	}
	taken := map[string]bool{}
	for i := range s.session.known.Registered {
		r := &s.session.known.Registered[i]
		if !r.Concerns(s.event.Text("agent_id"), s.event.Text("agent_type")) {
			continue
		}
		as := sourceOf(r)
		if taken[as.Name] { // of the project and of the user, or as it was and as it is
			as.Name = fmt.Sprintf("%s#%d", as.Name, r.Number)
		}
		taken[as.Name] = true
		dir := filepath.Dir(r.File)
		l.dirs[as.Name] = dir
		holds := true
		if r.Kind != session.File {
			var same bool
			holds, same = l.trusts(s, r)
			as.Trusted = holds && same
		}
		src := hooksOf(r, as)
		if r.Trusted && !holds && !l.distrusted(s, r) {
			l.spoil(&src, r)
		}
		l.add(src, dir)
	}
}

// sourceOf says whose registered hooks are.
func sourceOf(r *session.Registration) scopes.Source {
	if r.Kind == session.File {
		return scopes.Source{
			Name: fmt.Sprintf("%s:%d", scopes.Registered, r.Number), Scope: hook.Session, Authority: hook.Project,
			Trusted: r.Trusted, Tightens: true,
		}
	}
	return scopes.Source{Name: string(r.Kind) + ":" + r.Name, Scope: hook.Skill, Authority: hook.SkillAuthor}
}

// hooksOf loads registered hooks from their text.
func hooksOf(r *session.Registration, as scopes.Source) scopes.Source {
	name, text := filepath.Base(r.File), []byte(r.Text)
	switch r.Kind {
	case session.File:
		return load.File(name, text, as)
	case session.Agent:
		return load.Agent(name, text, as, r.Foreign)
	}
	return load.Skill(name, text, as, r.Foreign)
}

// trustOrigin is where trust in a skill or a sub-agent is given: its directory,
// or the plugin that it belongs to.
func (l *loaded) trustOrigin(r *session.Registration) (hook.Authority, string) {
	if plugin, _, ok := strings.Cut(r.Name, ":"); ok {
		if at := l.dirs["plugin:"+plugin]; at != "" && isBelow(at, r.File) {
			return hook.PluginAuthor, at
		}
	}
	return hook.SkillAuthor, filepath.Dir(r.File)
}

// trusts reports whether a person trusted a skill or a sub-agent as it is, and
// if so, whether it still has the text that was registered.
func (l *loaded) trusts(s setting, r *session.Registration) (holds, same bool) {
	a, dir := l.trustOrigin(r)
	p := openPlace(dir, ".", nil)
	defer p.close()
	if !p.trust(grants(s.dirs), a, &l.notices) {
		return false, false
	}
	name, err := filepath.Rel(p.dir, r.File)
	if err != nil {
		return true, false
	}
	head, err := readHead(p, filepath.ToSlash(name), r.Foreign)
	return true, err == nil && head.Text == r.Text
}

// distrusted reports that nobody trusts a skill or a sub-agent any more, be it
// as it is or as it was.
func (l *loaded) distrusted(s setting, r *session.Registration) bool {
	a, dir := l.trustOrigin(r)
	origin, err := consent.OriginOf(a, dir)
	return err == nil && errors.Is(grants(s.dirs).CheckTrust(origin, untold), consent.NeverTrusted)
}

// spoil has hooks refuse the calls that they would judge: they were trusted
// when the skill or sub-agent started, and what they run is something else now.
// That an agent writes into the files must not silence them.
func (l *loaded) spoil(src *scopes.Source, r *session.Registration) {
	src.Hooks = slices.DeleteFunc(src.Hooks, func(h *hook.Hook) bool {
		h.Events = slices.DeleteFunc(slices.Clone(h.Events), func(n hook.Name) bool {
			return n != hook.PreToolUse && n != hook.PermissionRequest || h.Observes(n)
		})
		return len(h.Events) == 0 || h.Async
	})
	for _, h := range src.Hooks {
		h.Kind, h.Config = hook.Inline, nil
	}
	if l.spoiled == nil {
		l.spoiled = spoiled{}
	}
	_, dir := l.trustOrigin(r)
	l.spoiled[src.Name] = hook.Reason{
		Effect: hook.Deny,
		Reason: fmt.Sprintf("the hooks of the %s %s cannot judge this: its files were changed while they hold; ask the person", r.Kind, r.Name),
		Help:   fmt.Sprintf("Look at %s and run gate trust on it, or remove the hooks: gate session remove --session ID %d", dir, r.Number),
	}
}

// spoiled are what gate itself says for sources: for those whose hooks cannot
// judge any more, and about the age of bundles. Without an effect it is a warning.
type spoiled map[string]hook.Reason

// Evaluate says it.
func (s spoiled) Evaluate(_ context.Context, hooks []*hook.Hook, _ *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		reason := s[h.Source]
		reason.ID = h.ID
		if reason.Effect == hook.Pass {
			answers[i].Verdict.Warnings = []hook.Reason{reason}
			continue
		}
		answers[i].Verdict.Reasons = []hook.Reason{reason}
	}
	return answers
}

func isBelow(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// maxSkill is the largest file of a skill that is looked into.
const maxSkill = 1 << 20

func readHead(p *place, name string, foreign bool) (load.Head, error) {
	data, err := load.ReadFile(p.files, name, maxSkill)
	if err != nil {
		return load.Head{}, err
	}
	return load.Frontmatter(name, data, foreign)
}
