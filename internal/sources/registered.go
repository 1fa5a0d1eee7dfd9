package sources

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/session"
	"gate/scopes"
)

// AddRegistered adds the hooks that hold for the session of the event, or for
// the sub-agent that it is about.
func (l *Loaded) AddRegistered(s For) {
	if s.Session == nil || s.Session.Known == nil {
		return
	}
	taken := map[string]bool{}
	for i := range s.Session.Known.Registered {
		r := &s.Session.Known.Registered[i]
		if !r.Concerns(s.Event.Text("agent_id"), s.Event.Text("agent_type")) {
			continue
		}
		as := sourceOf(r)
		if taken[as.Name] { // of the project and of the user, or as it was and as it is
			as.Name = fmt.Sprintf("%s#%d", as.Name, r.Number)
		}
		taken[as.Name] = true
		dir := filepath.Dir(r.File)
		l.Where[as.Name] = dir
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
		l.add(load.At(dir, src))
	}
}

// sourceOf says whose registered hooks are.
func sourceOf(r *session.Registration) scopes.Source {
	if r.Kind == session.File {
		return scopes.Source{
			Name: fmt.Sprintf("registered:%d", r.Number), Scope: hook.Session, Authority: hook.Project,
			Trusted: r.Trusted, Tightens: true,
		}
	}
	return scopes.Source{Name: string(r.Kind) + ":" + r.Name, Scope: hook.Skill, Authority: hook.SkillAuthor}
}

// Registered is what a registration registers, as it stands in the text that
// was kept.
func Registered(r *session.Registration) scopes.Source { return hooksOf(r, sourceOf(r)) }

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
func (l *Loaded) trustOrigin(r *session.Registration) (hook.Authority, string) {
	if plugin, _, ok := strings.Cut(r.Name, ":"); ok {
		if at := l.Where["plugin:"+plugin]; at != "" && isBelow(at, r.File) {
			return hook.PluginAuthor, at
		}
	}
	return hook.SkillAuthor, filepath.Dir(r.File)
}

// trusts reports whether a person trusted a skill or a sub-agent as it is, and
// if so, whether it still has the text that was registered.
func (l *Loaded) trusts(s For, r *session.Registration) (holds, same bool) {
	a, dir := l.trustOrigin(r)
	p := places.Open(dir, ".", nil)
	defer p.Close()
	if !l.trust(p, s, a) {
		return false, false
	}
	name, err := filepath.Rel(p.Dir, r.File)
	if err != nil {
		return true, false
	}
	head, err := readHead(p, filepath.ToSlash(name), r.Foreign)
	return true, err == nil && head.Text == r.Text
}

// distrusted reports that nobody trusts a skill or a sub-agent any more, be it
// as it is or as it was.
func (l *Loaded) distrusted(s For, r *session.Registration) bool {
	a, dir := l.trustOrigin(r)
	origin, err := consent.OriginOf(a, dir)
	return err == nil && errors.Is(s.Grants().CheckTrust(origin, untold), consent.NeverTrusted)
}

// spoil has hooks refuse the calls that they would judge: they were trusted
// when the skill or sub-agent started, and what they run is something else now.
// That an agent writes into the files must not silence them.
func (l *Loaded) spoil(src *scopes.Source, r *session.Registration) {
	src.Hooks = slices.DeleteFunc(src.Hooks, func(h *hook.Hook) bool {
		h.Events = slices.DeleteFunc(slices.Clone(h.Events), func(n hook.Name) bool {
			return n != hook.PreToolUse && n != hook.PermissionRequest || h.Observes(n)
		})
		return len(h.Events) == 0 || h.Async
	})
	for _, h := range src.Hooks {
		h.Kind, h.Config = hook.Inline, nil
	}
	_, dir := l.trustOrigin(r)
	l.SpeakFor(src.Name, hook.Reason{
		Effect: hook.Deny,
		Reason: fmt.Sprintf("the hooks of the %s %s cannot judge this: its files were changed while they hold; ask the person", r.Kind, r.Name),
		Help:   fmt.Sprintf("Look at %s and run gate trust on it, or remove the hooks: gate session remove --session ID %d", dir, r.Number),
	})
}

func isBelow(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// MaxSkill is the largest file of a skill that is looked into.
const MaxSkill = 1 << 20

func readHead(p *places.Place, name string, foreign bool) (load.Head, error) {
	data, err := load.ReadFile(p.Files, name, MaxSkill)
	if err != nil {
		return load.Head{}, err
	}
	return load.Frontmatter(name, data, foreign)
}
