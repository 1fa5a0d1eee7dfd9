package program

import (
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// A task is one of a file of tasks: its name, what runs before it, and its text.
type task struct {
	name   string
	alias  bool     // another name of one, which is never the first
	params []string // the names of its arguments
	needs  []string
	body   []string
}

// wanted are the tasks that the line's words name, with those that they need, or the first
// or default one. A word that names none may be an argument; of a text that an agent wrote
// all tasks count where no word names one.
func (u *use) wanted(tasks []task, first string) (list []task, args []string) {
	names := map[string]bool{}
	for _, f := range slices.Concat(u.strayed, u.rest) {
		name, _, _ := strings.Cut(f.Text(), "::")
		if slices.ContainsFunc(tasks, func(t task) bool { return t.name == name }) {
			names[name] = true
		} else {
			args = append(args, f.Text())
		}
	}
	switch {
	case len(names) > 0:
	case len(tasks) == 0:
		return nil, nil
	case len(args) == 0:
		if first == "" || !slices.ContainsFunc(tasks, func(t task) bool { return t.name == first }) {
			first = tasks[max(slices.IndexFunc(tasks, func(t task) bool { return !t.alias }), 0)].name
		}
		names[first] = true
	case u.sure:
		return nil, nil
	default:
		return tasks, args
	}
	needs := map[string][]string{}
	for _, t := range tasks {
		needs[t.name] = append(needs[t.name], t.needs...)
	}
	for next := slices.Collect(maps.Keys(names)); len(next) > 0; {
		name := next[len(next)-1]
		next = next[:len(next)-1]
		for _, need := range needs[name] {
			if !names[need] {
				names[need] = true
				next = append(next, need)
			}
		}
	}
	return slices.DeleteFunc(tasks, func(t task) bool { return !names[t.name] }), args
}

// justfile judges the recipes of a justfile that the line's words name. One with a first
// line of its own is a script in that language.
func (u *use) justfile(file, text string) {
	values := map[string]string{}
	for _, set := range justSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = set[2]
	}
	for _, found := range justImport().FindAllStringSubmatch(text, -1) {
		u.includes("just", file, found[1])
	}
	for _, found := range justModule().FindAllStringSubmatch(text, -1) {
		for _, name := range []string{found[1] + ".just", found[1] + "/mod.just", found[1] + "/justfile"} {
			u.includes("just", file, name)
		}
	}
	first := ""
	if found := justDefault().FindStringSubmatch(text); found != nil {
		first = found[1]
	}
	tasks, args := u.wanted(justTasks(text), first)
	for _, t := range tasks {
		for i, name := range t.params {
			if i < len(args) {
				values[name] = args[i]
			}
		}
		body := u.fill(strings.Join(t.body, "\n"), justHole(), func(expr string) string {
			switch v, ok := values[expr]; {
			case ok:
				return v
			case strings.Contains(expr, "HOME") || strings.HasPrefix(expr, "home_dir"):
				return "${HOME}"
			}
			return "value"
		})
		if strings.HasPrefix(body, "#!") {
			u.recipe("shell", "", body)
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(body, "\\\n", " ")) {
			u.inside(func() { u.shell.Text(flow.Literal(strings.TrimLeft(line, "@- \t")), flow.Stream{}) })
		}
	}
}

// justTasks takes the recipes of a justfile apart.
func justTasks(text string) (tasks []task) {
	indent, open := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " \t")
		if bare == "" {
			continue
		}
		if bare != line {
			if !open {
				continue
			}
			t := &tasks[len(tasks)-1]
			if len(t.body) == 0 {
				indent = line[:len(line)-len(bare)]
			}
			t.body = append(t.body, strings.TrimPrefix(line, indent))
			if words := strings.Fields(strings.TrimLeft(bare, "@-")); len(words) > 1 && words[0] == "just" { // of the same file
				t.needs = append(t.needs, words[1:]...)
			}
			continue
		}
		head, needs, ok := strings.Cut(line, ":")
		words := strings.Fields(strings.TrimPrefix(head, "@"))
		if strings.HasPrefix(needs, "=") || line[0] == '#' || line[0] == '[' {
			if words := strings.Fields(line); len(words) == 4 && words[0] == "alias" {
				tasks = append(tasks, task{name: words[1], needs: words[3:], alias: true})
				open = false
			}
			continue
		}
		if open = ok && len(words) > 0; !open {
			continue
		}
		t := task{name: words[0]}
		for _, p := range words[1:] {
			name, _, _ := strings.Cut(strings.TrimLeft(p, "+*$"), "=")
			t.params = append(t.params, name)
		}
		for need := range strings.FieldsSeq(strings.NewReplacer("(", " ", ")", " ", "&&", " ").Replace(needs)) {
			t.needs = append(t.needs, need)
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// taskLines are the lines of a Taskfile that its tasks run, of those that the line's words
// name. What stands in holes is not known.
func (u *use) taskLines(text string) (lines []string) {
	var tasks []task
	depth, on := -1, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' {
			continue
		}
		at, key, value, ok := yamlPair(line)
		switch {
		case at == 0 && line[0] != ' ' && line[0] != '-':
			on, depth = ok && key == "tasks", -1
		case !on:
		case ok && (depth < 0 || at == depth) && !strings.HasPrefix(bare, "- "):
			depth = at
			tasks = append(tasks, task{name: key})
			if value != "" {
				tasks[len(tasks)-1].body = []string{"cmd: " + value}
			}
		case len(tasks) > 0:
			t := &tasks[len(tasks)-1]
			t.body = append(t.body, line)
			if key == "task" {
				t.needs = append(t.needs, yamlScalar(value))
			} else if key == "deps" && value != "" {
				t.needs = append(t.needs, strings.Fields(yamlScalar(value))...)
			} else if item, ok := strings.CutPrefix(bare, "- "); ok && !strings.ContainsAny(item, " :") {
				t.needs = append(t.needs, yamlScalar(item))
			}
		}
	}
	tasks, _ = u.wanted(tasks, "default")
	for _, t := range tasks {
		lines = append(lines, yamlLines(strings.Join(t.body, "\n"))...)
	}
	for i, line := range lines {
		lines[i] = u.fill(line, taskHole(), func(expr string) string {
			if strings.Contains(expr, "HOME") {
				return "${HOME}"
			}
			return "value"
		})
	}
	return lines
}

var (
	justDefault = lazy(`(?m)^\[(?:[^\]\n]*,\s*)?default(?:\s*,[^\]\n]*)?\]\s*\n(?:\[[^\n]*\n|#[^\n]*\n)*@?([\w-]+)`)
	justImport  = lazy(`(?m)^(?:import|mod\s+\w+)\??\s+['"]([^'"]+)['"]`)
	justModule  = lazy(`(?m)^mod\??\s+([\w-]+)[ \t]*$`)
	taskHole    = lazy(`\{\{\s*([^}]*?)\s*\}\}`)
)

// cargoLines are the programs that settings of cargo have it start.
func cargoLines(text string) (lines []string) {
	for _, found := range cargoKey().FindAllStringSubmatch(text, -1) {
		if list := strings.TrimSpace(found[1]); !strings.HasPrefix(list, "[") {
			lines = append(lines, strings.Trim(list, `"' `))
		} else if words, _ := quotedWords(list); len(words) > 0 {
			lines = append(lines, shellLine(words))
		}
	}
	return lines
}

// quotedWords are the texts in quotes of either kind that a list has, and what follows the
// bracket that closes it.
func quotedWords(list string) (words []string, rest string) {
	for i := 0; i < len(list); i++ {
		switch c := list[i]; c {
		case ']', ')':
			return words, list[i+1:]
		case '"', '\'':
			end := i + 1
			for end < len(list) && list[end] != c {
				if list[end] == '\\' && c == '"' {
					end++
				}
				end++
			}
			if end >= len(list) {
				return words, ""
			}
			words = append(words, unquote(list[i+1:end]))
			i = end
		}
	}
	return words, ""
}

// shellLine is the line of a shell that runs a command of these words.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = bash.Quote(w)
	}
	return strings.Join(quoted, " ")
}

// mavenLines are the commands that plugins of maven and tasks of ant run.
func mavenLines(text string) (lines []string) {
	for _, found := range mavenExec().FindAllStringSubmatch(text, -1) {
		words := []string{found[1] + found[2]}
		rest, _, _ := strings.Cut(found[3], "</configuration>")
		for _, arg := range mavenArgument().FindAllStringSubmatch(rest, -1) {
			words = append(words, arg[1]+arg[2])
		}
		lines = append(lines, strings.Join(words, " "))
	}
	for _, found := range antDelete().FindAllStringSubmatch(text, -1) {
		lines = append(lines, "rm -rf "+found[1])
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "${user.home}", "${HOME}")
	}
	return lines
}

var (
	cargoKey      = lazy(`(?m)^\s*(?:[\w.'"()=-]+\.)?(?:runner|linker|rustc|rustc-wrapper|rustc-workspace-wrapper|rustdoc|credential-provider)\s*=\s*(\[(?:[^\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*\]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	mavenExec     = lazy(`(?s)<exec(?:utable>\s*([^<\s]+)\s*</executable>|\b[^>]*\bexecutable="([^"]*)")((?:.{0,1000}?)(?:</configuration>|</exec>))`)
	mavenArgument = lazy(`<argument>\s*([^<]*?)\s*</argument>|<arg\s+(?:value|line)="([^"]*)"`)
	antDelete     = lazy(`<delete\s[^>]*\b(?:dir|file)="([^"]*)"`)
)

// honestHosts are those that wrappers of gradle and maven come from.
const honestHosts = " services.gradle.org downloads.gradle.org repo.maven.apache.org repo1.maven.org archive.apache.org dlcdn.apache.org github.com "

// wrapperURL judges where a wrapper of gradle or maven takes the tool from that it runs.
func (u *use) wrapperURL(text string) {
	for _, found := range wrapperKey().FindAllStringSubmatch(text, -1) {
		url := strings.ReplaceAll(found[1], `\:`, ":")
		if host := hostOf([]*string{&url}); host != nil && !wordlist.Has(honestHosts, *host) {
			u.remote(*host, url)
		}
	}
}

var wrapperKey = lazy(`(?m)^\s*(?:distributionUrl|wrapperUrl)\s*[=:]\s*(\S+)`)
