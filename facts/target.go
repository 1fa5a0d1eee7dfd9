package facts

import (
	"path"
	"slices"
	"strings"

	"gate/facts/glob"
	"gate/facts/world"

	"gate/facts/flow"
)

// A target is one path that a word can be.
type target struct {
	raw      string
	written  string   // raw, with … for what is not known; "" is raw itself
	under    string   // raw, below the unknown directory that the line began in; "" is raw itself
	path     string   // cleaned and absolute; "" when unknown
	area     string   // graver of the path as written and behind linked directories
	followed string   // graver of area and what a link at the end points to
	resolved string   // "" when the same or unknown
	could    []string // areas it might be as well
	glob     bool
	contents bool     // everything inside path
	within   []string // directories in which it is a name that is not known
	dir      bool     // written with a trailing slash
}

// absolute returns the paths a word can be, seen from the directories the
// shell can be in.
func (w *draft) absolute(at where, f flow.Word) []target {
	patterns, known := f.Patterns()
	if !known {
		return []target{w.partial(at, f)}
	}
	var out []target
	for _, p := range patterns {
		if p == "" {
			continue
		}
		if strings.HasPrefix(p, "~/") || p == "~" {
			p = glob.Escape(w.world.Home) + p[1:]
		}
		if rest, ok := strings.CutPrefix(p, "~"+w.world.Home[strings.LastIndexByte(w.world.Home, '/')+1:]+"/"); ok && w.world.Home != "" {
			p = glob.Escape(w.world.Home) + "/" + rest
		}
		if after, ok := strings.CutPrefix(p, "file://"); ok {
			p = strings.TrimPrefix(after, "localhost")
		}
		if strings.HasPrefix(p, "/") {
			out = append(out, w.target(p, f))
			continue
		}
		if len(at.dirs) == 0 {
			t := target{raw: p, area: "unknown", glob: glob.Wild(p)}
			if at.under != "" {
				t.under = at.under + "/" + p
			}
			out = append(out, t)
			continue
		}
		for _, d := range at.dirs {
			if glob.Wild(d) && slices.Contains(strings.Split(p, "/"), "..") { // it is one of several, which may be links
				out = append(out, target{raw: p, area: "unknown", glob: glob.Wild(p)})
			}
			out = append(out, w.target(glob.Escape(d)+"/"+p, f))
		}
	}
	return out
}

// target judges one absolute pattern.
func (w *draft) target(pattern string, f flow.Word) target {
	t := target{raw: f.Text(), dir: strings.HasSuffix(pattern, "/")}
	pattern = path.Clean(pattern)
	pattern = w.world.ProcSelf(pattern)
	if glob.Wild(pattern) {
		return w.globTarget(t, pattern)
	}
	t.path = glob.Unescape(pattern)
	w.place(&t)
	return t
}

// place fills in where a known path lies, as written and as resolved.
func (w *draft) place(t *target) {
	t.area = w.world.Area(t.path)
	named, ok1 := w.world.Resolve(t.path, w.links, false)
	resolved, ok2 := w.world.Resolve(t.path, w.links, true)
	if !ok1 || !ok2 {
		t.area, t.followed = "unknown", "unknown"
		return
	}
	t.area = world.Graver(t.area, w.world.Area(named))
	t.followed = world.Graver(t.area, w.world.Area(resolved))
	if resolved != t.path {
		t.resolved = resolved
	}
}

// globTarget judges a pattern by what it can match.
func (w *draft) globTarget(t target, pattern string) target {
	t.glob = true
	parts := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	base := ""
	var i int
	for i = 0; i < len(parts) && !glob.Wild(parts[i]); i++ {
		base += "/" + glob.Unescape(parts[i])
	}
	if base == "" {
		base = "/"
	}
	rest := parts[i:]
	all := true
	for _, p := range rest {
		all = all && glob.Broad(p)
	}
	if all {
		t.path, t.contents = base, true
		w.place(&t)
		if len(rest) > 1 && t.area == "root" {
			t.area = "root"
		}
		return t
	}
	t.path = strings.TrimSuffix(base, "/") + "/" + strings.Join(rest, "/")
	t.area = w.world.Area(strings.TrimSuffix(base, "/") + "/" + sample(rest))
	// A pattern right below the root or home may match what matters there.
	for _, p := range w.world.Landmarks() {
		if glob.MayPath(pattern, p) {
			t.area = world.Graver(t.area, w.world.Area(p))
		}
	}
	return t
}

// sample makes a name that the pattern would match, more or less.
func sample(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('/')
		}
		for j := 0; j < len(p); j++ {
			if strings.IndexByte(`*?[]!\`, p[j]) < 0 {
				b.WriteByte(p[j])
			}
		}
		b.WriteByte('x')
	}
	return b.String()
}

// partial judges a path that is known in part only.
func (w *draft) partial(at where, f flow.Word) target {
	t := target{raw: f.Text(), written: f.Written(), area: "unknown"}
	prefix := f.Prefix()
	if last := f.Parts[len(f.Parts)-1]; prefix == "/proc/" && last.Hole == nil && (last.Text == "/environ" || last.Text == "/mem") {
		return w.target("/proc/0"+last.Text, f) // of whichever process
	}
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		dir := prefix[:i+1]
		for _, d := range w.absolute(at, flow.Literal(dir+"gate-unknown")) {
			t.area = d.area
			if dir == prefix && f.Text() == prefix {
				t.within = append(t.within, world.Parent(d.path))
			}
		}
	}
	for n := range flow.MaxVariants {
		g, ok := f.Guessed(n)
		if !ok {
			break
		}
		for _, e := range w.absolute(at, g) {
			t.could = append(t.could, e.area)
		}
	}
	if f.MayVanish() || strings.HasPrefix(prefix, "/") {
		bare := flow.Word{}
		for _, p := range f.Parts {
			if p.Hole == nil {
				bare.Parts = append(bare.Parts, p)
			}
		}
		if text := bare.Text(); text != "" {
			for _, e := range w.absolute(at, bare) {
				if e.area != t.area {
					t.could = append(t.could, e.area)
				}
			}
		}
	}
	return t
}

// enter returns the directories a cd to f leads to.
func (w *draft) enter(at where, f flow.Word) []string {
	var dirs []string
	for _, t := range w.absolute(at, f) {
		p := t.path
		if t.glob {
			p = w.anyOf(t)
		}
		if p == "" {
			return nil
		}
		if !slices.Contains(dirs, p) {
			dirs = append(dirs, p)
		}
	}
	if len(dirs) > maxDirs {
		return nil
	}
	return dirs
}

// anyOf stands for each directory of the project that a pattern names, "" if
// it may name others, too.
func (w *draft) anyOf(t target) string {
	if len(w.links) > 0 || t.area != "project" && (t.area != "project_root" || !t.contents) {
		return ""
	}
	p := t.path
	if t.contents {
		p += "/*"
	}
	for c := range strings.SplitSeq(p, "/") {
		if glob.Wild(c) && strings.HasPrefix(c, ".") {
			return ""
		}
	}
	return p
}
