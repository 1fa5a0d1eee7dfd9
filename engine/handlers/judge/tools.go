package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gate/strictjson"
)

// A tool is one that a model may use.
type tool struct {
	name, about string
	params      []param
	required    []string
	run         func(*files, context.Context, input) (string, error)
}

// A param is one of a tool's input; kind is JSON Schema's: string or integer.
type param struct{ name, kind, about string }

// tools are all that an investigation can do.
var tools = []tool{
	{
		"Read", "Reads a text file of the project. Lines come with their numbers.",
		[]param{{"path", "string", "path within the project"}, {"from", "integer", "first line, from 1"}},
		[]string{"path"}, (*files).readFile,
	},
	{
		"Grep", "Finds lines that a regular expression (RE2) matches.",
		[]param{{"pattern", "string", "the expression"}, {"path", "string", "directory or file; all without it"}, {"glob", "string", "only in files such as *.go"}},
		[]string{"pattern"}, (*files).grep,
	},
	{
		"Glob", "Lists files of the project whose paths fit.",
		[]param{{"glob", "string", "such as *.go or cmd/**/*.sh"}, {"path", "string", "directory; all without it"}},
		[]string{"glob"}, (*files).glob,
	},
}

// properties are the tool's parameters as JSON Schema has them.
func (t *tool) properties() map[string]any {
	out := map[string]any{}
	for _, p := range t.params {
		out[p.name] = map[string]any{"type": p.kind, "description": p.about}
	}
	return out
}

// An input is what a model gave a tool, checked for names and types.
type input map[string]any

func (in input) text(name string) string { s, _ := in[name].(string); return s }

func (in input) number(name string) int {
	n, _ := in[name].(json.Number)
	i, _ := n.Int64()
	return int(min(max(i, 0), maxFile))
}

// read decodes the input of a tool.
func (t *tool) read(text string) (input, error) {
	in, err := strictjson.Object([]byte(text), limits(maxInput))
	if err != nil {
		return nil, fmt.Errorf("the input is none: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		i := slices.IndexFunc(t.params, func(p param) bool { return p.name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("%s has no parameter %s", t.name, name)
		case strictjson.TypeName(in[name]) != map[string]string{"string": "a string", "integer": "a number"}[t.params[i].kind]:
			return nil, fmt.Errorf("%s must be a %s", name, t.params[i].kind)
		}
	}
	for _, name := range t.required {
		if in[name] == nil || in[name] == "" {
			return nil, errors.New(name + " is missing")
		}
	}
	return in, nil
}

// toolName is the name of a known tool; a model may have written anything.
func toolName(s string) string {
	for i := range tools {
		if tools[i].name == s {
			return s
		}
	}
	return "an unknown tool"
}
