package learn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/policytest"
)

// Root is the package that proposals lie in.
const Root = "learned"

// A File is one file of a proposal, by its name in the directory of the package.
type File struct {
	Name string
	Text string
}

// ID is the name of the policy.
func (p *Proposal) ID() string { return Root + "." + p.Name }

// Files are the policy, its Rego tests and its event cases. Near are calls that it does
// not allow.
func (p *Proposal) Files(near []Question) ([]File, error) {
	files := []File{{p.Name + ".rego", p.policy()}, {p.Name + "_test.rego", p.tests(near)}}
	cases, err := p.cases()
	if cases != "" {
		files = append(files, File{p.Name + policytest.CasesSuffix, cases})
	}
	return files, err
}

const policyText = `# METADATA
# title: %s
# description: |
#   Allows calls like those that a person let through, where data.gate.proof proves
#   all of the call. Proposed by gate learn.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash|LS|Read
package %s

import data.gate.proof

# METADATA
# description: what a person let through, which only narrows what is proven
grant := {
	"programs": %s,
	"how": %s,
	"removes": %s,
	"places": %s,
}

allow contains %s if proof.granted(grant)
`

// policy is the text of the policy.
func (p *Proposal) policy() string {
	var programs []string
	for _, name := range slices.Sorted(maps.Keys(p.Grant.Programs)) {
		programs = append(programs, literal(name)+": "+setText(p.Grant.Programs[name]))
	}
	return fmt.Sprintf(policyText, p.Title, p.ID(), "{"+strings.Join(programs, ", ")+"}",
		setText(p.Grant.How), setText(p.Grant.Removes), setText(p.Grant.Places),
		literal("is like calls that a person let through ("+lowered(p.Title)+"); all of it is understood, and nothing is secret, sent or run"))
}

func lowered(title string) string {
	return strings.ToLower(title[:min(1, len(title))]) + title[min(1, len(title)):]
}

// setText is a set in Rego.
func setText(list []string) string {
	if len(list) == 0 {
		return "set()"
	}
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, literal(s))
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

const testText = `package %[1]s_test

import data.%[1]s

test_the_grant_is_as_it_was_accepted if {
	count(%[2]s.grant.programs) == %[3]d
	count(%[2]s.grant.removes) == %[4]d
	count(%[2]s.grant.places) == %[5]d
}

test_allows_nothing_that_is_not_proven if {
	every line in ["make", "rm -rf ~", "cat ~/.ssh/id_rsa", "curl https://example.com", "git push", "sudo ls", "sh -c ls", "cp a b"] {
		count(%[2]s.allow) == 0 with input as gate.event(line)
	}
}
`

const nearText = `
# Calls that are near, and that a person answers.
test_does_not_allow_what_is_near if {
	every call in [
%s	] {
		count(%s.allow) == 0 with input as gate.event(call)
	}
}
`

// tests are the Rego tests.
func (p *Proposal) tests(near []Question) string {
	text := fmt.Sprintf(testText, p.ID(), p.Name, len(p.Grant.Programs), len(p.Grant.Removes), len(p.Grant.Places))
	var calls strings.Builder
	for _, q := range movable(near) {
		if call := callText(q.Event); call != "" {
			fmt.Fprintf(&calls, "\t\t%s,\n", call)
		}
	}
	if calls.Len() == 0 {
		return text
	}
	return text + fmt.Sprintf(nearText, calls.String(), p.Name)
}

// callText is a call in Rego, on one line; "" where its input is no flat object.
func callText(ev *hook.Event) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(ev.ToolInput())) {
		value, isText := ev.ToolInput()[name].(string)
		if !isText {
			return ""
		}
		members = append(members, literal(name)+": "+literal(value))
	}
	return fmt.Sprintf(`{"tool": %s, "input": {%s}}`, literal(ev.Tool()), strings.Join(members, ", "))
}

// literal is a text as JSON and Rego write it.
func literal(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always can be
	return strings.TrimSuffix(b.String(), "\n")
}

// mostCases is how many calls become event cases or Rego tests.
const mostCases = 5

// cases are event cases of calls that the policy allows.
func (p *Proposal) cases() (string, error) {
	var cases []policytest.Case
	allow := hook.Allow
	for i, q := range movable(p.Calls) {
		cases = append(cases, policytest.Case{
			Name:   fmt.Sprintf("let through %d", i+1),
			Event:  map[string]any{"hook_event_name": string(hook.PreToolUse), "tool_name": q.Event.Tool(), "tool_input": q.Event.ToolInput()},
			Expect: policytest.Expectation{Effect: &allow},
		})
	}
	if len(cases) == 0 {
		return "", nil
	}
	text, err := policytest.FormatCases(cases...)
	return string(text), err
}

// movable are some calls that mean the same in another project: they were made at its
// root and do not name it.
func movable(list []Question) (some []Question) {
	seen := map[string]bool{}
	for _, q := range list {
		text := Text(&q)
		if len(some) < mostCases && !seen[text] && q.Event.Dir() == q.Project && !strings.Contains(text, q.Project) {
			some = append(some, q)
		}
		seen[text] = true
	}
	return some
}

// Text is a call in one line, for people.
func Text(q *Question) string {
	if line, ok := q.Event.ToolInput()["command"].(string); ok {
		return line
	}
	input, _ := json.Marshal(q.Event.ToolInput())
	return q.Event.Tool() + " " + string(input)
}

// Near are calls that a proposal does not allow and that are most like those that it
// does: they have its programs, and effects of its kinds. Calls of the same text are one.
func (p *Proposal) Near(others []Question, most int) []Question {
	score := func(q *Question) (n int) {
		if s := q.Event.Facts.Shell; s != nil {
			for _, c := range s.Commands {
				if c.Program != nil && p.Grant.Programs[*c.Program] != nil {
					n += 2
				}
			}
		}
		for i := range q.Event.Facts.Effects {
			if slices.Contains(p.kinds(), q.Event.Facts.Effects[i].Kind()) {
				n++
			}
		}
		return n
	}
	seen, near := map[string]bool{}, []Question{}
	for _, q := range others {
		if text := Text(&q); q.Event.Facts != nil && !seen[text] && score(&q) > 0 {
			seen[text] = true
			near = append(near, q)
		}
	}
	slices.SortStableFunc(near, func(a, b Question) int { return score(&b) - score(&a) })
	return near[:min(most, len(near))]
}

// kinds are the kinds of effects that the proposal allows.
func (p *Proposal) kinds() (kinds []string) {
	if len(p.Grant.How) > 0 {
		kinds = append(kinds, "fs.write")
	}
	if len(p.Grant.Removes) > 0 {
		kinds = append(kinds, "fs.delete")
	}
	if len(p.Grant.Places) > 0 {
		kinds = append(kinds, "fs.read", "secret.read")
	}
	return kinds
}
