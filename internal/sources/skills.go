package sources

import (
	"errors"
	"fmt"
	"path/filepath"

	"gate/hook"
	"gate/internal/session"
)

// Started finds the hooks of what an event starts: of every file that the name
// may mean, for they only tighten. A file that is broken is loud.
func (l *Loaded) Started(s For, kind session.Kind, name string, ev *hook.Event, d *hook.Decision) (list []session.Registration) {
	for _, f := range l.filesOf(s, kind, name) {
		dir := filepath.Dir(f.path)
		r := session.Registration{Kind: kind, Name: name, File: f.path, Text: f.head.Text, Foreign: s.Foreign}
		if kind == session.Skill {
			r.Call = ev.Text("tool_use_id")
		} else if id := ev.Text("agent_id"); id != "" {
			r.Agents = []string{id}
		}
		src := Registered(&r)
		for i := range src.Faults {
			f.err = errors.Join(f.err, &src.Faults[i])
		}
		if f.err != nil {
			d.Notices = append(d.Notices, fmt.Sprintf("hooks of the %s %s (%s) are inactive: %s", kind, name, dir, f.err))
			continue
		}
		r.Listen(src.Hooks)
		holds, same := l.trusts(s, &r)
		r.Trusted = holds && same
		src.Trusted = r.Trusted
		d.Notices = append(d.Notices, NotTrusted(&src, dir)...)
		list = append(list, r)
	}
	return list
}
