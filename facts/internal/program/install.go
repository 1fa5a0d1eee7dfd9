package program

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// A packager is a family of programs that take packages from one registry, and how they
// are told of another one. Lists stand between blanks.
type packager struct {
	programs string
	options  string // whose value is an address; the first that is given counts
	others   string // options that add registries to it: nobody knows which one is taken
	environ  string // variables, the first that is set counts
	files    string // settings of the project, and of the account behind ~
	keys     string // of those files
	more     string // texts in those files that let more than keys decide
	registry string // where they look without being told
	locks    string // lock files, and in them the texts before an address
	address  string
}

var packagers = [...]packager{
	{
		programs: " npm pnpm yarn bun npx pnpx bunx ", options: "registry",
		environ: "npm_config_registry NPM_CONFIG_REGISTRY YARN_NPM_REGISTRY_SERVER YARN_REGISTRY BUN_CONFIG_REGISTRY",
		files:   ".npmrc .yarnrc .yarnrc.yml bunfig.toml ~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.bunfig.toml", keys: " registry npmRegistryServer ",
		registry: "https://registry.npmjs.org/",
		locks:    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock", address: `"resolved": "|  resolved "|tarball: |", "`,
	},
	{
		programs: " pip uv uvx pipx ", options: "index-url default-index index", others: "extra-index-url find-links",
		environ:  "PIP_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_URL",
		files:    "uv.toml pyproject.toml ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.config/uv/uv.toml /etc/pip.conf",
		keys:     " index-url ",
		more:     "tool.uv.index tool.uv.sources [[index]] extra-index-url find-links",
		registry: "https://pypi.org/simple/",
		locks:    "uv.lock", address: `registry = "|git = "|url = "`,
	},
	{programs: " gem bundle ", options: "source", files: "~/.gemrc", more: ":sources: sources:", registry: "https://rubygems.org/", locks: "Gemfile.lock", address: "remote: "},
	{
		programs: " cargo ", options: "index", others: "registry", environ: "CARGO_REGISTRY_DEFAULT", files: ".cargo/config.toml .cargo/config ~/.cargo/config.toml",
		more: "replace-with [registry] registry.default", registry: "https://index.crates.io/",
	},
	{programs: " go ", environ: "GOPROXY", registry: "https://proxy.golang.org"},
	{programs: " composer ", others: "repository", files: "composer.json", more: `"repositories"`, registry: "https://repo.packagist.org/"},
	{programs: " dotnet ", others: "source", files: "nuget.config NuGet.Config", more: "<add", registry: "https://api.nuget.org/v3/index.json"},
}

// installed completes what the program is said to install: from which registry, by
// what list, and from whose host.
func (u *use) installed() {
	for _, e := range slices.Backward(u.Facts.Effects) {
		if e.Command != 0 && e.Command < u.ID {
			return // of a command before this one, as all before it are
		}
		is, ok := e.Is.(*hook.PackageInstall)
		if !ok || e.Command != u.ID || is.Host != nil || is.Registry != nil {
			continue
		}
		if is.From == "" {
			is.From = "names"
		}
		switch is.Source {
		case "registry", "file": // what a file needs comes from there, too
			is.Registry = u.registryOf(is.Packages)
			if is.Registry != nil && !u.listsAddresses(is) {
				is.Host = flow.Known(peer.Parse(*is.Registry, true).Host)
			}
		case "url":
			is.From, is.Host = "address", hostOf(is.Packages)
		}
	}
}

// hostOf is the host of a package that is named by its address.
func hostOf(packages []*string) *string {
	if len(packages) != 1 || packages[0] == nil {
		return nil
	}
	text := *packages[0]
	if scheme, rest, ok := strings.Cut(text, "://"); ok { // name @ git+https://host/path
		scheme = scheme[strings.LastIndexAny(scheme, " @=")+1:]
		return flow.Known(peer.Parse(strings.TrimPrefix(scheme, "git+")+"://"+rest, true).Host)
	}
	if at := strings.Index(text, "git@"); at >= 0 {
		host, _, _ := strings.Cut(text[at+len("git@"):], ":")
		return flow.Known(host)
	}
	host, _, prefixed := strings.Cut(text, ":")
	switch {
	case !prefixed, host == "github", host == "gist":
		return new("github.com")
	case host == "gitlab":
		return new("gitlab.com")
	case host == "bitbucket":
		return new("bitbucket.org")
	}
	return nil
}

// packager is the family of the program, nil for one that gate knows no registry of.
func (u *use) packager() *packager {
	name := u.name
	if strings.HasPrefix(name, "pip3") {
		name = "pip"
	}
	for i := range packagers {
		if wordlist.Has(packagers[i].programs, name) {
			return &packagers[i]
		}
	}
	return nil
}

// registryOf is the address of the registry that packages come from, nil where that is
// not known: the line's options come first, then variables, then files of settings.
func (u *use) registryOf(packages []*string) *string {
	p := u.packager()
	if p == nil || u.at().Remote {
		return nil
	}
	for name := range strings.FieldsSeq(p.others) {
		if _, given := u.opt(name); given {
			return nil
		}
	}
	scope := scopeOf(packages)
	for name := range strings.FieldsSeq(p.options) {
		if f, given := u.opt(name); given && scope == "" {
			return addressIn(flow.Text(f.Value()))
		}
	}
	if u.changedRegistry(p) {
		return nil
	}
	for name := range strings.FieldsSeq(p.environ) {
		if f, set := u.environ(name); set && scope == "" {
			first, _, _ := strings.Cut(flow.Text(f.Value()), ",")
			return addressIn(first)
		}
	}
	return u.settledRegistry(p, scope)
}

// scopeOf is the scope of npm that all packages share, @acme, "" without one.
func scopeOf(packages []*string) string {
	scope := ""
	for i, one := range packages {
		s := ""
		if one != nil && strings.HasPrefix(*one, "@") {
			s, _, _ = strings.Cut(*one, "/")
		}
		if i > 0 && s != scope {
			return ""
		}
		scope = s
	}
	return scope
}

// changedRegistry reports a command before this one that changes the family's settings.
func (u *use) changedRegistry(p *packager) bool {
	return slices.ContainsFunc(u.Commands()[:max(0, u.ID-1)], func(c hook.ShellCommand) bool {
		if c.Program == nil || c.Subcommand == nil || !wordlist.Has(p.programs, *c.Program) {
			return false
		}
		verb, _, _ := strings.Cut(*c.Subcommand, " ")
		return wordlist.Has(" config c set sources env nuget ", verb)
	})
}

// settledRegistry is the registry that files of settings name, the nearest file first,
// or the family's own where none does. It is nil where a file cannot be read.
func (u *use) settledRegistry(p *packager, scope string) *string {
	for name := range strings.FieldsSeq(p.files) {
		text, err := u.settingsFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil
		}
		for mark := range strings.FieldsSeq(p.more) {
			if strings.Contains(text, mark) {
				return nil
			}
		}
		if address, found := registryIn(text, p.keys, scope); found {
			return address
		}
	}
	return new(p.registry)
}

// settingsFile is the text of a file of settings or of a list, as the line leaves it.
func (u *use) settingsFile(name string) (string, error) {
	switch rest, ofAccount := strings.CutPrefix(name, "~"); {
	case name == "":
		return "", errNotKnown
	case ofAccount && u.World.Home == "":
		return "", errNotKnown
	case ofAccount:
		name = u.World.Home + rest
	case name[0] == '/':
	case len(u.at().Dirs) != 1:
		return "", errNotKnown
	default:
		name = path.Join(u.at().Dirs[0], name)
	}
	if st, written := u.Files[name]; written {
		if st.Text == nil {
			return "", errNotKnown
		}
		return *st.Text, nil
	}
	return u.World.Read(name, maxLock)
}

var errNotKnown = errors.New("not known which file, or what it holds")

// registryIn finds the registry in a text of settings, whatever its notation: a line
// holds a key, a sign or a blank, and an address. A scope of its own comes first.
func registryIn(text, keys, scope string) (address *string, found bool) {
	for line := range strings.Lines(text) {
		at := strings.IndexAny(line, "=: \t")
		if strings.HasPrefix(line, "@") { // @acme:registry=…
			at = strings.Index(line, "=")
		}
		if at <= 0 {
			continue
		}
		key := strings.Trim(line[:at], ` "'`)
		value := strings.Trim(line[at:], "=: \t\r\n\"'")
		switch {
		case scope != "" && key == scope+":registry":
			return addressIn(value), true
		case wordlist.Has(keys, key) && !found:
			address, found = addressIn(value), true
		}
	}
	return address, found
}

// addressIn is an address of the web, nil for anything else: a name, a variable.
func addressIn(text string) *string {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") || strings.Contains(text, "$") {
		return nil
	}
	return &text
}

// listsAddresses reports a list of packages that may name others than the registry: a
// lock file with an address elsewhere, or requirements with an address or another
// index. A list that cannot be read may name anybody.
func (u *use) listsAddresses(is *hook.PackageInstall) bool {
	switch is.From {
	case "lock":
		return u.locksElsewhere(peer.Parse(*is.Registry, true).Host)
	case "requirements":
		return slices.ContainsFunc(slices.Concat(u.opts["requirement"], u.opts["requirements"]), func(f flow.Word) bool {
			text, err := u.settingsFile(flow.Text(f.Value()))
			return err != nil || strings.Contains(text, "://") || strings.HasPrefix(text, "-") || strings.Contains(text, "\n-")
		})
	}
	return false
}

// maxLock is the size in bytes of the largest lock file that is read.
const maxLock = 4 << 20

// locksElsewhere reports a lock file of the directory that names another host than the
// registry's, or that cannot be read. Without one the registry decides.
func (u *use) locksElsewhere(host string) bool {
	p := u.packager()
	if p.locks == "" {
		return true
	}
	for name := range strings.FieldsSeq(p.locks) {
		text, err := u.settingsFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return true
		}
		for mark := range strings.SplitSeq(p.address, "|") {
			if addressElsewhere(text, mark, host) {
				return true
			}
		}
	}
	return false
}

// addressElsewhere reports an address behind a mark whose host is another one. Paths of
// the project are none.
func addressElsewhere(text, mark, host string) bool {
	for {
		_, after, found := strings.Cut(text, mark)
		if !found {
			return false
		}
		text = after
		address, _, _ := strings.Cut(after[:min(len(after), 200)], "\n")
		scheme, rest, ok := strings.Cut(address, "://")
		if ok && !sameRegistry(peer.Parse(strings.TrimPrefix(scheme, "git+")+"://"+rest, true).Host, host) {
			return true
		}
	}
}

// sameRegistry reports that two hosts are one registry. Yarn's is another name of npm's.
func sameRegistry(a, b string) bool {
	return a == b || a == "registry.yarnpkg.com" && b == "registry.npmjs.org"
}

// fetchesToRun records the package that a program takes from a registry to run it at
// once, as npx does with one that the project does not have.
func (u *use) fetchesToRun(inner []flow.Word) {
	if u.ID == 0 || u.has("no-install") || u.has("no") || slices.Equal(u.verbs, []string{"exec"}) && u.name != "npm" {
		return
	}
	for _, f := range u.packagesToRun(inner) {
		text := f.Text()
		if f.Value() == nil || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.Contains(text, "://") || u.hasLocal(text) {
			continue
		}
		u.effect(&hook.PackageInstall{Tool: u.name, Packages: []*string{&text}, Source: "registry", From: "run"})
	}
	u.installed()
}

// packagesToRun are the packages that options of npx and its like name, or the one of
// the program's own name.
func (u *use) packagesToRun(inner []flow.Word) []flow.Word {
	var words []flow.Word
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "package" {
			words = append(words, a.value)
		}
	}
	if len(words) == 0 && len(inner) > 0 {
		words = inner[:1]
	}
	return words
}

// hasLocal reports a program that the project has installed for npx and its like.
func (u *use) hasLocal(text string) bool {
	if !wordlist.Has(" npx bunx npm bun ", u.name) {
		return false
	}
	name := text
	if at := strings.LastIndex(text, "@"); at > 0 {
		name = text[:at]
	}
	for _, dir := range u.at().Dirs {
		for ; world.Below(dir, u.World.Project) || dir == u.World.Project; dir = path.Dir(dir) {
			if u.World.Exists(path.Join(dir, "node_modules/.bin", path.Base(name))) {
				return true
			}
			if dir == "/" {
				break
			}
		}
	}
	return false
}
