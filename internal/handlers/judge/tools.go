package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/internal/strictjson"
)

// A Tool is one that a model may use.
type Tool struct {
	Name, About string
	Required    []string // parameters that it cannot do without

	params []param
	run    func(*files, context.Context, input) (string, error)
}

// A param is one of a tool's input; kind is JSON Schema's: string or integer.
type param struct{ name, kind, about string }

// tools are all that an investigation can do. The last one is for hooks that are shown
// the conversation.
var tools = []Tool{
	{
		"Read", "Reads a text file of the project. Lines come with their numbers.", []string{"path"},
		[]param{{"path", "string", "path within the project"}, {"from", "integer", "first line, from 1"}},
		(*files).readFile,
	},
	{
		"Grep", "Finds lines that a regular expression (RE2) matches.", []string{"pattern"},
		[]param{{"pattern", "string", "the expression"}, {"path", "string", "directory or file; all without it"}, {"glob", "string", "only in files such as *.go"}},
		(*files).grep,
	},
	{
		"Glob", "Lists files of the project whose paths fit.", []string{"glob"},
		[]param{{"glob", "string", "such as *.go or cmd/**/*.sh"}, {"path", "string", "directory; all without it"}},
		(*files).glob,
	},
	{
		"Transcript", "Finds messages of the conversation that a regular expression (RE2) matches, the newest first.", []string{"pattern"},
		[]param{{"pattern", "string", "the expression"}},
		(*files).conversation,
	},
}

// offered are the tools for one question.
func offered(q Question) []Tool {
	if q.Transcript {
		return tools
	}
	return tools[:len(tools)-1]
}

// namesOf lists tools for a sentence.
func namesOf(list []Tool) string {
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Properties are the tool's parameters as JSON Schema has them.
func (t *Tool) Properties() map[string]any {
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
func (t *Tool) read(text string) (input, error) {
	in, err := strictjson.Object([]byte(text), limits(maxInput))
	if err != nil {
		return nil, fmt.Errorf("the input is none: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		i := slices.IndexFunc(t.params, func(p param) bool { return p.name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("%s has no parameter %s", t.Name, name)
		case strictjson.TypeName(in[name]) != map[string]string{"string": "a string", "integer": "a number"}[t.params[i].kind]:
			return nil, fmt.Errorf("%s must be a %s", name, t.params[i].kind)
		}
	}
	for _, name := range t.Required {
		if in[name] == nil || in[name] == "" {
			return nil, errors.New(name + " is missing")
		}
	}
	return in, nil
}

// toolName is the name of a known tool; a model may have written anything.
func toolName(s string) string {
	for i := range tools {
		if tools[i].Name == s {
			return s
		}
	}
	return "an unknown tool"
}
