package program

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/facts/internal/sql"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// recipeRows are tools that read a file to know what to run: the tools, the names of
// the files, and the kind of their text. A kind is a language of package code, or one
// that [use.recipe] knows.
const recipeRows = `swift xcodebuild | *.swift | compiled
dotnet msbuild xbuild | *.targets *.props *.csproj *.fsproj *.vbproj *.proj | msbuild
dotnet csi csc | *.cs *.fs *.csx *.fsx | compiled
zig | *.zig | compiled
dbt | *.sql dbt_project.yml | dbt
make gmake bmake | GNUmakefile makefile Makefile *.mk *.mak | make
just | justfile Justfile .justfile *.just | just
task go-task | Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml taskfile.dist.yml Taskfile.dist.yaml taskfile.dist.yaml Taskfile*.y*ml | task
mage go | *.go | compiled
cargo rustc cross | *.rs | compiled
cargo cross | .cargo/config.toml .cargo/config | cargo
gradle gradlew mvn mvnw | gradle-wrapper.properties maven-wrapper.properties | wrapper
mvn mvnw | pom.xml | maven
ant | build.xml | maven
docker podman buildah nerdctl docker-compose podman-compose | Dockerfile* *.Dockerfile *.dockerfile Containerfile* | docker
gradle gradlew | *.gradle *.kts | compiled
java kotlin scala scala-cli groovy jbang | *.java *.kt *.kts *.scala *.sc *.groovy | compiled
dart flutter | *.dart | compiled
julia crystal nim runghc ghci stack cabal | *.jl *.cr *.nim *.hs | compiled
mvn mvnw gradle gradlew sbt javac kotlinc | *.java *.kt *.groovy *.scala *.sbt | compiled
pytest py.test nosetests unittest tox nox coverage | conftest.py test_*.py *_test.py | python
nox | noxfile.py | nox
pip pip3 uv build pipx poetry pdm hatch easy_install | setup.py hatch_build.py build.py | python
pip pip3 uv build pipx poetry pdm hatch | pyproject.toml | backend
tox | tox.ini setup.cfg | ini
fab | fabfile.py | python
invoke inv | tasks.py | python
scons | SConstruct SConscript | python
doit | dodo.py | python
waf | wscript | python
sphinx-build | conf.py | python
celery gunicorn uvicorn locust | *.conf.py celeryconfig.py locustfile.py gunicorn.conf.py | python
rake rails rspec | Rakefile rakefile *.rake spec_helper.rb *_spec.rb | ruby
bundle bundler gem | Gemfile *.gemspec extconf.rb | ruby
vagrant | Vagrantfile | ruby
pod | Podfile *.podspec | ruby
fastlane | Fastfile | ruby
cap | Capfile deploy.rb | ruby
brew | Brewfile | ruby
grunt gulp vite vitest webpack rollup jest mocha ava tap eslint prettier babel parcel next nuxt astro svelte-kit remix cypress playwright karma tailwindcss postcss esbuild swc commitlint lint-staged storybook expo ng metro tsup rspack rsbuild drizzle-kit gatsby ember quasar vue-cli-service craco react-router react-scripts wdio graphql-codegen codeceptjs docusaurus vitepress eleventy electron-forge electron-builder electron-vite sanity medusa hardhat truffle cap sst trigger knex stencil unocss nightwatch nx turbo plop semantic-release release-it svgr stylelint tsdown tsx wrangler start-storybook build-storybook react-native vinxi nitro nitropack solid-start qwik pm2 | Gruntfile.* gulpfile.* *.config.js *.config.mjs *.config.cjs *.config.ts *.config.mts *.config.cts *.conf.js *.conf.ts *.test.js *.test.ts *.test.mjs *.spec.js *.spec.ts *rc.js *rc.cjs *rc.mjs *rc.ts .babelrc.js *.setup.js *.setup.ts *.setup.mjs *.setup.cjs setup.js setup.ts setupTests.* *global-setup.* *global-teardown.* globalSetup.* globalTeardown.* plugins/index.* support/e2e.* support/commands.* .storybook/*.js .storybook/*.ts .storybook/*.mjs .storybook/*.cjs .vitepress/config.* gatsby-*.js gatsby-*.ts gatsby-*.mjs ember-cli-build.js .eleventy.js codegen.ts codegen.js plopfile.* knexfile.* truffle-config.js medusa-config.* vite-plugin-*.* webpack.*.js | node
cmake ctest cpack | CMakeLists.txt *.cmake | cmake
direnv | .envrc | envrc
docker-compose docker podman podman-compose nerdctl | docker-compose*.y*ml compose*.y*ml | compose
pre-commit prek | .pre-commit-config.yaml | yaml
lefthook | lefthook.y*ml .lefthook.y*ml | yaml
foreman overmind honcho hivemind goreman | Procfile* | procfile
act | *.yml *.yaml | yaml
gitlab-ci-local gitlab-runner | .gitlab-ci.yml | yaml
snakemake | Snakefile *.smk | yaml
alembic flask django-admin manage.py yoyo aerich | *.py | migration
rails rake | *.rb schema.rb | migration
knex sequelize sequelize-cli typeorm mikro-orm db-migrate node-pg-migrate umzug migrate-mongo | *.js *.ts *.cjs *.mjs | migration
prisma flyway liquibase knex sequelize typeorm dbmate goose migrate sql-migrate diesel sqlx sqitch atlas sea-orm-cli hasura graphile-migrate drizzle-kit wrangler supabase | *.sql | sql
nix nix-shell nix-build devenv | flake.nix shell.nix default.nix devenv.nix | nix
bazel bazelisk buck buck2 pants please | BUILD BUILD.bazel BUCK *.bzl BUILD.pants | bazel
mix iex elixir | mix.exs *.exs | elixir
mix iex elixir rebar3 erl | *.ex *.erl *.app.src | lineage
dune | dune | dune
kubectl oc k9s helm kustomize skaffold | *.yml *.yaml | pod
systemctl | *.service *.timer *.path *.socket | unit
jupyter papermill nbconvert | *.ipynb | notebook
ansible-playbook ansible-pull | *.yml *.yaml | yaml
terraform tofu opentofu terragrunt | *.tf | hcl
npm pnpm yarn bun node | package.json | package
pnpm | .pnpmfile.cjs pnpmfile.js .pnpmfile.mjs | node
yarn | yarn.config.cjs .yarn/plugins/*.cjs .yarn/releases/*.cjs | node
prisma | seed.ts seed.js prisma.config.ts | node
node | *.test.js *.test.mjs *.test.cjs *.spec.js | node
npm pnpm yarn bun husky | .husky/* | shell
tmux | *.conf | tmux
ninja samu cmake meson | *.ninja | assign
meson | meson.build | meson
mise rtx | mise.toml .mise.toml | assign
mise rtx | mise.toml .mise.toml mise.local.toml .mise.local.toml | names
cargo | Makefile.toml | assign
supervisord supervisorctl | supervisord.conf | assign
poe task pdm hatch rye uv pixi poetry | pyproject.toml pixi.toml | tasks
composer | composer.json | package
deno | deno.json deno.jsonc | named
nx moon turbo lerna rush wrangler vercel netlify cdk devbox ng devcontainer sst tauri air trunk fly flyctl cross mise rtx pipenv tilt earthly terragrunt packer lein clj clojure bb mill sbt nimble nim rebar3 xmake premake5 pylint bazel bazelisk cabal stack | nx.json project.json workspace.json rush.json command-line.json wrangler.toml wrangler.json wrangler.jsonc vercel.json netlify.toml cdk.json devbox.json devcontainer.json .devcontainer.json tauri.conf.json Tauri.toml .air.toml Trunk.toml fly.toml Cross.toml mise.toml Pipfile Tiltfile terragrunt.hcl *.pkr.hcl project.clj deps.edn bb.edn build.mill build.sc *.sbt *.nimble config.nims rebar.config xmake.lua premake5.lua pylintrc .pylintrc .bazelrc *.bzl Setup.hs | quoted
cargo | tauri.conf.json | quoted
earthly | Earthfile | earthfile
skaffold helmfile serverless sls amplify goreleaser buf sqlc dvc mlflow molecule moon process-compose shards circleci bbrun cwltool | *.yml *.yaml MLproject *.cwl | yaml
rails rake puma rackup rspec sidekiq irb pry guard danger thor appraisal steep | application.rb boot.rb environment.rb puma.rb *_helper.rb .irbrc .pryrc config.ru Guardfile Dangerfile Thorfile Appraisals Steepfile | ruby
rails rake puma rackup rspec sidekiq irb pry guard danger thor rubocop | *.rb | lineage
uvicorn gunicorn hypercorn daphne flask celery streamlit airflow kedro mkdocs manage.py django-admin dagster prefect ipython jupyter conan paver pylint mypy | *.py | lineage
phpunit pest rector php-cs-fixer phpstan psalm | bootstrap.php Pest.php rector.php .php-cs-fixer.php .php-cs-fixer.dist.php *TestCase.php | php
phpunit pest rector artisan wp | *.php | lineage
dart flutter zig | *.dart *.zig | compiled
gradle gradlew | *.kt *.groovy *.java | lineage
jake cake | Jakefile Jakefile.js | node
bun | *.ts *.js | lineage
Rscript R | .Rprofile | r
psql | .psqlrc | statements
nvim vim vi gvim | .nvim.lua .lazy.lua .nvimrc .exrc .vimrc .lvimrc | editor
emacs | .dir-locals.el | quoted
bun | bunfig.toml | names
pylint | pylintrc .pylintrc pyproject.toml setup.cfg tox.ini pylintrc.toml .pylintrc.toml | lineage
lldb gdb | .lldbinit .gdbinit | gdb
lint-staged nodemon pm2 concurrently | .lintstagedrc .lintstagedrc.json nodemon.json ecosystem.config.json | values
ssh scp sftp rsync | ssh_config | ssh
screen | .screenrc | screen
gdb lldb | *.gdb .gdbinit *.lldb | gdb
xcodebuild fastlane code | *.pbxproj *.xcscheme devcontainer.json .devcontainer.json tasks.json | quoted
xcodegen xcodebuild | project.y*ml | yaml
Unity unity unity-editor Unity.exe | *.cs | compiled
pytest py.test tox nox coverage | pytest.ini .pytest.ini pyproject.toml setup.cfg tox.ini | plugins
rspec rake rails guard | .rspec .rspec-local | names
php artisan composer wp | *.ini | names
phpunit pest | phpunit.xml* | names
pio platformio | platformio.ini | names
west | west-commands.y*ml west.y*ml | names
devcontainer code | devcontainer.json .devcontainer.json tasks.json | names
`

// before are kinds of text that count even where no agent wrote them, as far as they are
// certain: the line names what runs.
const before = " make just task package ini names plugins envrc backend cmake "

// manyFiles are kinds of text of which a project has many files, that a tool may not read.
const manyFiles = " compiled migration dbt sql pod yaml node notebook elixir lineage quoted ruby php "

// recipes judges the files that a tool reads to know what to run:
// echo 'all:; rm -rf ~' > Makefile && make. Those count that an agent wrote, in this line
// or in a call before it, and that lie in the tool's directory, below or above it, or that
// its words name. Of some kinds those count, too, that were there before.
func (u *use) recipes(tool string) {
	if wordlist.Has(" php python python3 ", tool) && len(u.rest) > 0 {
		if base := path.Base(u.rest[0].Text()); base == "artisan" || base == "manage.py" {
			u.recipes(base)
		}
	}
	if !u.at().Remote && tool != "" && tool != "git" {
		defer u.anyCode(tool)
	}
	switch {
	case u.at().Remote || tool == "" || wordlist.Has(" make gmake bmake just task go-task ", tool) && u.onlyLists():
	case tool == "git":
		u.hooks()
	case strings.Contains(recipeRows, tool): // most programs are done with here, at no cost
		for line := range strings.Lines(recipeRows) {
			tools, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
			if names, kind, _ := strings.Cut(rest, " | "); wordlist.Has(" "+tools+" ", tool) {
				u.authored(names, kind)
				switch kind {
				case "node":
					u.patched("/node_modules/")
				case "python":
					u.patched("/site-packages/")
				}
				if wordlist.Has(before, kind) {
					u.there(names, kind)
				}
			}
		}
	case slices.ContainsFunc(u.Via, u.startsPackages):
		u.patched("/node_modules/")
		u.authored(strings.NewReplacer("TOOL", tool).Replace("TOOL.config.* .TOOLrc.* TOOL-config.* TOOLfile.* TOOL.conf.*"), "node")
	}
}

// startsPackages reports a wrapper that runs a program of a package of JavaScript. Such
// programs are many, and most read a file that has their name.
func (u *use) startsPackages(via string) bool {
	program, _, _ := strings.Cut(via, " ")
	row, known := u.programs.rows.Lookup(program)
	return known && row.Packages == "javascript"
}

// onlyLists reports a call of make and its like that runs nothing.
func (u *use) onlyLists() bool {
	return slices.ContainsFunc([]string{"dry-run", "just-print", "list", "summary", "show", "dump"}, u.has)
}

// authored judges the files of some names that agents wrote.
func (u *use) authored(names, kind string) {
	list := u.Authored()
	if len(list)+len(u.Pieces) == 0 {
		return
	}
	wanted := fileNamesOf(names)
	if !u.Afford((nameSteps + 8*len(u.Given()) + 8*len(wanted)) * len(list)) {
		u.asksAbout(tooMuchCode)
		return
	}
	for _, file := range list {
		if u.looksAt(file, wanted) {
			u.judgesText(kind, file)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(u.Pieces)) {
		if u.looksAt(file, wanted) {
			u.shell.Enter("changes to "+file, func() { u.surely(func() { u.recipe(kind, file, u.Pieces[file]) }) })
		}
	}
}

// patched judges what agents wrote into packages that are installed: a tool loads its own
// files, and those of other packages, without naming one.
func (u *use) patched(packages string) {
	list := u.Authored()
	if len(list) == 0 {
		return
	}
	if !u.Afford(nameSteps * len(list)) {
		u.asksAbout(tooMuchCode)
		return
	}
	places := u.places()
	for _, file := range list {
		i := strings.Index(file, packages)
		if i < 0 || !slices.ContainsFunc(places, func(dir string) bool { return world.Below(dir, file[:i]) || world.Below(file, dir) }) {
			continue
		}
		_, language, ok := strings.Cut(endingsOf, " "+path.Ext(file)+" ")
		if language, _, _ = strings.Cut(language, " "); !ok { // such as the programs in bin
			language = "node"
		}
		if !u.affords(patchedSteps) {
			return
		}
		st, _ := u.AuthoredText(file)
		switch text, known := st.Template(); {
		case known && text.Literal():
			u.judgesText(language, file)
		case u.World.Exists(file):
			u.asksAbout("an agent wrote " + path.Base(file) + " of an installed package, of which gate reads no more than 64 KiB")
		}
	}
}

// patchedSteps is what it takes to look at one file of an installed package, without its text.
const patchedSteps = 16 << 10

// nameSteps is what it takes to compare the name of a file with those that a tool reads.
const nameSteps = 16

// A fileName is one of those that a tool reads: as it is, or as a pattern, and the end of its
// directory.
type fileName struct {
	dir, base    string
	before, rest string // what stands around the one star of a simple pattern
	star         bool
	pattern      *glob.Pattern // of any other pattern
}

func fileNamesOf(names string) (list []fileName) {
	for name := range strings.FieldsSeq(names) {
		n := fileName{base: name}
		if dir, rest, ok := cutLast(name, "/"); ok {
			n.dir, n.base = "/"+dir, rest
		}
		if n.before, n.rest, n.star = strings.Cut(n.base, "*"); glob.Wild(n.before + n.rest) {
			n.pattern = glob.Compile(n.base, glob.Syntax{})
		}
		list = append(list, n)
	}
	return list
}

func (n *fileName) is(file string) bool {
	base := path.Base(file)
	switch {
	case n.dir != "" && !strings.HasSuffix(path.Dir(file), n.dir):
		return false
	case n.pattern != nil:
		return n.pattern.Match(base) != glob.No
	case n.star:
		return len(base) >= len(n.before)+len(n.rest) && strings.HasPrefix(base, n.before) && strings.HasSuffix(base, n.rest)
	}
	return n.base == base
}

// judgesText judges a file that an agent wrote, and reports whether one did.
func (u *use) judgesText(kind, file string) bool {
	st, ok := u.AuthoredText(file)
	if !ok {
		return false
	}
	_, now := u.Files[file]
	text, known := st.Template()
	if runsKind(kind, file) && !u.onlyBuilds() && u.ofVerb(kind, file, text.Text()) != "" {
		u.sendsText(file)
	}
	u.shell.Enter("recipe "+file, func() {
		switch {
		case known && text.Literal() && now:
			u.recipe(kind, file, placed(file, text.Text()))
		case known && text.Literal():
			part := u.ofVerb(kind, file, text.Text())
			u.asWritten(func() { u.recipe(kind, file, placed(file, part)) })
			if wordlist.Has(" lineage elixir nox ", kind) || kind == "compiled" && makesLine().MatchString(part) {
				u.commandsIn(part)
			}
			if code.HasRules(kind) || wordlist.Has(" elixir nox ", kind) {
				u.lineageIn(file, part)
			}
			if wordlist.Has(" migration sql ", kind) && code.DropsFound(part) {
				u.asksAbout(dropsFound)
			}
			if part != "" && (code.HasRules(kind) || wordlist.Has(" lineage quoted elixir notebook nox ", kind)) {
				u.looked(file)
			}
		case !now && !wordlist.Has(manyFiles, kind) && u.World.Exists(file):
			u.asksAbout("an agent wrote " + path.Base(file) + ", of which gate reads no more than 64 KiB")
		case kind == "make" || kind == "shell" || kind == "envrc":
			u.unknownCode(kind, st.Taint, "file", "the file was written by a program")
		}
	})
	return true
}

// lineage asks about a text that an agent wrote where it deletes or sends what is in the
// home directory, and no effect says so with a path.
func (u *use) lineage(text string) {
	switch why, known := code.Lineage(u.withKeys(u.withHome(text)), u.Afford); {
	case !known:
		u.asksAbout(tooMuchCode)
	case why != "":
		u.asksAbout("code that an agent wrote " + why)
	}
}

// withHome has the home directory stand in a text as a shell names it.
func (u *use) withHome(text string) string {
	if len(u.World.Home) < len("/x/y") || !strings.Contains(text, u.World.Home) {
		return text
	}
	return strings.NewReplacer(cmp.Or(u.World.Project, u.World.Dir, "\x00"), ".", u.World.Home, "~").Replace(text)
}

// withKeys marks in a text that looks up names of hosts the files that are secrets by their
// names.
func (u *use) withKeys(text string) string {
	if !code.LooksUp(text) {
		return text
	}
	return quotedName().ReplaceAllStringFunc(text, func(s string) string {
		if what, _ := u.Secret(path.Join(u.World.Project, s[1:len(s)-1])); what != "" {
			return s[:len(s)-1] + code.Key + s[len(s)-1:]
		}
		return s
	})
}

// affords takes steps from those of the event. Where too few are left, facts say so at the
// end, and a text that an agent wrote is not known.
func (u *use) affords(steps int) bool {
	if u.Afford(steps) {
		return true
	}
	switch {
	case u.ByAgent():
		u.asksAbout(tooMuchCode)
	case !u.sure: // of what the line itself runs nothing may be left out by much before it
		u.Limit(draft.TooMuch)
	}
	return false
}

const tooMuchCode = "an agent wrote more code than gate looks through for one call"

// placed has the directory of a file stand in its text where that is named.
//
//go:noinline
func placed(file, text string) string {
	dir := strconv.Quote(path.Dir(file))
	return strings.NewReplacer("__DIR__", dir, "__dirname", dir, "__dir__", dir).Replace(text)
}

// climbs marks in a text what leaves the project by way of the directories above the file.
func (u *use) climbs(file, text string) string {
	rest, ok := strings.CutPrefix(file, u.World.Project+"/")
	if !ok || !strings.Contains(text, "__") {
		return text
	}
	return climbing().ReplaceAllStringFunc(text, func(s string) string {
		up := strings.Count(s, "..") + strings.Count(s, "parent") + strings.Count(s, "dirname(") - 1
		if s[0] == '_' {
			up++
		} else if c := s[len(s)-2]; c >= '0' && c <= '9' {
			up = int(c - '0')
		}
		if up > strings.Count(rest, "/") {
			return s + code.Away
		}
		return s
	})
}

// asWritten judges a text that an agent wrote in an earlier call: what it surely does
// counts, and code that nobody knows before it runs. Programs that a function of make or
// a hole names say nothing about the agent.
func (u *use) asWritten(judge func()) {
	u.surely(func() { u.OfAgent(judge) })
}

// there judges the files of some names in the tool's directory that no agent wrote, or the
// one that an option names: what they do for certain.
func (u *use) there(names, kind string) {
	if len(u.at().Dirs) != 1 {
		return
	}
	files := strings.Fields(names)
	if kind == "envrc" && u.told(" allow permit grant ") && len(u.rest) > 0 {
		name := strings.TrimSuffix(u.rest[len(u.rest)-1].Text(), "/")
		if path.Base(name) != ".envrc" {
			name += "/.envrc"
		}
		files = []string{name}
	}
	for _, option := range []string{"file", "f", "makefile", "justfile", "taskfile", "c"} {
		if name := flow.Text(u.optText(option)); name != "" {
			files = []string{name}
		}
	}
	for _, name := range files {
		file := path.Join(u.at().Dirs[0], name)
		if strings.HasPrefix(name, "/") {
			file = path.Clean(name)
		}
		if glob.Wild(name) || strings.Contains(path.Dir(name), "node_modules") {
			continue
		}
		if _, ok := u.AuthoredText(file); ok {
			if !slices.Contains(u.Authored(), file) || !u.looksAt(file, fileNamesOf(names)) {
				u.judgesText(kind, file) // through a link
			}
			return
		}
		if text, err := u.World.Read(file, maxScript); err == nil {
			u.shell.Enter("recipe "+file, func() { u.certainly(func() { u.recipe(kind, file, text) }) })
			return
		}
	}
}

// certainly keeps of what a text does that no agent wrote that which is certain and
// matters: its owner knows what it reads, fetches and installs.
func (u *use) certainly(judge func()) {
	was, n := u.sure, len(u.Facts.Effects)
	u.sure = true
	u.surely(judge)
	u.sure = was
	u.Facts.Effects = append(u.Facts.Effects[:n], slices.DeleteFunc(u.Facts.Effects[n:], func(e hook.FactEffect) bool {
		return e.Kind() == "fs.read" || e.Kind() == "net.fetch" || e.Kind() == "package.install"
	})...)
}

// ofVerb is the part of a compiled language's text that a tool runs: go build runs none.
func (u *use) ofVerb(kind, file, text string) string {
	if kind != "compiled" {
		return text
	}
	if wordlist.Has(" .dart .gradle .groovy ", path.Ext(file)) { // which have texts in either quotes
		text = code.DoubleQuoted(text)
	}
	verb := ""
	if len(u.verbs) > 0 {
		verb = u.verbs[0]
	}
	generates := func(line string) bool { return strings.HasPrefix(line, "//go:generate ") }
	var b strings.Builder
	switch {
	case compilerRuns(file, text),
		u.name == "go" && verb == "generate" && strings.Contains(text, "package main"): // which a line of another file may run
		return text
	case u.name == "go" && verb == "generate":
		for line := range strings.Lines(text) {
			if generates(line) {
				b.WriteString(line)
			}
		}
		return b.String()
	case u.name == "swift" && path.Base(file) != "Package.swift" && !u.told(" run test "),
		u.name == "dotnet" && !u.told(" run test watch "), u.name == "csc",
		u.name == "zig" && path.Base(file) != "build.zig" && !u.told(" run test "):
		return ""
	case wordlist.Has(" javac rustc ", u.name), u.name == "kotlinc" && !u.told(" -script "), u.name == "go" && !wordlist.Has(" run test tool ", verb),
		u.name != "go" && strings.HasSuffix(file, ".rs") && path.Base(file) != "build.rs" && !wordlist.Has(" run test bench r t nextest xtask ", verb):
		return ""
	}
	for line := range strings.Lines(text) {
		if !generates(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// compilerRuns reports code that a compiler or a package manager runs as a part of itself.
func compilerRuns(file, text string) bool {
	switch path.Ext(file) {
	case ".rs":
		return strings.Contains(text, "proc_macro")
	case ".cs", ".fs":
		return strings.Contains(text, "Generator") && strings.Contains(text, "CodeAnalysis") || strings.Contains(text, "DiagnosticAnalyzer") || strings.Contains(text, "Microsoft.Build")
	case ".swift":
		return strings.Contains(text, "import PackagePlugin")
	}
	return false
}

// looksAt reports a file of one of the names that lies where a tool looks, or that its
// words name.
func (u *use) looksAt(file string, names []fileName) bool {
	base := path.Base(file)
	for _, f := range u.Given() {
		if v := f.Value(); v != nil && strings.HasSuffix(*v, base) && !strings.HasPrefix(*v, "-") && path.Base(*v) == base {
			if ts := u.targets(f); len(ts) == 1 && ts[0].Path == file {
				return true
			}
		}
	}
	return slices.ContainsFunc(names, func(n fileName) bool { return n.is(file) }) && slices.ContainsFunc(u.places(), func(dir string) bool {
		return world.Below(file, dir) || world.Below(dir, path.Dir(file)) && path.Dir(file) != "/" && dir != u.World.Home
	})
}

// places are the directories that the tool may be in, by each name.
func (u *use) places() []string {
	dirs := u.at().Dirs
	for _, dir := range dirs {
		if real, ok := u.World.Resolve(dir, u.Links, true); ok && real != dir {
			dirs = append(slices.Clip(dirs), real)
		}
	}
	return dirs
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// runLines judges lines of a shell that a file names.
//
//go:noinline
func (u *use) runLines(lines []string) {
	if len(lines) > maxQuoted {
		u.Limit(tooManyLines)
		lines = lines[:maxQuoted]
	}
	for _, line := range lines {
		if !u.affords(lineSteps + inspectSteps*len(line)) {
			return
		}
		u.inside(func() { u.shell.Text(flow.Literal(line), flow.Stream{}) })
	}
}

// The steps that it takes to find the lines of a shell in a file, for each byte of it, and to
// judge such a line.
const (
	recipeSteps = 64
	lineSteps   = 8000
)

// surelyRun judges such lines, and keeps what is sure.
//
//go:noinline
func (u *use) surelyRun(lines []string) { u.surely(func() { u.runLines(lines) }) }

// recipe judges the text of one file.
func (u *use) recipe(kind, file, text string) {
	steps := recipeSteps * len(text)
	switch {
	case wordlist.Has(" make msbuild ", kind): // whose variables are filled in
		steps *= 4
	case code.HasRules(kind), kind == "lineage": // which say themselves what they take
		steps = 0
	}
	if !u.affords(steps) {
		return
	}
	run := u.runLines
	switch kind {
	case "shell", "envrc":
		if language := interpreter(text); code.HasRules(language) {
			u.surely(func() { u.bare().code(language, flow.Literal(text), "file") })
			return
		}
		run([]string{text})
	case "make":
		u.makefile(file, text, run)
	case "assign":
		u.surelyRun(texts(assignLine(), text))
	case "meson":
		u.surely(func() {
			for _, words := range texts(mesonCommand(), text) {
				run([]string{strings.NewReplacer("'", " ", `"`, " ", ",", " ").Replace(words)})
			}
		})
	case "tasks":
		for _, section := range strings.Split(text, "\n[") {
			if head, rest, _ := strings.Cut(strings.TrimPrefix(section, "["), "]"); strings.HasSuffix(head, "tasks") || strings.HasSuffix(head, "scripts") {
				u.surelyRun(slices.Concat(texts(taskLine(), rest), quotedLines(rest)))
			}
		}
	case "quoted":
		u.surelyRun(quotedLines(text))
		u.lineage(text)
	case "lineage":
		if strings.HasSuffix(file, ".ipynb") { // of which the cells with code run
			text = notebookCode(text)
		}
		if u.name != "mix" || len(u.verbs) == 0 || !wordlist.Has(" format help hex deps new ", u.verbs[0]) {
			u.lineageIn(file, text)
		}
	case "plugins":
		u.namedFiles(strings.Join(texts(pluginOption(), text), ".py\n") + ".py")
	case "names":
		u.namedFiles(text)
	case "backend": // that builds the project, from a directory of its own
		if found := buildBackend().FindStringSubmatch(text); found != nil && strings.Contains(text, "backend-path") {
			u.namedFiles(strings.Join(strings.FieldsFunc(found[1], func(r rune) bool { return r == ':' }), ".py\n") + ".py")
		}
	case "editor":
		if strings.HasSuffix(file, ".lua") {
			u.surely(func() { u.bare().code("lua", flow.Literal(text), "file") })
			return
		}
		u.surely(func() {
			for line := range strings.Lines(text) {
				u.editorCommand(strings.TrimSpace(line))
			}
		})
	case "statements":
		u.reaches(text, sql.Inspect(text))
	case "earthfile":
		u.surelyRun(texts(earthRun(), text))
	case "values":
		u.surelyRun(texts(jsonValue(), text))
	case "ssh":
		run(texts(sshCommand(), text))
	case "screen":
		run(texts(screenCommand(), text))
	case "just":
		u.justfile(file, text)
	case "task":
		u.surely(func() { run(u.taskLines(text)) })
	case "cargo":
		u.surelyRun(cargoLines(text))
	case "docker":
		u.dockerfile(text)
	case "wrapper":
		u.wrapperURL(text)
	case "maven":
		u.surelyRun(mavenLines(text))
	case "yaml":
		u.surelyRun(yamlLines(text))
	case "ini":
		u.surelyRun(iniLines(text))
	case "procfile":
		for line := range strings.Lines(text) {
			if name, command, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") {
				run([]string{strings.TrimSpace(command)})
			}
		}
	case "cmake":
		u.surelyRun(cmakeLines(text))
		if !u.sure {
			u.lineage(cmakeStatements(text))
		}
		u.cmakeTakes(file, text)
	case "msbuild":
		u.msbuild(text)
	case "dbt":
		u.dbt(file, text)
	case "hcl":
		u.surely(func() { run(u.hclLines(text)) })
	case "compose":
		u.surelyRun(composeLines(text))
		u.mountsHome(text)
	case "package":
		lines := u.lifecycle(text)
		if dir := path.Dir(file); dir != u.at().Dirs[0] { // a workspace, whose scripts run there
			for i, line := range lines {
				lines[i] = "(cd " + bash.Quote(dir) + "\n" + line + "\n)"
			}
		}
		if run(lines); u.name == "composer" { // which calls methods of classes, too
			u.namedFiles(strings.Join(lines, "\n"))
		}
	case "nox": // a session runs the words that it is given, as this call does
		text = strings.NewReplacer("session.run(", "os.execlp(0, ", "session.run_always(", "os.execlp(0, ").Replace(text)
		u.surely(func() { u.bare().code("python", flow.Literal(text), "file") })
		u.lineage(text)
	case "migration":
		u.migration(file, text)
	case "sql":
		u.sqlMigration(file, text)
	case "nix":
		u.surelyRun(nixLines(text))
	case "bazel":
		if len(u.verbs) == 0 || !wordlist.Has(" query cquery aquery info clean help version ", u.verbs[0]) {
			u.surelyRun(bazelLines(text))
		}
	case "dune":
		u.surelyRun(texts(duneCommand(), text))
	case "elixir":
		u.surelyRun(elixirLines(text))
		u.lineage(text)
	case "unit":
		run(texts(unitCommand(), text))
	case "notebook":
		u.surely(func() { u.bare().code("python", flow.Literal(notebookCode(text)), "file") })
		u.lineage(notebookCode(text))
	case "pod":
		u.pods(text)
	case "named":
		run(namedValues(text, slices.Concat(u.strayed, u.rest)))
	case "tmux":
		for _, found := range tmuxCommand().FindAllStringSubmatch(text, -1) {
			run([]string{strings.Trim(found[1], `"' `)})
		}
	case "gdb":
		if strings.HasPrefix(text, "\x7fELF") { // what is debugged: of such a file no line is a command
			return
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				u.debuggerCommand(line)
			}
		}
	default:
		b := u.bare()
		if _, piece := u.Pieces[file]; !piece { // of which the rest may print
			b.config = file
		}
		u.surely(func() { b.code(kind, flow.Literal(text), "file") })
	}
}

// lifecycle are the scripts of package.json that installing and packing run by
// themselves, and those that node --run names.
func (u *use) lifecycle(text string) (lines []string) {
	names := []string{}
	verb := "install" // of yarn alone
	if len(u.verbs) > 0 {
		verb = u.verbs[0]
	}
	switch {
	case u.name == "composer" && wordlist.Has(" run run-script exec ", verb):
		for _, f := range slices.Concat(u.strayed, u.rest) {
			names = append(names, f.Text())
		}
	case u.name == "node":
		names = []string{flow.Text(u.optText("run"))}
	case wordlist.Has(" install i ci add in ins isntall install-ci-test it update up upgrade rebuild link dedupe dump-autoload dumpautoload require remove ", verb) && !u.has("ignore-scripts"):
		names = []string{"pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "post-autoload-dump", "preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies"}
	case wordlist.Has(" pack publish version ", verb):
		names = []string{"prepublish", "prepare", "prepublishOnly", "prepack", "postpack", "publish", "postpublish", "preversion", "version", "postversion"}
	}
	return scriptsIn(text, names)
}

// makeTargets are the targets that make is told.
func (u *use) makeTargets() (targets []string) {
	for _, f := range u.rest {
		if v := f.Value(); v == nil || !strings.Contains(*v, "=") {
			targets = append(targets, f.Text())
		}
	}
	return targets
}

// surely keeps of what judge finds that which is sure: a file that a tool reads may be
// as unknown as any program. Code that is decoded first counts.
func (u *use) surely(judge func()) {
	out := u.Facts
	opaque, unknown, effects, full := out.Opaque, len(out.Unknown), len(out.Effects), u.Full
	judge()
	if slices.ContainsFunc(out.Effects[effects:], draft.Decoded) {
		return
	}
	out.Opaque, u.Full = opaque, full
	u.ForgetUnknown(unknown)
	out.Effects = append(out.Effects[:effects], slices.DeleteFunc(out.Effects[effects:], func(e hook.FactEffect) bool { return doubtful(e) })...)
}

var (
	hclCommand  = lazy(`(?m)^\s*(?:command|interpreter)\s*=\s*"((?:[^"\\]|\\.)*)"`)
	hclBlock    = lazy(`(?ms)^\s*command\s*=\s*<<-?\s*"?\w+"?\n(.*?)^\s*[A-Z_]+\s*$`)
	quotedName  = lazy(`"[\w./-]{3,120}"|'[\w./-]{3,120}'`)
	tmuxCommand = lazy(`(?m)^\s*(?:run-shell|run|if-shell|if|set-option -g default-command|set -g default-command|set-hook -g \S+ ['"]?run-shell)\s+(?:-b\s+)?(.+)$`)
	cmakeCall   = lazy(`(?is)\bCOMMAND\s+(.*?)(?:\b(?:COMMAND|WORKING_DIRECTORY|OUTPUT_VARIABLE|RESULT_VARIABLE|ERROR_VARIABLE|OUTPUT_QUIET|COMMENT|DEPENDS|VERBATIM|TIMEOUT)\b|\)\s*(?:$|\n))`)
	cmakeFetch  = lazy(`(?is)\bfile\s*\(\s*DOWNLOAD\s+("[^"\n]*"|[^\s()"]+)\s+("[^"\n]*"|[^\s()"]+)`)
	cmakeRemove = lazy(`(?is)\bfile\s*\(\s*REMOVE(?:_RECURSE)?\s+([^)]*)\)`)
	makeName    = lazy(`\$[({]([A-Za-z_.][\w.-]*)[)}]`)
	makeSet     = lazy(`(?m)^ *(?:(?:export|override|private) +)*([^\s:#=]+?)[ \t]*(:{1,3}|\?|\+|!)?=[ \t]*(.*)$`)
	justSet     = lazy(`(?m)^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*["']([^"']*)["']`)
	justHole    = lazy(`\{\{\s*([^}]*?)\s*\}\}`)
)

// Lines of other files that name commands.
var (
	makeInclude   = lazy(`(?m)^[-s]?include[ \t]+(.+)$`)
	assignLine    = lazy(`(?m)^\s*(?:command|cmd|run|script|shell|exec)\s*=\s*\[?\s*["']?([^\n"']+)`)
	mesonCommand  = lazy(`\brun_command\(([^)]*)\)`)
	pluginOption  = lazy(`(?m)[\s"'=]-p[\s"',]*([\w.]+)`)
	buildBackend  = lazy(`(?m)^\s*build-backend\s*=\s*["']([\w.:]+)["']`)
	climbing      = lazy(`\.parents\[\d\]|(?:\.parent\b)+|\b(?:(?:\w+\.)*dirname\(\s*)+(?:\w+\.)*(?:abspath|realpath)?\(?__file__|(?:__dirname|__DIR__|__dir__)[\s,.+'"/]*\.\.[\s,.'"/]*`)
	taskLine      = lazy(`(?m)^\s*[\w."-]+\s*=\s*(?:\{[^}\n]*?(?:cmd|shell|script|composite)\s*=\s*)?\[?\s*["']([^\n"']+)`)
	jsonValue     = lazy(`:\s*"((?:[^"\\]|\\.)*)"`)
	quotedLine    = lazy(`(?s)"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'`)
	earthRun      = lazy(`(?m)^\s*RUN\s+(?:--\S+\s+)*(.+)$`)
	sshCommand    = lazy(`(?mi)^\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|Match\s.*exec)[ \t=]+(.+)$`)
	screenCommand = lazy(`(?m)^\s*(?:screen|exec)[ \t]+(.+)$`)
)

// maxQuoted bounds the texts of one file that are judged as lines of a shell.
const maxQuoted = 1000

const tooManyLines = "a file with more lines of a shell than gate follows"

// quotedLines are the texts in quotes that have a blank: settings of many tools name what
// they run under keys of their own.
func quotedLines(text string) (lines []string) {
	for _, found := range quotedLine().FindAllStringSubmatch(text, 2*maxQuoted) {
		if line := found[1] + unquote(found[2]) + found[3]; strings.ContainsAny(line, " \t") {
			lines = append(lines, line)
		}
	}
	return lines
}

// texts are those of the first group of a pattern.
func texts(re *regexp.Regexp, text string) (list []string) {
	for _, match := range re.FindAllStringSubmatch(text, maxQuoted+1) { // of one more runLines tells
		list = append(list, unquote(match[1]))
	}
	return list
}

// maxIncluded is how many files that others take in are judged for one event: two that
// each take in two are many soon.
const maxIncluded = 64

// takes is the path of a file that another one takes in, by its name there. There is none
// for a pattern or a computed name, and beyond the limit.
func (u *use) takes(file, name string) (p string, ok bool) {
	if u.Included++; u.Included > maxIncluded {
		u.Limit("more files that others take in than gate reads for one call")
		return "", false
	}
	if p = path.Join(path.Dir(file), name); strings.HasPrefix(name, "/") {
		p = path.Clean(name)
	}
	return p, !glob.Wild(p) && !strings.Contains(p, "$")
}

// includes judges a file that another one takes in.
func (u *use) includes(kind, file, name string) {
	p, ok := u.takes(file, name)
	if !ok || u.judgesText(kind, p) {
		return
	}
	if text, err := u.World.Read(p, maxScript); err == nil {
		u.shell.Enter("recipe "+p, func() { u.certainly(func() { u.recipe(kind, p, text) }) })
	}
}

// iniLines are the commands of tox: keys that begin with commands, and the indented
// lines behind them.
func iniLines(text string) (lines []string) {
	on := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if key, value, ok := strings.Cut(line, "="); ok && line[0] != ' ' && line[0] != '\t' {
			if on = strings.HasPrefix(strings.TrimSpace(key), "commands"); on && strings.TrimSpace(value) != "" {
				lines = append(lines, strings.TrimSpace(value))
			}
			continue
		}
		if bare := strings.TrimSpace(line); on && bare != "" && bare != line {
			lines = append(lines, strings.TrimLeft(bare, "- "))
		}
	}
	return lines
}

// cmakeLines are the commands that a script of CMake runs, and the files that it removes.
func cmakeLines(text string) (lines []string) {
	known := strings.NewReplacer("$ENV{HOME}", "${HOME}", "${CMAKE_COMMAND}", "cmake", "${CMAKE_BINARY_DIR}", "build", "${CMAKE_CURRENT_BINARY_DIR}", "build",
		"${PROJECT_BINARY_DIR}", "build", "${CMAKE_SOURCE_DIR}", ".", "${CMAKE_CURRENT_SOURCE_DIR}", ".", "${CMAKE_CURRENT_LIST_DIR}", ".", "${PROJECT_SOURCE_DIR}", ".")
	text = cmakeValues(known.Replace(text))
	for _, found := range cmakeFetch().FindAllStringSubmatch(text, -1) {
		lines = append(lines, "curl -o "+found[2]+" "+found[1])
	}
	for _, found := range cmakeCall().FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(found[1]), ")"), "\n", " "))
	}
	for _, found := range cmakeRemove().FindAllStringSubmatch(text, -1) {
		lines = append(lines, "rm -rf "+strings.ReplaceAll(found[1], "\n", " "))
	}
	return lines
}

// composeLines say of each service of a compose file how docker run would start it.
func composeLines(text string) (lines []string) {
	var options []string
	image, command, list := "image", "", ""
	var words []string // of a command that is written as a list
	block := -1        // how far the text of the last word is set in, -1 for none
	flush := func() {
		if len(words) > 0 {
			command = shellLine(words)
		}
		words, block = nil, -1
		if len(options) > 0 || command != "" {
			lines = append(lines, "docker run "+strings.Join(options, " ")+" "+image+" "+command)
		}
		options, image, command = nil, "image", ""
	}
	add := func(key, value string) {
		switch value = yamlScalar(value); key {
		case "volumes":
			for v := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("[]\"', \t", r) }) {
				options = append(options, "-v", v)
			}
		case "cap_add":
			options = append(options, "--cap-add", value)
		case "devices":
			options = append(options, "--device", value)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		depth, key, value, ok := yamlPair(line)
		bare := strings.TrimSpace(line)
		if block >= 0 {
			if len(line)-len(strings.TrimLeft(line, " ")) > block || bare == "" {
				words[len(words)-1] += bare + "\n"
				continue
			}
			block = -1
		}
		if item, isItem := strings.CutPrefix(bare, "- "); isItem && list != "" {
			if list != "command" {
				add(list, item)
			} else if item = strings.TrimSpace(item); item != "" && strings.Trim(item, "|>+-") == "" {
				words, block = append(words, ""), strings.IndexByte(line, '-')
			} else {
				words = append(words, yamlScalar(item))
			}
			continue
		}
		if !ok {
			continue
		}
		if list = ""; value == "" && depth <= 2 {
			flush()
		}
		switch key {
		case "image":
			image = yamlScalar(value)
		case "command", "entrypoint":
			if value == "" {
				list = "command"
				break
			}
			if value[0] == '|' || value[0] == '>' {
				words, block = append(words, "sh", "-c", ""), strings.IndexByte(line, key[0])
				break
			}
			command = yamlScalar(value)
			if words, _ := quotedWords(value); strings.HasPrefix(value, "[") && len(words) > 0 {
				command = shellLine(words)
			}
		case "privileged":
			if value == "true" {
				options = append(options, "--privileged")
			}
		case "pid", "network_mode", "ipc":
			if value == "host" {
				options = append(options, "--"+strings.TrimSuffix(key, "_mode")+"=host")
			}
		case "volumes", "cap_add", "devices":
			if list = key; value != "" {
				add(key, value)
				list = ""
			}
		}
	}
	flush()
	return lines
}
