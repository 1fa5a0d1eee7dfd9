//go:build linux || darwin

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/adapters"
	"gate/internal/artifact"
	"gate/internal/core"
	"gate/internal/hookpath"
	"gate/internal/places"
	"gate/internal/setup"
)

// formedFiles are what stands on a machine: policies that plans hold, that are
// left to OPA, and whose plans have faults; levels, parameters, exceptions, and
// handlers, consulted ones among them.
var formedFiles = map[string]string{
	"managed/settings.json": `{"policies": {"acme.loud": "warn"}, "labels": {"ring": "one"}}`,
	"managed/policies/query.rego": metadata("acme.query", "params:", "  words: {type: array, default: [frozen], description: d}") + `
deny contains {"reason": sprintf("%s is YAML of a frozen thing", [input.tool_input.command])} if {
	yaml.is_valid(input.tool_input.command)
	some word in data.gate.params.acme.query.words
	contains(input.tool_input.command, word)
}
`,
	"managed/policies/loud.rego": metadata("acme.loud") + `
deny contains "loud" if contains(input.tool_input.command, "loud")
`,
	"user/settings.json": `{"params": {"acme.order": {"most": 3}}, "exceptions": [{"policy": "acme.order", "if": "Bash(order excepted)",
		"project": "PROJECT", "until": "2099-01-01", "owner": "me", "reason": "because"}]}`,
	"user/policies/order.rego": metadata("acme.order", "params:", "  most: {type: number, default: 1, description: d}") + `
import data.acme.words

deny contains sprintf("%v of %d", [x, data.gate.params.acme.order.most]) if {
	some x in {input.tool_input.command, input.tool_name}
	startswith(x, "order")
	words.count(x) < data.gate.params.acme.order.most
}

context contains "mocked" if words.count("a") == 9 with input.nothing as 1

warn contains "git" if {
	some e in data.gate.lib.effects("git.push")
	e.force
}
`,
	"user/policies/words.rego": "package acme.words\n\ncount(text) := count_of(split(text, \" \"))\n\ncount_of(list) := n if n := count_all(list)\n\ncount_all(list) := sum([1 | some _ in list])\n",
	"user/policies/fault.rego": metadata("acme.fault") + `
deny contains "small" if {
	startswith(input.tool_input.command, "number ")
	to_number(trim_prefix(input.tool_input.command, "number ")) < 3
}
`,
	"user/policies/asks.rego": metadata("acme.asks") + `
consult contains {"hook": "judge", "reason": "unsure"} if contains(input.tool_input.command, "unsure")
`,
	"user/hooks.yaml": "hooks:\n  PreToolUse:\n    - {matcher: Write, id: judge, command: 'echo the judge says no >&2; exit 2'}\n" +
		"    - {matcher: Bash, id: look, command: 'grep -q \"echo looked\" && { echo seen >&2; exit 2; }; true'}\n",
	"project/.gate/policies/shorten.rego": shorten,
	"project/.gate/policies/pair.rego": metadata("shop.pair") + `
deny contains sprintf("pair %v", [[x | some x in {input.tool_input.command, "zz"}]]) if contains(input.tool_input.command, "pair")
`,
}

var formedCalls = []string{
	"ls", "git push --force origin main", "go test ./...", "frozen: yes", "frozen: [", "loud", "order it", "order it now at once", "order excepted",
	"order is frozen loud", "number 2", "number 7", "number x", "unsure", "echo looked", "echo hello", "a pair", "order pair of frozen echo looked",
}

// place gives the machine the files, and compiles them.
func (m *machine) place(t *testing.T) {
	for name, text := range formedFiles {
		m.write(name, strings.ReplaceAll(text, "PROJECT", m.project))
	}
	m.compile(t)
}

func (m *machine) compile(t *testing.T) {
	if status, out, text := m.gate(nil, false, "build", m.project); status != exitOK {
		t.Fatalf("gate build: status %d: %s%s", status, out, text)
	}
}

// both asks about a line from the files, and as gate hook does.
func (m *machine) both(line string) (files, forms told) {
	ask := func(filesOnly bool) told {
		for _, name := range []string{"decisions.jsonl", "decisions.head", "sessions"} { // what a session was told is told once
			if err := os.RemoveAll(filepath.Join(m.dir, "state", name)); err != nil {
				m.t.Fatal(err)
			}
		}
		m.filesOnly = filesOnly
		event := strings.Replace(strings.Replace(bashEvent, "LINE", quoteJSON(line), 1), `"/tmp"`, quoteJSON(m.project), 1)
		status, stdout, stderr := m.gate(strings.NewReader(event), false, "hook", "--agent", "claude", "--event", "PreToolUse")
		log, err := os.ReadFile(filepath.Join(m.dir, "state", "decisions.jsonl"))
		if err != nil {
			m.t.Fatal(err)
		}
		return told{status, withoutIDs(stdout), withoutIDs(stderr), timeless(m.t, log)}
	}
	return ask(true), ask(false)
}

// formed reports why a call is not decided from compiled forms.
func (m *machine) formed(t *testing.T) error {
	a, _ := adapters.Lookup("claude")
	ev, err := a.Parse([]byte(strings.Replace(strings.Replace(bashEvent, "LINE", `"ls"`, 1), `"/tmp"`, quoteJSON(m.project), 1)), "PreToolUse")
	if err != nil {
		t.Fatal(err)
	}
	d, err := places.Flags{Managed: m.dir + "/managed", User: m.dir + "/user", State: m.dir + "/state"}.ForHook()
	if err != nil {
		t.Fatal(err)
	}
	p := process{env: m.env}
	c := &hookpath.Call{Machine: core.Machine{Dirs: d, Project: m.project, LookupEnv: p.lookupEnv}, Event: &ev, Session: &core.Session{}}
	_, err = setup.FromForms(p.options(c))
	return err
}

// same holds that forms make no difference to a line's answer.
func (m *machine) same(t *testing.T, what, line string) told {
	t.Helper()
	files, forms := m.both(line)
	if files != forms {
		t.Errorf("%s: %s\nfrom files: %+v\nfrom forms: %+v", what, line, files, forms)
	}
	return forms
}

// libraryCalls are some of the lines that the library judges.
func libraryCalls(t *testing.T) (calls []string) {
	text, err := os.ReadFile("../../../policies/testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if _, command, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			if n++; n%97 == 0 {
				calls = append(calls, command)
			}
		}
	}
	return calls
}

// TestFormsDecide holds that a call is decided from compiled forms as it is from
// the files: not a byte of the answer differs, nor of what is written down, but
// for ids and times.
func TestFormsDecide(t *testing.T) {
	m := newMachine(t)
	m.place(t)
	calls := append(libraryCalls(t), formedCalls...)
	for _, trusted := range []bool{false, true} {
		if trusted {
			if status, stdout, stderr := m.gate(nil, true, "trust", m.project); status != exitOK {
				t.Fatalf("trust: %d: %s%s", status, stdout, stderr)
			}
		}
		if err := m.formed(t); err != nil {
			t.Fatalf("forms are not used: %v", err)
		}
		answers := map[string]bool{}
		for _, line := range calls {
			got := m.same(t, fmt.Sprintf("trusted %t", trusted), line)
			answers[fmt.Sprint(got.status, got.stdout, got.stderr)] = true
		}
		if len(answers) < 20 {
			t.Errorf("only %d different answers: %v", len(answers), answers)
		}
	}
}

// TestFormsStale holds that an edit counts at once.
func TestFormsStale(t *testing.T) {
	m := newMachine(t)
	m.place(t)
	if got := m.same(t, "as it was", "order it"); !strings.Contains(got.stderr, "order it of 3") {
		t.Errorf("%+v", got)
	}
	m.write("user/policies/order.rego", strings.ReplaceAll(formedFiles["user/policies/order.rego"], "%v of", "%v instead of"))
	if err := m.formed(t); err == nil {
		t.Error("forms are used")
	}
	if got := m.same(t, "edited", "order it"); !strings.Contains(got.stderr, "order it instead of 3") {
		t.Errorf("%+v", got)
	}
}

// TestFormsDamaged changes a byte in the middle and at the end of a form, where
// the plan and what OPA compiled stand: the files decide.
func TestFormsDamaged(t *testing.T) {
	m := newMachine(t)
	m.place(t)
	file := filepath.Join(m.dir, "state", artifact.Dir, artifact.Name(artifact.User, filepath.Join(m.dir, "user")))
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(whole) / 4, len(whole) / 2, len(whole) - 100, len(whole) - 1} {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 1
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := m.same(t, fmt.Sprintf("damaged at %d of %d", at, len(whole)), "order it"); !strings.Contains(got.stderr, "order it of 3") {
			t.Errorf("%+v", got)
		}
	}
}
