package examples_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/load"
	"gate/scopes"
)

// chapters are the parts of the cookbook.
var chapters = []struct {
	title    string
	policies string // separated by blanks
}{
	{"Git", "push_protected branch_owners subagent_push no_verify signed_commits commit_message commit_ticket branch_names"},
	{"Infrastructure", "production_kubectl production_namespaces judge_production terraform_plan cloud_profile ssh_production database_production migrations image_registry"},
	{"Packages", "npm_ci registry_set internal_registry new_dependency publish_by_ci"},
	{"Files", "write_within protected_files large_write licence_header"},
	{"Network", "web_allowlist egress_networks web_search raw_ip"},
	{"MCP tools", "mcp_servers mcp_writes mcp_arguments"},
	{"Secrets", "prompt_secrets redact_keys redact_emails secret_shown"},
	{"Time and people", "freeze contractor_hours no_sudo allow_tests long_commands"},
	{"Sessions", "session_rules style_guide subagent_rules stop_unfinished settings_frozen approved_models send_limit untested_push"},
}

// TestCookbook holds the cookbook of docs/rego.md to the files of the examples.
// With -update it writes it.
func TestCookbook(t *testing.T) {
	hooks := map[string]*hook.Hook{}
	src := load.Rego(os.DirFS("."), scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User})
	for _, h := range src.Hooks {
		hooks[path.Base(path.Dir(h.File))] = h
	}
	var book, list strings.Builder
	list.WriteString("| what | rules | events |\n|---|---|---|\n")
	listed := map[string]bool{}
	for _, c := range chapters {
		fmt.Fprintf(&book, "\n### %s\n", c.title)
		for _, name := range strings.Fields(c.policies) {
			h := hooks[name]
			if h == nil {
				t.Fatalf("there is no example %s", name)
			}
			listed[name] = true
			text := page(t, h.File)
			anchor := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(h.Title, "'", "")), " ", "-")
			fmt.Fprintf(&list, "| [%s](#%s) | %s | %s |\n", h.Title, anchor, cmp.Or(strings.Join(rulesOf(text), ", "), "schema"), names(h.Events))
			fmt.Fprintf(&book, "\n#### %s\n\n%s\n[Files and tests](../examples/%s).\n\n```rego\n%s```\n",
				h.Title, h.Description, path.Dir(h.File), text)
		}
	}
	same(t, "cookbook", slices.Collect(maps.Keys(listed)), slices.Collect(maps.Keys(hooks)))
	const begin, end = "<!-- cookbook -->\n", "<!-- end of cookbook -->"
	text := page(t, regoPage)
	head, rest, ok1 := strings.Cut(text, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the cookbook", regoPage)
	}
	got := head + begin + "\n" + list.String() + book.String() + "\n" + end + tail
	if got == text {
		return
	}
	if *update {
		if err := os.WriteFile(regoPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not show the examples as they are; run: go test ./examples -run TestCookbook -update", regoPage)
}

// rulesOf lists the rules that a policy defines, in the order of the text.
func rulesOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		name, _, ok := strings.Cut(line, " contains ")
		if ok && slices.Contains([]string{"deny", "ask", "allow", "modify", "context", "warn", "halt", "consult", "remember", "confine"}, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func names(events []hook.Name) string {
	out := make([]string, len(events))
	for i, n := range events {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}
