package program

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// recipeRows are tools that read a file to know what to run: the tools, the names of
// the files, and the kind of their text. A kind is a language of package code, or one
// that [use.recipe] knows.
const recipeRows = `make gmake bmake | makefile GNUmakefile Makefile *.mk *.mak | make
just | justfile Justfile .justfile *.just | just
task go-task | Taskfile.y*ml taskfile.y*ml Taskfile.dist.y*ml | yaml
mage go | *.go | compiled
cargo rustc cross | *.rs | compiled
gradle gradlew | *.gradle *.kts | compiled
mvn mvnw sbt javac kotlinc | *.java *.kt *.scala *.sbt | compiled
pytest py.test nosetests unittest tox nox coverage | conftest.py test_*.py *_test.py noxfile.py | python
pip pip3 uv build pipx poetry pdm hatch easy_install | setup.py hatch_build.py build.py | python
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
grunt gulp vite vitest webpack rollup jest mocha ava tap eslint prettier babel parcel next nuxt astro svelte-kit remix cypress playwright karma tailwindcss postcss esbuild swc commitlint lint-staged storybook expo ng metro | Gruntfile.* gulpfile.* *.config.js *.config.mjs *.config.cjs *.config.ts *.conf.js *.test.js *.test.ts *.test.mjs *.spec.js *.spec.ts *rc.js *rc.cjs .babelrc.js metro.config.* | node
cmake ctest cpack | CMakeLists.txt *.cmake | cmake
direnv | .envrc | shell
docker-compose docker podman podman-compose nerdctl | docker-compose*.y*ml compose*.y*ml | compose
pre-commit prek | .pre-commit-config.yaml | yaml
lefthook | lefthook.y*ml .lefthook.y*ml | yaml
foreman overmind honcho hivemind goreman | Procfile* | procfile
act | *.yml *.yaml | yaml
gitlab-ci-local gitlab-runner | .gitlab-ci.yml | yaml
snakemake | Snakefile *.smk | yaml
ansible-playbook ansible-pull | *.yml *.yaml | yaml
terraform tofu opentofu terragrunt | *.tf | hcl
npm pnpm yarn bun node | package.json | package
node | *.test.js *.test.mjs *.test.cjs *.spec.js | node
npm pnpm yarn bun husky | .husky/* | shell
git | .husky/* .git/hooks/* .githooks/* | shell
tmux | *.conf | tmux
ninja samu cmake meson | *.ninja | assign
meson | meson.build | meson
mise rtx | mise.toml .mise.toml | assign
cargo | Makefile.toml | assign
supervisord supervisorctl | supervisord.conf | assign
poe task pdm hatch rye uv pixi poetry | pyproject.toml pixi.toml | tasks
composer | composer.json | package
deno | deno.json deno.jsonc | named
lint-staged nodemon pm2 concurrently | .lintstagedrc .lintstagedrc.json nodemon.json ecosystem.config.json | values
ssh scp sftp rsync | ssh_config | ssh
screen | .screenrc | screen
gdb lldb | *.gdb .gdbinit *.lldb | gdb
`

// recipes judges the files that this line has written and that a tool reads to know
// what to run: echo 'all:; rm -rf ~' > Makefile && make. Files count that lie in the
// tool's directory, below or above it, and those that its words name.
func (u *use) recipes(tool string) {
	if len(u.Files) == 0 && len(u.Pieces) == 0 || u.at().Remote || tool == "" || u.name == "git" && !u.runsHooks() {
		return
	}
	for line := range strings.Lines(recipeRows) {
		tools, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !wordlist.Has(" "+tools+" ", tool) {
			continue
		}
		names, kind, _ := strings.Cut(rest, " | ")
		for _, file := range slices.Sorted(maps.Keys(u.Files)) {
			if !u.looksAt(file, names) {
				continue
			}
			text, known := u.Files[file].Template()
			u.shell.Enter("recipe "+file, func() {
				if known && text.Literal() {
					u.recipe(kind, file, text.Text())
				} else if kind == "make" || kind == "shell" {
					u.unknownCode(kind, u.Files[file].Taint, "file", "the file was written by a program")
				}
			})
		}
		for _, file := range slices.Sorted(maps.Keys(u.Pieces)) {
			if u.looksAt(file, names) {
				u.shell.Enter("changes to "+file, func() { u.surely(func() { u.recipe(kind, file, u.Pieces[file]) }) })
			}
		}
	}
}

// runsHooks reports a verb of git that runs hooks.
func (u *use) runsHooks() bool {
	return len(u.verbs) > 0 && wordlist.Has(" commit push merge pull checkout switch rebase am cherry-pick revert clone worktree gc hook ", u.verbs[0]) && !u.has("no-verify")
}

// looksAt reports a file of one of the names that lies where a tool looks, or that its
// words name.
func (u *use) looksAt(file, names string) bool {
	for _, f := range u.Given() {
		if v := f.Value(); v != nil && *v != "" && !strings.HasPrefix(*v, "-") && path.Base(*v) == path.Base(file) {
			if ts := u.targets(f); len(ts) == 1 && ts[0].Path == file {
				return true
			}
		}
	}
	near := slices.ContainsFunc(u.at().Dirs, func(dir string) bool {
		return world.Below(file, dir) || world.Below(dir, path.Dir(file)) && path.Dir(file) != "/" && dir != u.World.Home
	})
	if !near {
		return false
	}
	for name := range strings.FieldsSeq(names) {
		is := path.Base(file)
		if dir, rest, ok := cutLast(name, "/"); ok {
			if !strings.HasSuffix(path.Dir(file), "/"+dir) {
				continue
			}
			name = rest
		}
		if glob.Compile(name, glob.Syntax{}).Match(is) != glob.No {
			return true
		}
	}
	return false
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// recipe judges the text of one file.
func (u *use) recipe(kind, file, text string) {
	run := func(lines []string) {
		for _, line := range lines {
			u.inside(func() { u.shell.Text(flow.Literal(line), flow.Stream{}) })
		}
	}
	switch kind {
	case "shell":
		if language := interpreter(text); code.HasRules(language) {
			u.surely(func() { u.bare().code(language, flow.Literal(text), "file") })
			return
		}
		run([]string{text})
	case "make":
		run(makeLines(text, u.makeTargets()))
		for _, found := range makeInclude().FindAllStringSubmatch(text, -1) {
			u.includes(kind, file, found[1])
		}
	case "assign":
		u.surely(func() { run(texts(assignLine(), text)) })
	case "meson":
		u.surely(func() {
			for _, words := range texts(mesonCommand(), text) {
				run([]string{strings.NewReplacer("'", " ", `"`, " ", ",", " ").Replace(words)})
			}
		})
	case "tasks":
		for _, section := range strings.Split(text, "\n[") {
			if head, rest, _ := strings.Cut(strings.TrimPrefix(section, "["), "]"); strings.HasSuffix(head, "tasks") || strings.HasSuffix(head, "scripts") {
				u.surely(func() { run(texts(taskLine(), rest)) })
			}
		}
	case "values":
		u.surely(func() { run(texts(jsonValue(), text)) })
	case "ssh":
		run(texts(sshCommand(), text))
	case "screen":
		run(texts(screenCommand(), text))
	case "just":
		u.justfile(text)
	case "yaml":
		u.surely(func() { run(yamlLines(text)) })
	case "ini":
		u.surely(func() { run(iniLines(text)) })
	case "procfile":
		for line := range strings.Lines(text) {
			if name, command, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") {
				run([]string{strings.TrimSpace(command)})
			}
		}
	case "cmake":
		u.surely(func() { run(cmakeLines(text)) })
	case "hcl":
		for _, found := range hclCommand().FindAllStringSubmatch(text, -1) {
			u.surely(func() { run([]string{strings.ReplaceAll(found[1], `\"`, `"`)}) })
		}
	case "compose":
		u.surely(func() { run(composeLines(text)) })
	case "package":
		run(u.lifecycle(text))
	case "named":
		run(namedValues(text, slices.Concat(u.strayed, u.rest)))
	case "tmux":
		for _, found := range tmuxCommand().FindAllStringSubmatch(text, -1) {
			run([]string{strings.Trim(found[1], `"' `)})
		}
	case "gdb":
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				u.debuggerCommand(line)
			}
		}
	default:
		u.surely(func() { u.bare().code(kind, flow.Literal(text), "file") })
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
	case wordlist.Has(" install i ci add in ins isntall install-ci-test it update up upgrade rebuild link dedupe ", verb) && !u.has("ignore-scripts"):
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
	out.Opaque, out.Unknown, u.Full = opaque, out.Unknown[:unknown], full
	out.Effects = append(out.Effects[:effects], slices.DeleteFunc(out.Effects[effects:], func(e hook.FactEffect) bool { return doubtful(e) })...)
}

var (
	hclCommand  = lazy(`(?m)^\s*(?:command|interpreter)\s*=\s*"((?:[^"\\]|\\.)*)"`)
	tmuxCommand = lazy(`(?m)^\s*(?:run-shell|run|if-shell|if|set-option -g default-command|set -g default-command|set-hook -g \S+ ['"]?run-shell)\s+(?:-b\s+)?(.+)$`)
	cmakeCall   = lazy(`(?is)\bCOMMAND\s+(.*?)(?:\b(?:COMMAND|WORKING_DIRECTORY|OUTPUT_VARIABLE|RESULT_VARIABLE|ERROR_VARIABLE|OUTPUT_QUIET|COMMENT|DEPENDS|VERBATIM|TIMEOUT)\b|\)\s*(?:$|\n))`)
	cmakeRemove = lazy(`(?is)\bfile\s*\(\s*REMOVE(?:_RECURSE)?\s+([^)]*)\)`)
	makeName    = lazy(`\$[({]([A-Za-z_.][\w.-]*)[)}]`)
	makeSet     = lazy(`(?m)^(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*(?::{0,3}|\?|\+)=[ \t]*(.*)$`)
	justSet     = lazy(`(?m)^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*["']([^"']*)["']`)
	justHole    = lazy(`\{\{\s*([^}]*?)\s*\}\}`)
)

// Lines of other files that name commands.
var (
	makeInclude   = lazy(`(?m)^[-s]?include[ \t]+(\S+)`)
	assignLine    = lazy(`(?m)^\s*(?:command|cmd|run|script|shell|exec)\s*=\s*\[?\s*["']?([^\n"']+)`)
	mesonCommand  = lazy(`\brun_command\(([^)]*)\)`)
	taskLine      = lazy(`(?m)^\s*[\w."-]+\s*=\s*(?:\{[^}\n]*?(?:cmd|shell|script|composite)\s*=\s*)?\[?\s*["']([^\n"']+)`)
	jsonValue     = lazy(`:\s*"((?:[^"\\]|\\.)*)"`)
	sshCommand    = lazy(`(?mi)^\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|Match\s.*exec)[ \t=]+(.+)$`)
	screenCommand = lazy(`(?m)^\s*(?:screen|exec)[ \t]+(.+)$`)
)

// texts are those of the first group of a pattern.
func texts(re *regexp.Regexp, text string) (list []string) {
	for _, match := range re.FindAllStringSubmatch(text, -1) {
		list = append(list, unquote(match[1]))
	}
	return list
}

// includes judges a file that another of this line takes in.
func (u *use) includes(kind, file, name string) {
	p := path.Join(path.Dir(file), name)
	if strings.HasPrefix(name, "/") {
		p = path.Clean(name)
	}
	if st, ok := u.Files[p]; ok && st.Text != nil {
		u.shell.Enter("recipe "+p, func() { u.recipe(kind, p, *st.Text) })
	}
}

// fill puts values in the place of names, as often as they stand in each other.
func fill(text string, names *regexp.Regexp, value func(name string) string) string {
	for range 4 {
		next := names.ReplaceAllStringFunc(text, func(s string) string { return value(names.FindStringSubmatch(s)[1]) })
		if next == text {
			break
		}
		text = next
	}
	return text
}

// ofShell are variables that tools hand on from the environment.
const ofShell = " HOME USER PWD OLDPWD PATH TMPDIR SHELL LOGNAME "

// A makeRule is a rule of a makefile: what it makes, of what, and by which lines.
type makeRule struct {
	targets, needs []string
	lines          []string
}

// makeLines are the recipes of a makefile that making the targets runs, and the lines
// that its functions run, with the values of its own variables. Without targets the
// first rule is made. What is told by patterns counts always.
func makeLines(text string, targets []string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	values := map[string]string{"CC": "cc", "CXX": "c++", "MAKE": "make", "AR": "ar", "RM": "rm -f", "CURDIR": "."}
	for _, set := range makeSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = set[2]
	}
	value := func(name string) string {
		switch v, ok := values[name]; {
		case ok:
			return v
		case wordlist.Has(ofShell, name):
			return "${" + name + "}"
		}
		return ""
	}
	automatic := strings.NewReplacer("$$", "$", "$@", "target", "$<", "source", "$^", "source", "$*", "stem", "$?", "source", "$(@D)", "target", "$(@F)", "target", "$(<F)", "source")
	var rules []makeRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			recipe = automatic.Replace(fill(strings.TrimLeft(recipe, "\t@-+ "), makeName(), value))
			if len(rules) == 0 {
				lines = append(lines, recipe)
			} else {
				last := &rules[len(rules)-1]
				last.lines = append(last.lines, recipe)
			}
			continue
		}
		if i := strings.Index(line, "$(shell "); i >= 0 {
			lines = append(lines, automatic.Replace(fill(strings.TrimSuffix(line[i+8:], ")"), makeName(), value)))
			continue
		}
		head, needs, ok := strings.Cut(line, ":")
		if !ok || head == "" || strings.HasPrefix(needs, "=") || head[0] == '#' {
			continue
		}
		needs, recipe, semi := strings.Cut(strings.TrimLeft(needs, ":"), ";")
		rule := makeRule{targets: strings.Fields(fill(head, makeName(), value)), needs: strings.Fields(fill(needs, makeName(), value))}
		if semi {
			rule.lines = []string{automatic.Replace(fill(strings.TrimLeft(recipe, "@-+ "), makeName(), value))}
		}
		rules = append(rules, rule)
	}
	for _, rule := range made(rules, targets) {
		lines = append(lines, rule.lines...)
	}
	return lines
}

// made are the rules that making the targets runs. A target that no rule names may be
// any of them.
func made(rules []makeRule, targets []string) []makeRule {
	first := slices.IndexFunc(rules, func(r makeRule) bool {
		return len(r.targets) > 0 && (r.targets[0][0] != '.' || strings.Contains(r.targets[0], "/"))
	})
	if len(targets) == 0 && first >= 0 {
		targets = rules[first].targets
	}
	wanted := map[string]bool{}
	for _, name := range targets {
		if wanted[name] = true; !slices.ContainsFunc(rules, func(r makeRule) bool { return slices.Contains(r.targets, name) }) {
			return rules
		}
	}
	needed := make([]bool, len(rules))
	for again := true; again; {
		again = false
		for i, r := range rules {
			if needed[i] || !slices.ContainsFunc(r.targets, func(t string) bool { return wanted[t] || strings.ContainsAny(t, "%$") || t == ".DEFAULT" }) {
				continue
			}
			needed[i], again = true, true
			for _, need := range r.needs {
				wanted[need] = true
			}
			for _, line := range r.lines {
				if strings.Contains(line, "make ") { // of itself, or of another makefile
					for _, word := range strings.Fields(line) {
						wanted[word] = true
					}
				}
			}
		}
	}
	var out []makeRule
	for i, r := range rules {
		if needed[i] {
			out = append(out, r)
		}
	}
	return out
}

// justfile judges the recipes of a justfile. One with a first line of its own is a
// script in that language.
func (u *use) justfile(text string) {
	values := map[string]string{}
	for _, set := range justSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = set[2]
	}
	text = fill(text, justHole(), func(expr string) string {
		switch v, ok := values[expr]; {
		case ok:
			return v
		case strings.Contains(expr, "HOME") || strings.HasPrefix(expr, "home_dir"):
			return "${HOME}"
		}
		return "value"
	})
	var block []string
	flush := func() {
		body := strings.Join(block, "\n")
		block = nil
		if strings.HasPrefix(body, "#!") {
			u.recipe("shell", "", body)
			return
		}
		for line := range strings.Lines(body) {
			u.inside(func() { u.shell.Text(flow.Literal(strings.TrimLeft(line, "@- \t")), flow.Stream{}) })
		}
	}
	indent := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " \t")
		if bare != "" && bare == line {
			flush()
			indent = ""
			continue
		}
		if indent == "" {
			indent = line[:len(line)-len(bare)]
		}
		block = append(block, strings.TrimPrefix(line, indent))
	}
	flush()
}

// yamlKeys are keys whose value is a line of a shell, or a list of such lines.
const yamlKeys = " run cmd cmds command commands script scripts shell entry init before before_script after_script prebuild postinstall sh preconditions raw ansible.builtin.shell ansible.builtin.command "

// yamlLines are the lines of a shell in a document of YAML: the values of some keys. It
// reads the common forms only: scalars, blocks, and lists of both.
func yamlLines(text string) (lines []string) {
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		depth, key, value, ok := yamlPair(all[i])
		if !ok || !wordlist.Has(yamlKeys, key) {
			continue
		}
		if value != "" && value[0] != '|' && value[0] != '>' {
			lines = append(lines, yamlScalar(value))
			continue
		}
		var block []string
		for i+1 < len(all) && (strings.TrimSpace(all[i+1]) == "" || indentOf(all[i+1]) > depth || value == "" && indentOf(all[i+1]) == depth && strings.HasPrefix(strings.TrimSpace(all[i+1]), "- ")) {
			if value == "" {
				if _, k, _, ok := yamlPair(all[i+1]); ok && k != "" { // a mapping goes on with keys of its own
					break
				}
			}
			i++
			block = append(block, strings.TrimSpace(all[i]))
		}
		if value != "" {
			lines = append(lines, strings.Join(block, "\n"))
			continue
		}
		for _, item := range block {
			if item, ok := strings.CutPrefix(item, "- "); ok {
				lines = append(lines, yamlScalar(item))
			}
		}
	}
	return lines
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// yamlPair takes "key: value" apart, with or without a dash of a list before it.
func yamlPair(line string) (depth int, key, value string, ok bool) {
	bare := strings.TrimLeft(line, " ")
	depth = len(line) - len(bare)
	for {
		rest, dash := strings.CutPrefix(bare, "- ")
		if !dash {
			break
		}
		bare = strings.TrimLeft(rest, " ")
	}
	key, value, ok = strings.Cut(bare, ":")
	if !ok || key == "" || strings.ContainsAny(key, " \"'{[(") || value != "" && value[0] != ' ' {
		return depth, "", "", false
	}
	return depth, key, strings.TrimSpace(value), true
}

// yamlScalar is the text of a scalar, or of a list of words in brackets.
func yamlScalar(s string) string {
	s = strings.TrimSpace(s)
	if list, ok := strings.CutPrefix(s, "["); ok {
		var words []string
		for item := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			words = append(words, strings.Trim(strings.TrimSpace(item), `"'`))
		}
		return strings.Join(words, " ")
	}
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	}
	return s
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
	home := strings.NewReplacer("$ENV{HOME}", "${HOME}", "${CMAKE_COMMAND}", "cmake")
	text = home.Replace(text)
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
	flush := func() {
		if len(options) > 0 || command != "" {
			lines = append(lines, "docker run "+strings.Join(options, " ")+" "+image+" "+command)
		}
		options, image, command = nil, "image", ""
	}
	add := func(key, value string) {
		switch value = yamlScalar(value); key {
		case "volumes":
			for v := range strings.FieldsSeq(value) {
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
		if item, isItem := strings.CutPrefix(bare, "- "); isItem && list != "" {
			add(list, item)
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
		case "command":
			command = yamlScalar(value)
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
