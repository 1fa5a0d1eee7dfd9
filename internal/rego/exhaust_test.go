package rego_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// exhausting policies want more than there is. Each must end in a fault, and a
// policy of the same source after it must have its say.
var exhausting = []struct {
	name string
	kind hook.FaultKind // "" if it depends on the machine whether time or memory ends first
	text string
}{
	{"cross product", "", `
deny contains "x" if count([1 | some a in xs; some b in xs; some c in xs; some d in xs]) == 1
xs := split(concat("", [many, many, many, many]), "")
many := "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"`},
	{"huge walk", "", `
deny contains "x" if count([1 | walk(tree, [p, v]); walk(tree, [q, w]); p == v; q == w]) == 1
t0 := {"a": input.tool_input, "b": input.tool_input, "c": input.tool_input}
t1 := {"a": t0, "b": t0, "c": t0, "d": t0}
t2 := {"a": t1, "b": t1, "c": t1, "d": t1}
t3 := {"a": t2, "b": t2, "c": t2, "d": t2}
t4 := {"a": t3, "b": t3, "c": t3, "d": t3}
tree := {"a": t4, "b": t4, "c": t4, "d": t4}`},
	{"regex on megabytes", hook.FaultTimeout, `
deny contains "x" if {
	some i in split("abcdefghijklmnopqrstuvwxyz", "")
	regex.match(concat("", ["(a*)*(a|aa)*(.*)*", i, "{1,900}[0-9]$"]), s22)
}
` + doubling(22)},
	{"sprintf padding", hook.FaultEval, `
deny contains sprintf("` + strings.Repeat("%[1]999999d", 100) + `", [1])`},
	{"sprintf star", hook.FaultEval, `
deny contains sprintf("` + strings.Repeat("%[1]*[1]d", 100) + `", [999999])`},
	{"sprintf behind a byte that is no character", hook.FaultEval, `
deny contains sprintf(base64.decode("` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("%\xff%999999s", 100))) + `"), split("` + strings.Repeat("a", 200) + `", ""))`},
	{"doubling a string", "", `
deny contains s40
` + doubling(40)},
	{"concat of many", "", `
deny contains concat("", [s24, s24, s24, s24, s24, s24, s24, s24])
` + doubling(24)},
	{"replace", hook.FaultEval, `
deny contains replace(s20, "a", s20)
` + doubling(20)},
	{"squaring", hook.FaultEval, `
deny contains sprintf("%d", [n30])
n0 := 99999999999
` + chain(30, "n%d := n%d * n%[2]d\n")},
	{"object.union", "", `
deny contains "x" if count(o40) == 1
o0 := {x: x | some x in split("abcdefghijklmnopqrstuvwxyz", "")}
` + chain(40, "o%d := {concat(\"\", [a, b]): 1 | some a, _ in o%d; some b in split(\"abcdefgh\", \"\")}\n") + `
`},
	{"array doubling", "", `
deny contains "x" if count(a40) == 1
a0 := [1, 2, 3, 4]
` + chain(40, "a%d := array.concat(a%d, a%[2]d)\n")},
	{"json.marshal of a shared tree", "", `
deny contains json.marshal(j40)
j0 := ["x"]
` + chain(40, "j%d := [j%d, j%[2]d]\n")},
	{"nested comparison", "", `
deny contains "x" if j28 == k28
j0 := ["x"]
k0 := ["x"]
` + chain(28, "j%d := array.concat([j%d], [j%[2]d])\n") + chain(28, "k%d := array.concat([k%d], [k%[2]d])\n")},
}

func doubling(n int) string {
	return "s0 := \"a\"\n" + chain(n, "s%d := concat(\"\", [s%d, s%[2]d])\n")
}

// chain writes rules 1…n, each made of the one before.
func chain(n int, format string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format, i, i-1)
	}
	return b.String()
}

func TestExhaustion(t *testing.T) {
	for _, c := range exhausting {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s := sourceOf("project", hook.Project,
				"package acme.greedy\n"+c.text, "package acme.good\n\ndeny contains \"good\"\n")
			s.Hooks[0].Timeout = 300 * time.Millisecond
			e := rego.New(nil, []scopes.Source{s}, rego.WithMemory(64<<20, 0))
			answers := e.Evaluate(context.Background(), s.Hooks, bash("ls"))
			f := answers[0].Fault
			switch {
			case f == nil:
				t.Errorf("no fault: %+v", answers[0])
			case c.kind != "" && f.Kind != c.kind,
				f.Kind != hook.FaultTimeout && f.Kind != hook.FaultMemory && f.Kind != hook.FaultEval:
				t.Errorf("fault %s: %v", f.Kind, f)
			}
			if answers[1].Fault != nil || answers[1].Verdict.Effect() != hook.Deny {
				t.Errorf("the policy beside it: %+v, fault %v", answers[1].Verdict, answers[1].Fault)
			}
		})
	}
}

// TestCompilerBomb has a source whose types are too large to compare. It cannot
// be cancelled; it must cost its own source its voice once, and no time after
// that. What does not come to an end is a broken source, which closes where one
// does.
func TestCompilerBomb(t *testing.T) {
	bomb := sourceOf("project", hook.Project, "package acme.bomb\n\ndeny contains \"x\" if j28 == k28\n\nj0 := [\"x\"]\nk0 := [\"x\"]\n"+
		chain(28, "j%d := [j%d, j%[2]d]\n")+chain(28, "k%d := [k%d, k%[2]d]\n"))
	good := sourceOf("user", hook.User, "package acme.good\n\ndeny contains \"good\"\n")
	e := rego.New(nil, []scopes.Source{bomb, good})
	for _, want := range []hook.FaultKind{hook.FaultTimeout, hook.FaultLoad, hook.FaultLoad} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		a := e.Evaluate(ctx, bomb.Hooks, bash("ls"))
		cancel()
		if a[0].Fault == nil || a[0].Fault.Kind != want {
			t.Errorf("fault %v", a[0].Fault)
		}
	}
	if a := e.Evaluate(context.Background(), good.Hooks, bash("ls")); a[0].Verdict.Effect() != hook.Deny {
		t.Errorf("the other source: %+v", a)
	}
}

// TestFuse compares values that take more stack than there is, with time to do
// it: Go could not recover from that.
func TestFuse(t *testing.T) {
	for _, text := range []string{
		"deny contains \"x\" if j24 == k24\n\nj0 := [\"x\"]\nk0 := [\"x\"]\n" +
			chain(24, "j%d := array.concat([j%d], [j%[2]d])\n") + chain(24, "k%d := array.concat([k%d], [k%[2]d])\n"),
		"deny contains \"x\" if {\n\tx := j24\n\tx = k24\n}\n\nj0 := {\"x\": 1}\nk0 := {\"x\": 1}\n" +
			chain(24, "j%d := {k: v | some k in {\"a\", \"b\"}; v := j%d}\n") + chain(24, "k%d := {k: v | some k in {\"a\", \"b\"}; v := k%d}\n"),
	} {
		s := sourceOf("project", hook.Project, "package acme.p\n\n"+text)
		s.Hooks[0].Timeout = time.Minute
		a := rego.New(nil, []scopes.Source{s}).Evaluate(context.Background(), s.Hooks, bash("ls"))[0]
		if a.Fault == nil || a.Fault.Kind != hook.FaultMemory {
			t.Errorf("fault %v", a.Fault)
		}
	}
}
