// Package profile says what confined programs may do, as data.
//
// [Builtin] has the profiles of gate, [Profile.At] puts directories in their places, and
// [Narrow] takes away. It confines nothing: internal/confine does, and what decides that a
// call runs confined takes this package alone, which reaches no network and no system call.
package profile

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gate/facts"
)

// A Profile says what a confined program may do. Everything that no list names is
// refused. The zero Profile lets a program see nothing at all.
//
// Paths are absolute and cleaned, with slashes. Before [Profile.At] they may begin with
// "~/" or "{project}". A path stands for itself and for everything below it. Files of
// secrets are refused wherever they lie. Files that start by themselves or guard the
// agent cannot be changed, though a list names them. Both come from the tables of
// facts.
type Profile struct {
	Name  string
	Read  []string // what can be read and run
	Write []string // what can be read, run and changed
	Guard []string // what cannot be changed, though it lies below Write
	Deny  []string // what does not exist, though it lies below Read or Write
	Cache []string // what can be read and changed, where changes are kept apart for the project
	Hosts []string // "host:port" that can be reached, by a proxy; none: there is no network. See [ParseHost]

	// Programs are files and directories out of which programs may be started; none: all
	// that can be read. It guards against accidents only: an interpreter runs any text.
	Programs []string

	// Env are the variables that are kept, with * for any end of a name; none: all.
	// Variables that promise a secret or lead to a socket are never kept.
	Env    []string
	Limits Limits
}

// Limits bound what a program and all that it starts use. Zero is no limit.
type Limits struct {
	Processes int           // at the same time, together
	Files     int           // that one process has open
	Memory    int64         // bytes of its own memory that one process can have
	Temp      int64         // bytes in temporary directories, together
	CPU       time.Duration // of one process, in whole seconds, rounded up
}

// Place says where a profile is to hold.
type Place struct {
	Home    string // the home directory of the account, absolute
	Project string // the project's directory, absolute
}

// Builtin returns a profile of gate's own: project, project-net or look.
func Builtin(name string) (Profile, bool) {
	p := Profile{Name: name, Read: append(machine(), "~/.gitconfig", "~/.config/git"), Limits: ordinary}
	below := func(to *[]string, dirs string) {
		for dir := range strings.FieldsSeq(dirs) {
			*to = append(*to, "~/"+dir)
		}
	}
	below(&p.Read, toolchains)
	switch name {
	case "look":
		p.Read = append(p.Read, "{project}")
		below(&p.Read, caches+" "+fetched)
	case "project":
		p.Write = []string{"{project}"}
		below(&p.Cache, caches)
		below(&p.Read, fetched) // without a network nothing is added
	case "project-net":
		p.Write = []string{"{project}"}
		below(&p.Cache, caches+" "+fetched)
		p.Hosts = strings.Fields(registries)
	default:
		return Profile{}, false
	}
	return p, true
}

// Names are those of the profiles that [Builtin] knows.
func Names() []string { return []string{"project", "project-net", "look"} }

// machine is what programs read of the machine.
func machine() []string {
	return strings.Fields("/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix/store /run/current-system /snap /var/lib/snapd/snap")
}

// toolchains are directories below the home directory that hold programs and libraries.
const toolchains = ".cargo/bin .cargo/env .cargo/config .cargo/config.toml .rustup .pyenv .nvm .rbenv .asdf .volta .bun/bin .deno .sdkman .local/bin .local/lib .local/pipx " +
	".local/share/uv .local/share/mise .local/share/fnm .nodenv .goenv .jenv .rvm .gem .opam .elan .ghcup .stack .juliaup .dotnet .nix-profile .krew/bin go/bin sdk miniconda3 anaconda3 .conda"

// caches are directories below the home directory that tools change whenever they run.
const caches = ".cache .npm .yarn .local/share/pnpm .gradle/caches"

// fetched are those that tools keep in what they fetched.
const fetched = ".cargo/registry .cargo/git go/pkg .m2/repository .nuget/packages .bun/install/cache"

// registries are where tools fetch packages from.
const registries = "proxy.golang.org:443 sum.golang.org:443 registry.npmjs.org:443 pypi.org:443 files.pythonhosted.org:443 " +
	"index.crates.io:443 static.crates.io:443 crates.io:443 rubygems.org:443 index.rubygems.org:443 repo.maven.apache.org:443 repo1.maven.org:443"

// ordinary are limits that builds and tests do not reach.
var ordinary = Limits{Processes: 4096, Temp: 4 << 30}

// At puts the directories of a place where the profile names them, and cleans all paths.
func (p Profile) At(at Place) (Profile, error) {
	for _, dir := range []string{at.Home, at.Project} {
		if !strings.HasPrefix(dir, "/") {
			return Profile{}, fmt.Errorf("the directory %q is not absolute", dir)
		}
	}
	at.Home, at.Project = path.Clean(at.Home), path.Clean(at.Project)
	for _, list := range []*[]string{&p.Read, &p.Write, &p.Guard, &p.Deny, &p.Cache, &p.Programs} {
		var out []string
		for _, name := range *list {
			full, err := at.path(name)
			if err != nil {
				return Profile{}, fmt.Errorf("profile %s: %w", p.Name, err)
			}
			out = append(out, full)
		}
		*list = out
	}
	hosts := make([]string, 0, len(p.Hosts))
	for _, text := range p.Hosts {
		host, err := ParseHost(text)
		if err != nil {
			return Profile{}, fmt.Errorf("profile %s: hosts: %w", p.Name, err)
		}
		hosts = append(hosts, host.String())
	}
	p.Hosts = hosts
	for _, dir := range p.Write {
		if facts := (facts.World{Home: at.Home, OS: "linux"}); Within(at.Home, dir) || facts.Area(dir) == "system" && !Within(dir, at.Home) {
			return Profile{}, fmt.Errorf("profile %s would make %s writable, which is no project but a home directory, one above it, or the system's", p.Name, dir)
		}
	}
	return p, nil
}

func (at Place) path(name string) (string, error) {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Join(at.Home, below), nil
	}
	if below, ok := strings.CutPrefix(name, "{project}"); ok && (below == "" || below[0] == '/') {
		return path.Join(at.Project, below), nil
	}
	if !strings.HasPrefix(name, "/") || strings.Contains(name, "\x00") {
		return "", fmt.Errorf("%q is no absolute path, and begins with neither ~/ nor {project}", name)
	}
	return path.Clean(name), nil
}

// Within reports that a path is dir or lies below it.
func Within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// WithinAny reports that a path lies in one of some directories.
func WithinAny(p string, dirs []string) bool {
	for _, dir := range dirs {
		if Within(p, dir) {
			return true
		}
	}
	return false
}

// An Access is what a program wants to do with a file.
type Access uint8

// The accesses.
const (
	ToRead Access = iota
	ToWrite
)

// May reports whether the lists of a profile let a program do something with a file. Deny
// wins over all of them, and Guard over Write. The tables of secrets are not asked.
func (p Profile) May(do Access, name string) bool {
	switch {
	case WithinAny(name, p.Deny):
		return false
	case do == ToRead:
		return WithinAny(name, p.Read) || WithinAny(name, p.Write) || WithinAny(name, p.Cache)
	}
	return (WithinAny(name, p.Write) || WithinAny(name, p.Cache)) && !WithinAny(name, p.Guard)
}

// Keeps reports a variable that the profile names. The tables of secrets are not asked.
func (p Profile) Keeps(variable string) bool {
	return len(p.Env) == 0 || slices.ContainsFunc(p.Env, func(pattern string) bool { return named(variable, pattern) })
}
