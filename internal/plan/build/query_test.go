package build_test

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/plan"
	"gate/internal/plan/build"
	"gate/internal/plan/builtin"
	"gate/internal/plan/value"
)

func answers(t *testing.T, modules map[string]string, query, input string) (string, error) {
	t.Helper()
	section, err := build.Query(modules, query, ast.RegoV1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Open(string(section))
	if err != nil {
		t.Fatal(err)
	}
	in, err := value.ParseJSON(input)
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.NewMachine(p, &builtin.Context{}, in, nil).Eval(build.QueryPath()...)
	if err != nil {
		return "", err
	}
	return value.Text(v), nil
}

func TestQuery(t *testing.T) {
	module := `package a

p contains x if some x in input.xs
q[k] := v if some k, v in input.o
f(x) := y if y := [x, x]
default d := "none"
d := "some" if input.d
r if not input.missing
s := [y | some x in input.xs; y := f(x)]
e if every x in input.xs { x }
w := x if x := p with input as {"xs": [7]}
n.b[x] := 1 if some x in input.xs
n.c := 2
m[k] contains v if { some k in ["u", "v"]; some v in input.xs }
`
	for query, want := range map[string]string{
		"data.a.p = x":                         `[{"x": {1, 2, "c"}}]`,
		"data.a.q[k] = v":                      `[{"k": "a", "v": 1.50}, {"k": "b", "v": null}]`,
		"data.a.d = x":                         `[{"x": "none"}]`,
		"data.a.r":                             `[{}]`,
		"data.a.s = x":                         `[{"x": [[1, 1], ["c", "c"], [2, 2]]}]`,
		"data.a.e":                             `[{}]`,
		"data.a.w = x":                         `[{"x": {7}}]`,
		"data.a.n = x":                         `[{"x": {"b": {1: 1, 2: 1, "c": 1}, "c": 2}}]`,
		"data.a.m[\"u\"] = x":                  `[{"x": {1, 2, "c"}}]`,
		"input.xs[i] = x":                      `[{"i": 0, "x": 1}, {"i": 1, "x": "c"}, {"i": 2, "x": 2}]`,
		"x = \"p\"; data.a[x] = y":             `[{"x": "p", "y": {1, 2, "c"}}]`,
		"data.a.missing":                       `[]`,
		"[1, x] = [y, 2]":                      `[{"x": 2, "y": 1}]`,
		"{\"a\": {x}} = {\"a\": {1.0}}; x = 1": `[{"x": 1}]`,
	} {
		got, err := answers(t, map[string]string{"a.rego": module}, query, `{"xs": [1, "c", 2], "o": {"a": 1.50, "b": null}}`)
		if err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", query, got, err, want)
		}
	}
}
