package facts

import (
	_ "embed"
	"iter"
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

// quotedFields are the words of s: blanks outside double quotes part them.
func quotedFields(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted := false
		for chunk := range strings.SplitSeq(s, `"`) {
			if quoted {
				if !yield(chunk) {
					return
				}
			} else {
				for word := range strings.FieldsSeq(chunk) {
					if !yield(word) {
						return
					}
				}
			}
			quoted = !quoted
		}
	}
}

// A compiledPlace is a Place for one World, folded.
type compiledPlace struct {
	Place
	patterns, except []pathPattern
}

// A pathPattern is a pattern of places.rows. It stays in one piece: most of them
// are looked at once in a process, if at all.
type pathPattern struct {
	anywhere bool   // **/ in front
	steps    string // components between slashes; ** stands for any number of them
}

// placeLists are the places of each kind, made when a path is first held against
// them: most calls touch none, or are asked about one kind only.
type placeLists struct {
	secret, startup, self func() []compiledPlace
}

func newPlaceLists(w World) placeLists {
	list := func(kind string) func() []compiledPlace {
		return sync.OnceValue(func() []compiledPlace { return compilePlaces(w, kind) })
	}
	return placeLists{secret: list("secret."), startup: list("startup"), self: list("self")}
}

// compilePlaces puts the world's home and project into the patterns of the places
// whose class begins with kind. Names are compared folded, because some volumes
// fold them and nobody names a harmless file .CLAUDE.
func compilePlaces(w World, kind string) []compiledPlace {
	var out []compiledPlace
	for _, pl := range w.own() {
		if strings.HasPrefix(pl.Class, kind) {
			out = append(out, compiledPlace{pl, appendPatterns(nil, pl.Patterns, w), appendPatterns(nil, pl.Except, w)})
		}
	}
	for line := range strings.Lines(placeRows) {
		if !strings.HasPrefix(line, kind) {
			continue
		}
		class, rest, _ := strings.Cut(strings.TrimSpace(line), " | ")
		what, patterns, _ := strings.Cut(rest, " | ")
		c := compiledPlace{Place: Place{Class: class, What: what}}
		c.patterns = make([]pathPattern, 0, strings.Count(patterns, " ")+1)
		for word := range quotedFields(patterns) {
			if e, ok := strings.CutPrefix(word, "!"); ok {
				c.except = appendPattern(c.except, e, w)
			} else {
				c.patterns = appendPattern(c.patterns, word, w)
			}
		}
		out = append(out, c)
	}
	return out
}

func appendPatterns(list []pathPattern, patterns []string, w World) []pathPattern {
	for _, p := range patterns {
		list = appendPattern(list, p, w)
	}
	return list
}

func appendPattern(list []pathPattern, pattern string, w World) []pathPattern {
	pattern = strings.ToLower(pattern)
	var p pathPattern
	switch {
	case strings.HasPrefix(pattern, "~/"):
		if w.Home == "" {
			return list
		}
		pattern = strings.ToLower(w.Home) + pattern[1:]
	case strings.HasPrefix(pattern, "**/"):
		p.anywhere, pattern = true, pattern[3:]
	}
	p.steps = strings.TrimPrefix(pattern, "/")
	return append(list, p)
}

// find returns the first place of a list that p is.
func find(list func() []compiledPlace, p string) (Place, bool) {
	steps := strings.Split(strings.TrimPrefix(strings.ToLower(p), "/"), "/")
	all := list()
	for i := range all {
		if pl := &all[i]; matchesAny(pl.patterns, steps, true) && !matchesAny(pl.except, steps, false) {
			return pl.Place, true
		}
	}
	return Place{}, false
}

// matchesAny reports whether some pattern is what steps name. With cover, a
// wildcard in steps counts when it could name what the pattern does; an
// exception must match for certain.
func matchesAny(patterns []pathPattern, steps []string, cover bool) bool {
	for i := range patterns {
		if patterns[i].matches(steps, cover) {
			return true
		}
	}
	return false
}

func (p *pathPattern) matches(steps []string, cover bool) bool {
	alone := !strings.Contains(p.steps, "/")
	if !p.anywhere {
		return matchSteps(p.steps, steps, cover, alone)
	}
	for i := range steps {
		if matchSteps(p.steps, steps[i:], cover, alone) {
			return true
		}
	}
	return false
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
		// Either side may be a pattern: cat ~/.ssh/id_* names what id_rsa is.
		if len(steps) == 0 || c != steps[0] && !globMatch(c, steps[0]) && !(cover && covers(steps[0], c, alone)) {
			return false
		}
		steps = steps[1:]
	}
	return len(steps) == 0
}

// covers reports whether a wildcard on the line would match what the component
// c of a place names. A leading wildcard matches no leading dot; and a bare
// star in any directory names no place that is only a file name.
func covers(glob, c string, alone bool) bool {
	if !hasGlob(glob) || strings.HasPrefix(c, ".") && !strings.HasPrefix(glob, ".") || alone && broad(glob) {
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
	pl, ok := find(w.places.secret, p)
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
		if base := path.Clean("/" + t.raw); base != "/" {
			w.classifyPath(id, "/gate-unknown"+base, t, a)
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
			if a.kind == "read" && a.recursive && w.secretsBelow(id, p, a) {
				return
			}
			if what, grade := w.secret(name); what != "" {
				w.effect("secret.read", id, map[string]any{"path": p, "what": what, "grade": grade, "shown": a.kind == "read" && a.shown})
				return
			}
		case "write", "delete", "permissions":
			if w.changes(id, name, p, a) {
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
func (w *walker) changes(id int, name, p string, a access) bool {
	verb := a.kind
	if pl, ok := find(w.places.self, name); ok && !a.remote {
		w.effect("self", id, map[string]any{"what": pl.What, "verb": verb, "path": p})
		return true
	}
	if !a.remote && (a.kind == "delete" || a.kind == "permissions" || a.how == "move" || a.how == "link" || a.recursive) {
		if what := w.guards(p); what != "" {
			w.effect("self", id, map[string]any{"what": what, "verb": verb, "path": p})
			return true
		}
	}
	if pl, ok := find(w.places.startup, name); ok {
		w.effect("persistence", id, map[string]any{"what": pl.What, "verb": verb, "path": p})
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
