package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// anyRunners are programs with a row of the catalogue that run code of a project, or what its
// settings say, in a language that [recipeRows] do not name. Of a program without a row
// nobody knows better.
const anyRunners = " autoconf autoreconf automake tex latex pdflatex xelatex lualatex luatex xetex pdftex latexmk dub raku perl6 cabal stack nimble nim rebar3 lein clj clojure mill sbt bb " +
	"conan spack raco racket luarocks zef shards opam pulumi cdk cdktf sam serverless chalice zappa sst airflow puppet chef-client chef-solo chef-apply salt-call knife cap fab pyinfra bolt " +
	"mongosh mongo guix nix nix-build nix-shell devbox devenv terraform tofu opentofu terragrunt gitlab-ci-local gitlab-runner circleci woodpecker-cli drone jenkinsfile-runner forge hardhat foundry anchor " +
	"buck buck2 pants please scons waf tup ctest meson ninja xmake premake5 k6 erl elixir mix iex julia Rscript R ghc runghc crystal groovy scala scala-cli kotlin guile sbcl ecl clisp janet " +
	"xcodebuild xcodegen invoke-pester invoke-build invoke-psake mvn mvnw gradle gradlew ant bazel bazelisk fpm alr cpan cpanm rake jbang " +
	"gosh chez emacs nvim vim octave gdb lldb pre-commit lefthook husky phpunit rspec busted earthly vagrant packer nx turbo lerna moon act tilt skaffold quarto "

// onlyTools are programs of [recipeRows] that run a few files of the project alone, which
// have rows there, or none.
const onlyTools = " pip pip3 uv build pipx poetry pdm hatch easy_install bundle bundler gem brew pod npm pnpm yarn composer javac rustc kotlinc csc husky concurrently tsc tsserver swiftc ld as ranlib strip scalac golangci-lint staticcheck shellcheck hadolint actionlint yamllint jsonlint markdownlint vale buf protoc pyright bandit typedoc " +
	"docker podman buildah nerdctl docker-compose podman-compose kubectl oc helm kustomize ssh scp sftp rsync tmux screen psql make gmake bmake just task go-task direnv systemctl git code "

// linters are programs that load their own plug-ins and settings alone.
const linters = " eslint prettier stylelint commitlint lint-staged rubocop mypy pylint phpstan psalm php-cs-fixer svgr steep ruff black flake8 biome "

// looking are first words by which a program only tells or lays out something.
const looking = " help version list ls show info status st fmt format search new init login logout whoami config completion completions env doctor docs lint diff log -h --help -V -v --version "

// anyCode judges by [use.lineage] the files that agents wrote in the project, and that no row
// of [recipeRows] names for the tool: one that runs code of the project may load each of them.
func (u *use) anyCode(tool string) {
	if u.Looking { // what code seems to start is not followed to other code
		return
	}
	endings := u.endingsRun(tool)
	if endings == "" {
		return
	}
	list := u.Authored()
	if len(list) == 0 || !u.Afford(nameSteps*len(list)) { // Overspent says so
		return
	}
	places := append(u.places(), u.World.Project)
	for _, file := range list {
		ending := path.Ext(file)
		switch {
		case u.Looked[file], runsElsewhere(file) && !wordlist.Has(runsSteps, tool), ofMigrations(strings.ToLower(file)), endings != "*" && (ending == "" || !wordlist.Has(endings, ending)):
		case !slices.ContainsFunc(places, func(dir string) bool { return dir != "" && dir != u.World.Home && world.Below(file, dir) }):
		case wordlist.Has(linters, tool) && !ofPlugin(file, tool):
		default:
			u.looksThrough(file)
		}
	}
}

// looksThrough is [use.anyCode] for one file.
func (u *use) looksThrough(file string) {
	st, _ := u.AuthoredText(file)
	whole, known := st.Template()
	if !known || !whole.Literal() {
		return
	}
	text := whole.Text()
	if u.name != "" {
		text = u.ofVerb("compiled", file, text)
	}
	if path.Ext(file) == ".ipynb" {
		text = notebookCode(text)
	}
	if text == "" {
		return
	}
	u.looked(file)
	u.Looking = true
	u.shell.Enter("recipe "+file, func() {
		if wordlist.Has(" .sh .bash .zsh .ksh .bats .fish .command ", path.Ext(file)) && u.affords(lineSteps+inspectSteps*len(text)) {
			u.asksOf(u.shell.Try(text))
		}
		u.commandsIn(text)
		u.lineageIn(file, text)
	})
	u.Looking = false
}

// lineageIn is [use.lineage] for the text of a file. Tests clear their own databases.
func (u *use) lineageIn(file, text string) {
	u.lineage(u.withImports(file, u.climbs(file, text)))
	if !u.Afford(inspectSteps * len(text)) {
		return
	}
	if code.ForcesPush(text) {
		u.asksAbout("code that an agent wrote pushes a history over that of others")
	}
	if code.SecretInAddress(text) {
		u.asksAbout("code that an agent wrote puts a secret into an address")
	}
	if code.RunsFetched(text) {
		u.asksAbout("code that an agent wrote runs what it fetches")
	}
	if why := u.dropsOfOthers(text); why != "" {
		u.asksAbout(why)
	}
	if !code.DropsFound(text) {
		return
	}
	lower := strings.ToLower(strings.TrimPrefix(file, u.World.Project))
	if !slices.ContainsFunc([]string{"test", "spec", "fixture", "e2e", "mock"}, func(part string) bool { return strings.Contains(lower, part) }) {
		u.asksAbout(dropsFound)
	}
}

const dropsFound = "code that an agent wrote drops all that it finds in a database"

// looked notes that the text of a file was looked through for the event.
func (u *use) looked(file string) {
	if u.Looked == nil {
		u.Looked = map[string]bool{}
	}
	u.Looked[file] = true
}

// endingsRun are the endings of files that a tool may run, between blanks: "*" for all of
// them, "" where it runs none.
func (u *use) endingsRun(tool string) (endings string) {
	if given := u.Given(); len(given) > 0 && wordlist.Has(looking, given[0].Text()) || u.asks {
		return ""
	}
	switch {
	case u.name == "", wordlist.Has(anyRunners, tool):
		return "*"
	case wordlist.Has(onlyTools, tool):
		return ""
	case len(u.row.Operands) > 0 && u.row.Operands[0].Name == "execute" && len(u.rest) > 0: // an interpreter
		if endings = suffixes(u.row.Operands[0].Detail); endings == "" && u.row.Operands[0].Detail != "bash" {
			return "*"
		}
	}
	for line := range strings.Lines(recipeRows) {
		tools, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		names, kind, _ := strings.Cut(rest, " | ")
		if !wordlist.Has(" "+tools+" ", tool) {
			continue
		}
		if endings += suffixes(kind); !wordlist.Has(" compiled lineage elixir ", kind) {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(name, "*.") {
				endings += " " + name[1:] + " "
			}
		}
	}
	if endings == "" && u.row.Output == "filter" && len(u.row.Operands)+len(u.row.Effects) == 0 && u.row.Special == "" && !u.row.Verbs {
		return "*" // the catalogue knows no more of it than its name
	}
	if name := u.Words[0].Text(); endings == "" && strings.Contains(name, "/") && slices.ContainsFunc(u.targets(u.Words[0]), func(t draft.Target) bool { return world.Below(t.Path, u.World.Project) }) {
		return "*" // a program of the project
	}
	return endings
}

// runsSteps are programs that run on this machine what others run elsewhere.
const runsSteps = " act gitlab-ci-local gitlab-runner circleci woodpecker-cli drone jenkinsfile-runner "

// runsElsewhere reports a file of steps that run on another machine or within an image.
func runsElsewhere(file string) bool {
	base := path.Base(file)
	for _, part := range []string{"/.github/", "/.gitlab", "/.circleci/", "/.buildkite/", "/.woodpecker", "/azure-pipelines", "/bitbucket-pipelines", "/Jenkinsfile", "/.drone", "/.travis"} {
		if strings.Contains(file, part) {
			return true
		}
	}
	return strings.Contains(base, "ockerfile") || strings.HasPrefix(base, "Containerfile") || strings.Contains(base, "cloud-init")
}

// ofPlugin reports a file that may be a plug-in or a setting of a linter.
func ofPlugin(file, tool string) bool {
	lower := strings.ToLower(file)
	return slices.ContainsFunc([]string{tool, "plugin", "rule", "lint", "config", "format", ".rc", "check"}, func(part string) bool { return strings.Contains(lower, part) })
}

// commandsIn asks about lines of a shell that stand in the text of a program in any language,
// as texts in quotes, as lists of words or alone in a line, and that surely do harm.
func (u *use) commandsIn(text string) {
	if !u.affords(inspectSteps * len(text)) {
		return
	}
	lines := commandLines(text)
	if joined := code.Joined(text); joined != text { // "rm" + " -rf"
		lines = append(lines, commandLines(joined)...)
	}
	for _, line := range lines {
		if first, _, _ := strings.Cut(line, " "); first == "" || strings.IndexByte("'./~$_({[", first[0]) < 0 && (first[0] < 'a' || first[0] > 'z') || strings.HasSuffix(first, ":") { // a sentence for people
			continue
		}
		if !u.affords(lineSteps + inspectSteps*len(line)) {
			return
		}
		if u.asksOf(u.shell.Try(line)) {
			return
		}
	}
}

// asksOf asks about effects of commands in code, and reports whether they do harm.
func (u *use) asksOf(found []hook.FactEffect) bool {
	why := u.harms(found)
	if why != "" {
		u.asksAbout("a command in code that an agent wrote " + why)
	}
	return why != ""
}

// harms says what effects do that no program of a project has to do, "" for none.
func (u *use) harms(found []hook.FactEffect) string {
	for _, e := range found {
		switch is := e.Is.(type) {
		case *hook.FSDelete:
			if is.Path != nil && (wordlist.Has(" home root device ", is.Area) || is.Area == "system" && is.Recursive || is.Area == "user" && is.Recursive && keptOfHome(u.World.Home, *is.Path)) {
				return "deletes far from the project"
			}
		case *hook.ExecShell:
			if is.How != "interactive" {
				return "opens a shell to another machine"
			}
		case *hook.ExecRemote:
			if is.Via == "pipe" && !doubtful(e) {
				return "runs a program that it fetches"
			}
		case *hook.Persistence:
			if !doubtful(e) && is.Verb == "write" && wordlist.Has(" cron service authorized_keys setuid loader autostart ", strings.ReplaceAll(is.What, " ", "_")) { // installers write the files of shells
				return "writes what starts by itself: " + is.What
			}
		case *hook.NetSend:
			if is.Secret != nil {
				return "sends a secret"
			}
		case *hook.GitHistory:
			if is.Verb == "filter-branch" || is.Verb == "filter-repo" {
				return "rewrites the history of the repository"
			}
		case *hook.GitPush:
			if is.Mirror || is.Force && (is.All || !is.Lease && is.BranchesFrom == "refspec") {
				return "pushes a history over that of others"
			}
		case *hook.Infrastructure:
			if is.Access == "delete" {
				return "deletes what runs or is kept elsewhere: " + is.Tool
			}
		case *hook.Kubernetes:
			if is.Access == "delete" {
				return "deletes what runs in a cluster"
			}
		case *hook.Disk:
			if is.Verb == "wipe" || is.Verb == "format" || is.Verb == "write" {
				return "writes over a disk"
			}
		}
	}
	return ""
}

// keptOfHome reports a directory of the home directory that no program of a project clears.
func keptOfHome(home, p string) bool {
	name, below := strings.CutPrefix(p, home+"/")
	name = strings.TrimSuffix(name, "/*")
	return below && (strings.HasPrefix(name, "*") || strings.HasPrefix(name, ".*") ||
		wordlist.Has(" .ssh .gnupg .aws .kube .config .local .local/share .docker .password-store .mozilla .thunderbird Documents Desktop Pictures Downloads Music Videos Library Projects projects src work code dev go ", name))
}

// maxCommands bounds the lines of one text that [use.commandsIn] looks at.
const maxCommands = 64

// commandLines are the lines of a shell that a text may have some program run.
func commandLines(text string) (lines []string) {
	add := func(line string) {
		if len(lines) < maxCommands {
			lines = append(lines, line)
		}
	}
	for _, found := range harmfulText().FindAllStringSubmatch(text, maxCommands) {
		line := found[0]
		switch line[0] {
		case '"':
			line = unquote(line[1 : len(line)-1])
		case '\'', '`':
			line = line[1 : len(line)-1]
		}
		add(homeOfShell(line))
	}
	for _, found := range harmfulList().FindAllStringSubmatch(text, maxCommands) {
		if words, _ := quotedWords("[" + found[0] + "]"); len(words) > 1 {
			add(shellLine(words))
			if makesLine().MatchString(text) {
				add(homeOfShell(strings.Join(words, " ")))
			}
		}
	}
	for _, found := range wordsInOne().FindAllStringSubmatch(text, maxCommands) { // %w[rm -rf x], qw(rm -rf x)
		add(homeOfShell(found[1]))
	}
	for _, found := range withCommas().FindAllStringSubmatch(text, maxCommands) {
		add(homeOfShell(strings.ReplaceAll(found[1], ",", " ")))
	}
	for _, found := range cutApart().FindAllStringSubmatch(text, maxCommands) { // "rm,-rf,x".split(",")
		if sign := found[2] + found[4]; sign != "" {
			add(homeOfShell(strings.ReplaceAll(found[1]+found[3], sign, " ")))
		}
	}
	for _, found := range harmfulLine().FindAllStringSubmatch(text, maxCommands) {
		add(homeOfShell(strings.TrimRight(found[1], "\\")))
	}
	return lines
}

// homeOfShell has the ways in which tools name the home directory as a shell does.
func homeOfShell(line string) string {
	return strings.NewReplacer("$(HOME)", "$HOME", "$ENV{HOME}", "$HOME", "{{.HOME}}", "$HOME", "%USERPROFILE%", "$HOME", "$$", "$").Replace(line)
}

// harmfulWord is how lines begin that may do harm.
const harmfulWord = `(?:sudo\s+)?(?:aws|gcloud|az|kubectl|oc|helm|terraform|tofu|pulumi|doctl|gsutil|s3cmd|heroku|flyctl|fly|vercel|netlify|gh|glab|linode-cli|hcloud|eksctl|rm|shred|dd|mkfs[.\w]*|find|curl|wget|nc|ncat|socat|tar|cat|scp|rsync|crontab|chmod|tee|bash|sh|git|mv|cp|echo|printf|env|printenv|xargs|base64|security|(?:perl|ruby|php|node|python3?)\s+-[a-z]*[ecr])`

var (
	harmfulText = lazy("\"(?:[^\"\\\\\\n]|\\\\.)*?\\b" + harmfulWord + "\\s(?:[^\"\\\\\\n]|\\\\.)*\"|'[^'\\n]*?\\b" + harmfulWord + "\\s[^'\\n]*'|`[^`]*?\\b" + harmfulWord + "\\s[^`]*`")
	harmfulList = lazy(`["'](?:/usr)?(?:/s?bin/)?` + harmfulWord + `["']\s*(?:,\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')\s*)+`)
	makesLine   = lazy(`\bunwords\b|\bjoin\b|\bimplode\b|\bintercalate\b|\bstring-join\b|\bpaste\(|\bconcat\b`)
	withCommas  = lazy(`["'](` + harmfulWord + `(?:,[^\s,"'\n]+){1,12})["']`)
	wordsInOne  = lazy(`(?:%[wW]|\bqw/?)\s*[\[({/|<!]\s*(` + harmfulWord + `\s[^\])}>|!\n]*)`)
	cutApart    = lazy(`"(` + harmfulWord + `[^"\n]{2,200})"\s*(?:\.|\|>\s*String\.)split\(\s*["']([^"'\n]{1,3})["']|'(` + harmfulWord + `[^'\n]{2,200})'\s*\.split\(\s*["']([^"'\n]{1,3})["']`)
	harmfulLine = lazy(`(?m)^[ \t]*(?:- |@|\$ |RUN |run |exec |sh |shell |system |[\w.-]+\s*[:=]\s*[>|]?\s*)*(` + harmfulWord + `\s+[-~/$].*)$`)
)
