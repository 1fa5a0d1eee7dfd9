package facts

import (
	"gate/facts/world"
	"gate/hook"
	"strings"

	"gate/facts/flow"
)

// An access says what happens to a path.
type access struct {
	kind      string // read, write, delete, permissions, execute, list, use
	how       string // of a write or delete
	recursive bool
	force     bool
	follow    bool // a delete that follows links
	shown     bool
	names     bool // of lines NAME=value only the names are shown
	mode      flow.Word
	owner     *string
	content   flow.Stream // what is written
	links     []flow.Word // what a link that is made points to
	keeps     bool        // the content is that of files that only a person changes
	remote    bool        // on another machine: this one's project and settings are not touched
}

// usePath records what happens to every path that a word can be.
func (w *draft) usePath(at where, id int, f flow.Word, a access) {
	a.remote = at.remote
	for _, t := range w.absolute(at, f) {
		w.touch(id, t, f, a)
	}
	if a.how == "link" {
		w.link(at, f, a)
	}
	if a.how == "edit" {
		w.edited(at, f)
	}
}

func (w *draft) touch(id int, t target, f flow.Word, a access) {
	p := hook.Path{Command: id, Raw: t.raw, Access: a.kind, Glob: t.glob}
	if t.path != "" {
		p.Path = new(t.path)
		p.Resolved = new(t.path)
		if t.resolved != "" {
			p.Resolved = new(t.resolved)
		}
		in := world.Below(t.path, w.world.Project) && world.Below(*p.Resolved, w.world.Project)
		p.InProject = &in
	} else {
		w.unknown("path", "a path is not known: "+why(f), id, f.Span)
	}
	w.facts.Paths = append(w.facts.Paths, p)
	w.pathEffects(id, t, a)
}

func why(f flow.Word) string {
	if s := f.Why(); s != "" {
		return s
	}
	return "it depends on an unknown directory"
}

// pathEffects says what the access amounts to.
func (w *draft) pathEffects(id int, t target, a access) {
	area := world.Graver(t.area, t.followed)
	if a.kind == "delete" && !t.dir && !t.contents && !a.follow {
		area = t.area // a link goes away, not what it points to
	}
	place := hook.Place{Path: flow.Known(t.path), Resolved: flow.Known(t.resolved), Area: area, CouldBe: t.could}
	switch a.kind {
	case "read":
		if !a.remote {
			w.effect(id, &hook.FSRead{Place: place})
		}
	case "write":
		if world.HarmlessDevice(t.path) {
			return
		}
		if a.remote && t.area != "device" && t.area != "system" {
			break // its project is not this one; what starts there is judged below
		}
		w.effect(id, &hook.FSWrite{Place: place, How: a.how, Recursive: a.recursive})
		if t.area == "device" {
			w.effect(id, &hook.Disk{Verb: "write", Device: new(t.path)})
		}
	case "delete":
		w.effect(id, &hook.FSDelete{Place: place, How: a.how, Recursive: a.recursive, Force: a.force, Glob: t.glob, Contents: t.contents})
	case "permissions":
		mode := a.mode.Value()
		m := flow.Text(mode)
		w.effect(id, &hook.FSPermissions{
			Place: place, Recursive: a.recursive, Mode: mode, WorldWritable: worldWritable(m), Setuid: setuid(m), Owner: a.owner,
		})
		if setuid(m) {
			w.effect(id, &hook.Persistence{Path: flow.Known(t.path), What: "setuid", Verb: "write"})
		}
	}
	w.classify(id, t, a)
}

// maybePath judges a word of a program without a row: it may be a path that
// matters, with or without an option in front.
func (w *draft) maybePath(at where, id int, f flow.Word) {
	if strings.HasPrefix(f.Prefix(), "-") {
		if _, value, ok := f.Cut("="); ok {
			f = value
		} else {
			return
		}
	}
	text := f.Prefix()
	if !strings.Contains(text, "/") && !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "id_") || strings.Contains(text, "://") || strings.ContainsAny(text, " \n") {
		return
	}
	for _, t := range w.absolute(at, f) {
		if t.path == "" {
			continue
		}
		if what, grade := w.secret(t.path); what != "" {
			w.effect(id, &hook.SecretRead{Path: new(t.path), What: what, Grade: grade, Shown: true})
		}
		w.usePath(at, id, f, access{kind: "list"})
	}
}
