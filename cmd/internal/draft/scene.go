package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// A scene is what a draft looks at on one event: a condition, and calls that
// meet it and that do not.
type scene struct {
	condition        []string
	reason           string // an expression
	span             string
	words            string // what the parameter lists
	word             string // and its one word by default
	rewrites         string // what an event case calls the rewritten field
	hit, miss, other moment
}

// A moment is an event of a test: a shell line, or fields of the event.
type moment struct {
	event  hook.Name
	line   string
	fields map[string]any
}

// shellEvent reports an event whose draft looks at shell commands.
func shellEvent(n hook.Name) bool { return n.Rewrites() == "tool_input" }

func newScene(n hook.Name) scene {
	const instead = "say what to do instead"
	switch {
	case shellEvent(n):
		return scene{
			condition: []string{"some program in data.gate.params.ID.words", "some command in lib.commands(program)"},
			reason:    `sprintf("runs %s; ` + instead + `", [program])`,
			span:      "lib.span(command)", words: "programs that the policy is about", word: "deploy", rewrites: "rewrite",
			hit:   moment{event: n, line: "deploy production"},
			miss:  moment{event: n, line: "echo deploy production"},
			other: moment{event: n, line: "make deployment"},
		}
	case n.Rewrites() == "tool_response":
		output := func(text string) moment {
			return moment{event: n, fields: map[string]any{
				"tool_name": "Bash", "tool_input": map[string]any{"command": "make"},
				"tool_response": map[string]any{"stdout": text, "stderr": "", "interrupted": false, "isImage": false},
			}}
		}
		return scene{
			condition: []string{"some word in data.gate.params.ID.words", "contains(lower(json.marshal(input.tool_response)), word)"},
			reason:    `sprintf("the output says %s; ` + instead + `", [word])`,
			words:     "words in the output that the policy is about, in lower case", word: "deploy", rewrites: "output",
			hit: output("Deploy failed"), miss: output("all tests pass"), other: output(""),
		}
	}
	field := n.Moment().Example
	said := func(text string) moment { return moment{event: n, fields: map[string]any{field: text}} }
	return scene{
		condition: []string{"some word in data.gate.params.ID.words", fmt.Sprintf("contains(lower(input.%s), word)", field)},
		reason:    `sprintf("this is about %s; ` + instead + `", [word])`,
		words:     "words that the policy is about, in lower case", word: "deploy", rewrites: "rewrite",
		hit: said("Deploy production"), miss: said("run the tests"), other: said(""),
	}
}

// rule writes the draft's rule, and what an event case expects of it.
func (s scene) rule(d Policy) (rule, expect string) {
	member, condition := deeds[d.Effect].member, s.condition
	expect = deeds[d.Effect].expect
	switch {
	case d.Effect == "allow":
		return allowRule(d.ID), expect
	case d.Effect == "remember":
		name := d.ID[strings.LastIndexByte(d.ID, '.')+1:]
		return s.rememberRule(d.ID, name), strings.ReplaceAll(expect, "NAME", name)
	case d.Effect == "modify" && shellEvent(d.Event):
		member = `modify contains {"reason": "say what was changed and why", "edits": [{"span": word.span, "text": "staging"}]}`
		condition = append(condition, "some word in command.words", `word.value == "production"`, "is_array(word.span)")
		expect = "effect: pass, rewrite: {command: deploy staging}"
	case d.Effect == "modify" && d.Event.Rewrites() == "prompt":
		member = `modify contains {"reason": "say what was changed and why", "input": changed}`
		condition = []string{
			"changed := strings.replace_n({word: \"release\" | some word in data.gate.params.ID.words}, lower(input.prompt))",
			"changed != lower(input.prompt)",
		}
		expect = "effect: pass, rewrite: release production"
	case d.Effect == "modify":
		return outputRule(d.ID), "effect: pass, output: {stdout: \"[removed] failed\"}"
	}
	span := ""
	if s.span != "" {
		span = ", \"span\": " + s.span
	}
	text := strings.NewReplacer("REASON", s.reason, "SPAN", span).Replace(member)
	text += " if {\n\t" + strings.Join(condition, "\n\t") + "\n}"
	text = strings.ReplaceAll(text, "params.ID.", "params."+d.ID+".")
	return text, strings.ReplaceAll(expect, "[ID]", "["+d.ID+"]")
}

// rememberRule leaves a mark, and a rule that reads it.
func (s scene) rememberRule(id, name string) string {
	value := strings.Fields(s.condition[0])[1] // some VALUE in …
	mark := "input.session.marks." + name
	text := `remember contains {"mark": "` + name + `", "value": ` + value + ", \"for\": \"session\"} if {\n\t" + strings.Join(s.condition, "\n\t") + "\n}\n\n" +
		"# Later calls see the mark, this one does not. Decide by it: deny, ask, warn, or say something.\n" +
		`context contains sprintf("this session has had %s; say what follows from it", [` + mark + "]) if " + mark
	return strings.ReplaceAll(text, "params.ID.", "params."+id+".")
}

// allowRule says yes to lines that do nothing else.
func allowRule(id string) string {
	return `# An allow speaks for the whole line, so every command in it has to be one of these.
allow contains "say why nobody needs to be asked" if {
	count(input.facts.shell.commands) > 0
	count(input.facts.effects) == 0
	every command in input.facts.shell.commands {
		harmless(command)
	}
}

harmless(command) if {
	some program in data.gate.params.` + id + `.words
	lib.begins(command, [program])
	every word in array.slice(command.words, 1, count(command.words)) {
		lib.matches(word, "value", "^[a-z]+$") # options and paths can do anything
	}
	lib.within(command.cwd, input.cwd)
	[command.via, command.env, command.path] == [[], {}, null]
}`
}

// outputRule takes words out of all texts that a tool returned.
func outputRule(id string) string {
	return `modify contains {"reason": "say what was taken out and why", "input": json.patch(input.tool_response, patches)} if {
	pattern := sprintf("(?i)%s", [concat("|", data.gate.params.` + id + `.words)])
	count(data.gate.params.` + id + `.words) > 0
	patches := [{"op": "replace", "path": path, "value": regex.replace(text, pattern, "[removed]")} |
		walk(input.tool_response, [path, text])
		is_string(text)
		regex.match(pattern, text)
	]
	count(patches) > 0
}`
}

// rego writes the moment as gate.event takes it.
func (m moment) rego() string {
	if m.event == hook.PreToolUse {
		return fmt.Sprintf("%q", m.line)
	}
	if m.line != "" {
		return fmt.Sprintf(`{"event": %q, "bash": %q}`, m.event, m.line)
	}
	return fmt.Sprintf(`{"event": %q, "fields": %s}`, m.event, compact(m.fields))
}

// yaml writes the moment as event cases take it.
func (m moment) yaml() string {
	switch {
	case m.event == hook.PreToolUse:
		return "bash: " + m.line
	case m.event == hook.UserPromptSubmit:
		return "prompt: " + compact(m.fields["prompt"])
	}
	fields := map[string]any{"hook_event_name": string(m.event)}
	if m.line != "" {
		fields["tool_name"], fields["tool_input"] = "Bash", map[string]any{"command": m.line}
	}
	maps.Copy(fields, m.fields)
	return "event: " + compact(fields)
}

// compact writes plain values as JSON with a blank behind colons and commas,
// which YAML and Rego read, too.
func compact(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, fmt.Sprintf("%q: %s", k, compact(v[k])))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case string:
		text, _ := json.Marshal(v)
		return string(text)
	}
	return fmt.Sprint(v)
}
