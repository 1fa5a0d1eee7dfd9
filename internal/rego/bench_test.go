package rego_test

import (
	"context"
	"fmt"
	"testing"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// ordinary makes n policies of the usual kind.
func ordinary(n int, a hook.Authority) scopes.Source {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(`package acme.p%d

import data.acme.helper

deny contains {"reason": sprintf("no %%s here", [word]), "id": "acme.p%d.x"} if {
	some word in helper.words
	regex.match("^rm .*%d$", word)
}

deny contains "no" if {
	helper.is_bash
	glob.match("git push * %d", [], input.tool_input.command)
}

warn contains "careful" if startswith(input.tool_input.command, "sudo %d")
`, i, i, i, i, i)
	}
	s := sourceOf("source", a, texts...)
	s.Modules = append(s.Modules, module("helper.rego", `package acme.helper

is_bash if input.tool_name == "Bash"

words := split(input.tool_input.command, " ")
`))
	return s
}

func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{1, 10, 25} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := ordinary(n, hook.Managed)
			e := rego.New(nil, []scopes.Source{s})
			ev := bash("git push origin main && rm -rf /tmp/x")
			e.Evaluate(context.Background(), s.Hooks, ev)
			b.ReportAllocs()
			for b.Loop() {
				e.Evaluate(context.Background(), s.Hooks, ev)
			}
		})
	}
}

// BenchmarkEvaluateProject has what policies below managed authority cost more.
func BenchmarkEvaluateProject(b *testing.B) {
	s := ordinary(25, hook.Project)
	e := rego.New(nil, []scopes.Source{s})
	ev := bash("git push origin main && rm -rf /tmp/x")
	e.Evaluate(context.Background(), s.Hooks, ev)
	b.ReportAllocs()
	for b.Loop() {
		e.Evaluate(context.Background(), s.Hooks, ev)
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1, 25, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := ordinary(n, hook.Managed)
			ev := bash("ls")
			b.ReportAllocs()
			for b.Loop() {
				rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, ev)
			}
		})
	}
}
