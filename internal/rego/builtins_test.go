package rego_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// TestBuiltinsClassified fails when OPA has a builtin that nobody classified,
// or no longer has one.
func TestBuiltinsClassified(t *testing.T) {
	classified := map[string]bool{}
	for _, b := range rego.Builtins() {
		if classified[b.Name] {
			t.Errorf("%s is classified twice", b.Name)
		}
		if b.Why == "" {
			t.Errorf("%s has no reason", b.Name)
		}
		classified[b.Name] = true
	}
	for _, b := range ast.Builtins {
		if !classified[b.Name] {
			t.Errorf("%s is not classified: may every policy call it, managed ones only, or nobody?", b.Name)
		}
		delete(classified, b.Name)
	}
	for name := range classified {
		t.Errorf("%s is classified, but OPA does not have it", name)
	}
}

// TestBuiltinsGranted compiles one policy for each builtin and authority.
func TestBuiltinsGranted(t *testing.T) {
	authorities := []struct {
		name    string
		source  scopes.Source
		managed bool
	}{
		{"managed", newSource("managed", hook.Managed), true},
		{"library", scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}, true},
		{"user", newSource("user", hook.User), false},
		{"plugin", newSource("plugin", hook.PluginAuthor), false},
		{"project", newSource("project", hook.Project), false},
		{"skill", newSource("skill", hook.SkillAuthor), false},
		{"nobody", newSource("nobody", 0), false},
	}
	granted := map[string]rego.Builtin{}
	for _, b := range rego.Builtins() {
		granted[b.Name] = b
	}
	for _, a := range authorities {
		t.Run(a.name, func(t *testing.T) {
			for _, b := range ast.Builtins {
				want := granted[b.Name].Others || granted[b.Name].Managed && a.managed
				for form, text := range calls(b) {
					err := check(a.source, text)
					if want && err != nil && form == "call" { // few builtins can replace a function at all
						t.Errorf("%s (%s): refused: %v\n%s", b.Name, form, err, text)
					}
					if !want && err == nil {
						t.Errorf("%s (%s): compiles\n%s", b.Name, form, text)
					}
				}
			}
		})
	}
}

// check compiles a policy that is the whole source.
func check(s scopes.Source, text string) error {
	pkg := "acme.p"
	if s.Library {
		pkg = "gate.p"
	}
	m := module("p.rego", "package "+pkg+"\n\n"+text)
	s.Modules, s.Hooks = []scopes.Module{m}, []*hook.Hook{newHook(&s, m)}
	return rego.Check(nil, s)
}

// calls writes policies that call b, by name and, where that is a way around,
// as the replacement of another function.
func calls(b *ast.Builtin) map[string]string {
	name := b.Name
	args := make([]string, 0, len(b.Decl.NamedFuncArgs().Args))
	for _, arg := range b.Decl.NamedFuncArgs().Args {
		args = append(args, sample(arg))
	}
	if name == "json.match_schema" {
		args[1] = `{"type": "array"}` // a constant: TestConstantSchemas has others
	}
	call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	switch {
	case name == "assign", name == "eq":
		return map[string]string{"call": "deny contains \"x\" if {\n\tx := 1\n\tx = 1\n}\n"}
	case name == "print":
		return map[string]string{"call": "deny contains \"x\" if {\n\tprint(input)\n\tinput.x\n}\n"}
	case b.Decl.Result() == nil:
		return map[string]string{"call": "deny contains \"x\" if {\n\t" + call + "\n}\n"}
	}
	texts := map[string]string{"call": "deny contains \"x\" if {\n\ty := " + call + "\n\ty == input.y\n}\n"}
	if len(args) == 1 && b.Infix == "" && !strings.HasPrefix(name, "internal.") && !strings.HasPrefix(name, "rego.metadata") {
		texts["with"] = "f(_) := 1\n\ndeny contains \"x\" if {\n\ty := f(1) with data.acme.p.f as " + name + "\n\ty == input.y\n}\n"
	}
	return texts
}

// sample writes an expression of a type.
func sample(t types.Type) string {
	switch t := t.(type) {
	case *types.NamedType:
		return sample(t.Type)
	case types.String:
		return `"1"`
	case types.Number:
		return "1"
	case types.Boolean:
		return "true"
	case *types.Array, *types.Set, *types.Object:
		return "input.value"
	case types.Any:
		if len(t) > 0 && !slices.ContainsFunc(t, func(u types.Type) bool { _, ok := u.(*types.Object); return ok }) {
			return sample(t[0])
		}
	}
	return "input.value"
}

// TestSchemaRefs tries to read files and ask the network through a schema.
func TestSchemaRefs(t *testing.T) {
	s := newSource("managed", hook.Managed)
	for _, schema := range []string{
		`{"$ref": "file:///etc/passwd"}`,
		`{"properties": {"a": {"$ref": "https://example.com/x.json"}}}`,
		`{"$id": "file:///etc/", "properties": {"a": {"$ref": "#/x"}}}`,
		`{"$schema": "file:///etc/passwd"}`,
		`{"anyOf": [{"$ref": "x.json"}]}`,
	} {
		for _, form := range []string{schema, "json.marshal(" + schema + ")"} {
			text := "deny contains sprintf(\"%v\", [json.verify_schema(" + form + ")])\n"
			if f := evaluate(s, text).Fault; f == nil || f.Kind != hook.FaultEval {
				t.Errorf("%s: fault %v", form, f)
			}
		}
	}
	good := "deny contains \"x\" if json.match_schema({\"a\": 1}, {\"$schema\": \"http://json-schema.org/draft-07/schema#\"," +
		" \"definitions\": {\"n\": {\"type\": \"number\"}}, \"properties\": {\"a\": {\"$ref\": \"#/definitions/n\"}}})[0]\n"
	if a := evaluate(s, good); a.Fault != nil || a.Verdict.Effect() != hook.Deny {
		t.Errorf("a schema that refers to itself: %+v %v", a.Verdict, a.Fault)
	}
}
