package draft

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/origin"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// Secret returns what kind of secret a path is, and its grade. Most paths are
// asked about several times in a row.
func (d *Draft) Secret(p string) (what, grade string) {
	if p == "" {
		return "", ""
	}
	if d.lastSecret.path != p {
		d.lastSecret = lastSecret{path: p}
		if pl, ok := d.World.Find("secret.", p); ok {
			_, grade, _ = strings.Cut(pl.Class, ".")
			d.lastSecret.what, d.lastSecret.grade = pl.What, grade
		} else if _, now := d.Files[p]; !now {
			d.lastSecret.what, d.lastSecret.grade = d.left(p)
		}
	}
	return d.lastSecret.what, d.lastSecret.grade
}

// left returns the secret that an earlier call left in a file under a name that says
// nothing of it.
func (d *Draft) left(p string) (what, grade string) {
	before := d.before(p)
	if before.Secret == "" || flow.Viewable(before.Secret) {
		return "", ""
	}
	kind, _ := origin.Copied(before.Secret)
	return before.Secret, world.Grade(kind)
}

// opened is the ledger of the event. There must be one.
func (d *Draft) opened() origin.Ledger {
	if d.ledger == nil {
		d.ledger = d.World.Ledger(d.Event.Agent, d.Event.SessionID())
	}
	return d.ledger
}

// Moves are what the event leaves in files: secrets, texts of the network, and texts that
// the agent decided about and that programs may run. They say, too, from which files it
// takes one. Files whose names tell of a secret are left out, but for such a text and for
// what came from outside the project or from a peer. A text that only
// looks like a secret is the agent's own: it knows it already.
func (d *Draft) Moves() []origin.Move {
	written := d.writes()
	names := slices.AppendSeq(slices.Collect(maps.Keys(d.Files)), maps.Keys(written))
	slices.Sort(names)
	var list []origin.Move
	for _, name := range slices.Compact(names) {
		if m := (origin.Move{Path: name, Written: written[name]}); d.moves(&m) {
			list = append(list, m)
		}
	}
	for dir, t := range d.Below {
		list = append(list, moveOf(strings.TrimSuffix(dir, "/")+"/", t))
	}
	for part, t := range d.Parts {
		list = append(list, moveOf(part, t))
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Path < list[j].Path }) // slices has a body for each type
	return list
}

// moveOf says that a path holds what a taint tells of.
func moveOf(name string, t flow.Taint) origin.Move {
	m := origin.Move{Path: name, Secret: t.Secret, From: t.From}
	if t.Remote {
		m.Host = cmp.Or(t.Host, unknownHost)
	}
	return m
}

// unknownHost stands in a [origin.Move] for a peer that nobody knows.
const unknownHost = "?"

// moves completes what the event leaves in a file, and reports whether it tells of one.
func (d *Draft) moves(m *origin.Move) bool {
	if unkept(m.Path) {
		return false
	}
	st, whole := d.Files[m.Path]
	if d.named(m.Path) && !(st.Taint.Remote || st.Taint.From != "" && !d.World.InProject(st.Taint.From)) {
		return m.Written // its name says it
	}
	of := moveOf(m.Path, st.Taint)
	if d.onlyBare && of.Secret == "environment file" && of.Host == "" { // a copy of one that holds no secret
		of = origin.Move{}
	}
	m.Secret, m.From, m.Host = of.Secret, of.From, of.Host
	anew, tells := whole && d.certain(), m.Written || m.Host != ""
	m.Anew = anew
	if m.Secret != "" || anew && tells {
		return true
	}
	before := d.before(m.Path)
	if anew || !tells {
		return anew && (before.Secret != "" || before.Host != "")
	}
	if m.Secret = before.Secret; m.Secret != "" || m.Host == "" { // the text may still be there
		m.From, m.Host = before.From, cmp.Or(m.Host, before.Host)
	}
	return true
}

// certain reports that what the event writes is written when it runs: one command has
// nothing before it that decides whether it runs.
func (d *Draft) certain() bool { return d.Facts.Shell == nil || len(d.Facts.Shell.Commands) == 1 }

// A lastSecret is the last answer of Secret.
type lastSecret struct{ path, what, grade string }

// Classify adds the effects of touching a path that matters.
func (d *Draft) Classify(id int, t Target, a Access) {
	for _, p := range []string{t.Path, t.Resolved} {
		if p == "" {
			continue
		}
		d.classifyPath(id, p, p, t, a)
	}
	if t.Glob && a.Kind == "read" && a.Shown {
		for _, s := range d.SourcesOf(t) {
			if what, grade := d.left(s.Path); what != "" && !strings.Contains(s.Below, "/") && !a.Names {
				d.Effect(id, &hook.SecretRead{Path: new(s.Path), What: what, Grade: grade, Shown: true})
			}
		}
	}
	for _, dir := range t.within {
		if a.Kind == "read" && dir != "" {
			d.classifyPath(id, dir, cmp.Or(t.written, t.raw), Target{Contents: true}, a)
		}
	}
	if t.Path == "" && t.raw != "" { // relative to an unknown directory: the name still tells
		name := t.under
		if name == "" {
			name = t.raw
		}
		if base := path.Clean("/" + name); base != "/" {
			d.classifyPath(id, "/gate-unknown"+base, cmp.Or(t.written, t.raw), t, a)
		}
	}
}

// classifyPath judges p, and says it as it is written where p only stands for it.
func (d *Draft) classifyPath(id int, p, written string, t Target, a Access) {
	names := []string{p}
	if t.Contents { // everything inside: also what lies right there
		names = append(names, p+"/*")
	}
	for _, name := range names {
		switch a.Kind {
		case "read", "use", "execute":
			if a.Kind == "read" && d.secretsBelow(id, p, a) {
				return
			}
			if what, grade := d.Secret(name); what != "" {
				d.Effect(id, &hook.SecretRead{Path: new(written), What: what, Grade: grade, Shown: (a.Kind == "read" && a.Shown || a.Kind == "execute" && grade == "key") && !(a.Names && what == "environment file")})
				return
			}
		case "write", "delete", "permissions":
			if d.changes(id, name, p, written, t, a) {
				return
			}
		}
	}
}

// secretsBelow reports a directory of secrets, which stands for the files in it where
// something reads it, and the home directory, which holds them all, read as a whole.
func (d *Draft) secretsBelow(id int, dir string, a Access) bool {
	if area := d.World.Area(dir); a.Recursive && (area == "home" || area == "root") {
		d.Effect(id, &hook.SecretRead{Path: new(dir), What: "directory of secrets", Grade: "config", Shown: a.Shown})
		return true
	}
	for name := range strings.FieldsSeq(secret.Directories) {
		if p := d.World.Home + "/" + name; d.World.Home != "" && dir == p {
			d.Effect(id, &hook.SecretRead{Path: new(dir), What: "directory of secrets", Grade: "key", Shown: true})
			return true
		}
	}
	return false
}

// changes reports writes to start-up files and to what guards the agent.
func (d *Draft) changes(id int, name, p, written string, t Target, a Access) bool {
	verb := a.Kind
	if pl, ok := d.World.Find(world.Self, name); ok && !a.remote && (pl.Patterns != nil || !d.unread(p, t, a)) {
		d.Effect(id, &hook.Self{What: pl.What, Verb: verb, Path: new(written)})
		return true
	}
	if !a.remote && (a.Kind == "delete" || a.Kind == "permissions" || a.How == "move" || a.How == "link" || a.Recursive) {
		if what := d.guards(p, t, a); what != "" {
			d.Effect(id, &hook.Self{What: what, Verb: verb, Path: new(written)})
			return true
		}
	}
	if pl, ok := d.World.Find("startup", name); ok {
		d.Effect(id, &hook.Persistence{What: pl.What, Verb: verb, Path: new(written)})
		return true
	}
	return false
}

// unread reports that a copy below a temporary directory is made or taken away,
// where the agent finds it neither from its own directory nor from one above.
// Settings that somebody writes there may wait for another agent.
func (d *Draft) unread(p string, t Target, a Access) bool {
	base, _, _ := strings.Cut(p, "/.")
	return (a.Kind == "delete" || a.Keeps) && t.Followed == "temp" && !world.Below(p, d.World.Dir) && !world.Below(d.World.Dir, base)
}

// AgentDirectories are the names of directories that agents keep their own in.
const AgentDirectories = " .claude .codex .gemini .qwen .cursor .opencode .factory "

// AgentDirectory says what an agent or gate finds in a directory of that name.
func AgentDirectory(p string) string {
	switch name := path.Base(p); {
	case wordlist.Has(AgentDirectories, name):
		return "agent settings"
	case name == ".gate":
		return "gate policy"
	}
	return ""
}

// guards reports a directory that holds what guards the agent: deleting or
// moving the parent is a way to edit the file.
func (d *Draft) guards(p string, t Target, a Access) string {
	switch area := d.World.Area(p); {
	case area == "root" || area == "home":
		return "" // that is worse than what lies below it, and says so itself
	case area == "project_root" && a.How == "create":
		return "" // what comes out of an archive is mostly the project's
	}
	lower := strings.ToLower(p)
	if what := AgentDirectory(lower); what != "" && !d.unread(p, t, a) {
		return what
	}
	for _, o := range d.World.OwnPlaces() {
		for _, pattern := range o.Patterns {
			file := strings.ToLower(strings.TrimSuffix(pattern, "/**"))
			if lower != "/" && world.Below(file, lower) {
				return o.What
			}
		}
	}
	return ""
}
