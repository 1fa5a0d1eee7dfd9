package tool

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// strangeTool judges a tool by the names of its fields:
// every field that looks like a command, a path or a URL counts.
func (c Call) strangeTool(name string, input map[string]any) {
	if !strings.HasPrefix(name, "mcp__") {
		c.Unknown("tool", fmt.Sprintf("gate has no row for the tool %q", name), 0, nil)
	}
	c.toolVerb(name, input)
	c.sentBody(input)
	c.handed(name, input)
	if row, known := tools(strings.ReplaceAll(strings.ToLower(name), "-", "_")); known && !row.silent() {
		c.knownTool(name, row, input) // the same in other letters, for all that is known
		return
	}
	c.scan(name, input, 0)
	c.carried(name, input)
	c.copies(name, input)
}

func (c Call) scan(tool string, input map[string]any, depth int) {
	does := tool // with what the input says is to be done: {"op": "delete", "path": …}
	for _, k := range append([]string{"type"}, verbFields[1:]...) {
		if s, ok := input[k].(string); ok && len(s) < 32 && k != "method" && !slices.Contains(wordlist.OfName(tool), "git") {
			does += "_" + s
		}
	}
	for _, k := range slices.Sorted(maps.Keys(input)) {
		switch v := input[k].(type) {
		case map[string]any:
			if depth < 8 {
				c.scan(tool, v, depth+1)
			}
		case []any:
			c.scanList(tool, does, k, v, input, depth)
		case string:
			role := guess(k)
			switch {
			case namesProgram(k, input):
				c.lines.Follow(bash.Quote(v)+arguments(input), c.World.Dir)
			case role == "shell" && pageCode(tool, k) && !c.lines.IsLine(v):
			case role == "shell" && arguments(input) != "":
				c.lines.Follow(v+arguments(input), c.World.Dir)
			case role == "shell" && runsShell(tool, v), typedInto(tool, k) && c.lines.IsLine(v):
				c.lines.Follow(v, c.World.Dir)
			case role == "shell":
			case !strings.HasPrefix(tool, "mcp__") && strings.Contains(v, "*** Begin Patch"):
				c.Patch(c.Here(), 0, v)
			case strings.HasPrefix(v, "{") && depth < 8:
				if inner, err := strictjson.Object([]byte(v), strictjson.Limits{}); err == nil {
					c.scan(tool, inner, depth+1)
				}
			default:
				role = moved(does, k, toolRole(does, role))
				c.Field(k, v, role)
				c.handsOut(does, v, role)
				c.maybePath(does, k, v, role)
			}
		}
	}
}

func (c Call) scanList(tool, does, k string, v []any, input map[string]any, depth int) {
	role := guess(k)
	if role == "shell" {
		if len(v) == 0 {
			return
		}
		first, word := v[0].(string)
		if _, nested := v[0].([]any); !nested {
			c.shellField(v, c.World.Dir)
		}
		if word && (strings.EqualFold(k, "commands") || strings.EqualFold(k, "cmds") || strings.ContainsAny(first, " \t\n")) {
			c.commandLines(v)
		}
		for _, e := range v {
			if words, ok := e.([]any); ok {
				c.shellField(words, c.World.Dir)
			}
		}
		return
	}
	if program, ok := argumentsOf(tool, k, input); ok {
		c.shellField(append(program, v...), c.World.Dir)
		return
	}
	for _, e := range v {
		if m, ok := e.(map[string]any); ok && depth < 8 {
			c.scan(tool, m, depth+1)
		} else {
			c.Field(k, e, toolRole(does, role))
			if s, ok := e.(string); ok {
				c.handsOut(does, s, toolRole(does, role))
				c.maybePath(does, k, s, toolRole(does, role))
			}
		}
	}
}

// maybePath judges a text that begins as a path does, where nothing says what the tool
// does with it: as behind a program that nobody knows.
func (c Call) maybePath(tool, field, v, role string) {
	names := wordlist.HasAny(" list ls tree stat stats info metadata glob find exists search directory ", wordlist.OfName(tool))
	if role != "" && (role != "list" || names) {
		return
	}
	path, file := strings.CutPrefix(v, "file://")
	if at := strings.IndexByte(path, '/'); at == 0 || at > 0 && !file && strings.Trim(path[:at], ".") == "" || strings.HasPrefix(path, "~/") {
		c.MaybePath(c.Here(), 0, field, flow.Literal(path))
	}
}

// typedInto reports a field whose text is typed into a terminal.
func typedInto(tool, field string) bool {
	return slices.Contains([]string{"input", "text", "line", "keys", "chars", "data"}, strings.ToLower(field)) &&
		wordlist.HasAny(" shell bash zsh terminal tmux iterm console process pty ssh ", wordlist.OfName(tool))
}

// pageCode reports a field whose text a page of a browser runs.
func pageCode(tool, field string) bool {
	return strings.EqualFold(field, "script") && wordlist.HasAny(" browser page puppeteer playwright chrome chromium firefox devtools selenium webdriver ", wordlist.OfName(tool))
}

// moved tells where something goes away from where it goes.
func moved(tool, field, role string) string {
	if role == "write" && wordlist.HasAny(" move rename mv ", wordlist.OfName(tool)) &&
		wordlist.Has(" source src sourcepath oldpath source_path old_path from ", strings.ToLower(field)) {
		return "delete"
	}
	return role
}

// commandLines reads a list of commands as what else it can be than the words of one.
func (c Call) commandLines(list []any) {
	for _, e := range list {
		if line, ok := e.(string); ok && strings.ContainsAny(line, " \t\n") {
			c.lines.Follow(line, c.World.Dir)
		}
	}
}

// argumentsOf reports a list that is all there is of a command: the words of a
// tool that runs commands, or those behind the program after which it is named.
func argumentsOf(tool, field string, input map[string]any) ([]any, bool) {
	switch strings.ToLower(field) {
	case "args", "arguments", "argv":
	default:
		return nil, false
	}
	for k := range input {
		if guess(k) == "shell" || strings.EqualFold(k, "program") {
			return nil, false
		}
	}
	words := wordlist.OfName(tool)
	for _, x := range words {
		switch x {
		case "gcloud", "kubectl", "aws", "az", "terraform", "docker", "helm", "git", "gh", "psql", "pulumi", "npm":
			return []any{x}, true
		}
	}
	return nil, slices.Contains(words, "shell") || slices.Contains(words, "bash") || slices.Contains(words, "terminal") || slices.Contains(words, "exec")
}

// arguments are the words that stand in a list beside a command, as a line goes
// on with them; "" if there is none.
func arguments(input map[string]any) string {
	line := ""
	for _, k := range slices.Sorted(maps.Keys(input)) {
		switch strings.ToLower(k) {
		case "args", "arguments", "argv":
			if s, ok := input[k].(string); ok {
				line += " " + s
			}
			list, _ := input[k].([]any)
			for _, e := range list {
				if s, ok := e.(string); ok {
					line += " " + bash.Quote(s)
				}
			}
		}
	}
	return line
}

// namesProgram reports a field that names the program whose words stand in a list
// beside it: {"program": "rm", "args": […]}.
func namesProgram(field string, input map[string]any) bool {
	if !wordlist.Has(" program binary bin ", strings.ToLower(field)) {
		return false
	}
	for k := range input {
		if wordlist.Has(" args arguments argv ", strings.ToLower(k)) {
			return true
		}
	}
	return false
}

// runsShell tells a command line from a verb: {"command": "view"}.
func runsShell(tool, v string) bool {
	return strings.ContainsAny(v, " \n;|&$`/<>") || !strings.HasPrefix(tool, "mcp__")
}

// guess says what a field of an unknown tool is, by its name.
func guess(field string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(field))
	if strings.HasPrefix(name, "cli") && strings.HasSuffix(name, "command") {
		return "shell"
	}
	switch {
	case wordlist.Has(" command cmd commandline shellcommand bash bashcommand script shell commands argv run exec cmdline shellline cmds executable ", name):
		return "shell"
	case wordlist.Has(" path file filepath filename paths files target targetfile targetpath source src dest destination sourcepath destinationpath oldpath newpath directory dir directorypath dirpath folder absolutepath relativepath notebookpath uri root workdir output outputpath attachments attachment ", name):
		return "path"
	case slices.Contains([]string{"url", "urls", "endpoint", "href", "link", "baseurl"}, name):
		return "url"
	case wordlist.Has(" sql query statement statements queries sqlquery rawsql ", name):
		return "sql"
	}
	return ""
}

// toolRole turns a path of an unknown tool into an access, by what the tool's
// name says it does.
func toolRole(tool, role string) string {
	if role != "path" {
		return role
	}
	words := wordlist.OfName(tool)
	last := words[len(words)-1]
	switch {
	case wordlist.HasAny(" delete remove rm rmdir unlink trash shred erase wipe clear empty ", words):
		return "delete"
	case wordlist.HasAny(sending, words) && !wordlist.HasAny(" download save fetch get write edit create update append patch replace insert modify move rename copy set truncate chmod chown symlink link touch ", words): // put_object
		return "read"
	case wordlist.HasAny(" write edit create update save put append patch replace insert modify move rename copy set download truncate chmod chown symlink link touch ", words):
		return "write"
	case slices.Contains([]string{"info", "stat", "stats", "metadata"}, last): // get_file_info
		return "list"
	case wordlist.HasAny(" upload read get view open cat load show fetch send share attach post publish ", words):
		return "read"
	}
	return "list"
}

// sending are words in the names of tools that give a file to somebody.
const sending = " upload attach attachment attachments send share post publish object blob "

// handsOut records that a file with a secret, or one below a directory, goes to whom a tool
// sends it.
func (c Call) handsOut(tool, v, role string) {
	if !strings.HasPrefix(tool, "mcp__") || v == "" || len(v) > maxName || strings.ContainsAny(v, "\n\t") {
		return
	}
	if words := wordlist.OfName(tool); (role != "read" && role != "write" || !wordlist.HasAny(sending, words)) && (role == "url" || role == "sql" || !wordlist.HasAny(handing, words)) {
		return
	}
	send := func(file string, list []*draft.Source) bool {
		for _, s := range list {
			if s.Taint.Secret != "" {
				is := &hook.NetSend{Source: "file", Path: flow.Known(cmp.Or(file, s.Path)), Secret: flow.Known(s.Taint.Secret)}
				c.Carry(is, s.Taint)
				c.Effect(0, is)
				return true
			}
		}
		return false
	}
	for _, t := range c.Absolute(c.Here(), flow.Literal(v)) {
		if send(t.Path, c.SourcesOf(t)) {
			return
		}
	}
	if path.Ext(v) != "" && strings.IndexByte(v, '/') < 0 { // an attachment has the name alone
		send("", c.Called(v))
	}
}

// handing are other words in the names of tools by which people or places get what a field names.
const handing = " reply email mail message forward deliver comment issue ticket page import drop paste gist chat dm notify broadcast submit document draft row rows record entry "

// copies notes what a file holds that a tool makes of another one, where fields say from
// what and to what.
func (c Call) copies(name string, input map[string]any) {
	if !wordlist.HasAny(" copy move rename mv cp duplicate convert compress zip archive pack export encode ", wordlist.OfName(name)) {
		return
	}
	var from []string
	to := ""
	for _, k := range slices.Sorted(maps.Keys(input)) {
		field := strings.ReplaceAll(strings.ToLower(k), "_", "")
		list, _ := input[k].([]any)
		for _, v := range append(list, input[k]) {
			switch s, ok := v.(string); {
			case !ok:
			case wordlist.Has(" source src sourcepath oldpath from frompath file files path paths input inputpath inputs sources ", field):
				from = append(from, s)
			case wordlist.Has(" destination dest dst destinationpath newpath to topath target targetpath output outputpath outputfile archive ", field):
				to = s
			}
		}
	}
	for _, file := range from {
		for _, s := range c.Sources(c.Here(), flow.Literal(file)) {
			if to != "" {
				below := strings.TrimSuffix("/"+s.Below, "/")
				if wordlist.HasAny(" compress zip archive pack ", wordlist.OfName(name)) || strings.Contains(below, "//") {
					below = ""
				}
				c.Remember(c.Here(), flow.Literal(to+below), flow.Stream{Some: true, Taint: s.Taint}, false)
			}
		}
	}
}
