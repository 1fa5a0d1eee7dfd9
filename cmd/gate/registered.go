package main

import (
	"fmt"
	"path/filepath"
	"strings"

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
		if r.Kind != session.File {
			as.Trusted = l.trustsText(s, r)
		}
		dir := filepath.Dir(r.File)
		l.dirs[as.Name] = dir
		l.add(hooksOf(r, as), dir)
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

// trustsText reports whether a person trusted the directory of a skill or a
// sub-agent, or the plugin that it belongs to, as it is, and it still has the
// text that was registered.
func (l *loaded) trustsText(s setting, r *session.Registration) bool {
	dir, a := filepath.Dir(r.File), hook.SkillAuthor
	if plugin, _, ok := strings.Cut(r.Name, ":"); ok {
		if at := l.dirs["plugin:"+plugin]; at != "" && isBelow(at, r.File) {
			dir, a = at, hook.PluginAuthor
		}
	}
	p := openPlace(dir, ".", nil)
	defer p.close()
	if !p.trust(grants(s.dirs), a, &l.notices) {
		return false
	}
	name, err := filepath.Rel(p.dir, r.File)
	if err != nil {
		return false
	}
	head, err := readHead(p, filepath.ToSlash(name), r.Foreign)
	return err == nil && head.Text == r.Text
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
