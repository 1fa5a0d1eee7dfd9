package world

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/glob"
	"gate/internal/paths"
	"gate/internal/secret"
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
	wild  []*glob.Pattern // of the steps that are patterns themselves, nil without any
	home  []string        // the components of the home directory, nil without one
	dir   string          // where the last of steps lies, as it was written
	files Files           // may be nil
}

func (w World) named(p string) named {
	n := named{steps: components(p), wild: wildcards(p), dir: strings.TrimSuffix(Parent(p), "/"), files: w.Files}
	switch home := strings.TrimSuffix(w.Home, "/"); {
	case home != "":
		n.home = components(home)
	case w.Home != "":
		n.home = []string{} // everything is below the root
	}
	return n
}

// wildcards reads the components of a path that are patterns. Case is theirs: it
// is [!A-Z] that matches a small letter.
func wildcards(p string) []*glob.Pattern {
	if !glob.Wild(p) {
		return nil
	}
	var out []*glob.Pattern
	for c := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if !glob.Wild(c) {
			out = append(out, nil)
			continue
		}
		out = append(out, glob.Compile(c, glob.Syntax{Names: true, Fold: true}))
	}
	return out
}

func components(p string) []string {
	return strings.Split(strings.TrimPrefix(strings.ToLower(p), "/"), "/")
}

// Find returns the first place that p is, of those whose class begins with kind.
// The rows are read where they stand: a process looks at most of them once, if
// at all. The root is no place: what is done to it is graver, and says so.
func (w World) Find(kind, p string) (Place, bool) {
	if p == "/" {
		return Place{}, false
	}
	n := w.named(p)
	if kind == Self {
		for _, own := range w.OwnPlaces() {
			if n.isOne(own.Patterns, true) && !n.isOne(own.Except, false) {
				return own, true
			}
		}
	}
	if !strings.HasPrefix(kind, "secret.") {
		return n.findIn(placeRows, kind)
	}
	place, ok := n.findIn(secret.Files, kind)
	if other := otherHome(n.steps); !ok && other != nil && !slices.Equal(other, n.home) {
		n.home = other // what is a secret in one account is one in the others
		place, ok = n.findIn(secret.Files, kind)
	}
	return place, ok
}

// Patterns are the patterns of the places whose class begins with kind, without their
// exceptions: for whoever looks for such files, and asks [World.Find] about what it finds.
func (w World) Patterns(kind string) (patterns []string) {
	rows := placeRows
	if strings.HasPrefix(kind, "secret.") {
		rows = secret.Files
	}
	for line := range strings.Lines(rows) {
		if !strings.HasPrefix(line, kind) {
			continue
		}
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		_, list, _ := strings.Cut(rest, " | ")
		for list != "" {
			var word string
			if word, list = nextWord(list); word != "" && word[0] != '!' {
				patterns = append(patterns, word)
			}
		}
	}
	return patterns
}

// Grade is the grade of a kind of secret that is known by its place; "key" for any other.
func Grade(what string) string {
	before, _, ok := strings.Cut(secret.Files, " | "+what+" | ")
	if !ok {
		return "key"
	}
	_, grade, _ := strings.Cut(before[strings.LastIndexByte(before, '\n')+1:], ".")
	return grade
}

// otherHome is the home directory of an account, whoever it is, in which a path lies.
func otherHome(steps []string) []string {
	switch {
	case len(steps) > 1 && steps[0] == "root":
		return steps[:1]
	case len(steps) > 2 && (steps[0] == "home" || steps[0] == "users"):
		return steps[:2]
	}
	return nil
}

// findIn returns the first row of a class that names the path.
func (n *named) findIn(rows, kind string) (Place, bool) {
	for line := range strings.Lines(rows) {
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

// Self is the class of what guards or steers the agent.
const Self = "self"

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
	cover = cover && n.wild != nil
	if below, ok := strings.CutPrefix(pattern, "~/"); ok {
		home, ok := n.belowHome(cover)
		return ok && n.matches(strings.ToLower(below), home, cover, false)
	}
	pattern, anywhere := strings.CutPrefix(strings.ToLower(pattern), "**/")
	pattern = strings.TrimPrefix(pattern, "/")
	alone := !strings.Contains(pattern, "/")
	if !anywhere {
		return n.matches(pattern, 0, cover, alone)
	}
	if cover && alone && n.happensOn(pattern) {
		return true
	}
	for i := range n.steps {
		if n.matches(pattern, i, cover, alone) && (!cover || alone || n.says(pattern, i)) {
			return true
		}
	}
	return false
}

// says reports that the path has a word for the pattern that it matches from step at on. A
// place may lie anywhere, and the stars in */*/x are any directories: they mean the x in
// each of them, not the place. The stars of */* mean all that there is.
func (n *named) says(pattern string, at int) bool {
	bare := func(step string) bool { return strings.Trim(step, "*?") == "" }
	if bare(n.steps[len(n.steps)-1]) {
		return true
	}
	for c := range strings.SplitSeq(pattern, "/") {
		if c == "**" || at == len(n.steps) {
			break
		}
		if !bare(n.steps[at]) {
			return true
		}
		at++
	}
	return false
}

// happensOn reports whether a kind of files on the line, such as *.json, has the
// file of that name among them.
func (n *named) happensOn(name string) bool {
	last := len(n.steps) - 1
	if n.files == nil || glob.Wild(n.dir) || glob.Wild(name) || glob.Broad(n.steps[last]) || !n.covers(last, name, false) {
		return false
	}
	_, err := n.files.Lstat(n.dir + "/" + name)
	return err == nil
}

// belowHome is the step behind those of the home directory.
func (n *named) belowHome(cover bool) (at int, ok bool) {
	if n.home == nil || len(n.steps) < len(n.home) {
		return 0, false
	}
	for i, c := range n.home {
		if c != n.steps[i] && !(cover && n.covers(i, c, false)) {
			return 0, false
		}
	}
	return len(n.home), true
}

// matches holds a pattern against the steps from one on. Either side may be a
// pattern: cat ~/.ssh/id_* names what id_rsa is. Most are told apart by their
// first byte.
func (n *named) matches(pattern string, at int, cover, alone bool) bool {
	return paths.Walk(pattern, len(n.steps)-at, func(s paths.Segment, i int) bool {
		c, step := string(s), n.steps[at+i]
		if !cover && c != "" && step != "" && c[0] != step[0] && strings.IndexByte(`*?[\`, c[0]) < 0 {
			return false
		}
		return c == step || s.Matches(step) || cover && n.covers(at+i, c, alone)
	})
}

// covers reports whether a wildcard on the line would match what the component
// c of a place names. Neither a bare star in any directory nor a kind of files
// names a place that is only a file name: *.json is no word for credentials.json,
// but *.pem is one for keys.
func (n *named) covers(at int, c string, alone bool) bool {
	wild := n.wild[at]
	if wild == nil || wild.Match(unglob(c)) == glob.No {
		return false
	}
	step := n.steps[at]
	return !alone || !glob.Broad(step) && (!glob.Broad(stem(step)) || glob.Broad(stem(c)))
}

// stem is a file name without its last extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

func unglob(c string) string {
	if strings.IndexByte(c, '*') < 0 && strings.IndexByte(c, '?') < 0 {
		return c
	}
	return strings.NewReplacer("*", "x", "?", "x").Replace(c)
}
