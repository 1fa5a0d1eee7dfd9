package seen

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/addressed"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// shown is what the output of a call has of secrets and, where it is untrusted text, of
// hosts and the like; what the parts of it have that speak to agents; and what the call
// itself chose.
func (s *Seen) shown(ev *hook.Event, facts *hook.Facts) []note {
	n := note{source: s.source(ev, facts)}
	if n.source != sourceWeb { // the public web has no secret of the person's
		x := extraction{}
		x.file, x.named = secretOf(facts)
		outputs(ev, x.text)
		if n.values = x.values; showsPeople(ev, facts, n.source) {
			rows := extraction{register: ofRegister(ev.Tool())}
			outputs(ev, func(_, text string) { rows.people(text) })
			n.values = append(n.values, rows.values...)
		}
		if s.readsRows(facts) {
			rows := extraction{}
			outputs(ev, func(_, text string) { rows.packed(text) })
			n.values = append(n.values, rows.values...)
		}
	}
	own := lexer{bases: true, code: true} // the call named these itself
	listed := false
	calls(ev, facts, func(text string) {
		own.text(text)
		listed = listed || strings.HasSuffix(text, ".keys") || strings.HasSuffix(text, "/keys") // as forges have them of somebody
	})
	for _, name := range described(facts) {
		own.add(kindPackage, packageOf(name))
	}
	said := note{source: sourceAddressed}
	if n.source != sourceNone && n.source < sourceKept || !guides(facts) {
		l := lexer{except: own.have, bases: true, code: true}
		outputs(ev, func(_, text string) {
			for _, part := range addressed.Parts(text) {
				l.text(part)
				l.names(part)
			}
		})
		said.tokens = l.tokens
	}
	l := lexer{except: own.have, bases: true, code: true, listed: listed}
	if n.source != sourceNone {
		outputs(ev, func(_, text string) {
			l.text(text)
			l.numbers(text)
		})
	}
	chosen := s.chosen(ev, facts, n.source)
	if n.source == sourceWeb || n.source == sourceNet {
		for _, name := range commented(ev) {
			l.add(kindPackage, name)
			chosen.tokens = append(chosen.tokens, token{kindWord, saidWord + name})
		}
	}
	n.tokens = l.tokens
	if n.source == sourceServer || n.source == sourceNet {
		people := lexer{}
		prompted := func(...string) bool { return false }
		if kept, err := s.read(); err == nil {
			prompted = func(words ...string) bool { return kept.named([]string{inPrompt}, words...) }
		}
		outputs(ev, func(_, text string) { people.contacts(text, prompted) })
		chosen.tokens = append(chosen.tokens, people.tokens...)
		for _, t := range l.tokens {
			if t.kind == kindPackage && betweenPeople(ev.Tool(), facts) {
				chosen.tokens = append(chosen.tokens, token{kindWord, saidWord + t.text})
			}
		}
	}
	if ev.Name.Canonical() == hook.PostToolUse {
		n.tokens = append(n.tokens, brought(facts)...)
		if n.source == sourceNet {
			n.tokens = append(n.tokens, redirected(facts)...)
		}
	}
	hints := note{source: sourceNet}
	if (n.source == sourceNone || n.source >= sourceKept) && runsPackages(facts) {
		l := lexer{except: own.have}
		outputs(ev, func(_, text string) { l.hints(text) })
		hints.tokens = l.tokens
	}
	if (n.source == sourceNone || n.source >= sourceKept) && (runsPackages(facts) || speaks(facts)) {
		for _, name := range mended(ev) {
			hints.tokens = append(hints.tokens, token{kindPackage, name})
			chosen.tokens = append(chosen.tokens, token{kindWord, saidWord + name})
		}
	}
	spoken := note{source: sourceKept}
	if n.source == sourceNone && speaks(facts) {
		spoken.tokens = messages(ev, own.have)
	}
	return []note{said, hints, n, spoken, chosen}
}

// commented are the packages that visitors of a page name there: in the lines that say whose words
// they are.
func commented(ev *hook.Event) []string {
	l := lexer{}
	outputs(ev, func(_, text string) {
		said := false
		for line := range strings.Lines(text) {
			lower := strings.ToLower(line)
			if strings.TrimSpace(line) == "" {
				said = false
			}
			if said = said || wordlist.HasAny(" comment comments commented reply replies replied answer answered posted wrote commenter ", strings.FieldsFunc(lower, func(r rune) bool { return !(r >= 'a' && r <= 'z') })) &&
				(strings.Contains(lower, " by ") || strings.Contains(lower, " from ") || strings.Contains(lower, "@") || strings.Contains(line, ":")); said && len(line) < maxCommented {
				l.names(line)
			}
		}
	})
	var names []string
	for _, t := range l.tokens {
		if t.kind == kindPackage && len(names) < maxPlaces {
			names = append(names, t.text)
		}
	}
	return names
}

// maxCommented is the longest line of a comment that is read, in bytes.
const maxCommented = 4 << 10

// runsPackages reports a call whose output is text of packages: it installs, tests or starts them.
func runsPackages(f *hook.Facts) bool {
	if f != nil && f.Shell != nil {
		for i := range f.Shell.Commands {
			if c := &f.Shell.Commands[i]; !wordlist.Has(" ls list outdated ", text(c.Subcommand)) && wordlist.Has(" npm pnpm yarn bun npx node vitest jest pip pip3 pipx uv poetry pytest composer bundle gem cargo turbo nx go dotnet mix "+builders, text(c.Program)) {
				return true
			}
		}
	}
	return false
}

// speaks reports a call whose output others made up: that of a program which neither shows files
// nor settings of this machine. Servers, devices and packages put their texts into messages.
func speaks(f *hook.Facts) bool {
	if f == nil || f.Shell == nil {
		return false
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if c.Program == nil || wordlist.Has(showers, *c.Program) {
			continue
		}
		if !slices.ContainsFunc(c.Words[:min(len(c.Words), 4)], func(w hook.Word) bool {
			return w.Value != nil && wordlist.Has(" config configure remote env ls whoami status get-url show-ref print settings ", *w.Value)
		}) {
			return true
		}
	}
	return false
}

// maxSpoken is how much of each end of an output is read for the names in messages, in bytes.
const maxSpoken = 8 << 10

// endsOf are the beginning and the end of an output, where programs put what matters.
func endsOf(text string) [2]string {
	return [...]string{text[:min(len(text), maxSpoken)], text[max(min(len(text), maxSpoken), len(text)-maxSpoken):]}
}

// addressSigns are what addresses, places on forges and registries, and actions have.
const addressSigns = ":// @ .com/ .io/ .org/ .co/ .ht/ .aws/ .sh/"

// messages are the hosts and repositories that the output of a program names, at its beginning
// and its end.
func messages(ev *hook.Event, own map[token]bool) []token {
	l := lexer{except: own, code: true}
	outputs(ev, func(_, text string) {
		for _, part := range endsOf(text) {
			if !slices.ContainsFunc(strings.Fields(addressSigns), func(sign string) bool { return strings.Contains(part, sign) }) {
				continue // most outputs name none
			}
			for _, h := range Hosts(part) {
				l.add(kindHost, hostOf(h.Host))
			}
			for _, name := range Repositories(part) {
				l.add(kindWord, ofCode+name)
			}
		}
	})
	return l.tokens[:min(len(l.tokens), maxPlaces)]
}

// showers are programs that show what this machine has, or pass on what they are given.
const showers = " cat bat head tail less more grep egrep fgrep rg ag awk gawk sed cut tr sort uniq wc jq yq xq dasel column fmt fold tee echo printf ls tree find fd stat file du df pwd cd env printenv set export source . " +
	"git make just task which type command test [ true false sleep date uname hostname id whoami ps pgrep history alias diff cmp base64 xxd od hexdump strings sqlite3 psql mysql redis-cli sh bash zsh dash xargs "

// installs reports a call that fetches packages: texts of theirs, and of where they come from, stand
// in its output.
func installs(f *hook.Facts) bool {
	if f.Shell == nil {
		return false
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		verb, _, _ := strings.Cut(text(c.Subcommand), " ")
		verb, _, _ = strings.Cut(verb, ".") // deps.get
		if verb == "" && len(c.Operands) > 0 {
			verb = text(c.Operands[0])
		}
		if wordlist.Has(builders, text(c.Program)) && !wordlist.Has(" config list show get info status version view describe remote env help --version -v -V targets projects properties dump ", verb) {
			return true // what is built has texts of others, too
		}
		if wordlist.Has(" npm pnpm yarn bun pip pip3 pipx uv poetry pdm pipenv conda mamba dotnet nuget mvn mvnw gradle gradlew terraform tofu helm cargo go gem bundle composer pod swift mix cabal stack opam conan vcpkg brew apt apt-get dnf yum apk pacman flatpak snap choco winget ansible-galaxy packer vagrant luarocks cpanm docker podman git ", text(c.Program)) &&
			wordlist.Has(" install i ci add restore update upgrade get sync lock fetch mod tidy init doctor pull dependency deps require compile build package resolve up download audit outdated push clone submodule ", verb) {
			return true
		}
	}
	return false
}

// builders are programs that configure, build, test or flash what a project has of others.
const builders = " cmake ctest ninja make gmake meson autoreconf bazel bazelisk buck2 scons xmake premake5 waf west idf.py platformio pio esphome arduino-cli zig nim nimble crystal shards dune stack cabal sbt mill lein rebar3 " +
	"xcodebuild swift gradle gradlew mvn mvnw ant msbuild ng vite webpack rollup parcel esbuild next nuxt astro gatsby hugo jekyll eleventy mkdocs sphinx-build quarto docusaurus tsc jest vitest mocha pytest tox nox rspec phpunit " +
	"spack nextflow snakemake conan vcpkg flatpak snap opam luarocks mix rebar3 ansible-galaxy ansible-playbook ansible-lint packer skaffold tilt nix nix-build nix-shell nixos-rebuild home-manager guix pre-commit act tflint terraform tofu helmfile kustomize flux argocd hass latexmk pdflatex dbt airflow prefect dagster "

// hints adds the packages that lines of an output want to be started. A line behind ">" is that of
// a script of the project.
func (l *lexer) hints(text string) {
	all := lexer{}
	for line := range strings.Lines(text) {
		if line[0] != '>' && starts(line) {
			all.lines(line)
		}
	}
	for _, t := range all.tokens {
		if t.kind == kindPackage {
			l.add(t.kind, t.text)
		}
	}
}

// mended are the packages that lines of an output want to be installed and whose names say that they
// mend another one: of a package nobody knows who wants that.
func mended(ev *hook.Event) (names []string) {
	all := lexer{}
	outputs(ev, func(_, text string) {
		ends := endsOf(text)
		for line := range strings.Lines(ends[0] + ends[1]) {
			if line[0] != '>' && (strings.Contains(line, "install ") || strings.Contains(line, " add ") || strings.Contains(line, " i ") || strings.Contains(line, " get ")) {
				all.lines(line)
				all.names(line)
			}
		}
	})
	for _, t := range all.tokens {
		words := strings.FieldsFunc(t.text, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		if t.kind == kindPackage && len(words) > 1 && wordlist.Has(" fix fixed fixes hotfix hotfixed patch patched patches repaired unofficial fork forked ", words[len(words)-1]) && len(names) < maxPlaces {
			names = append(names, t.text)
		}
	}
	return names
}

// starts reports a line that names a program which fetches what it runs.
func starts(line string) bool {
	for _, w := range [...]string{"npx ", "uvx ", "bunx ", " dlx ", "pipx run ", "pipx install ", "bun x ", "npm exec ", "npm create ", "npm init ", "cargo install ", "go run ", "go install ", "uv tool ", "dotnet tool ", "gem exec ", "mix escript.install "} {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// guides reports a call that reads what a project tells agents.
func guides(f *hook.Facts) bool {
	if f == nil {
		return false
	}
	for i := range f.Paths {
		if p := f.Paths[i].Path; p != nil && forAgents(*p) {
			return true
		}
	}
	return false
}

// secretOf is the kind of secret that a call reads by its facts, "" for none. hidden reports
// that it shows none of them.
func secretOf(f *hook.Facts) (what string, hidden bool) {
	if f == nil {
		return "", false
	}
	hidden = true
	for i := range f.Effects {
		if r, ok := f.Effects[i].Is.(*hook.SecretRead); ok {
			what, hidden = cmp.Or(what, r.What), hidden && !r.Shown
		}
	}
	for i := range f.Paths {
		if p := &f.Paths[i]; what == "" && i < maxPlaces && p.Access == "read" && p.Path != nil && isNamedSecret(*p.Path) {
			return unnamed, false
		}
	}
	return what, hidden && what != ""
}

// isNamedSecret reports a file that holds nothing but a secret, by its name: token, api_key.txt.
func isNamedSecret(file string) bool {
	base := path.Base(file)
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(base, "."), ".txt"), ".secret")
	return strings.IndexByte(name, '.') < 0 && secret.Promises(name)
}

// source says whether the output of a call is untrusted text, and of which kind.
func (s *Seen) source(ev *hook.Event, f *hook.Facts) source {
	tool := ev.Tool()
	if name, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(name, "__")
		if s.Trusts != nil && s.Trusts(server) {
			return sourceNone
		}
		return sourceServer
	}
	lower := strings.ToLower(tool)
	if strings.HasPrefix(lower, "web") || strings.Contains(lower, "browser") || strings.Contains(lower, "web_search") {
		return sourceWeb
	}
	if lower == "task" || lower == "agent" || strings.HasSuffix(lower, "subagent") { // nobody knows where it looked
		return sourceHelper
	}
	if f == nil {
		return sourceNone
	}
	for i := range f.Effects {
		if e, ok := f.Effects[i].Is.(*hook.NetFetch); ok && !loopback(e.Host) {
			if f.Effects[i].Command == 0 {
				return sourceWeb
			}
			return sourceNet
		}
	}
	if f.Shell != nil {
		for i := range f.Shell.Commands {
			if c := &f.Shell.Commands[i]; c.Program != nil && fromPeople(*c.Program, text(c.Subcommand)) {
				return sourceNet
			}
		}
	}
	reads := readBy(f)
	if s.places(reads) {
		return sourceCloned
	}
	for _, t := range brought(f) { // in this very line
		if slices.Contains(reads, t) {
			return sourceCloned
		}
	}
	if keptByOthers(f) || installs(f) {
		return sourceKept
	}
	return sourceNone
}

// fromPeople reports a program that shows what people wrote in issues, comments and pages
// of a service.
func fromPeople(program, verb string) bool {
	first, rest, _ := strings.Cut(verb, " ")
	switch program {
	case "gh":
		return first == "api" || first == "search" || first == "browse" || strings.Contains(" view list diff status checks download ", " "+rest+" ") && rest != ""
	case "glab", "hub", "jira", "linear", "tea":
		return true
	case "lynx", "w3m", "links", "elinks":
		return true
	}
	return describes(program, verb)
}

// betweenPeople reports a tool of a server, or a command, that shows what people wrote to each other.
func betweenPeople(tool string, f *hook.Facts) bool {
	verb := tool
	if f != nil && f.Shell != nil {
		for i := range f.Shell.Commands {
			if c := &f.Shell.Commands[i]; wordlist.Has(" gh glab ", text(c.Program)) {
				if verb = text(c.Subcommand); strings.HasPrefix(verb, "pr ") || strings.HasPrefix(verb, "mr ") {
					return true
				}
				for _, o := range c.Operands { // gh api repos/o/r/pulls/9/comments
					verb += " " + strings.ReplaceAll(text(o), "pulls", "pull")
				}
			}
		}
	}
	for _, word := range strings.Fields("issue comment pull review discussion thread message mail inbox slack channel ticket jira") {
		if strings.Contains(verb, word) {
			return true
		}
	}
	return false
}

// describes reports a program that shows what the owner of a package says of it.
func describes(program, verb string) bool {
	verbs := ""
	switch program {
	case "npm", "pnpm", "yarn", "bun":
		verbs = " view info show v search find docs readme npm "
	case "pip", "pip3":
		verbs = " show search "
	case "cargo":
		verbs = " info search "
	case "gem":
		verbs = " info search contents spec specification "
	case "composer":
		verbs = " show search "
	case "helm":
		verbs = " show search "
	}
	first, _, _ := strings.Cut(verb, " ")
	return first != "" && strings.Contains(verbs, " "+first+" ")
}

// described are the packages that a call has described: it names them itself.
func described(f *hook.Facts) (names []string) {
	if f == nil || f.Shell == nil {
		return nil
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if c.Program == nil || !describes(*c.Program, text(c.Subcommand)) {
			continue
		}
		for _, o := range c.Operands {
			names = append(names, text(o))
		}
	}
	return names
}

// loopback reports a host that is this machine: what it says this machine's programs say.
func loopback(host *string) bool {
	return host != nil && (*host == "localhost" || strings.HasPrefix(*host, "127.") || *host == "::1" || *host == "[::1]")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// maxPlaces is how many paths of a call are looked at.
const maxPlaces = 64

// readBy are the files that a call reads, and the directories above them.
func readBy(f *hook.Facts) []token {
	l := lexer{}
	for i := range f.Paths {
		p := &f.Paths[i]
		if i == maxPlaces || p.Access == "write" || p.Access == "delete" || p.Access == "permissions" {
			continue
		}
		for _, name := range []*string{p.Path, p.Resolved} {
			for at := text(name); len(at) > 1; at = path.Dir(at) {
				l.add(kindPlace, at)
			}
		}
	}
	return l.tokens
}

// brought are the directories that a call clones, and the files that it fetches.
func brought(f *hook.Facts) []token {
	var l lexer
	if f == nil {
		return nil
	}
	for i := range f.Effects {
		e, ok := f.Effects[i].Is.(*hook.NetFetch)
		if !ok || e.To == nil || loopback(e.Host) {
			continue
		}
		to := *e.To
		if id := f.Effects[i].Command; !path.IsAbs(to) && f.Shell != nil && id > 0 && id <= len(f.Shell.Commands) {
			to = path.Join(text(f.Shell.Commands[id-1].Dir), to)
		}
		if path.IsAbs(to) {
			l.add(kindPlace, path.Clean(to))
		}
	}
	if f.Shell == nil {
		return l.tokens
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		verb := text(c.Subcommand)
		if !(text(c.Program) == "git" && verb == "clone" || text(c.Program) == "gh" && verb == "repo clone") {
			continue
		}
		ops := c.Operands
		for len(ops) > 0 && strings.Contains(" clone repo ", " "+text(ops[0])+" ") {
			ops = ops[1:]
		}
		if len(ops) == 0 || ops[0] == nil {
			continue
		}
		to := strings.TrimSuffix(path.Base(strings.TrimRight(strings.ReplaceAll(*ops[0], ":", "/"), "/")), ".git")
		if len(ops) > 1 && ops[1] != nil {
			to = *ops[1]
		}
		if !path.IsAbs(to) {
			to = path.Join(text(c.Dir), to)
		}
		if path.IsAbs(to) {
			l.add(kindPlace, path.Clean(to))
		}
	}
	return l.tokens
}

// redirected are the files that a call writes which shows what others wrote.
func redirected(f *hook.Facts) []token {
	var l lexer
	for i := range f.Effects {
		if e, ok := f.Effects[i].Is.(*hook.FSWrite); ok && e.Path != nil && !e.Recursive && e.How != "delete" {
			l.add(kindPlace, path.Clean(*e.Path))
		}
	}
	return l.tokens
}

// calls calls f for each text of a call: its input, and the words and inputs of its
// commands as a shell makes them.
func calls(ev *hook.Event, facts *hook.Facts, f func(string)) {
	texts("", any(ev.ToolInput()), func(_, text string) { f(text) })
	if facts == nil {
		return
	}
	for i := range facts.Hosts {
		f(text(facts.Hosts[i].Host))
		f(text(facts.Hosts[i].URL))
	}
	for i := range facts.Code {
		f(text(facts.Code[i].Text))
	}
	if facts.Shell == nil {
		return
	}
	for i := range facts.Shell.Commands {
		c := &facts.Shell.Commands[i]
		var joined strings.Builder
		for _, w := range c.Words {
			f(text(w.Value))
			joined.WriteString(text(w.Value))
		}
		f(joined.String())
		for _, v := range c.Env {
			f(text(v))
		}
		if c.Stdin != nil {
			f(text(c.Stdin.Text))
		}
	}
}

// forAgents reports a file by which a project tells agents what to do.
func forAgents(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	return strings.Contains(" agents.md claude.md gemini.md skill.md .cursorrules .windsurfrules .clinerules copilot-instructions.md ", " "+name+" ") || strings.HasSuffix(name, ".mdc")
}
