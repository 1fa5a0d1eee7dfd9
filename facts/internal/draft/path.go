package draft

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
)

// An Access says what happens to a path.
type Access struct {
	Kind      string // read, write, delete, permissions, execute, list, use
	How       string // of a write or delete
	Recursive bool
	Force     bool
	Follow    bool // a delete that follows links
	Shown     bool
	Names     bool // of lines NAME=value only the names are shown
	Mode      flow.Word
	owner     *string
	Content   flow.Stream // what is written
	Links     []flow.Word // what a link that is made points to
	Keeps     bool        // the content is that of files that only a person changes
	remote    bool        // on another machine: this one's project and settings are not touched
}

// UsePath records what happens to every path that a word can be.
func (d *Draft) UsePath(at Where, id int, f flow.Word, a Access) {
	a.remote = at.Remote
	for _, t := range d.Absolute(at, f) {
		d.touch(id, t, f, a)
	}
	if a.How == "link" {
		d.link(at, f, a)
	}
	if a.How == "edit" {
		d.edited(at, f)
	}
}

func (d *Draft) touch(id int, t Target, f flow.Word, a Access) {
	p := hook.Path{Command: id, Raw: t.raw, Access: a.Kind, Glob: t.Glob}
	if t.Path != "" {
		p.Path = new(t.Path)
		p.Resolved = new(t.Path)
		if t.Resolved != "" {
			p.Resolved = new(t.Resolved)
		}
		in := d.World.InProject(t.Path) && d.World.InProject(*p.Resolved)
		p.InProject = &in
	} else {
		d.Unknown("path", "a path is not known: "+why(f), id, f.Span)
	}
	if t.lost && a.Kind != "list" || t.circle && a.follows() {
		d.Unknown("limit", "links that lead in a circle", id, f.Span)
	}
	d.Facts.Paths = append(d.Facts.Paths, p)
	d.pathEffects(id, t, a)
}

// follows reports an access that goes where the link at the end of a path leads.
func (a Access) follows() bool {
	switch a.Kind {
	case "read", "permissions", "execute":
		return true
	}
	return a.Kind == "write" && a.How != "link" && a.How != "move" && a.How != "create"
}

func why(f flow.Word) string {
	if s := f.Why(); s != "" {
		return s
	}
	return "it depends on an unknown directory"
}

// forgets judges the loss of the record of a shell's commands.
func (d *Draft) forgets(id int, t Target) {
	if !t.Glob && !strings.Contains(strings.ToLower(t.Path), "history") {
		return // every such file has the word in its name, and the look costs
	}
	if what, _ := d.Secret(t.Path); what == "shell history" {
		d.Effect(id, &hook.System{Verb: "history", What: new(t.Path), Access: "write"})
	}
}

// pathEffects says what the access amounts to.
func (d *Draft) pathEffects(id int, t Target, a Access) {
	area := world.Graver(t.Area, t.Followed)
	if a.Kind == "delete" && !t.dir && !t.Contents && !a.Follow {
		area = t.Area // a link goes away, not what it points to
	}
	place := hook.Place{Path: flow.Known(t.Path), Resolved: flow.Known(t.Resolved), Area: area, CouldBe: t.could}
	switch a.Kind {
	case "read":
		if !a.remote {
			d.Effect(id, &hook.FSRead{Place: place})
		}
	case "write":
		if world.Terminal(t.Path) || t.Contents && t.Path == "/dev/pts" {
			d.Effect(id, &hook.Process{Verb: "type", Target: new(t.Path)})
		}
		if world.HarmlessDevice(t.Path) {
			return
		}
		if a.remote && t.Area != "device" && t.Area != "system" {
			break // its project is not this one; what starts there is judged below
		}
		d.Effect(id, &hook.FSWrite{Place: place, How: a.How, Recursive: a.Recursive})
		if a.Content.Endless && t.Area != "device" {
			d.Effect(id, &hook.Disk{Verb: "fill", Device: flow.Known(t.Path)})
		}
		if a.How != "append" && a.How != "edit" {
			d.forgets(id, t)
		}
		if t.Area == "device" {
			d.Effect(id, &hook.Disk{Verb: "write", Device: new(t.Path)})
		}
	case "delete":
		d.forgets(id, t)
		d.Effect(id, &hook.FSDelete{Place: place, How: a.How, Recursive: a.Recursive, Force: a.Force, Glob: t.Glob, Contents: t.Contents})
	case "permissions":
		mode := a.Mode.Value()
		m := flow.Text(mode)
		d.Effect(id, &hook.FSPermissions{
			Place: place, Recursive: a.Recursive, Mode: mode, WorldWritable: worldWritable(m), Setuid: setuid(m), Owner: a.owner,
		})
		if setuid(m) {
			d.Effect(id, &hook.Persistence{Path: flow.Known(t.Path), What: "setuid", Verb: "write"})
		}
	}
	d.Classify(id, t, a)
}
