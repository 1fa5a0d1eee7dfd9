package draft

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// Limits of what is looked at for one line.
const (
	maxEntries = 30000 // names of files, in all directories
	maxPath    = 4096  // bytes of PATH
)

// systemDirs are where a program lies that only the machine's administrator puts there, or
// a package manager for a person who is one.
const systemDirs = " /bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /opt/homebrew/sbin /run/current-system/sw/bin /run/wrappers/bin "

// disturbing are variables of the process by which a shell or any program runs other code,
// reads other settings or looks elsewhere.
const disturbing = "BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH GLOBIGNORE EXECIGNORE IFS ZDOTDIR LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH LD_ORIGIN_PATH GCONV_PATH LOCPATH NLSPATH " +
	"GLIBC_TUNABLES DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH DYLD_FALLBACK_FRAMEWORK_PATH DYLD_VERSIONED_LIBRARY_PATH GREP_OPTIONS RIPGREP_CONFIG_PATH " +
	"MAGIC JQ_LIBRARY_PATH DATEMSK"

// Ground completes what decides beside the commands of the line, or takes it back where it
// is not known as a whole: see [hook.Ground]. It looks at files only where no other part
// of the line is in doubt.
func (d *Draft) Ground() {
	s := d.Facts.Shell
	if s == nil || s.Ground == nil {
		return
	}
	g := &grounds{Draft: d, is: s.Ground, left: maxEntries}
	g.is.Programs, g.is.Leaves, g.is.Whole, g.is.Secrets = []string{}, []string{}, []string{}, []string{}
	if d.Facts.Opaque || len(d.Facts.Unknown) > 0 || len(d.Facts.Hosts) > 0 || len(d.Facts.Code) > 0 || d.World.Getenv == nil || !g.programs() || !g.paths() {
		s.Ground = nil
		return
	}
	for _, list := range []*[]string{&g.is.Programs, &g.is.Leaves, &g.is.Whole, &g.is.Secrets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// A grounds is a Ground while it is worked out.
type grounds struct {
	*Draft
	is   *hook.Ground
	left int // names of files that may still be looked at
}

// programs notes the programs that are not the system's, as far as PATH says, and the
// variables that may make another one of any. It reports false where PATH is not known.
func (g *grounds) programs() bool {
	for name := range strings.FieldsSeq(disturbing) {
		if value, set := g.World.Env(name); set && value != "" {
			g.is.Programs = append(g.is.Programs, name)
		}
	}
	search, set := g.World.Env("PATH")
	if !set || len(search) > maxPath {
		return false
	}
	dirs := strings.Split(search, ":")
	if slices.ContainsFunc(dirs, g.open) {
		g.is.Programs = append(g.is.Programs, "PATH")
	}
	for i := range g.Facts.Shell.Commands {
		c := &g.Facts.Shell.Commands[i]
		if c.Program == nil {
			return false
		}
		if c.Path == nil && !g.systems(dirs, *c.Program) {
			g.is.Programs = append(g.is.Programs, *c.Program)
		}
		if *c.Program == "git" && !g.systems(dirs, "ssh") {
			g.is.Programs = append(g.is.Programs, "ssh")
		}
	}
	return true
}

// open reports an entry of PATH in which an agent may put a program as it works: a relative
// one, and one of the project. The programs in any other entry are looked at.
func (g *grounds) open(dir string) bool {
	if !path.IsAbs(dir) {
		return true
	}
	to, known := g.World.Resolve(path.Clean(dir), nil, true)
	return !known || world.Below(to, g.World.Project)
}

// systems reports a program that the first directory of PATH to hold one has from the
// system, or none of them has. A function of the environment comes before all.
func (g *grounds) systems(dirs []string, program string) bool {
	if _, set := g.World.Env("BASH_FUNC_" + program + "%%"); set {
		return false
	}
	if program == "jq" && g.World.Exists(g.World.Home+"/.jq") { // a program that jq takes before its own
		return false
	}
	for _, dir := range dirs {
		if g.World.Exists(path.Join(dir, program)) {
			return wordlist.Has(systemDirs, path.Clean(dir))
		}
	}
	return true
}

// names are programs that use a file without opening it.
const names = " [ basename cd dirname du file find git ls readlink realpath stat test tree "

// paths looks at what operands and patterns stand for. It reports false where that is not
// known as a whole.
func (g *grounds) paths() bool {
	searched := map[int]bool{} // commands with a path
	for i := range g.Facts.Paths {
		p := &g.Facts.Paths[i]
		searched[p.Command] = true
		if p.Path == nil {
			return false
		}
		if p.Access != "read" && p.Access != "list" && p.Access != "use" || !g.World.InProject(*p.Path) && !p.Glob {
			continue // of other places policies go by the name
		}
		program := ""
		if p.Command > 0 {
			program = flow.Text(g.Facts.Shell.Commands[p.Command-1].Program)
		}
		if program == "git" && g.World.IsDirectory(*p.Path) {
			g.is.Whole = append(g.is.Whole, *p.Path)
		}
		reads := p.Access == "read" || p.Access == "use" && !wordlist.Has(names, program)
		if p.Glob && !g.matches(*p.Path, reads) || !p.Glob && !g.file(*p.Path, *p.Path, reads) {
			return false
		}
	}
	for i := range g.Facts.Shell.Commands {
		c := &g.Facts.Shell.Commands[i]
		if !searched[c.ID] && searches(c) && (c.Dir == nil || !g.file(*c.Dir, *c.Dir, true)) {
			return false
		}
	}
	return true
}

// searches reports a command that looks through its directory where it names no file.
func searches(c *hook.ShellCommand) bool {
	switch flow.Text(c.Program) {
	case "grep":
		return len(c.Options["recursive"]) > 0
	case "rg":
		return c.Stdin == nil
	}
	return false
}

// matches looks at what a pattern may stand for: each part of it that is none is taken as
// it is, of others any name with the same beginning and end.
func (g *grounds) matches(pattern string, reads bool) bool {
	if !strings.ContainsAny(pattern, meta) {
		pattern += "/*" // all that a directory holds
	}
	base := pattern
	for strings.ContainsAny(base, meta) {
		base = world.Parent(base)
	}
	if !g.World.InProject(base) && base == "/" {
		return false
	}
	rest := strings.Split(strings.Trim(strings.TrimPrefix(pattern, base), "/"), "/")
	return g.below(base, base, rest, reads)
}

// meta are characters with which a pattern begins or ends.
const meta = `*?[]{}()!+@\^#`

func (g *grounds) below(base, dir string, parts []string, reads bool) bool {
	if len(parts) == 0 {
		return g.file(base, dir, reads)
	}
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, meta) {
		return !g.World.Exists(dir+"/"+part) || g.below(base, dir+"/"+part, rest, reads)
	}
	if strings.Contains(part, "**") {
		return false // how deep it goes is the shell's
	}
	list, err := g.list(dir)
	if err != nil {
		return !g.World.IsDirectory(dir)
	}
	before, after := part[:strings.IndexAny(part, meta)], part[strings.LastIndexAny(part, meta)+1:]
	for _, e := range list {
		if name := e.Name(); len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) && !g.below(base, dir+"/"+name, rest, reads) {
			return false
		}
	}
	return true
}

// list is what a directory holds, behind links.
func (g *grounds) list(dir string) ([]fs.DirEntry, error) {
	to, known := g.World.Resolve(dir, nil, true)
	if !known {
		return nil, fs.ErrInvalid
	}
	list, err := g.World.List(to, g.left)
	g.left -= len(list)
	return list, err
}

// file looks at one file that is listed or read: where links lead, and what lies below.
func (g *grounds) file(base, name string, reads bool) bool {
	to, known := g.World.Resolve(name, nil, true)
	if !known {
		return false
	}
	if !g.World.InProject(to) && (g.World.InProject(base) || !world.Below(to, base)) {
		g.is.Leaves = append(g.is.Leaves, name)
		return true
	}
	if !reads {
		return true
	}
	g.secret(name)
	g.secret(to)
	if !g.World.IsDirectory(to) {
		return true
	}
	g.is.Whole = append(g.is.Whole, name)
	return g.tree(to)
}

// secret notes a file whose name tells of a secret.
func (g *grounds) secret(name string) {
	if what, _ := g.Secret(name); what != "" || g.World.Twin(name) != "" {
		g.is.Secrets = append(g.is.Secrets, name)
	}
}

// tree looks at all that lies below a directory, without following links.
func (g *grounds) tree(dir string) bool {
	list, err := g.World.List(dir, g.left)
	if g.left -= len(list); err != nil {
		return false
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if !g.tree(name) {
				return false
			}
			continue
		}
		g.secret(name)
	}
	return true
}
