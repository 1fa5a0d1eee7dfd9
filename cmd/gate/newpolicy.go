package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

//go:embed templates
var templates embed.FS

// A draft is a policy that gate new policy writes: one that works as it
// stands, for its author to change.
type draft struct {
	id     string // the package, such as acme.push_protected
	event  hook.Name
	effect string // the rule
}

// A draftFile is one file of a draft, with what it is for.
type draftFile struct {
	suffix, text, what string
}

// files fills the templates in.
func (d draft) files() ([]draftFile, error) {
	s, err := d.scene()
	if err != nil {
		return nil, err
	}
	rule, expect := s.rule(d)
	name := d.id[strings.LastIndexByte(d.id, '.')+1:]
	title := strings.ReplaceAll(name, "_", " ")
	silence := "effect: pass"
	switch d.effect {
	case "modify":
		silence = s.rewrites + ": null"
	case "warn":
		silence = "warnings: []"
	case "context":
		silence = "context: []"
	case "halt":
		silence = "halt: false"
	}
	imports := ""
	if strings.Contains(rule, "lib.") {
		imports = "\nimport data.gate.lib\n"
	}
	fill := strings.NewReplacer(
		"{{title}}", strings.ToUpper(title[:1])+title[1:], "{{package}}", d.id, "{{name}}", name,
		"{{event}}", string(d.event), "{{effect}}", d.effect, "{{does}}", deeds[d.effect].does,
		"{{words}}", s.words, "{{import}}", imports, "{{rule}}", rule,
		"{{hit}}", s.hit.rego(), "{{miss}}", s.miss.rego(), "{{other}}", s.other.rego(),
		"{{hitcase}}", s.hit.yaml(), "{{misscase}}", s.miss.yaml(),
		"{{{expect}}}", "{"+expect+"}", "{{{silence}}}", "{"+silence+"}",
	)
	var out []draftFile
	for _, f := range []draftFile{
		{".rego", "policy.rego.tmpl", "the rule"}, {"_test.rego", "policy_test.rego.tmpl", "its Rego tests"},
		{"_cases.yaml", "policy_cases.yaml.tmpl", "its event cases"}, {".md", "policy.md.tmpl", "its page"},
	} {
		text, err := templates.ReadFile("templates/" + f.text)
		if err != nil {
			return nil, err
		}
		f.text = fill.Replace(string(text))
		out = append(out, f)
	}
	return out, nil
}

// A deed is what the members of a rule bring about, in words and as an event
// case expects it.
type deed struct {
	does   string
	member string // in front of a condition; REASON and SPAN are filled in
	expect string // ID is filled in
}

var deeds = map[string]deed{
	"deny":    {"rejects", "deny contains {\"reason\": REASONSPAN}", "effect: deny, ids: [ID]"},
	"ask":     {"asks about", "ask contains {\"reason\": REASONSPAN}", "effect: ask, ids: [ID]"},
	"warn":    {"warns about", "warn contains {\"reason\": REASONSPAN}", "effect: pass, warnings: [ID]"},
	"halt":    {"ends the turn for", "halt contains {\"reason\": REASONSPAN}", "halt: true"},
	"context": {"tells the agent", "context contains REASON", "context: [say what to do instead]"},
	"allow":   {"lets go ahead without a question", "", "effect: allow"},
	"modify":  {"rewrites", "", ""},
}

// draftEffects are the rules that there is a template for.
func draftEffects() []string {
	return []string{"deny", "ask", "allow", "modify", "context", "warn", "halt"}
}

// draftEvents are the events that there is a template for.
func draftEvents() []string {
	var names []string
	for _, n := range hook.Names() {
		if _, ok := textField[n]; ok || shellEvent(n) || n == hook.PostToolUse {
			names = append(names, string(n))
		}
	}
	return names
}

// scene finds what the draft looks at, or says why there is none.
func (d draft) scene() (scene, error) {
	switch {
	case !slices.Contains(draftEffects(), d.effect):
		return scene{}, usageError(fmt.Sprintf("unknown effect %s; there are %s", quoted(d.effect), strings.Join(draftEffects(), ", ")))
	case !slices.Contains(draftEvents(), string(d.event)):
		return scene{}, usageError(fmt.Sprintf("no template for the event %s; there are %s", quoted(string(d.event)), strings.Join(draftEvents(), ", ")))
	case d.effect == "modify" && d.event.Rewrites() == "":
		return scene{}, usageError(fmt.Sprintf("nothing can be rewritten on %s; modify is for PreToolUse, PermissionRequest, UserPromptSubmit and PostToolUse", d.event))
	case d.effect == "allow" && !shellEvent(d.event):
		return scene{}, usageError(fmt.Sprintf("there is nothing to allow on %s; allow is for PreToolUse and PermissionRequest", d.event))
	}
	return newScene(d.event), nil
}
