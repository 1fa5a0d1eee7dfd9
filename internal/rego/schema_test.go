package rego_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
)

// TestConstantSchemas matches inputs with schemas in a project's policies. A want is
// a part of the error, "" for a policy that answers.
func TestConstantSchemas(t *testing.T) {
	doubling := `{"$ref": "#/definitions/a0", "definitions": {`
	for i := range 20 {
		doubling += fmt.Sprintf(`"a%d": {"allOf": [{"$ref": "#/definitions/a%d"}, {"$ref": "#/definitions/a%d"}]}, `, i, i+1, i+1)
	}
	doubling += `"a20": {}}}`
	for _, row := range []struct{ policy, want string }{
		{`deny contains "x" if not json.match_schema(input.tool_input, {"type": "array"})[0]`, ""},
		{"deny contains e.desc if {\n\tschema := {\"required\": [\"title\"]}\n\t[false, errors] = json.match_schema(input.tool_input, schema)\n\tsome e in errors\n}", ""},
		{"deny contains \"x\" if not json.match_schema(input.tool_input, schema)[0]\n\nschema := {\"type\": \"object\", \"required\": [\"title\"]}", ""},
		{"deny contains \"x\" if not fits(input.tool_input)\n\nfits(x) if json.match_schema(x, `{\"type\": \"array\"}`)[0]", ""},
		{"deny contains \"x\" if not json.match_schema(input.tool_input, {\"$ref\": \"#/definitions/n\", \"definitions\": {\"n\": {\"type\": \"array\"}}})[0]", ""},
		{`deny contains "x" if json.match_schema(input.tool_input, input.schema)[0]`, "the schema must be a constant"},
		{`deny contains "x" if json.match_schema(input.tool_input, {"type": input.cwd})[0]`, "the schema must be a constant"},
		{"deny contains \"x\" if {\n\tsome s in [{}, {\"type\": \"array\"}]\n\tjson.match_schema(input.tool_input, s)[0]\n}", "the schema must be a constant"},
		{"deny contains \"x\" if json.match_schema(input.tool_input, schema)[0]\n\nschema := input.schema", "the schema must be a constant"},
		{"deny contains \"x\" if json.match_schema(input.tool_input, schema)[0]\n\nschema := {} if input.cwd == \"/\"", "the schema must be a constant"},
		{"deny contains \"x\" if fits with data.acme.p.schema as input.schema\n\nfits if json.match_schema(input.tool_input, schema)[0]\n\nschema := {}", "the schema must be a constant"},
		{`deny contains "x" if json.match_schema(input.tool_input, {"$ref": "#"})[0]`, "refers to itself"},
		{`deny contains "x" if json.match_schema(input.tool_input, {"properties": {"a": {"$ref": "#/properties/a"}}})[0]`, "refers to itself"},
		{`deny contains "x" if json.match_schema(input.tool_input, {"$ref": "#/definitions/a"})[0]`, "where there is none"},
		{`deny contains "x" if json.match_schema(input.tool_input, {"$ref": "file:///etc/passwd"})[0]`, "refer"},
		{`deny contains "x" if json.match_schema(input.tool_input, ` + doubling + `)[0]`, "has more than 4096 parts"},
		{"deny contains \"x\" if not json.match_schema(input.tool_input, `{`)[0]", "no JSON"},
		{"deny contains \"x\" if f(input.a, input.b) with f as json.match_schema\n\nf(_, _) := [true, []]", "it cannot take the place of another function"},
		{`deny contains "x" if json.verify_schema({})[0]`, "undefined function json.verify_schema"},
	} {
		a := evaluate(newSource("project", hook.Project), row.policy+"\n")
		switch {
		case row.want == "" && (a.Fault != nil || a.Verdict.Effect() != hook.Deny):
			t.Errorf("%s\nanswers %v, %v", row.policy, a.Verdict, a.Fault)
		case row.want != "" && (a.Fault == nil || !strings.Contains(a.Fault.Error(), row.want) || !strings.Contains(a.Fault.Error(), ".rego:")):
			t.Errorf("%s\nfault %v, want %s", row.policy, a.Fault, row.want)
		}
	}
	recursive := "deny contains \"x\" if json.match_schema({\"a\": {}}, {\"properties\": {\"a\": {\"$ref\": \"#\"}}})[0]\n"
	if a := evaluate(newSource("managed", hook.Managed), recursive); a.Fault != nil || a.Verdict.Effect() != hook.Deny {
		t.Errorf("a managed schema that refers to itself: %v, %v", a.Verdict, a.Fault)
	}
}
