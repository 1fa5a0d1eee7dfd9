package facts

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"
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

// nextWord cuts the first word off s: blanks outside double quotes part words,
// and there are no others within a word.
func nextWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " ")
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		word, rest, _ = strings.Cut(quoted, `"`)
		return word, rest
	}
	word, rest, _ = strings.Cut(s, " ")
	return word, rest
}

// A named is a path that is held against places: folded, because some volumes
// fold names and nobody names a harmless file .CLAUDE.
type named struct {
	steps []string
	wild  bool     // one of steps is a pattern itself
	home  []string // the components of the home directory, nil without one
	dir   string   // where the last of steps lies, as it was written
	files Files    // may be nil
}

func (w World) named(p string) named {
	n := named{steps: components(p), wild: hasGlob(p), dir: strings.TrimSuffix(parent(p), "/"), files: w.Files}
	switch home := strings.TrimSuffix(w.Home, "/"); {
	case home != "":
		n.home = components(home)
	case w.Home != "":
		n.home = []string{} // everything is below the root
	}
	return n
}

func components(p string) []string {
	return strings.Split(strings.TrimPrefix(strings.ToLower(p), "/"), "/")
}

// find returns the first place that p is, of those whose class begins with kind.
// The rows are read where they stand: a process looks at most of them once, if
// at all. The root is no place: what is done to it is graver, and says so.
func (w World) find(kind, p string) (Place, bool) {
	if p == "/" {
		return Place{}, false
	}
	n := w.named(p)
	if kind == self {
		for _, own := range w.own() {
			if n.isOne(own.Patterns, true) && !n.isOne(own.Except, false) {
				return own, true
			}
		}
	}
	for line := range strings.Lines(placeRows) {
		if !strings.HasPrefix(line, kind) {
			continue
		}
		class, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		what, patterns, _ := strings.Cut(rest, " | ")
		if n.among(patterns, false) && !n.among(patterns, true) {
			return Place{Class: class, What: what}, true
		}
	}
	return Place{}, false
}

// self is the class of what guards or steers the agent.
const self = "self"

// among reports whether the path is what one of the patterns of a row names, or
// one of its exceptions.
func (n *named) among(patterns string, except bool) bool {
	for patterns != "" {
		var word string
		word, patterns = nextWord(patterns)
		pattern, excepts := strings.CutPrefix(word, "!")
		if word != "" && excepts == except && n.is(pattern, !except) {
			return true
		}
	}
	return false
}

func (n *named) isOne(patterns []string, cover bool) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return n.is(pattern, cover) })
}

// is reports whether a pattern of places.rows is what the path names. With
// cover, a wildcard in the path counts when it could name what the pattern does;
// an exception must match for certain.
func (n *named) is(pattern string, cover bool) bool {
	cover = cover && n.wild
	if below, ok := strings.CutPrefix(pattern, "~/"); ok {
		rest, ok := n.belowHome(cover)
		return ok && matchSteps(strings.ToLower(below), rest, cover, false)
	}
	pattern, anywhere := strings.CutPrefix(strings.ToLower(pattern), "**/")
	pattern = strings.TrimPrefix(pattern, "/")
	alone := !strings.Contains(pattern, "/")
	if !anywhere {
		return matchSteps(pattern, n.steps, cover, alone)
	}
	if cover && alone && n.happensOn(pattern) {
		return true
	}
	for i := range n.steps {
		if matchSteps(pattern, n.steps[i:], cover, alone) {
			return true
		}
	}
	return false
}

// happensOn reports whether a kind of files on the line, such as *.json, has the
// file of that name among them.
func (n *named) happensOn(name string) bool {
	kind := n.steps[len(n.steps)-1]
	if n.files == nil || hasGlob(n.dir) || hasGlob(name) || broad(kind) || !covers(kind, name, false) {
		return false
	}
	_, err := n.files.Lstat(n.dir + "/" + name)
	return err == nil
}

// belowHome are the steps behind those of the home directory.
func (n *named) belowHome(cover bool) (rest []string, ok bool) {
	if n.home == nil || len(n.steps) < len(n.home) {
		return nil, false
	}
	for i, c := range n.home {
		if !matchStep(c, n.steps[i], cover, false) {
			return nil, false
		}
	}
	return n.steps[len(n.home):], true
}

// matchSteps matches component by component; ** at the end stands for
// everything below, and inside for any directories.
func matchSteps(pattern string, steps []string, cover, alone bool) bool {
	for more := true; more; {
		var c string
		c, pattern, more = strings.Cut(pattern, "/")
		if c == "**" {
			if !more {
				return true
			}
			for j := range steps {
				if matchSteps(pattern, steps[j:], cover, false) {
					return true
				}
			}
			return false
		}
		if len(steps) == 0 || !matchStep(c, steps[0], cover, alone) {
			return false
		}
		steps = steps[1:]
	}
	return len(steps) == 0
}

// matchStep matches one component. Either side may be a pattern: cat ~/.ssh/id_*
// names what id_rsa is. Most are told apart by their first byte.
func matchStep(c, step string, cover, alone bool) bool {
	if !cover && c != "" && step != "" && c[0] != step[0] && strings.IndexByte(`*?[\`, c[0]) < 0 {
		return false
	}
	return c == step || globMatch(c, step) || cover && covers(step, c, alone)
}

// covers reports whether a wildcard on the line would match what the component
// c of a place names. A leading wildcard matches no leading dot; and neither a
// bare star in any directory nor a kind of files names a place that is only a
// file name: *.json is no word for credentials.json, but *.pem is one for keys.
func covers(glob, c string, alone bool) bool {
	if !hasGlob(glob) || strings.HasPrefix(c, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	if alone && (broad(glob) || broad(stem(glob)) && !broad(stem(c))) {
		return false
	}
	return globMatch(glob, unglob(c))
}

// stem is a file name without its last extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

func unglob(c string) string { return strings.NewReplacer("*", "x", "?", "x").Replace(c) }

// secret returns what kind of secret a path is, and its grade. Most paths are
// asked about several times in a row.
func (w *walker) secret(p string) (what, grade string) {
	if p == "" {
		return "", ""
	}
	if w.lastSecret.path != p {
		w.lastSecret = lastSecret{path: p}
		if pl, ok := w.world.find("secret.", p); ok {
			_, grade, _ = strings.Cut(pl.Class, ".")
			w.lastSecret.what, w.lastSecret.grade = pl.What, grade
		}
	}
	return w.lastSecret.what, w.lastSecret.grade
}

// A lastSecret is the last answer of secret.
type lastSecret struct{ path, what, grade string }

// classify adds the effects of touching a path that matters.
func (w *walker) classify(id int, t target, a access) {
	for _, p := range []string{t.path, t.resolved} {
		if p == "" {
			continue
		}
		w.classifyPath(id, p, p, t, a)
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
func (w *walker) classifyPath(id int, p, written string, t target, a access) {
	names := []string{p}
	if t.contents { // everything inside: also what lies right there
		names = append(names, p+"/*")
	}
	for _, name := range names {
		switch a.kind {
		case "read", "use", "execute":
			if a.kind == "read" && a.recursive && w.secretsBelow(id, p, a) {
				return
			}
			if what, grade := w.secret(name); what != "" {
				w.effect("secret.read", id, map[string]any{"path": written, "what": what, "grade": grade, "shown": a.kind == "read" && a.shown && !(a.names && what == "environment file")})
				return
			}
		case "write", "delete", "permissions":
			if w.changes(id, name, p, written, a) {
				return
			}
		}
	}
}

// secretsBelow reports a directory of secrets that is read as a whole, and the
// home directory, which holds them all.
func (w *walker) secretsBelow(id int, dir string, a access) bool {
	if area := w.world.area(dir); area == "home" || area == "root" {
		w.effect("secret.read", id, map[string]any{"path": dir, "what": "directory of secrets", "grade": "config", "shown": a.shown})
		return true
	}
	for _, d := range []string{".ssh", ".aws", ".gnupg", ".kube", ".config/gcloud", ".password-store"} {
		if p := w.world.Home + "/" + d; w.world.Home != "" && dir == p {
			w.effect("secret.read", id, map[string]any{"path": dir, "what": "directory of secrets", "grade": "key", "shown": true})
			return true
		}
	}
	return false
}

// changes reports writes to start-up files and to what guards the agent.
func (w *walker) changes(id int, name, p, written string, a access) bool {
	verb := a.kind
	if pl, ok := w.world.find(self, name); ok && !a.remote {
		w.effect("self", id, map[string]any{"what": pl.What, "verb": verb, "path": written})
		return true
	}
	if !a.remote && (a.kind == "delete" || a.kind == "permissions" || a.how == "move" || a.how == "link" || a.recursive) {
		if what := w.guards(p); what != "" {
			w.effect("self", id, map[string]any{"what": what, "verb": verb, "path": written})
			return true
		}
	}
	if pl, ok := w.world.find("startup", name); ok {
		w.effect("persistence", id, map[string]any{"what": pl.What, "verb": verb, "path": written})
		return true
	}
	return false
}

// guards reports a directory that holds what guards the agent: deleting or
// moving the parent is a way to edit the file.
func (w *walker) guards(p string) string {
	if area := w.world.area(p); area == "root" || area == "home" {
		return "" // that is worse than what lies below it, and says so itself
	}
	lower := strings.ToLower(p)
	switch path.Base(lower) {
	case ".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".factory":
		return "agent settings"
	case ".gate":
		return "gate policy"
	}
	for _, o := range w.world.own() {
		for _, pattern := range o.Patterns {
			file := strings.ToLower(strings.TrimSuffix(pattern, "/**"))
			if lower != "/" && below(file, lower) {
				return o.What
			}
		}
	}
	return ""
}
