package rego_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// TestGuardsLetPass makes calls of guarded builtins that are large, yet
// harmless: a megabyte of text is an ordinary file.
func TestGuardsLetPass(t *testing.T) {
	ev := bash("ls")
	ev.Fields["text"] = strings.Repeat("some words of a file that somebody wrote\n", 25_000)
	for _, body := range []string{
		`count(split(input.text, "\n")) == 25001`,
		`count(sprintf("%s and %q and %5d", [input.text, "x", 7])) > 1000000`,
		`count(sprintf("%v", [input])) > 1000000`,
		`count(concat(",", [input.text, input.text, input.text])) > 3000000`,
		`count(replace(input.text, "words", "characters")) > 1000000`,
		`count(strings.replace_n({"words": "characters", "a": "b"}, input.text)) > 1000000`,
		`count(regex.replace(input.text, "w(o)rds", "$1")) > 900000`,
		`count(regex.find_n("words", input.text, -1)) == 25000`,
		`count(regex.split("\n", input.text)) == 25001`,
		`count(indexof_n(input.text, "words")) == 25000`,
		`count(json.marshal(input)) > 1000000`,
		`split(input.text, "\n") == split(input.text, "\n")`,
		`json.unmarshal(json.marshal(input)) == input`,
		`count(base64.encode(input.text)) > 1000000`,
		`count(urlquery.encode(input.text)) > 1000000`,
		`count(array.concat(split(input.text, "\n"), [1])) == 25002`,
		`count(array.flatten([[1], [[2], 3]])) == 3`,
		`123456789012345678901234567890 * 98765432109876543210 > 1e40`,
		`sum([1, 2, 3.5]) == 6.5`,
		`product([x | some x in split("1234567890", ""); y := to_number(x)]) == 1; false`,
		`sum([1 | some _ in split(input.text, " ")]) > 100000`,
		`bits.and(6, 3) == 2`,
		`5 % 3 == 2`,
		`{1, 2} - {1} == {2}`,
		`time.format([time.now_ns(), "UTC", "2006-01-02"]) == "2026-01-02"`,
		`format_int(255, 16) == "ff"`,
		`x := $"{input.text}!"; endswith(x, "!")`,
		`f("abc") with data.acme.p.g as lower`,
		`concat(",", ["a"]) == "mocked" with concat as "mocked"`,
		`count([1, 2]) == 3 with count as h`,
	} {
		want := hook.Deny
		if strings.HasSuffix(body, "false") {
			body, want = strings.TrimSuffix(body, "; false"), hook.Pass
		}
		s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains \"x\" if {\n\t"+body+"\n}\n\nf(x) if g(x) == \"abc\"\n\ng(x) := upper(x)\n\nh(_) := 3\n")
		s.Hooks[0].Timeout = time.Minute
		a := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, ev)[0]
		if want == hook.Pass {
			continue // only that it compiles and ends
		}
		if a.Fault != nil || a.Verdict.Effect() != want {
			t.Errorf("%s: %s, fault %v", body, a.Verdict.Effect(), a.Fault)
		}
	}
}

// TestGuardsRefuse calls each guarded builtin with more than it may make. All
// must be refused before anything is made: no time-out, no memory.
func TestGuardsRefuse(t *testing.T) {
	for _, c := range []struct{ rules, body string }{
		{"", `numbers.range(0, 1000000000000)`},
		{"", `numbers.range_step(0, 1000000000000, 2)`},
		{"", `bits.lsh(1, 1000000000000)`},
		{"", `time.format([0, "UTC", "` + strings.Repeat("2006", 300) + `"])`},
		{doubling(23), `split(s23, "")`},
		{doubling(23), `regex.find_n("a", s23, -1)`},
		{doubling(23), `regex.find_all_string_submatch_n("a", s23, -1)`},
		{doubling(23), `regex.split("a", s23)`},
		{doubling(23), `indexof_n(s23, "a")`},
		{doubling(23), `strings.split_n(s23, "a", -1)`},
		{doubling(23), `json.unmarshal(s23)`},
		{doubling(14), `regex.replace(s14, "a", s14)`},
		{doubling(14), `replace(s14, "a", s14)`},
		{doubling(14), `strings.replace_n({"a": s14}, s14)`},
		{doubling(24), `$"{s24}{s24}{s24}{s24}{s24}"`},
		{"a0 := split(\"" + strings.Repeat("x", 1025) + "\", \"\")\n" + chain(10, "a%d := array.concat(a%d, a%[2]d)\n"), `array.concat(a10, a10)`},
		{"a0 := [1]\n" + chain(22, "a%d := array.concat([a%d], [a%[2]d])\n"), `array.flatten(a22)`},
		{"n0 := 10\n" + chain(14, "n%d := n%d * n%[2]d\n"), `n14 * n14`},
		{"j0 := [1]\n" + chain(24, "j%d := array.concat([j%d], [j%[2]d])\n"), `json.marshal(j24)`},
	} {
		text := c.rules + "\ndeny contains \"x\" if x := " + c.body + "\n"
		a := evaluate(newSource("managed", hook.Managed), strings.Replace(text, "if x :=", "if count(sprintf(\"%v\", [1])) == 1\n\ndeny contains \"y\" if _ =", 1))
		if a.Fault == nil || a.Fault.Kind != hook.FaultEval {
			t.Errorf("%s: fault %v", c.body, a.Fault)
		}
	}
}

// FuzzMember gives each rule a member of any shape. Whatever cannot be
// understood of deny, ask, halt, modify and confine is a Reject; nothing is silent.
func FuzzMember(f *testing.F) {
	for _, seed := range []string{
		`"x"`, `{"reason": "x"}`, `{"reason": "x", "span": [0, 1]}`, `{"reason": "x", "edits": [{"span": [0, 1], "text": ""}]}`,
		`{"reason": "x", "input": {"command": "ls"}}`, `null`, `[]`, `{"text": "x", "strategy": "user_message"}`, `{"span": [1e400, -1]}`,
	} {
		f.Add(seed)
	}
	s := sourceOf("project", hook.Project)
	for _, rule := range []string{"deny", "ask", "halt", "modify", "confine", "allow", "warn", "context", "consult", "remember"} {
		m := module(rule+".rego", "package acme."+rule+"\n\n"+rule+" contains input.member\n")
		s.Modules = append(s.Modules, m)
		s.Hooks = append(s.Hooks, newHook(&s, m))
	}
	e := rego.New(nil, []scopes.Source{s})
	f.Fuzz(func(t *testing.T, member string) {
		ev := bash("ls")
		var err error
		if ev.Fields["member"], err = decodeAny(member); err != nil {
			t.Skip()
		}
		for i, a := range e.Evaluate(context.Background(), s.Hooks, ev) {
			v := a.Verdict
			said := len(v.Reasons) + len(v.Halt) + len(v.Rewrites) + len(v.Warnings) + len(v.Context) + len(v.Consults) + len(v.Remember) + len(v.Confine)
			switch {
			case a.Fault == nil && said != 1:
				t.Errorf("%s: neither an answer nor a fault", s.Hooks[i].ID)
			case a.Fault != nil && i < 5 && v.Effect() != hook.Deny:
				t.Errorf("%s: malformed, yet %s: %v", s.Hooks[i].ID, v.Effect(), a.Fault)
			case a.Fault != nil && i >= 5 && v.Effect() != hook.Pass:
				t.Errorf("%s: malformed, yet %s", s.Hooks[i].ID, v.Effect())
			}
		}
	})
}

// FuzzCheck compiles any text. It may be refused, but not bring anything down.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"deny contains \"x\"", "deny contains $\"{x}\" if x := 1", "import data.gate.lib\n", "default allow := false", "a.b.c contains 1 if { true } else := 2",
		"# METADATA\n# title: x\n# custom: [\ndeny contains 1", "deny contains x if x := [y | y := {1: 2}[_]]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			t.Skip()
		}
		m := module("p.rego", "package acme.p\n\n"+text)
		s := newSource("project", hook.Project)
		s.Modules, s.Hooks = []scopes.Module{m}, []*hook.Hook{newHook(&s, m)}
		err := rego.Check(nil, s)
		a := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
		if err == nil && a.Fault != nil && a.Fault.Kind == hook.FaultLoad {
			t.Errorf("passes Check, but does not load: %v", a.Fault)
		}
	})
}
