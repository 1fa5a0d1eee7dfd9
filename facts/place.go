package facts

import (
	"cmp"
	"path"
	"strings"

	"gate/facts/world"
	"gate/hook"
	"gate/secret"
)

// secret returns what kind of secret a path is, and its grade. Most paths are
// asked about several times in a row.
func (w *draft) secret(p string) (what, grade string) {
	if p == "" {
		return "", ""
	}
	if w.lastSecret.path != p {
		w.lastSecret = lastSecret{path: p}
		if pl, ok := w.world.Find("secret.", p); ok {
			_, grade, _ = strings.Cut(pl.Class, ".")
			w.lastSecret.what, w.lastSecret.grade = pl.What, grade
		}
	}
	return w.lastSecret.what, w.lastSecret.grade
}

// A lastSecret is the last answer of secret.
type lastSecret struct{ path, what, grade string }

// classify adds the effects of touching a path that matters.
func (w *draft) classify(id int, t target, a access) {
	for _, p := range []string{t.path, t.resolved} {
		if p == "" {
			continue
		}
		w.classifyPath(id, p, p, t, a)
	}
	for _, dir := range t.within {
		if a.kind == "read" && dir != "" {
			w.classifyPath(id, dir, cmp.Or(t.written, t.raw), target{contents: true}, a)
		}
	}
	if t.path == "" && t.raw != "" { // relative to an unknown directory: the name still tells
		name := t.under
		if name == "" {
			name = t.raw
		}
		if base := path.Clean("/" + name); base != "/" {
			w.classifyPath(id, "/gate-unknown"+base, cmp.Or(t.written, t.raw), t, a)
		}
	}
}

// classifyPath judges p, and says it as it is written where p only stands for it.
func (w *draft) classifyPath(id int, p, written string, t target, a access) {
	names := []string{p}
	if t.contents { // everything inside: also what lies right there
		names = append(names, p+"/*")
	}
	for _, name := range names {
		switch a.kind {
		case "read", "use", "execute":
			if a.kind == "read" && w.secretsBelow(id, p, a) {
				return
			}
			if what, grade := w.secret(name); what != "" {
				w.effect(id, &hook.SecretRead{Path: new(written), What: what, Grade: grade, Shown: (a.kind == "read" && a.shown || a.kind == "execute" && grade == "key") && !(a.names && what == "environment file")})
				return
			}
		case "write", "delete", "permissions":
			if w.changes(id, name, p, written, t, a) {
				return
			}
		}
	}
}

// secretsBelow reports a directory of secrets, which stands for the files in it where
// something reads it, and the home directory, which holds them all, read as a whole.
func (w *draft) secretsBelow(id int, dir string, a access) bool {
	if area := w.world.Area(dir); a.recursive && (area == "home" || area == "root") {
		w.effect(id, &hook.SecretRead{Path: new(dir), What: "directory of secrets", Grade: "config", Shown: a.shown})
		return true
	}
	for d := range strings.FieldsSeq(secret.Directories) {
		if p := w.world.Home + "/" + d; w.world.Home != "" && dir == p {
			w.effect(id, &hook.SecretRead{Path: new(dir), What: "directory of secrets", Grade: "key", Shown: true})
			return true
		}
	}
	return false
}

// changes reports writes to start-up files and to what guards the agent.
func (w *draft) changes(id int, name, p, written string, t target, a access) bool {
	verb := a.kind
	if pl, ok := w.world.Find(world.Self, name); ok && !a.remote && (pl.Patterns != nil || !w.unread(p, t, a)) {
		w.effect(id, &hook.Self{What: pl.What, Verb: verb, Path: new(written)})
		return true
	}
	if !a.remote && (a.kind == "delete" || a.kind == "permissions" || a.how == "move" || a.how == "link" || a.recursive) {
		if what := w.guards(p, t, a); what != "" {
			w.effect(id, &hook.Self{What: what, Verb: verb, Path: new(written)})
			return true
		}
	}
	if pl, ok := w.world.Find("startup", name); ok {
		w.effect(id, &hook.Persistence{What: pl.What, Verb: verb, Path: new(written)})
		return true
	}
	return false
}

// unread reports that a copy below a temporary directory is made or taken away,
// where the agent finds it neither from its own directory nor from one above.
// Settings that somebody writes there may wait for another agent.
func (w *draft) unread(p string, t target, a access) bool {
	base, _, _ := strings.Cut(p, "/.")
	return (a.kind == "delete" || a.keeps) && t.followed == "temp" && !world.Below(p, w.world.Dir) && !world.Below(w.world.Dir, base)
}

// agentDirectory says what an agent or gate finds in a directory of that name.
func agentDirectory(p string) string {
	switch path.Base(p) {
	case ".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".factory":
		return "agent settings"
	case ".gate":
		return "gate policy"
	}
	return ""
}

// guards reports a directory that holds what guards the agent: deleting or
// moving the parent is a way to edit the file.
func (w *draft) guards(p string, t target, a access) string {
	if area := w.world.Area(p); area == "root" || area == "home" {
		return "" // that is worse than what lies below it, and says so itself
	}
	lower := strings.ToLower(p)
	if what := agentDirectory(lower); what != "" && !w.unread(p, t, a) {
		return what
	}
	for _, o := range w.world.OwnPlaces() {
		for _, pattern := range o.Patterns {
			file := strings.ToLower(strings.TrimSuffix(pattern, "/**"))
			if lower != "/" && world.Below(file, lower) {
				return o.What
			}
		}
	}
	return ""
}
