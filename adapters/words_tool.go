package adapters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A toolWord is one tool of an agent.
type toolWord struct {
	native string
	own    string // gate's name
	fields string // pairs of the input's fields, see pairsOf

	// open brings the input into gate's order where other names are not
	// enough. It may give the tool another name, and changes nothing it got.
	open func(input map[string]any, dir string) (tool string, own map[string]any, err error)
	// shut says a changed input in the agent's words again. Without it, inputs
	// that open made are not changed.
	shut func(c changedCall) (native map[string]any, ok bool)
}

// A changedCall is a call whose input gate changed.
type changedCall struct {
	was           map[string]any // as received
	tool          string         // gate's name
	before, after map[string]any // in gate's words
}

// tool finds a tool by the agent's name for it.
func (a *agent) tool(native string) (toolWord, bool) {
	for i := range a.tools {
		if a.tools[i].native == native {
			return a.tools[i], true
		}
	}
	return toolWord{}, false
}

// translateCall says the tool call in fields, if there is one, in gate's words.
func (a *agent) translateCall(fields, doc map[string]any, at string) error {
	native, named := fields["tool_name"].(string)
	if !named {
		return nil // refused later, where one is wanted
	}
	if s, ok := fields["tool_input"].(string); ok { // JSON within JSON
		input, err := strictjson.Object([]byte(s), strictjson.Limits{Bytes: MaxEvent})
		if err != nil {
			return fmt.Errorf("%stool_input: %w", at, err)
		}
		fields["tool_input"] = input
	}
	input, ok := fields["tool_input"].(map[string]any)
	t, known := a.tool(native)
	switch {
	case known && ok:
		dir, _ := fields["cwd"].(string)
		tool, own, err := t.translate(input, dir, at+"tool_input.")
		if err != nil {
			return err
		}
		fields["tool_name"], fields["tool_input"] = tool, own
	case known:
		fields["tool_name"] = t.own
	case a.server != nil:
		if name, ok := a.server(native, doc); ok {
			fields["tool_name"] = name
		}
	}
	return nil
}

// translate says an input in gate's words. An input without what a file tool or
// a web tool is judged by keeps the agent's names: facts then look at each of
// its fields, and the call counts as one that is not understood.
func (t *toolWord) translate(input map[string]any, dir, at string) (string, map[string]any, error) {
	pairs := pairsOf(t.fields)
	for key := range input {
		for _, p := range pairs {
			if key != p.native && strictjson.Fold(key) == strictjson.Fold(p.native) && key != p.own {
				return "", nil, fmt.Errorf("%skey %s looks like %q", at, quote(key), p.native)
			}
		}
	}
	own := maps.Clone(input)
	for k, v := range own {
		if v == nil {
			delete(own, k)
		}
	}
	if err := rename(own, pairs, at); err != nil {
		return "", nil, err
	}
	tool := t.own
	if t.open != nil {
		var err error
		if tool, own, err = t.open(own, dir); err != nil {
			return "", nil, fmt.Errorf("%s: %w", strings.TrimSuffix(at, "."), err)
		}
	}
	for _, key := range []string{"file_path", "notebook_path"} {
		if file, ok := own[key].(string); ok {
			own[key] = below(dir, file)
		}
	}
	for _, f := range fieldsOf(tool) {
		if _, there := own[f.Name]; !there && f.Need == moment.Must && decisive(f.Name) && f.Name != "command" {
			return t.native, input, nil
		}
	}
	return tool, own, nil
}

// decisive names what a call of a known tool is judged by.
func decisive(field string) bool {
	return slices.Contains([]string{"command", "file_path", "notebook_path", "url"}, field)
}

// native says a changed input in the agent's words. ok is false if they cannot
// say it: what would be sent must read as what was meant.
func (a *agent) native(ev *hook.Event, after map[string]any) (input map[string]any, ok bool) {
	call := map[string]any{"tool_name": ev.Tool(), "tool_input": after}
	if checkCall(call, "", shellsOf, false) != nil {
		return nil, false
	}
	tool, was := ev.Tool(), ev.ToolInput()
	if ev.Native != nil {
		tool, was = a.calledIn(ev.Native)
	}
	t, known := a.tool(tool)
	switch {
	case was == nil, known && t.open != nil && t.shut == nil:
		return nil, false
	case known && t.shut != nil:
		input, ok = t.shut(changedCall{was, ev.Tool(), ev.ToolInput(), after})
	default:
		input, ok = a.nativeFields(&t, was, ev.ToolInput(), after)
	}
	if !ok || !known {
		return input, ok
	}
	again, own, err := t.translate(input, ev.Dir(), "")
	return input, err == nil && again == ev.Tool() && equal(own, after)
}

// nativeFields gives the fields of a changed input the agent's names.
func (a *agent) nativeFields(t *toolWord, was, before, after map[string]any) (input map[string]any, ok bool) {
	input = map[string]any{}
	for k, v := range after {
		name := nameIn(was, pairsOf(t.fields), k)
		old, had := was[name]
		switch {
		case had && equal(before[k], v):
			v = old // as it was, whatever gate made of it
		case had && strictjson.TypeName(old) != strictjson.TypeName(v):
			return nil, false
		}
		if _, twice := input[name]; twice {
			return nil, false
		}
		input[name] = v
	}
	for k, v := range was {
		if _, kept := input[k]; kept {
			continue
		}
		if v == nil {
			input[k] = nil // gate took it for a field that is not there
		} else if a.merges {
			return nil, false // it would stay
		}
	}
	return input, true
}

// nameIn is the agent's name for a field: the one that the input has, of several.
func nameIn(was map[string]any, pairs []pair, own string) string {
	name := own
	for _, p := range pairs {
		if p.own != own {
			continue
		}
		if _, has := was[p.native]; has {
			return p.native
		}
		if _, has := was[own]; !has && name == own {
			name = p.native
		}
	}
	return name
}

// calledIn finds the tool and its input in an event as received.
func (a *agent) calledIn(doc map[string]any) (string, map[string]any) {
	if a.call != nil {
		return a.call(doc)
	}
	tool, _ := doc[nameIn(doc, a.fields, "tool_name")].(string)
	switch input := doc[nameIn(doc, a.fields, "tool_input")].(type) {
	case map[string]any:
		return tool, input
	case string:
		m, err := strictjson.Object([]byte(input), strictjson.Limits{Bytes: MaxEvent})
		if err == nil {
			return tool, m
		}
	}
	return tool, nil
}

// serverTool is gate's name of an MCP server's tool, as Claude Code makes it.
func serverTool(server, tool string) string {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
				return r
			}
			return '_'
		}, s)
	}
	return "mcp__" + clean(server) + "__" + clean(tool)
}
