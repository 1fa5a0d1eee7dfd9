package policytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"gate/hook"
)

// FormatCases writes a file of event cases such as [ParseCases] reads, each
// with its own world. Of an event it writes the shortest form that means the
// same.
func FormatCases(cases ...Case) ([]byte, error) {
	list := node(yaml.SequenceNode)
	for i := range cases {
		list.Content = append(list.Content, cases[i].node())
	}
	root := node(yaml.MappingNode)
	put(root, "cases", list)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func node(kind yaml.Kind) *yaml.Node { return &yaml.Node{Kind: kind} }

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, textNode(key), value)
}

func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// valueNode writes a tree with its keys in order; small things on one line.
func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return textNode(v)
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case map[string]any:
		n := node(yaml.MappingNode)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			put(n, key, valueNode(v[key]))
		}
		return flow(n)
	case []any:
		n := node(yaml.SequenceNode)
		for _, e := range v {
			n.Content = append(n.Content, valueNode(e))
		}
		return flow(n)
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		return textNode(err.Error())
	}
	return n
}

// maxFlow is how long a collection on one line may be, in bytes.
const maxFlow = 80

// flow puts a collection on one line if it is short.
func flow(n *yaml.Node) *yaml.Node {
	if width(n) <= maxFlow {
		n.Style |= yaml.FlowStyle
	}
	return n
}

// width estimates how long a value is on one line; more than any line where it
// needs several.
func width(n *yaml.Node) int {
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return maxFlow + 1
	case n.Kind == yaml.ScalarNode:
		return len(n.Value) + 2
	}
	sum := 2
	for _, c := range n.Content {
		sum += width(c)
	}
	return sum
}

func anyMap[V any](m map[string]V) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (c *Case) node() *yaml.Node {
	m := node(yaml.MappingNode)
	put(m, "name", textNode(c.Name))
	if c.Session == nil {
		c.putEvent(m)
	}
	if c.Agent != "" && c.Agent != defaultAgent {
		put(m, "agent", textNode(c.Agent))
	}
	if w := c.World.node(); len(w.Content) > 0 {
		put(m, "world", w)
	}
	m.HeadComment = c.Comment
	if c.Session == nil {
		put(m, "expect", c.Expect.node())
		return m
	}
	steps := node(yaml.SequenceNode)
	for i := range c.Session {
		steps.Content = append(steps.Content, c.Session[i].node())
	}
	put(m, "session", steps)
	return m
}

// putEvent writes what happens in its shortest form.
func (c *Case) putEvent(m *yaml.Node) {
	rest := maps.Clone(c.Event)
	take := func(key string) any {
		v := rest[key]
		delete(rest, key)
		return v
	}
	dir, hasDir := c.Event["cwd"].(string)
	delete(rest, "cwd")
	name := cmp.Or(text(take("hook_event_name")), string(hook.PreToolUse))
	prompt, hasPrompt := rest["prompt"].(string)
	tool, _ := take("tool_name").(string)
	input, _ := take("tool_input").(map[string]any)
	switch {
	case c.Lines != nil && len(rest) == 0:
		put(m, "lines", valueNode(anyList(c.Lines)))
	case name == string(hook.UserPromptSubmit) && hasPrompt && len(rest) == 1:
		put(m, "prompt", textNode(prompt))
	case name != string(hook.PreToolUse) || len(rest) > 0 || tool == "":
		whole := maps.Clone(c.Event)
		whole["hook_event_name"] = name
		put(m, "event", valueNode(whole))
		return // with its cwd
	default:
		putCall(m, tool, input)
	}
	if hasDir {
		put(m, "cwd", textNode(dir))
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func putCall(m *yaml.Node, tool string, input map[string]any) {
	for _, f := range shortForms {
		if f.tool != tool || text(input[f.field]) == "" {
			continue
		}
		if len(input) == 1 && f.key == "bash" {
			put(m, f.key, textNode(text(input[f.field])))
			return
		}
		put(m, f.key, valueNode(input))
		return
	}
	put(m, "tool", textNode(tool))
	put(m, "input", valueNode(anyMap(input)))
}

func (w *CaseWorld) node() *yaml.Node {
	m := node(yaml.MappingNode)
	texts := func(key, s string) {
		if s != "" {
			put(m, key, textNode(s))
		}
	}
	object := func(key string, o map[string]any) {
		if len(o) > 0 {
			put(m, key, valueNode(o))
		}
	}
	texts("head", w.Head)
	object("files", anyMap(w.Files))
	object("env", anyMap(w.Env))
	if w.Library != nil {
		put(m, "library", valueNode(*w.Library))
	}
	if w.Trusted != nil {
		put(m, "trusted", valueNode(*w.Trusted))
	}
	object("settings", anyMap(w.Setting))
	sources := map[string]any{}
	for whose, dirs := range w.Sources {
		sources[whose] = anyList(dirs)
	}
	object("sources", sources)
	texts("as", w.As)
	object("session", w.Session)
	object("gate", w.Gate)
	return flow(m)
}

func (e *Expectation) node() *yaml.Node {
	m := node(yaml.MappingNode)
	if e.Effect != nil {
		put(m, "effect", textNode(e.Effect.String()))
	}
	list := func(key string, l []string) {
		if l != nil {
			put(m, key, valueNode(anyList(l)))
		}
	}
	list("ids", e.IDs)
	list("reason", e.Reasons)
	if e.Rewrite != nil {
		put(m, "rewrite", valueNode(e.Rewrite.Value))
	}
	if e.Output != nil {
		put(m, "output", valueNode(e.Output.Value))
	}
	list("context", e.Context)
	list("warnings", e.Warnings)
	if e.Halt != nil {
		put(m, "halt", valueNode(*e.Halt))
	}
	list("faults", e.Faults)
	if e.Marks != nil {
		put(m, "marks", valueNode(e.Marks))
	}
	if len(m.Content) == 2 && e.Effect != nil {
		return m.Content[1]
	}
	return flow(m)
}
