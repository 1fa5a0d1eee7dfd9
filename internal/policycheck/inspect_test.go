package policycheck_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/policies"
)

const inspected = `# METADATA
# title: Push
# description: Nobody pushes.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     params:
#       branches: {type: array, default: [main], description: the protected ones}
package acme.push

import data.acme.helpers
import data.gate.lib

deny contains {"reason": "é 😀"} if {
	some push in lib.effects("git.push")
	push.force
	some branch in push.branches
	branch in data.gate.params.acme.push.branches
	own(push)
}

ask contains {"reason": "x"} if {
	some command in input.facts.shell.commands
	command.program == "git"
	command.subcommand == "push"
	command.options.force
}

# METADATA
# description: pushes of one's own
own(push) if helpers.named(push)

warn contains "x" if {
	every part in input.facts.shell.commands {
		part.program == "git"
	}
}
`

const helpers = `# METADATA
# title: Helpers
package acme.helpers

# METADATA
# description: it has a name
named(x) if x.remote != ""
`

func inspection(t *testing.T) *policycheck.Inspection {
	t.Helper()
	lib, faults := load.Lib(policies.FS())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	files := fstest.MapFS{"push.rego": {Data: []byte(inspected)}, "lib/helpers.rego": {Data: []byte(helpers)}}
	_, i, err := policycheck.Examine(policycheck.Options{Files: files, Lib: lib})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestNote holds what is said about words: "|" stands before the letter that is asked about.
func TestNote(t *testing.T) {
	i := inspection(t)
	v := i.View("push.rego", inspected)
	for _, c := range []struct{ at, want string }{
		{`push.|force`, "a boolean"},
		{`push.|branches`, "refs/heads/ is taken off"},
		{`push.|branches`, "`branches_from` is `unknown`"},
		{`some |push in lib`, "sends commits to a remote"},
		{`"|git.push"`, "effect `git.push`: sends commits to a remote"},
		{`lib.|effects`, "the effects of a kind that the call would have"},
		{`|deny contains`, "the call is rejected"},
		{`|own(push)` + "\n}", "pushes of one's own"},
		{`helpers.|named`, "it has a name"},
		{`params.acme.push.|branches`, "the protected ones"},
		{`params.acme.push.|branches`, "default `[\"main\"]`"},
		{`every |part`, "`subcommand`"},
		{`facts.shell.|commands`, "each is an object with the fields `cwd`"},
		{`push.|branches`, "each is a string"},
		{`commands` + "\n\t" + `command.|program`, "base name after quote removal"},
		{`input.|facts.shell`, "fields: `code`"},
		{`#     |matcher: Bash`, "on the tool"},
		{`[|PreToolUse]`, "`modify` changes `tool_input`"},
		{`matcher: |Bash`, "tool `Bash`"},
		{`import data.acme.|helpers`, "Helpers"},
		{`{|"reason": "x"`, "`reason`: "},
	} {
		before, after, _ := strings.Cut(c.at, "|")
		at := strings.Index(inspected, before+after) + len(before)
		n := v.Note(at)
		if n == nil || !strings.Contains(n.Text, c.want) {
			t.Errorf("%s: %+v, want %s", c.at, n, c.want)
		} else if n.From > at || n.To < at {
			t.Errorf("%s: from %d to %d, and asked about %d", c.at, n.From, n.To, at)
		}
	}
	for _, at := range []int{-1, len(inspected) + 5, 0, len(inspected)} {
		v.Note(at)
		v.Definition(at)
	}
	text := strings.Replace(inspected, "Nobody pushes.", "whatever tool they use", 1) // which is no effect here
	if n := i.View("push.rego", text).Note(strings.Index(text, "tool they")); n != nil {
		t.Errorf("a word of a sentence: %+v", n)
	}
}

// TestDefinition holds where names come from.
func TestDefinition(t *testing.T) {
	v := inspection(t).View("push.rego", inspected)
	for _, c := range []struct {
		at   string
		want policycheck.Spot
	}{
		{`	|own(push)` + "\n}", policycheck.Spot{File: "push.rego", Line: 32, Column: 1}},
		{`helpers.|named`, policycheck.Spot{File: "lib/helpers.rego", Line: 7, Column: 1}},
		{`import data.acme.|helpers`, policycheck.Spot{File: "lib/helpers.rego", Line: 3, Column: 1}},
		{`lib.|effects`, policycheck.Spot{File: "gate/lib/lib.rego", Library: true, Line: 12, Column: 1}},
		{`params.acme.push.|branches`, policycheck.Spot{File: "push.rego", Line: 9, Column: 1}},
		{`	|push.force`, policycheck.Spot{File: "push.rego", Line: 16, Column: 7}},
	} {
		before, after, _ := strings.Cut(c.at, "|")
		got := v.Definition(strings.Index(inspected, before+after) + len(before))
		if len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", c.at, got, c.want)
		}
	}
	text := strings.Replace(inspected, `"é 😀"`, `sprintf("%s", [gate.event("x")])`, 1)
	for _, name := range []string{"sprintf", "gate.event", "event("} {
		v, at := inspection(t).View("push.rego", text), strings.Index(text, name)
		if got := v.Definition(at); len(got) > 0 {
			t.Errorf("the builtin %s is defined at %+v", name, got)
		}
	}
}

// TestComplete holds what may stand where "|" does, in place of a part of the policy.
func TestComplete(t *testing.T) {
	i := inspection(t)
	for _, c := range []struct{ old, new, want, not string }{
		{"\tpush.force\n", "\tpush.|\n", "force branches lease", "program"},
		{"\tpush.force\n", "\tpush.fo|rce\n", "force branches", ""},
		{"\tpush.force\n", "\tpush.| == 1\n", "force", ""},
		{"\tpush.force\n", "\tobject.get(push, \"|\", null)\n", "force", ""},
		{`"git.push"`, `"|"`, "git.push fs.delete", ""},
		{`"git.push")`, `"git|`, "git.push fs.delete", ""},
		{`command.program == "git"`, `command.program == "|"`, "git npm", ""},
		{`command.subcommand == "push"`, `command.subcommand == "|"`, "push clone", "install"},
		{`command.options.force`, `command.options.|`, "force-with-lease", ""},
		{`command.options.force`, `command.options["|"]`, "force-with-lease", ""},
		{`input.facts.shell.commands`, `input.|`, "facts tool_input gate", "prompt"},
		{`input.facts.shell.commands`, `input.facts.|`, "effects hosts", ""},
		{"\tpush.force\n", "\tinput.tool_name == \"|\"\n", "Bash", "Write"},
		{"\tpush.force\n", "\tinput.hook_event_name == \"|\"\n", "PreToolUse", "Stop"},
		{"\tpush.force\n", "\tlib.|\n", "effects could_be", ""},
		{"\tpush.force\n", "\tdata.|\n", "gate acme", ""},
		{"\tpush.force\n", "\tdata.gate.params.acme.push.|\n", "branches", ""},
		{"\tpush.force\n", "\thelpers.|\n", "named", ""},
		{"\tpush.force\n", "\tregex.|\n", "match", ""},
		{"\tpush.force\n", "\tpu|\n", "push own lib input startswith every", "http"},
		{"\tpush.force\n", "\tsome c in lib.commands(\"|\")\n", "git npm", ""},
		{"deny contains {\"reason\": \"é 😀\"} if {", "deny contains {\"|", "reason help span", "git.push"},
		{"deny contains {\"reason\": \"é 😀\"} if {", "deny contains {\"reason\": \"{\", \"sp|an\": lib.span(push)} if {", "reason help span", "profile"},
		{"deny contains {\"reason\": \"é 😀\"} if {", "deny contains {\n\t\"reason\": lib.text(x, \"y\", \"z\"),\n\t\"|", "span", ""},
		{"ask contains {\"reason\": \"x\"}", "context contains {\"text\": \"x\", \"strategy\": \"|\"}", "tool_result user_message", "text"},
		{"\tpush.force\n", "\tsome push, \"|\"\n", "", "reason"},
		{"import data.gate.lib", "import |", "data input", "lib"},
		{"import data.gate.lib", "import data.gate.|", "lib", ""},
		{"import data.gate.lib", "import data.|", "gate acme", ""},
		{"deny contains", "d| contains", "deny ask modify", ""},
		{"events: [PreToolUse]", "events: [|]", "PreToolUse Stop", ""},
		{"matcher: Bash", "matcher: |", "Bash Write", ""},
		{"matcher: Bash", "if: effect(|)", "git.push", ""},
		{"matcher: Bash", "ma|", "matcher priority on_fault", ""},
		{"matcher: Bash", "on_fault: |", "deny ask continue", ""},
	} {
		text := strings.Replace(inspected, c.old, c.new, 1)
		at := strings.IndexByte(text, '|')
		text = text[:at] + text[at+1:]
		words, from, to := i.Complete("push.rego", text, at)
		var names []string
		for _, w := range words {
			names = append(names, w.Text)
		}
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(names, want) {
				t.Errorf("%q: no %s in %v", c.new, want, names)
			}
		}
		if c.not != "" && slices.Contains(names, c.not) {
			t.Errorf("%q: %s in %v", c.new, c.not, names)
		}
		if from > at || to < at || strings.ContainsAny(text[from:to], "\n") {
			t.Errorf("%q: it replaces %d to %d, and stands at %d", c.new, from, to, at)
		}
	}
}
