package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrRun is the error of a program that the go tool made for one run.
var ErrRun = errors.New("it is a temporary program of go run; build gate to a place of its own first")

// A Start is how gate was started, and all that decides which path an entry has to name
// so that it holds. All paths are absolute.
type Start struct {
	Program string   // as the system names it
	Real    string   // with links followed
	Links   []Link   // other paths of gate, the best first
	Temp    []string // directories of temporary files
	Home    string   // of the person
	Version string   // of gate, such as "v1.2.3"; others count for nothing

	// Copies is gate's own directory for copies of its programs; "" where there can
	// be none, and NoCopies says why. Copied says that gate lies there already, Copy
	// that the person wants it there.
	Copies   string
	NoCopies string
	Copied   bool
	Copy     bool
}

// A Link is another path that leads to a program gate.
type Link struct {
	Path string
	Real string // what it leads to
	Hook string // what gate-hook beside it leads to; "" for nothing
	Weak string // why somebody else could change the link; "" if nobody can
}

// A Written is the path of gate that entries name.
type Written struct {
	Program string
	Copy    bool   // it is a copy of the program that was started, to be made or brought up to date first
	Note    string // what the person should know; "" for nothing
	Remedy  string // of what the note says is wrong; "" if nothing is
}

// Written says which path entries name: one that an upgrade of gate leaves where it is,
// as far as there is one.
func (s Start) Written() (Written, error) {
	where := s.lasting(s.Real)
	if s.Copy || where.stay == passes || where.stay == upgraded && s.Copied && s.link(where).Path == "" {
		return s.copied(where)
	}
	if where.stay != upgraded {
		return Written{Program: s.Program}, nil
	}
	link := s.link(where)
	if link.Path != "" && link.Weak == "" {
		return Written{Program: link.Path, Note: "entries name " + link.Path + ", which survives an upgrade"}, nil
	}
	w := Written{Program: s.Program, Note: "an upgrade removes this program, and calls then close: it lies in " + where.what,
		Remedy: "put a link to it, and one to gate-hook, into a directory of PATH, or keep copies in gate's own directory with --copy; then run gate install again"}
	if link.Weak != "" {
		w.Note += "; the link " + link.Path + " does not serve: " + link.Weak
	}
	return w, nil
}

// copied is the path of the copy.
func (s Start) copied(where place) (Written, error) {
	switch {
	case where.what == goRun:
		return Written{}, fmt.Errorf("%s: %w", s.Program, ErrRun)
	case s.Copies == "":
		return Written{}, fmt.Errorf("%s lies in %s and does not stay there, and it cannot be copied: %s", s.Program, where.whose(), s.NoCopies)
	case filepath.Dir(s.Real) == s.Copies:
		return Written{Program: s.Program}, nil
	}
	w := Written{Program: filepath.Join(s.Copies, filepath.Base(s.Real)), Copy: true}
	if where.stay == stays {
		w.Note = "entries name the copies in " + s.Copies + ": run this again after each upgrade of gate"
	} else {
		w.Note = "gate lies in " + where.whose() + ", so entries name the copies in " + s.Copies + ": run this again after each upgrade of gate"
	}
	return w, nil
}

// link is the best of the links that lead to the program that was started and stay. One
// that somebody else could change comes last.
func (s Start) link(place) (best Link) {
	for _, l := range s.Links {
		if l.Real != s.Real || s.lasting(l.Path).stay != stays {
			continue
		}
		whole := filepath.Dir(l.Hook) == filepath.Dir(s.Real)
		switch {
		case best.Path == "", best.Weak != "" && l.Weak == "", (best.Weak == "") == (l.Weak == "") && best.Hook == "" && whole:
			if !whole {
				l.Hook = ""
			}
			best = l
		}
	}
	return best
}

// Candidates are paths beside PATH that may lead to a program at this real path, and
// stay: those that package managers keep for whatever version is there.
func (s Start) Candidates() []string {
	var out []string
	dir, name := filepath.Split(s.Real)
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	where := s.lasting(s.Real)
	join := func(parts []string, more ...string) {
		path := filepath.FromSlash(strings.Join(slices.Concat(parts, more), "/"))
		out = append(out, filepath.Join(path, name))
	}
	switch {
	case where.stay != upgraded:
		return nil
	case where.what == homebrew:
		i := where.at - 2 // …/Cellar/gate/1.2/bin
		join(parts[:i], "bin")
		join(parts[:i], "opt", parts[i+1], "bin")
	case where.what == nixStore:
		out = append(out, filepath.Join(s.Home, ".nix-profile", "bin", name), filepath.Join("/etc/profiles/per-user", filepath.Base(s.Home), "bin", name),
			filepath.Join("/run/current-system/sw/bin", name), filepath.Join("/nix/var/nix/profiles/default/bin", name))
	default: // scoop and snap call the one in use current, mise calls it latest
		join(parts[:where.at], append([]string{"current"}, parts[where.at+1:]...)...)
		join(parts[:where.at], append([]string{"latest"}, parts[where.at+1:]...)...)
	}
	return out
}

// A stay says how long a program stays where it is.
type stay int

const (
	stays    stay = iota // until somebody takes it away
	upgraded             // until another version takes its place
	passes               // until whoever put it there cleans up
)

// A place is where a program lies.
type place struct {
	stay stay
	what string // for people: "Homebrew's Cellar"
	at   int    // where stay is upgraded: the element of the directory that names the version
}

func (p place) whose() string {
	if p.what == "" {
		return "this directory"
	}
	return p.what
}

const (
	goRun    = "the directory of a go run"
	homebrew = "Homebrew's Cellar"
	nixStore = "the Nix store"
)

// A placeRow is a run of elements of a directory's path, "/" between them; * stands for
// any text in one of them, # for one that begins with a digit, or with v and a digit.
type placeRow struct{ elements, what string }

// passing are the places of programs for one run.
var passing = [...]placeRow{
	{"go-build*", goRun},
	{"_npx", "npx's cache"},
	{"pnpm/dlx*", "the cache of pnpm dlx"},
	{".pnpm-store", "pnpm's store"},
	{"pnpm/store", "pnpm's store"},
	{"dlx-*", "the cache of yarn dlx"},
	{"xfs-*", "the cache of yarn dlx"},
	{"bunx-*", "the cache of bunx"},
	{".bunx-*", "the cache of bunx"},
	{".bun/install/cache", "bun's cache"},
	{".yarn/unplugged", "a project's packages, where agents write"},
	{"deno/npm", "deno's cache"},
	{".mount_*", "an AppImage"},
	{"AppTranslocation", "a place that macOS made for one run"},
}

// versioned are places that name the version of what lies there: the last element does.
var versioned = [...]placeRow{
	{"Cellar/*/*", homebrew},
	{"nix/store/*", nixStore},
	{"gnu/store/*", "the Guix store"},
	{"scoop/apps/*/#", "a version of Scoop's"},
	{"mise/installs/*/#", "a version of mise's"},
	{".asdf/installs/*/#", "a version of asdf's"},
	{"asdf/installs/*/#", "a version of asdf's"},
	{"snap/*/#", "a revision of a snap"},
	{"pkg/mod/*", "Go's module cache"},
	{"gate-#", "the directory of one version"},
	{"gate_#", "the directory of one version"},
	{"gate@*", "the directory of one version"},
}

// lasting says how long a program stays at a path.
func (s Start) lasting(path string) place {
	dir := filepath.Dir(path)
	parts := strings.Split(filepath.ToSlash(dir), "/")
	for _, row := range passing {
		if runIn(parts, row.elements) >= 0 {
			return place{stay: passes, what: row.what}
		}
	}
	if slices.ContainsFunc(s.Temp, func(temp string) bool { return inside(path, temp) && !inside(s.Home, temp) }) {
		return place{stay: passes, what: "a directory of temporary files"}
	}
	if what := packages(parts); what != "" {
		return place{stay: passes, what: what}
	}
	for _, row := range versioned {
		if at := runIn(parts, row.elements); at >= 0 && !slices.Contains([]string{"current", "latest"}, parts[at]) {
			return place{upgraded, row.what, at}
		}
	}
	for at, part := range parts {
		if isVersion(part) || s.named(part) {
			return place{upgraded, "the directory of one version", at}
		}
	}
	return place{}
}

// packages says whose node_modules a directory lies in, "" if in none. Those for the whole
// account or machine lie below lib, npm, nodejs or global. They do not serve either: npm
// takes a program away for seconds while it upgrades it, and then writes it in place; what
// pnpm and bun put there shares its bytes with the copies in projects.
func packages(parts []string) string {
	i := slices.Index(parts, "node_modules")
	switch {
	case i < 0:
		return ""
	case i > 0 && slices.Contains([]string{"lib", "lib64", "npm", "nodejs"}, parts[i-1]), slices.Contains(parts[:i], "global"):
		return "a node_modules, which loses its programs during each upgrade"
	}
	return "a project's node_modules, where agents write"
}

// named reports the name of a directory that has gate's version in it.
func (s Start) named(part string) bool {
	version := strings.TrimPrefix(s.Version, "v")
	version, _, _ = strings.Cut(version, "+")
	return isVersion(version) && strings.Contains(part, version)
}

// isVersion reports a word such as 1.2, v1.2.3 or 1.2.3-rc1.
func isVersion(word string) bool {
	word, _, _ = strings.Cut(strings.TrimPrefix(word, "v"), "-")
	numbers := strings.Split(word, ".")
	return len(numbers) > 1 && !slices.ContainsFunc(numbers, func(n string) bool {
		return n == "" || strings.Trim(n, "0123456789") != ""
	})
}

// runIn returns where the last of a run of elements stands in a path, -1 if there is no
// such run.
func runIn(parts []string, run string) int {
	elements := strings.Split(run, "/")
	for i := 0; i+len(elements) <= len(parts); i++ {
		if slices.EqualFunc(parts[i:i+len(elements)], elements, matches) {
			return i + len(elements) - 1
		}
	}
	return -1
}

// matches reports whether an element of a path is what an element of a row says.
func matches(part, row string) bool {
	if before, found := strings.CutSuffix(row, "#"); found {
		rest, found := strings.CutPrefix(part, before)
		rest = strings.TrimPrefix(rest, "v")
		return found && rest != "" && '0' <= rest[0] && rest[0] <= '9'
	}
	ok, err := filepath.Match(row, part)
	return ok && err == nil
}
