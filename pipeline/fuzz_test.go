package pipeline_test

import (
	"context"
	"testing"

	"gate"
	"gate/pipeline"
)

// FuzzSchema takes any schema and any input: neither may panic, hang or be taken
// for what it is not, and what is refused does not run.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type": "object", "required": ["a"]}`, `{"a": 1}`},
		{`{"$ref": "file:///etc/passwd"}`, `{}`},
		{`{"$ref": "#"}`, `{}`},
		{`{"properties": {"a": {"$ref": "#"}}}`, `{"a": {"a": {}}}`},
		{`{"properties": {"a": {"pattern": "(a+)+$"}}}`, `{"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab"}`},
		{`{"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 1e400}`, `{"a": 1e400}`},
		{`true`, `{"a": 1, "A": 2}`},
		{`{"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x"}}}`, `[]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	g, err := gate.New(gate.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, schema, input []byte) {
		ran := false
		p, err := g.Pipeline(pipeline.Options{Dir: t.TempDir(), Deny: []string{"tool"}, Tools: []pipeline.Tool{{
			Name: "tool", Schema: schema,
			Run: func(context.Context, map[string]any) (any, error) {
				ran = true
				return nil, nil
			},
		}}})
		if err != nil {
			return
		}
		if result, err := p.Call(t.Context(), pipeline.Call{Tool: "tool", Input: input}); err == nil || ran || result == nil {
			t.Errorf("schema %s, input %s: %v, ran %t", schema, input, err, ran)
		}
	})
}

// BenchmarkCall is what a call of a tool costs with the library and a few rules,
// but for the tool itself.
func BenchmarkCall(b *testing.B) {
	for _, line := range []string{"go test ./...", "cd build && git status"} {
		b.Run(line, func(b *testing.B) {
			p := rig{tool: shell(), library: true, options: pipeline.Options{
				Allow: []string{"Bash(go test:*)", "Bash(git status:*)"}, Deny: []string{"Bash(git push:*)"},
			}}.pipeline(b)
			call := bash(line)
			for b.Loop() {
				if _, err := p.Call(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
