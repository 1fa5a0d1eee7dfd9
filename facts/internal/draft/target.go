package draft

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/facts/internal/world"
)

// A Target is one path that a word can be.
type Target struct {
	raw      string
	written  string   // raw, with … for what is not known; "" is raw itself
	under    string   // raw, below the unknown directory that the line began in; "" is raw itself
	Path     string   // cleaned and absolute; "" when unknown
	Area     string   // graver of the path as written and behind linked directories
	Followed string   // graver of area and what a link at the end points to
	Resolved string   // "" when the same or unknown
	could    []string // areas it might be as well
	Glob     bool
	Contents bool     // everything inside path
	within   []string // directories in which it is a name that is not known
	dir      bool     // written with a trailing slash
	lost     bool     // its links lead in a circle
	circle   bool     // the link at its end does
}

// Absolute returns the paths a word can be, seen from the directories the
// shell can be in.
func (d *Draft) Absolute(at Where, f flow.Word) []Target {
	if at.Windows {
		f = windows(f)
	}
	patterns, known := f.Patterns()
	if !known {
		return []Target{d.partial(at, f)}
	}
	var out []Target
	for _, p := range patterns {
		if p == "" {
			continue
		}
		if strings.HasPrefix(p, "~/") || p == "~" {
			p = glob.Escape(d.World.Home) + p[1:]
		}
		if rest, ok := strings.CutPrefix(p, "~"+d.World.Home[strings.LastIndexByte(d.World.Home, '/')+1:]+"/"); ok && d.World.Home != "" {
			p = glob.Escape(d.World.Home) + "/" + rest
		}
		if after, ok := strings.CutPrefix(p, "file://"); ok {
			p = strings.TrimPrefix(after, "localhost")
		}
		if strings.HasPrefix(p, "/") {
			out = d.targets(out, p, f)
			continue
		}
		if len(at.Dirs) == 0 {
			t := Target{raw: p, Area: "unknown", Glob: glob.Wild(p)}
			if at.Under != "" {
				t.under = at.Under + "/" + p
			}
			out = append(out, t)
			continue
		}
		for _, from := range at.Dirs {
			if glob.Wild(from) && slices.Contains(strings.Split(p, "/"), "..") { // it is one of several, which may be links
				out = append(out, Target{raw: p, Area: "unknown", Glob: glob.Wild(p)})
			}
			out = d.targets(out, glob.Escape(from)+"/"+p, f)
		}
	}
	return out
}

// targets adds what a pattern stands for. Programs take .. behind a link for the directory
// above the one that it leads to, others for the one in which the link lies.
func (d *Draft) targets(out []Target, pattern string, f flow.Word) []Target {
	out = append(out, d.target(pattern, f))
	t := &out[len(out)-1]
	if t.Path == "" || t.Glob || !strings.Contains(pattern+"/", "/../") {
		return out
	}
	real, ok := d.World.Resolve(d.World.ProcSelf(glob.Unescape(pattern)), d.Links, true)
	if ok && real != cmp.Or(t.Resolved, t.Path) {
		out = append(out, d.target(glob.Escape(real), f))
	}
	return out
}

// target judges one absolute pattern.
//
//go:noinline
func (d *Draft) target(pattern string, f flow.Word) Target {
	t := Target{raw: f.Text(), dir: strings.HasSuffix(pattern, "/")}
	pattern = path.Clean(pattern)
	pattern = d.World.ProcSelf(pattern)
	if glob.Wild(pattern) {
		return d.globTarget(t, pattern)
	}
	t.Path = glob.Unescape(pattern)
	d.place(&t)
	return t
}

// place fills in where a known path lies, as written and as resolved.
func (d *Draft) place(t *Target) {
	t.Area = d.World.Area(t.Path)
	named, ok1 := d.World.Resolve(t.Path, d.Links, false)
	resolved, ok2 := d.World.Resolve(t.Path, d.Links, true)
	if !ok1 || !ok2 {
		t.Area, t.Followed = "unknown", "unknown"
		t.lost, t.circle = !ok1, true
		return
	}
	if twin := d.World.Twin(resolved); twin != "" {
		resolved = twin
	}
	t.Area = world.Graver(t.Area, d.World.Area(named))
	t.Followed = world.Graver(t.Area, d.World.Area(resolved))
	if resolved != t.Path {
		t.Resolved = resolved
	}
}

// globTarget judges a pattern by what it can match.
func (d *Draft) globTarget(t Target, pattern string) Target {
	t.Glob = true
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
		t.Path, t.Contents = base, true
		d.place(&t)
		if len(rest) > 1 && t.Area == "root" {
			t.Area = "root"
		}
		return t
	}
	t.Path = strings.TrimSuffix(base, "/") + "/" + strings.Join(rest, "/")
	t.Area = d.World.Area(strings.TrimSuffix(base, "/") + "/" + sample(rest))
	// A pattern right below the root or home may match what matters there.
	for _, p := range d.World.Landmarks() {
		if glob.MayPath(pattern, p) {
			t.Area = world.Graver(t.Area, d.World.Area(p))
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
func (d *Draft) partial(at Where, f flow.Word) Target {
	t := Target{raw: f.Text(), written: f.Written(), Area: "unknown"}
	prefix := f.Prefix()
	if last := f.Parts[len(f.Parts)-1]; prefix == "/proc/" && last.Hole == nil && (last.Text == "/environ" || last.Text == "/mem") {
		return d.target("/proc/0"+last.Text, f) // of whichever process
	}
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		dir := prefix[:i+1]
		for _, known := range d.Absolute(at, flow.Literal(dir+"gate-unknown")) {
			t.Area = known.Area
			if dir == prefix && f.Text() == prefix {
				t.within = append(t.within, world.Parent(known.Path))
			}
		}
	}
	for n := range flow.MaxVariants {
		g, ok := f.Guessed(n)
		if !ok {
			break
		}
		for _, e := range d.Absolute(at, g) {
			t.could = append(t.could, e.Area)
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
			for _, e := range d.Absolute(at, bare) {
				if e.Area != t.Area {
					t.could = append(t.could, e.Area)
				}
			}
		}
	}
	return t
}

// Directories returns the directories a cd to f leads to.
func (d *Draft) Directories(at Where, f flow.Word) []string {
	var dirs []string
	for _, t := range d.Absolute(at, f) {
		p := t.Path
		if t.Glob {
			p = d.anyOf(t)
		}
		if p == "" {
			return nil
		}
		if !slices.Contains(dirs, p) {
			dirs = append(dirs, p)
		}
	}
	if len(dirs) > MaxDirs {
		return nil
	}
	return dirs
}

// anyOf stands for each directory of the project that a pattern names, "" if
// it may name others, too.
func (d *Draft) anyOf(t Target) string {
	if len(d.Links) > 0 || t.Area != "project" && (t.Area != "project_root" || !t.Contents) {
		return ""
	}
	p := t.Path
	if t.Contents {
		p += "/*"
	}
	for c := range strings.SplitSeq(p, "/") {
		if glob.Wild(c) && strings.HasPrefix(c, ".") {
			return ""
		}
	}
	return p
}
