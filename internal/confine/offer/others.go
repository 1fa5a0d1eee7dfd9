package offer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/hook"
)

// others names a hook beside gate's that sees the same call and may rewrite it, "" if there
// is none. An agent takes one of several rewrites, perhaps the bare line. Whatever cannot be
// told is a hook. Where an agent keeps its hooks was observed for those that are here;
// docs/agents.md has the versions.
func (m Machine) others(ev *hook.Event) string {
	switch ev.Agent {
	case "claude":
		return m.claude(ev.Tool(), ev.Dir())
	case "codex":
		if why := codexConfines(ev); why != "" {
			return why
		}
		return m.codex(ev.Dir())
	case "gemini":
		return m.gemini(ev.Dir())
	case "copilot":
		if _, own := ev.Native["toolName"]; !own {
			return "in this dialect of its events copilot takes no other line"
		}
		return m.copilot(ev.Dir())
	case "opencode":
		return m.opencode(ev.Dir())
	}
	return "gate does not know the other hooks of " + ev.Agent
}

// Takes reports an agent whose calls can run confined: it takes another line, and gate
// knows where its other hooks are.
func Takes(agent string) bool {
	return slices.Contains([]string{"claude", "codex", "gemini", "copilot", "opencode"}, agent)
}

func another(file string) string {
	return "another hook in " + file + " sees the same call, and may put its own line in the place of this one"
}

// above are a directory and those above it. Nobody says in which of them a session began,
// and so which the agent takes for its project.
func above(dir string) (dirs []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			return dirs
		}
	}
}

// below are the files that lie at some names in each of some directories.
func below(dirs []string, names ...string) (files []string) {
	for _, dir := range dirs {
		for _, name := range names {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return files
}

// listed are the entries of some directories that have one of some endings; any without.
func listed(dirs []string, endings ...string) (files []string) {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if len(endings) == 0 || slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(e.Name(), end) }) {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

// own is the agent's directory of the person: where a variable says so, otherwise below
// the home directory.
func (m Machine) own(variable, otherwise string) string {
	if dir := m.variable(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, otherwise)
}

func (m Machine) variable(name string) string {
	if m.LookupEnv == nil {
		return ""
	}
	value, _ := m.LookupEnv(name)
	return value
}

// An entries tells hooks of an agent before calls of its shell.
type entries struct {
	m      Machine
	events []string // before a call
	tools  []string // names of the shell, in the agent's words and in Claude Code's
	line   []string // the members of a handler that are its command line
}

// foreign reports a hook before calls of the shell that does not start the gate that asks.
// An event has groups of handlers behind a matcher, or handlers that have one themselves.
func (e entries) foreign(hooks map[string]any) bool {
	for _, event := range e.events {
		list, isList := hooks[event].([]any)
		if hooks[event] != nil && !isList {
			return true
		}
		for _, one := range list {
			group, _ := one.(map[string]any)
			if !e.mayMatch(group["matcher"]) {
				continue
			}
			handlers, grouped := group["hooks"].([]any)
			if !grouped {
				handlers = []any{group}
			}
			for _, h := range handlers {
				handler, _ := h.(map[string]any)
				if !e.starts(handler) {
					return true
				}
			}
		}
	}
	return false
}

// mayMatch reports a matcher that can be one for the shell: an expression, which need not
// match the whole name.
func (e entries) mayMatch(matcher any) bool {
	text, ok := matcher.(string)
	if !ok || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_|") != "" {
		return true
	}
	for part := range strings.SplitSeq(text, "|") {
		if slices.ContainsFunc(e.tools, func(tool string) bool { return strings.Contains(tool, part) }) {
			return true
		}
	}
	return false
}

// starts reports a handler that starts the gate that asks.
func (e entries) starts(handler map[string]any) bool {
	if kind, there := handler["type"]; there && kind != "command" {
		return false
	}
	for _, name := range e.line {
		if line, ok := handler[name].(string); ok {
			return e.m.startsGate(line)
		}
	}
	return false
}

// file says why the hooks of a file in JSON may rewrite the call.
func (e entries) file(name string) string {
	doc, err := settingsOf(name)
	if err != nil {
		return err.Error()
	}
	return e.of(doc, name)
}

func (e entries) of(doc map[string]any, name string) string {
	hooks, is := doc["hooks"].(map[string]any)
	if doc["hooks"] != nil && !is || e.foreign(hooks) {
		return another(name)
	}
	return ""
}

// first is the first thing that is to be said of some files.
func first(files []string, of func(string) string) string {
	for _, name := range files {
		if why := of(name); why != "" {
			return why
		}
	}
	return ""
}

// isGate reports the path of a program of the gate that asks.
func (m Machine) isGate(program string) bool {
	base := filepath.Base(program)
	return (base == "gate-hook" || base == "gate") && filepath.IsAbs(program) && sameDir(filepath.Dir(program), filepath.Dir(m.Launcher))
}

// startsGate reports a line that starts nothing but a program of the gate that asks. A line
// of gate install counts, too: its shell says so where gate does not answer.
func (m Machine) startsGate(line string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 {
		return false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background {
		return false
	}
	var words []string
	for _, w := range call.Args {
		word := literal(w)
		if word == "" {
			return false
		}
		words = append(words, word)
	}
	if len(words) > 4 && words[0] == "/bin/sh" && words[1] == "-c" && refuses(words[2]) {
		words = words[4:]
	}
	return len(words) > 0 && m.isGate(words[0])
}

// refuses reports the program of a shell that starts what follows it, and says something
// where that gives no answer.
func refuses(program string) bool {
	said, ok := strings.CutPrefix(program, `"$@" && [ -s "$1" ] || { [ $? = 2 ] || echo `)
	said, ends := strings.CutSuffix(said, `; exit 2; }`)
	if !ok || !ends {
		return false
	}
	if quoted, ok := strings.CutPrefix(said, "'"); ok {
		return strings.IndexByte(quoted, '\'') == len(quoted)-1
	}
	said, _ = strings.CutSuffix(said, " >&2")
	return !strings.ContainsAny(said, "$`;|&<>()\n'\"\\*?[~#{}")
}
