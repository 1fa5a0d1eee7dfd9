// Package draft writes the beginning of a policy: the rule, its Rego tests, its event
// cases and its page, which all work as they stand, for an author to change.
//
// It writes texts and no files. Start with [Policy.Files].
package draft

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	moments "gate/internal/moment"
	"gate/internal/strictjson"
)

//go:embed templates
var templates embed.FS

// A Policy is what to begin with.
type Policy struct {
	ID     string    // the package, such as acme.push_protected; see [CheckName]
	Event  hook.Name // one of [Events]
	Effect string    // the rule, one of [Effects]
}

// A File is one file of a policy.
type File struct {
	Suffix string // behind the policy's name, such as _test.rego
	Name   string // instead, such as data.json
	Text   string
	What   string // what it is for, in a few words
}

// In names the file for a policy, which is the last part of its package.
func (f File) In(policy string) string {
	if f.Name != "" {
		return f.Name
	}
	return policy + f.Suffix
}

// Files fills the templates in. The error says which events and effects go
// together.
func (d Policy) Files() ([]File, error) {
	s, err := d.scene()
	if err != nil {
		return nil, err
	}
	rule, expect := s.rule(d)
	name := d.ID[strings.LastIndexByte(d.ID, '.')+1:]
	title := strings.ReplaceAll(name, "_", " ")
	silence := "effect: pass"
	switch d.Effect {
	case "modify", "confine":
		silence = s.rewrites + ": null"
	case "warn":
		silence = "warnings: []"
	case "context":
		silence = "context: []"
	case "halt":
		silence = "halt: false"
	case "consult":
		silence = "faults: []"
	case "remember":
		silence = "marks: {}"
	}
	more := ""
	if d.Effect == "remember" {
		more = "\n# What the mark is for.\ntest_reads_the_mark if {\n\tcount(" + name + ".context) == 1 with input as gate.event(" + s.miss.rego() + ")\n" +
			"\t\twith input.session as {\"marks\": {\"" + name + "\": \"" + s.word + "\"}}\n}\n"
	}
	imports := ""
	if strings.Contains(rule, "lib.") {
		imports = "\nimport data.gate.lib\n"
	}
	fill := strings.NewReplacer(
		"{{title}}", strings.ToUpper(title[:1])+title[1:], "{{package}}", d.ID, "{{name}}", name,
		"{{event}}", string(d.Event), "{{effect}}", d.Effect, "{{does}}", deeds[d.Effect].does,
		"{{default}}", s.word, "{{words}}", s.words, "{{import}}", imports, "{{rule}}", rule, "{{more}}", more,
		"{{hit}}", s.hit.rego(), "{{miss}}", s.miss.rego(), "{{other}}", s.other.rego(),
		"{{hitcase}}", s.hit.yaml(), "{{misscase}}", s.miss.yaml(),
		"{{{expect}}}", "{"+expect+"}", "{{{silence}}}", "{"+silence+"}",
	)
	var out []File
	for _, f := range []struct{ suffix, template, what string }{
		{".rego", "policy.rego.tmpl", "the rule"}, {"_test.rego", "policy_test.rego.tmpl", "its Rego tests"},
		{"_cases.yaml", "policy_cases.yaml.tmpl", "its event cases"}, {".md", "policy.md.tmpl", "its page"},
	} {
		text, err := templates.ReadFile("templates/" + f.template)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Suffix: f.suffix, Text: fill.Replace(string(text)), What: f.what})
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
	"deny":     {"rejects", "deny contains {\"reason\": REASONSPAN}", "effect: deny, ids: [ID]"},
	"ask":      {"asks about", "ask contains {\"reason\": REASONSPAN}", "effect: ask, ids: [ID]"},
	"warn":     {"warns about", "warn contains {\"reason\": REASONSPAN}", "effect: pass, warnings: [ID]"},
	"halt":     {"ends the turn for", "halt contains {\"reason\": REASONSPAN}", "halt: true"},
	"context":  {"tells the agent", "context contains REASON", "context: [say what to do instead]"},
	"allow":    {"lets go ahead without a question", "", "effect: allow"},
	"modify":   {"rewrites", "", ""},
	"remember": {"remembers", "", "effect: pass, marks: {NAME: deploy}"},
	"confine":  {"confines", "confine contains {\"profile\": \"project\", \"reason\": REASON}", "effect: pass, rewrite: {command: gate run --call ID}"},
	"consult":  {"has a judge decide about", "consult contains {\"hook\": \"judge\", \"reason\": REASON}", "faults: [ID]"},
}

// Effects are the rules that there is a template for.
func Effects() []string {
	return []string{"deny", "ask", "allow", "modify", "context", "warn", "halt", "consult", "remember", "confine"}
}

// Events are the events that there is a template for.
func Events() []string {
	var names []string
	for _, m := range moments.Moments() {
		if m.Example != "" {
			names = append(names, string(m.Name))
		}
	}
	return names
}

// eventsThat are the events with a template that have a property, as a message
// lists them.
func eventsThat(have func(hook.Name) bool) string {
	names := slices.DeleteFunc(Events(), func(name string) bool { return !have(hook.Name(name)) })
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func rewritable(n hook.Name) bool { return n.Rewrites() != "" }

// scene finds what the draft looks at, or says why there is none.
func (d Policy) scene() (scene, error) {
	switch {
	case !slices.Contains(Effects(), d.Effect):
		return scene{}, fmt.Errorf("unknown effect %s; there are %s", strictjson.Quoted(d.Effect), strings.Join(Effects(), ", "))
	case !slices.Contains(Events(), string(d.Event)):
		return scene{}, fmt.Errorf("no template for the event %s; there are %s", strictjson.Quoted(string(d.Event)), strings.Join(Events(), ", "))
	case d.Effect == "modify" && !rewritable(d.Event):
		return scene{}, fmt.Errorf("nothing can be rewritten on %s; modify is for %s", d.Event, eventsThat(rewritable))
	case d.Effect == "confine" && d.Event != hook.PreToolUse:
		return scene{}, fmt.Errorf("nothing can be confined on %s; confine is for %s", d.Event, hook.PreToolUse)
	case d.Effect == "allow" && !shellEvent(d.Event):
		return scene{}, fmt.Errorf("there is nothing to allow on %s; allow is for %s", d.Event, eventsThat(shellEvent))
	}
	s := newScene(d.Event)
	if d.Effect == "allow" { // counts for programs that gate knows
		s.word = "make"
		s.hit.line, s.miss.line, s.other.line = "make check", "echo make check", "makedeb check"
	}
	return s, nil
}
