package facts

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

//go:embed places.rows
var placeRows string

// A Place is a path that matters wherever it lies.
type Place struct {
	Class    string   // secret.key, secret.config, startup, self
	What     string   // for people: "private key"
	Patterns []string // see places.rows
	Except   []string
}

// places are read once a process: a call that touches no path pays nothing.
var places = sync.OnceValue(func() []Place {
	var out []Place
	for line := range strings.Lines(placeRows) {
		class, rest, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok || strings.HasPrefix(class, "#") {
			continue
		}
		what, patterns, _ := strings.Cut(rest, " | ")
		p := Place{Class: class, What: what}
		for _, word := range quotedFields(patterns) {
			if e, ok := strings.CutPrefix(word, "!"); ok {
				p.Except = append(p.Except, e)
			} else {
				p.Patterns = append(p.Patterns, word)
			}
		}
		out = append(out, p)
	}
	return out
})

// quotedFields splits at blanks outside double quotes.
func quotedFields(s string) []string {
	var out []string
	for i, chunk := range strings.Split(s, `"`) {
		if i%2 == 1 {
			out = append(out, chunk)
		} else {
			out = append(out, strings.Fields(chunk)...)
		}
	}
	return out
}

// find returns the first place of a class (by prefix) that p is.
func (w *walker) find(class, p string) (Place, bool) {
	for _, list := range [][]Place{w.world.Own, places()} {
		for _, pl := range list {
			if strings.HasPrefix(pl.Class, class) && w.is(pl, p) {
				return pl, true
			}
		}
	}
	return Place{}, false
}

func (w *walker) is(pl Place, p string) bool {
	for _, e := range pl.Except {
		if w.matches(e, p) {
			return false
		}
	}
	for _, pattern := range pl.Patterns {
		if w.matches(pattern, p) {
			return true
		}
	}
	return false
}

// matches compares folded, because some volumes fold names and nobody names a
// harmless file .CLAUDE (threat model 20).
func (w *walker) matches(pattern, p string) bool {
	pattern, p = strings.ToLower(pattern), strings.ToLower(p)
	home, project := strings.ToLower(w.world.Home), strings.ToLower(w.world.Project)
	switch {
	case strings.HasPrefix(pattern, "~/"):
		if home == "" {
			return false
		}
		pattern = home + pattern[1:]
	case strings.HasPrefix(pattern, "./"):
		if project == "" {
			return false
		}
		pattern = project + pattern[1:]
	case strings.HasPrefix(pattern, "**/"):
		rest := pattern[3:]
		for s := p; s != ""; {
			i := strings.IndexByte(s, '/')
			if i < 0 {
				return false
			}
			s = s[i+1:]
			if matchTail(rest, s) {
				return true
			}
		}
		return false
	}
	return matchTail(pattern, p)
}

// matchTail matches component by component; /** at the end stands for
// everything below, and ** inside for any directories.
func matchTail(pattern, p string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(p, "/")
	for i, c := range a {
		if c == "**" {
			if i == len(a)-1 {
				return true
			}
			rest := strings.Join(a[i+1:], "/")
			for j := i; j < len(b); j++ {
				if matchTail(rest, strings.Join(b[j:], "/")) {
					return true
				}
			}
			return false
		}
		if i >= len(b) {
			return false
		}
		// Either side may be a pattern: cat ~/.ssh/id_* names what id_rsa is.
		if !globMatch(c, b[i]) && !covers(b[i], c) {
			return false
		}
	}
	return len(a) == len(b)
}

// covers reports whether a wildcard on the line would match what the component
// c of a place names. A leading wildcard matches no leading dot.
func covers(glob, c string) bool {
	if !hasGlob(glob) || strings.HasPrefix(c, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	return globMatch(glob, unglob(c))
}

func unglob(c string) string { return strings.NewReplacer("*", "x", "?", "x").Replace(c) }

// secret returns what kind of secret a path is, and its grade.
func (w *walker) secret(p string) (what, grade string) {
	if p == "" {
		return "", ""
	}
	pl, ok := w.find("secret.", p)
	if !ok {
		return "", ""
	}
	_, grade, _ = strings.Cut(pl.Class, ".")
	return pl.What, grade
}

// classify adds the effects of touching a path that matters.
func (w *walker) classify(id int, t target, a access) {
	for _, p := range []string{t.path, t.resolved} {
		if p == "" {
			continue
		}
		w.classifyPath(id, p, t, a)
	}
	if t.path == "" && t.raw != "" { // relative to an unknown directory: the name still tells
		if base := "/gate-unknown/" + strings.TrimLeft(t.raw, "./"); path.Base(base) != "gate-unknown" {
			w.classifyPath(id, path.Clean(base), t, a)
		}
	}
}

func (w *walker) classifyPath(id int, p string, t target, a access) {
	names := []string{p}
	if t.contents { // everything inside: also what lies right there
		names = append(names, p+"/*")
	}
	for _, name := range names {
		switch a.kind {
		case "read", "use", "execute":
			if what, grade := w.secret(name); what != "" {
				w.effect("secret.read", id, map[string]any{"path": p, "what": what, "grade": grade, "shown": a.kind == "read" && a.shown})
				return
			}
			if a.kind == "read" && a.recursive {
				w.secretsBelow(id, p)
			}
		case "write", "delete", "permissions":
			if w.changes(id, name, p, a) {
				return
			}
		}
	}
}

// secretsBelow reports a directory of secrets that is read as a whole.
func (w *walker) secretsBelow(id int, dir string) {
	for _, d := range []string{".ssh", ".aws", ".gnupg", ".kube", ".config/gcloud", ".password-store"} {
		if p := w.world.Home + "/" + d; w.world.Home != "" && dir == p {
			w.effect("secret.read", id, map[string]any{"path": dir, "what": "directory of secrets", "grade": "key", "shown": true})
		}
	}
}

// changes reports writes to start-up files and to what guards the agent.
func (w *walker) changes(id int, name, p string, a access) bool {
	verb := a.kind
	if pl, ok := w.find("self", name); ok {
		w.effect("self", id, map[string]any{"what": pl.What, "verb": verb, "path": p})
		return true
	}
	if a.kind == "delete" || a.kind == "permissions" || a.how == "move" || a.how == "link" {
		if what := w.guards(p); what != "" {
			w.effect("self", id, map[string]any{"what": what, "verb": verb, "path": p})
			return true
		}
	}
	if pl, ok := w.find("startup", name); ok {
		w.effect("persistence", id, map[string]any{"what": pl.What, "verb": verb, "path": p})
		return true
	}
	return false
}

// guards reports a directory that holds what guards the agent: deleting or
// moving the parent is a way to edit the file (threat model 48).
func (w *walker) guards(p string) string {
	lower := strings.ToLower(p)
	switch path.Base(lower) {
	case ".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".factory":
		return "agent settings"
	case ".gate":
		return "gate policy"
	}
	for _, o := range w.world.Own {
		for _, pattern := range o.Patterns {
			file := strings.ToLower(strings.TrimSuffix(pattern, "/**"))
			if lower != "/" && below(file, lower) {
				return o.What
			}
		}
	}
	return ""
}
