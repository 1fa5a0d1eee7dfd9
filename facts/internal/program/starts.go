package program

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// startRows are files of agents, editors and shells that run by themselves: the names,
// with the directory above where that tells, and the kind of their text.
const startRows = `.husky/* .githooks/* .envrc .autoenv .autoenv.zsh .env.zsh bin/activate bin/activate.* Scripts/activate .venv/activate session-env/*.sh | shell
.exrc .vimrc .nvimrc .lvimrc | vim
.nvim.lua .lazy.lua | lua
.dir-locals.el | elisp
lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .pre-commit-config.yaml .gitpod.yml .aider.conf.yml .overcommit.yml | yaml
.mise.toml mise.toml .rtx.toml | toml
package.json | package
.npmrc .yarnrc .yarnrc.yml bunfig.toml pip.conf pip.ini uv.toml .pypirc | registry
devcontainer.json .devcontainer/devcontainer.json .devcontainer.json | devcontainer
.vscode/tasks.json .vscode/launch.json .zed/tasks.json | commands
.vscode/mcp.json mcp.json .mcp.json mcp_config.json | commands
.vscode/settings.json User/settings.json *.code-workspace .zed/settings.json | editor
workflows/*.yml workflows/*.yaml .gitlab-ci.yml .circleci/config.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile .drone.yml .woodpecker.yml | workflow
commands/*.md agents/*.md SKILL.md *.prompt.md *.chatmode.md *.agent.md | agent
`

// notLater are directories of startRows that a project's own tools fill.
const notLater = " bin Scripts .venv session-env User workflows .circleci "

// Later are files of startRows that agents, editors, shells and git start though nobody
// asks for them. A name counts in any directory; the directory above stands before it
// where that tells. "/**" stands behind a directory of which all counts. Files that are
// the work of a project, such as package.json, are none: they run where somebody runs
// them.
func Later() (patterns []string) {
	for line := range strings.Lines(startRows) {
		names, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if wordlist.Has(" package registry workflow ", kind) {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			dir, file, _ := cutLastOr(name)
			switch {
			case wordlist.Has(notLater, dir):
			case kind == "agent" && strings.HasSuffix(file, ".md") && dir != "":
				for above := range strings.FieldsSeq(draft.AgentDirectories + " .agents .github") {
					patterns = append(patterns, above+"/"+dir+"/**")
				}
			case kind == "agent" && file == "SKILL.md":
				for above := range strings.FieldsSeq(draft.AgentDirectories + " .agents .github") {
					patterns = append(patterns, above+"/skills/**")
				}
			case dir != "" && glob.Wild(file):
				patterns = append(patterns, dir+"/**")
			case !glob.Wild(file):
				patterns = append(patterns, name)
			}
		}
	}
	return patterns
}

// Starts judges the text of a file that runs by itself: what its lines surely do counts
// as an effect of writing them, and so does a setting that switches approval off. Files
// of other names are not looked at. The shell stands where such lines would run.
func (p *Programs) Starts(d *draft.Draft, shell Shell, file, text string) {
	kind := startKind(file)
	if kind == "" || len(text) > maxScript {
		return
	}
	out, full := d.Facts, d.Full
	d.Facts = &hook.Facts{Shell: &hook.Shell{}}
	u := &use{Draft: d, Invocation: &draft.Invocation{Words: []flow.Word{flow.Literal(path.Base(file))}}, programs: p, shell: shell, row: &catalogue.Row{}}
	u.starts(kind, file, text)
	found := d.Facts.Effects
	d.Facts, d.Full = out, full
	for _, e := range found {
		if !doubtful(e) && e.Kind() != "fs.read" && e.Kind() != "net.fetch" && e.Kind() != "package.install" {
			d.Effect(0, e.Is)
		}
	}
}

// startKind is what a file that runs by itself holds, "" for any other file.
func startKind(file string) string {
	base, above := path.Base(file), path.Base(path.Dir(file))
	for line := range strings.Lines(startRows) {
		names, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		for name := range strings.FieldsSeq(names) {
			dir, name, below := cutLastOr(name)
			if below && dir != above && !(kind == "agent" && strings.Contains(file, "/"+dir+"/")) {
				continue
			}
			if name == base || glob.Wild(name) && glob.Compile(name, glob.Syntax{}).Match(base) != glob.No {
				if kind == "agent" && !ofAgent(file) {
					continue
				}
				return kind
			}
		}
	}
	return ""
}

func cutLastOr(name string) (dir, base string, below bool) {
	if dir, base, below = cutLast(name, "/"); below {
		return dir, base, true
	}
	return "", name, false
}

// ofAgent reports a file below a directory that agents read.
func ofAgent(file string) bool {
	for dir := path.Dir(file); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if draft.AgentDirectory(dir) != "" || path.Base(dir) == ".github" || path.Base(dir) == ".agents" {
			return true
		}
	}
	return false
}

func (u *use) starts(kind, file, text string) {
	run := func(lines []string) {
		for _, line := range lines {
			u.shell.Text(flow.Literal(line), flow.Stream{})
		}
	}
	switch kind {
	case "shell":
		u.recipe("shell", file, text)
	case "vim":
		for line := range strings.Lines(text) {
			if i := strings.IndexByte(line, '!'); i >= 0 && editorShell().MatchString(line) {
				run([]string{line[i+1:]})
			}
			u.editorCommands(flow.Literal(strings.TrimSpace(line)))
		}
	case "lua":
		for _, found := range luaShell().FindAllStringSubmatch(text, -1) {
			run([]string{unquote(found[1])})
		}
		u.bare().code("lua", flow.Literal(text), "file")
	case "elisp":
		for _, found := range elispShell().FindAllStringSubmatch(text, -1) {
			run([]string{unquote(found[1])})
		}
	case "yaml":
		run(yamlLines(text))
		u.loosens(file, text)
	case "toml":
		for _, found := range tomlLine().FindAllStringSubmatch(text, -1) {
			run([]string{unquote(found[1])})
		}
	case "registry":
		for _, found := range registryLine().FindAllStringSubmatch(text, -1) {
			u.programs.Sets(u.Draft, 0, "NPM_CONFIG_REGISTRY", flow.Literal(found[1]))
		}
	case "package":
		run(u.lifecycle(text))
	case "devcontainer":
		u.devcontainer(text)
	case "commands":
		run(jsonCommands(text))
	case "workflow":
		if workflowLeak().MatchString(text) {
			u.effect(&hook.SecretRead{Path: new(file), What: "workflow that shows secrets", Grade: "config", Shown: true})
		}
	case "editor":
		u.editorSettings(file, text)
	case "agent":
		u.agentFile(file, text)
	}
}

var (
	editorShell  = lazy(`^\s*(:|au|autocmd|silent|nnoremap|nmap|map|command)`)
	luaShell     = lazy(`(?:vim\.fn\.(?:system|systemlist|jobstart|termopen)|vim\.cmd|os\.execute|io\.popen)\s*\(\s*"!?((?:[^"\\]|\\.)*)"`)
	elispShell   = lazy(`\((?:async-)?(?:shell-command(?:-to-string)?|start-process-shell-command\s+\S+\s+\S+|compile)\s+"((?:[^"\\]|\\.)*)"`)
	tomlLine     = lazy(`(?m)^\s*(?:enter|leave|cd|preinstall|postinstall|run|script)\s*=\s*\[?"((?:[^"\\]|\\.)*)"`)
	registryLine = lazy(`(?mi)^\s*(?:@[\w.-]+:)?(?:registry|npmRegistryServer|index-url|extra-index-url|index|url)\s*[=: ]\s*["']?(https?://[^\s"']+)`)
	jsonShell    = lazy(`"-l?i?c"\s*,\s*"((?:[^"\\]|\\.)*)"`)
	jsonCommand  = lazy(`"(?:command|initializeCommand)"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	jsonSetting  = lazy(`"([A-Za-z_]\w*)"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	agentLine    = lazy("!`([^`\n]+)`")
	frontLine    = lazy(`(?m)^\s*(?:- )?command:\s*(.+)$`)
	frontTools   = lazy(`(?m)^allowed-tools:[ \t]*(.*)((?:\n[ \t]*- .*)*)`)

	// Settings of editors and agents that switch approval off, or have them run another program.
	looseSetting = lazy(`(?i)"?[\w.-]*(auto[-_]?approve|autoAccept|allowDangerously\w*|dangerously\w*|bypassPermissions|yolo\w*|skipPermissions|yes-always)"?\s*:\s*true\b` +
		`|:\s*"?(bypassPermissions|danger-full-access|yolo)\b|"security\.workspace\.trust\.enabled"\s*:\s*false|"task\.allowAutomaticTasks"\s*:\s*"on"` +
		`|"[\w.]*(path|interpreter|executable)"\s*:\s*"/(tmp|dev/shm|var/tmp)/`)
	looseTerminal = lazy(`(?s)autoApprove"\s*:\s*\{[^}]*"(/\^?\.[*+].*?|rm|sudo|curl|wget|bash|sh|eval|dd|ssh|chmod)"\s*:\s*(true|\{\s*"approve"\s*:\s*true)`)
	// A workflow that writes out all its secrets, or one in a form that the log does not mask.
	workflowLeak = lazy(`(?i)toJSON\(\s*secrets\s*\)|secrets\.\w+\s*\}\}["']?\s*\|\s*(base64\s*($|[|>"'\n]|-w)|xxd|rev\b|od\b|tr\b|sed\b)` +
		`|(?m:(?:^|[\s;&"'])(?:env|printenv|export -p|set)\s*(?:\|[^|\n]*)*\|\s*(?:curl|wget|nc|ncat|socat|https?)\s)`)
	looseTools = lazy(`(^|[\s,\[])["']?(\*|Bash(\((\*|:\*|(rm|sudo|curl|wget|sh|bash|eval|ssh)\b.*?)\))?)["']?\s*(,|\]|$|\n)`)
)

func unquote(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\/`, "/").Replace(s)
}

// loosens records a setting that switches approval off.
func (u *use) loosens(file, text string) {
	if looseSetting().MatchString(text) || looseTerminal().MatchString(text) {
		u.effect(&hook.Persistence{What: "approval switched off", Verb: "write", Path: new(file)})
	}
}

// editorSettings judges an editor's settings: by key what they switch off, and what the
// shells are told that it starts.
func (u *use) editorSettings(file, text string) {
	u.loosens(file, text)
	for _, found := range jsonShell().FindAllStringSubmatch(text, -1) {
		u.shell.Text(flow.Literal(unquote(found[1])), flow.Stream{})
	}
	if _, env, ok := strings.Cut(text, "terminal.integrated.env."); ok {
		for _, found := range jsonSetting().FindAllStringSubmatch(env, -1) {
			u.sets(found[1], flow.Literal(unquote(found[2])))
		}
	}
}

// agentFile judges a command, skill or agent written for a coding agent: lines that it
// runs when it is called, hooks, and tools that nobody is asked about.
func (u *use) agentFile(file, text string) {
	front := ""
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), "---\n"); ok {
		front, _, _ = strings.Cut(rest, "\n---")
	}
	for _, found := range agentLine().FindAllStringSubmatch(text, -1) {
		u.shell.Text(flow.Literal(found[1]), flow.Stream{})
	}
	for _, found := range frontLine().FindAllStringSubmatch(front, -1) {
		u.shell.Text(flow.Literal(yamlScalar(found[1])), flow.Stream{})
	}
	u.loosens(file, front)
	if found := frontTools().FindStringSubmatch(front); found != nil && looseTools().MatchString(strings.ReplaceAll(found[1]+found[2], "- ", " ")) {
		u.effect(&hook.Persistence{What: "approval switched off", Verb: "write", Path: new(file)})
	}
}

// devcontainer judges the commands that run on the machine itself before there is a
// container, and how the container is started.
func (u *use) devcontainer(text string) {
	project, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil {
		for _, found := range jsonCommand().FindAllStringSubmatch(text, -1) {
			u.shell.Text(flow.Literal(unquote(found[1])), flow.Stream{})
		}
		return
	}
	commands := []any{project["initializeCommand"]}
	if m, ok := project["initializeCommand"].(map[string]any); ok {
		commands = slices.Collect(maps.Values(m))
	}
	for _, c := range commands {
		switch c := c.(type) {
		case string:
			u.shell.Text(flow.Literal(c), flow.Stream{})
		case []any:
			u.shell.Text(flow.Literal(quoted(c)), flow.Stream{})
		}
	}
	if args, ok := project["runArgs"].([]any); ok {
		u.shell.Text(flow.Literal("docker run "+quoted(args)+" image"), flow.Stream{})
	}
}

// quoted are the texts of a list as words of a shell.
func quoted(list []any) string {
	var words []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			words = append(words, bash.Quote(s))
		}
	}
	return strings.Join(words, " ")
}

// jsonCommands are the lines that the objects of a document name by command and args.
func jsonCommands(text string) (lines []string) {
	document, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil { // with comments, or a part of one
		for _, re := range []*regexp.Regexp{jsonCommand(), jsonShell()} {
			for _, found := range re.FindAllStringSubmatch(text, -1) {
				lines = append(lines, unquote(found[1]))
			}
		}
		return lines
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if command, ok := v["command"].(string); ok {
				if args, ok := v["args"].([]any); ok {
					command += " " + quoted(args)
				}
				if !wordlist.Has(" npm ", command) {
					lines = append(lines, command)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(map[string]any(document))
	return lines
}
