package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// strangeTool judges a tool by the names of its fields:
// every field that looks like a command, a path or a URL counts.
func (w *walker) strangeTool(name string, input map[string]any) {
	if !strings.HasPrefix(name, "mcp__") {
		w.unknown("tool", fmt.Sprintf("gate has no row for the tool %q", name), 0, nil)
	}
	w.toolVerb(name, input)
	if row, known := tools(strings.ReplaceAll(strings.ToLower(name), "-", "_")); known && !row.silent {
		w.knownTool(name, row, input) // the same in other letters, for all that is known
		return
	}
	w.scan(name, input, 0)
}

func (w *walker) scan(tool string, input map[string]any, depth int) {
	for _, k := range slices.Sorted(maps.Keys(input)) {
		switch v := input[k].(type) {
		case map[string]any:
			if depth < 8 {
				w.scan(tool, v, depth+1)
			}
		case []any:
			role := guess(k)
			if role == "shell" {
				w.shellField(v, w.world.Dir)
				if strings.EqualFold(k, "commands") {
					w.lines(v)
				}
				continue
			}
			for _, e := range v {
				if m, ok := e.(map[string]any); ok && depth < 8 {
					w.scan(tool, m, depth+1)
				} else {
					w.field(k, e, toolRole(tool, role))
				}
			}
		case string:
			role := guess(k)
			switch {
			case role == "shell" && arguments(input) != "":
				w.oneLine(v+arguments(input), w.world.Dir)
			case role == "shell" && runsShell(tool, v):
				w.oneLine(v, w.world.Dir)
			case role == "shell":
			case !strings.HasPrefix(tool, "mcp__") && strings.Contains(v, "*** Begin Patch"):
				w.patch(newState(w.world.Dir), 0, v)
			default:
				w.field(k, v, toolRole(tool, role))
			}
		}
	}
}

// lines reads a list of commands as what else it can be than the words of one.
func (w *walker) lines(list []any) {
	for _, e := range list {
		if line, ok := e.(string); ok && strings.ContainsAny(line, " \t\n") {
			w.oneLine(line, w.world.Dir)
		}
	}
}

// arguments are the words that stand in a list beside a command, as a line goes
// on with them; "" if there is none.
func arguments(input map[string]any) string {
	line := ""
	for _, k := range slices.Sorted(maps.Keys(input)) {
		switch strings.ToLower(k) {
		case "args", "arguments", "argv":
			list, _ := input[k].([]any)
			for _, e := range list {
				if s, ok := e.(string); ok {
					line += " " + quote(s)
				}
			}
		}
	}
	return line
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
	switch name {
	case "command", "cmd", "commandline", "shellcommand", "bash", "bashcommand", "script", "shell", "commands", "argv", "run", "exec", "cmdline", "shellline":
		return "shell"
	case "path", "file", "filepath", "filename", "paths", "files", "target", "targetfile", "targetpath", "source", "src", "dest", "destination",
		"sourcepath", "destinationpath", "oldpath", "newpath", "directory", "dir", "directorypath", "dirpath", "folder", "absolutepath", "relativepath",
		"notebookpath", "uri", "root", "workdir", "output", "outputpath", "attachments", "attachment":
		return "path"
	case "url", "urls", "endpoint", "href", "link", "baseurl":
		return "url"
	case "sql", "query", "statement":
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
	words := nameWords(tool)
	switch words[len(words)-1] {
	case "info", "stat", "stats", "metadata":
		return "list"
	}
	for _, v := range []struct {
		access string
		words  []string
	}{
		{"delete", []string{"delete", "remove", "rm", "unlink", "trash", "purge", "destroy"}},
		{"write", []string{"write", "edit", "create", "update", "save", "put", "append", "patch", "replace", "insert", "modify", "move", "rename", "copy", "set", "upload", "download"}},
		{"read", []string{"read", "get", "view", "open", "cat", "load", "show", "fetch", "send", "share", "attach", "post", "publish"}},
	} {
		for _, w := range v.words {
			if contains(words, w) {
				return v.access
			}
		}
	}
	return "list"
}

// nameWords splits a tool's name: mcp__fs__writeFile is mcp, fs, write, file.
func nameWords(name string) []string {
	var words []string
	cur := ""
	flush := func() {
		if cur != "" {
			words = append(words, strings.ToLower(cur))
		}
		cur = ""
	}
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || r == ':' || r == ' ':
			flush()
			continue
		case 'A' <= r && r <= 'Z' && i > 0 && cur != "" && cur[len(cur)-1] >= 'a':
			flush()
		}
		cur += string(r)
	}
	flush()
	return words
}

// toolVerb says that an MCP tool changes something elsewhere.
func (w *walker) toolVerb(name string, input map[string]any) {
	words := nameWords(name)
	if !strings.HasPrefix(name, "mcp__") || len(words) < 3 {
		return
	}
	if onlyReads(name[strings.LastIndex(name, "__")+2:]) {
		return
	}
	words = withoutRequests(words)
	access := "read"
	verb := ""
	for _, x := range words[2:] {
		switch x {
		case "delete", "remove", "drop", "destroy", "purge", "wipe", "truncate", "terminate", "revoke", "uninstall", "force", "flushall", "flushdb", "flush", "refund", "archive":
			access, verb = "delete", x
		case "create", "update", "write", "edit", "push", "merge", "send", "post", "publish", "deploy", "apply", "set", "add", "put", "insert", "upload", "move", "rename", "execute", "run", "transfer", "invite", "fork", "close", "restart", "stop", "scale", "rollback":
			if access == "read" {
				access, verb = "write", x
			}
		}
		if access == "delete" {
			break
		}
	}
	if access == "read" {
		return
	}
	if verb == "apply" && slices.ContainsFunc(words[1:], isDeployer) {
		verb = "deploy"
	}
	for _, k := range []string{"visibility", "private", "public"} {
		if v := input[k]; v == "public" || k == "private" && v == false || k == "public" && v == true {
			verb = "publish"
		}
	}
	w.effect("tool", 0, map[string]any{"tool": name, "verb": verb, "access": access, "target": nil})
	w.toolPush(name, words, input)
}

// onlyReads reports a name that begins with reading, and says nothing more.
func onlyReads(tool string) bool {
	words := nameWords(tool)
	if len(words) < 2 || contains(words, "and") || contains(words, "or") {
		return false
	}
	switch words[0] {
	case "list", "get", "read", "search", "find", "describe", "show", "view", "count":
		return true
	}
	return false
}

// withoutRequests leaves out merge requests that are a thing, not a deed:
// create_merge_request merges nothing, merge_request and accept_merge_request do.
func withoutRequests(words []string) []string {
	for i := 1; i+1 < len(words); i++ {
		if words[i] != "merge" || words[i+1] != "request" && words[i+1] != "requests" {
			continue
		}
		switch words[i-1] {
		case "create", "update", "edit", "open", "new", "comment", "my":
			return slices.Concat(words[:i], words[i+2:])
		}
	}
	return words
}

// isDeployer reports the name of a program whose "apply" changes what runs.
func isDeployer(word string) bool {
	switch word {
	case "terraform", "opentofu", "tofu", "terragrunt", "pulumi", "kubectl", "kubernetes", "k8s", "helm", "infrastructure", "argocd":
		return true
	}
	return false
}

// toolPush gives a push by an MCP tool the effect of git push: commits and
// merges on a server, and branches that are moved or deleted there.
func (w *walker) toolPush(name string, words []string, input map[string]any) {
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(x string) bool { return contains(words, x) })
	}
	changes := has("create", "update", "delete")
	deletes := has("delete") && has("branch", "ref")
	branch, named := pushedBranch(input)
	switch onServer := gitServer(words, input); {
	case has("push"), has("merge") && has("request") && onServer, deletes && onServer:
	case changes && has("ref") && onServer:
	case changes && has("file", "files") && (named || onServer):
	case has("merge") && named:
	default:
		return
	}
	branches, from := []any{}, "unknown"
	if named {
		branches, from = []any{strings.TrimPrefix(branch, "refs/heads/")}, "refspec"
	}
	force, _ := input["force"].(bool)
	w.effect("git.push", 0, map[string]any{
		"remote": nil, "branches": branches, "branches_from": from, "force": force, "lease": false, "all": false,
		"mirror": false, "tags": false, "delete": deletes,
	})
}

// pushedBranch is the branch that a tool's input names as the one that changes.
func pushedBranch(input map[string]any) (string, bool) {
	for _, key := range []string{"branch", "base", "target_branch", "branch_name", "ref"} {
		if s, ok := input[key].(string); ok {
			return s, true
		}
	}
	return "", false
}

// gitServer reports a tool of a server that keeps repositories.
func gitServer(words []string, input map[string]any) bool {
	for _, x := range []string{"git", "github", "gitlab", "bitbucket", "gitea", "forgejo", "codeberg"} {
		if contains(words, x) {
			return true
		}
	}
	for _, key := range []string{"repo", "repository", "project_id", "pull_number", "pullNumber"} {
		if _, ok := input[key]; ok {
			return true
		}
	}
	return false
}
