package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// toolVerb says that an MCP tool changes something elsewhere.
func (c Call) toolVerb(name string, input map[string]any) {
	words := wordlist.OfName(name)
	if !strings.HasPrefix(name, "mcp__") || len(words) < 3 {
		return
	}
	c.toolReset(words, input)
	c.toolSecret(words, input)
	if onlyReads(name[strings.LastIndex(name, "__")+2:]) {
		return
	}
	words = withoutRequests(words)
	access := "read"
	verb := ""
	if v := fieldVerb(input); v != "" {
		access, verb = "delete", v
	}
	if replicas, ok := input["replicas"]; ok && fmt.Sprint(replicas) == "0" {
		access, verb = "delete", "scale down"
	}
	for _, x := range words[2:] {
		if access == "delete" {
			break
		}
		switch {
		case removes(x), slices.Contains([]string{"revoke", "force", "flush", "refund", "archive"}, x), empties(x) && slices.ContainsFunc(words[2:], wholes):
			access, verb = "delete", x
		}
		if access == "read" && wordlist.Has(" create update write edit push merge send post publish deploy apply set add put insert upload move rename execute run transfer invite fork close restart stop scale rollback ", x) {
			access, verb = "write", x
		}
	}
	if access == "read" {
		return
	}
	if verb == "create" && slices.Contains(words, "release") {
		verb = "publish"
	}
	if verb == "apply" && slices.ContainsFunc(words[1:], isDeployer) {
		verb = "deploy"
	}
	for _, k := range []string{"visibility", "private", "public"} {
		if v := input[k]; v == "public" || k == "private" && v == false || k == "public" && v == true {
			verb = "publish"
		}
	}
	c.Effect(0, &hook.Tool{Tool: name, Verb: new(verb), Access: access})
	if what := sentSecret(words, input); what != "" {
		c.Effect(0, &hook.NetSend{Source: "text", Secret: new(what)})
	}
	c.toolPush(name, words, input)
}

// sentSecret is the kind of secret that stands in what a tool sends or posts.
func sentSecret(words []string, input map[string]any) string {
	const told = " send post publish reply comment message issue page document gist note ticket card email release discussion "
	if !wordlist.HasAny(told, words[2:]) {
		return ""
	}
	return secretIn(input)
}

// sentBody judges what a request carries to an address: {"url": …, "body": …}. Headers
// hold tokens for the service itself.
func (c Call) sentBody(input map[string]any) {
	for _, k := range []string{"url", "uri", "endpoint"} {
		address, ok := input[k].(string)
		if !ok {
			continue
		}
		p := peer.Parse(address, true)
		for _, body := range []string{"body", "data", "payload", "json", "form", "content", "text"} {
			if what := secretIn(input[body]); what != "" {
				c.Effect(0, &hook.NetSend{Host: flow.Known(p.Host), URL: flow.Known(p.URL), Source: "text", Secret: new(what), Private: p.Private, Metadata: p.Metadata})
				return
			}
		}
	}
}

// handed judges what any tool of an MCP server is given: no server needs a private key,
// whatever the tool is for. Other secrets may belong where a tool puts them, such as into
// a file or a database; [Call.sentBody] judges those that a tool sends.
func (c Call) handed(name string, input map[string]any) {
	if !strings.HasPrefix(name, "mcp__") || slices.ContainsFunc(c.Facts.Effects, func(e hook.FactEffect) bool {
		send, ok := e.Is.(*hook.NetSend)
		return ok && send.Secret != nil
	}) {
		return
	}
	var holds func(v any) bool
	holds = func(v any) bool {
		switch v := v.(type) {
		case string:
			return secret.Sent(v, "") == privateKey
		case []any:
			return slices.ContainsFunc(v, holds)
		case map[string]any:
			for k, e := range v {
				if holds(k) || holds(e) {
					return true
				}
			}
		}
		return false
	}
	if holds(input) {
		c.Effect(0, &hook.NetSend{Source: "text", Secret: new(privateKey)})
	}
}

const privateKey = "private key"

// secretIn is the kind of certain secret that stands in a tree.
func secretIn(v any) (what string) {
	switch v := v.(type) {
	case string:
		return secret.Sent(v, "")
	case []any:
		for _, e := range v {
			if what = secretIn(e); what != "" {
				break
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if what = secretIn(v[k]); what != "" {
				break
			}
		}
	}
	return what
}

// verbFields are the fields that say what a tool is to do.
var verbFields = [...]string{"command", "operation", "operation_name", "action", "subcommand", "verb", "method", "mode", "op"}

// removes reports a verb after which something is gone.
func removes(word string) bool {
	return wordlist.Has(" delete remove drop destroy purge wipe truncate terminate uninstall flushall flushdb prune erase nuke shred unpublish ", word)
}

// empties reports a verb after which something is gone if it is about a whole,
// as wholes says.
func empties(word string) bool {
	return slices.Contains([]string{"clear", "reset", "empty", "disable", "cancel"}, word)
}

func wholes(word string) bool {
	return wordlist.Has(" all everything data database databases db table tables collection collections index bucket directory dir folder history branch project account user users cluster trash subscription environment ", word)
}

// toolSecret says that a tool shows what a store of secrets holds.
func (c Call) toolSecret(words []string, input map[string]any) {
	has := func(list string) bool { return wordlist.HasAny(list, words) }
	what := ""
	switch {
	case !has(" get read access reveal fetch show view retrieve ") || has(" list scanning metadata names alert alerts type types policy rotation count "):
	case has(" secret secrets password passwords credential credentials "), has(" onepassword 1password bitwarden keychain keyring lastpass "),
		has(" vault ") && !has(" obsidian note notes "): // Obsidian calls a directory of notes a vault
		what = "password store"
	default:
		for _, k := range []string{"kind", "resourceType", "resource_type", "resource"} {
			s, _ := input[k].(string)
			if s = strings.ToLower(s); (s == "secret" || s == "secrets") && (input["name"] != nil || wordlist.Has(" yaml json jsonpath ", fmt.Sprint(input["output"]))) && input["output"] != "name" && input["output"] != "wide" {
				what = "cluster secret"
			}
		}
	}
	if what != "" {
		c.Effect(0, &hook.SecretRead{What: what, Grade: "key", Shown: true})
	}
}

// fieldVerb is the word with which a field of the input says that something goes
// away: {"operation": "terminate_instances"}.
func fieldVerb(input map[string]any) string {
	for _, k := range verbFields {
		s, _ := input[k].(string)
		if strings.ContainsAny(s, " /\n") {
			continue // a command line, which is judged as one
		}
		if words := wordlist.OfName(s); len(words) > 0 && (removes(words[0]) || words[0] == "clear" || words[0] == "drain") {
			return words[0]
		}
	}
	return ""
}

// toolReset gives a reset or checkout by an MCP tool that throws work away the
// effect of git's.
func (c Call) toolReset(words []string, input map[string]any) {
	hard := input["mode"] == "hard" || input["hard"] == true
	verb := ""
	switch {
	case !slices.Contains(words, "git"):
	case slices.Contains(words, "reset") && hard:
		verb = "reset --hard"
	case (slices.Contains(words, "checkout") || slices.Contains(words, "switch")) && input["force"] == true:
		verb = "checkout"
	case slices.Contains(words, "clean") && !slices.Contains(words, "status"):
		verb = "clean"
	}
	if slices.Contains(words, "git") {
		c.gitTool(words, input)
	}
	if verb != "" {
		c.Effect(0, &hook.GitDiscard{Verb: verb, All: true, Force: true})
	}
}

// gitTool judges what a tool of git is given as the command of git that it is.
func (c Call) gitTool(words []string, input map[string]any) {
	line := []any{"git"}
	switch {
	case slices.Contains(words, "commit") && (input["no_verify"] == true || input["noVerify"] == true):
		line = append(line, "commit", "--no-verify")
	case slices.Contains(words, "config") && input["value"] != nil:
		line = append(line, "config", input["key"], input["value"])
	case slices.Contains(words, "remote") && input["url"] != nil:
		line = append(line, "remote", input["mode"], input["name"], input["url"])
	default:
		return
	}
	for i, v := range line {
		line[i], _ = v.(string)
	}
	c.shellField(line, c.World.Dir)
}

// onlyReads reports a name that begins with reading, and says nothing more.
func onlyReads(tool string) bool {
	words := wordlist.OfName(tool)
	if len(words) < 2 || slices.Contains(words, "and") || slices.Contains(words, "or") || slices.ContainsFunc(words, removes) {
		return false
	}
	return wordlist.Has(" list get read search find describe show view count ", words[0])
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
	return wordlist.Has(" terraform opentofu tofu terragrunt pulumi kubectl kubernetes k8s helm infrastructure argocd ", word)
}

// toolPush gives a push by an MCP tool the effect of git push: commits and
// merges on a server, and branches that are moved or deleted there.
func (c Call) toolPush(name string, words []string, input map[string]any) {
	has := func(list string) bool { return wordlist.HasAny(list, words) }
	changes := has(" create update delete ")
	deletes := has(" delete ") && has(" branch ref ")
	branch, named := pushedBranch(input)
	switch onServer := gitServer(words, input); {
	case has(" push "), has(" merge ") && has(" request ") && onServer, deletes && onServer:
	case changes && has(" ref ") && onServer:
	case changes && has(" file files ") && (named || onServer):
	case has(" merge ") && named:
	default:
		return
	}
	var branches []string
	from := "unknown"
	if named {
		branches, from = []string{strings.TrimPrefix(branch, "refs/heads/")}, "refspec"
	}
	force, _ := input["force"].(bool)
	if args, ok := input["args"].(string); ok && slices.ContainsFunc(strings.Fields(args), func(a string) bool { return a == "-f" || a == "--force" }) {
		force = true
	}
	c.Effect(0, &hook.GitPush{
		Branches: branches, BranchesFrom: from, Force: force, Delete: deletes,
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
	return wordlist.HasAny(" git github gitlab bitbucket gitea forgejo codeberg ", words) ||
		slices.ContainsFunc([]string{"repo", "repository", "project_id", "pull_number", "pullNumber"}, func(key string) bool {
			_, ok := input[key]
			return ok
		})
}
