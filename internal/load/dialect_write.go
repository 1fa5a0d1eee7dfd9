package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"gate/hook"
	"gate/internal/strictjson"
)

// Encode writes the hooks as a hook file of gate's own, in the format of an
// ending: .json, .toml or .yaml. Read again, it means the same. What a format
// cannot express is the error.
func (f *Foreign) Encode(ext string) ([]byte, error) {
	var list [][]pair
	for _, h := range f.Hooks {
		list = append(list, pairsOf(h))
	}
	switch ext {
	case ".json":
		return encodeJSON(list)
	case ".toml":
		return encodeTOML(list)
	case ".yaml", ".yml":
		return encodeYAML(list)
	}
	return nil, fmt.Errorf("hooks are written as .json, .toml or .yaml, not as %q", ext)
}

// A pair is a key with its value, in the types of package strictjson.
type pair struct {
	key   string
	value any
}

// pairsOf returns what a hook file says of a hook, in the order in which people
// read it. What is as by default is left out.
func pairsOf(h *hook.Hook) []pair {
	var out []pair
	add := func(key string, value any, said bool) {
		if said {
			out = append(out, pair{key, value})
		}
	}
	add("id", h.ID, true)
	add("title", h.Title, h.Title != "")
	add("description", h.Description, h.Description != "")
	add("dialect", string(h.Dialect), h.Dialect != "")
	add("events", anys(h.Events), len(h.Events) > 0)
	add("matcher", h.Matcher, h.Matcher != "")
	add("if", anys(h.If), len(h.If) > 0)
	add("priority", json.Number(fmt.Sprint(h.Priority)), h.Priority != 0)
	add("type", string(h.Kind), true)
	for _, key := range slices.Sorted(maps.Keys(h.Config)) {
		add(key, h.Config[key], true)
	}
	add("timeout", timeText(h.Timeout), h.Timeout != 0)
	add("once", true, h.Once)
	add("async", true, h.Async)
	add("consult", true, h.Consult)
	add("on_fault", string(h.OnFault), h.OnFault != "")
	if h.Recheck != nil {
		add("recheck", *h.Recheck, true)
	}
	return out
}

func anys[S ~string](list []S) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// timeText writes a time-out as people do.
func timeText(d time.Duration) any {
	if d%time.Second == 0 {
		return json.Number(fmt.Sprint(int64(d / time.Second)))
	}
	return d.String()
}

func encodeJSON(list [][]pair) ([]byte, error) {
	text := []byte(`{"dialect":"gate","hooks":[`)
	for i, pairs := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '{')
		for j, p := range pairs {
			if j > 0 {
				text = append(text, ',')
			}
			text = strictjson.Append(text, p.key)
			text = append(text, ':')
			text = strictjson.Append(text, p.value)
		}
		text = append(text, '}')
	}
	v := jsontext.Value(append(text, "]}"...))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(v, '\n'), nil
}

func encodeYAML(list [][]pair) ([]byte, error) {
	hooks := &yaml.Node{Kind: yaml.SequenceNode}
	for _, pairs := range list {
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range pairs {
			value, err := yamlNode(p.value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.key, err)
			}
			m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: p.key}, value)
		}
		hooks.Content = append(hooks.Content, m)
	}
	var b bytes.Buffer
	b.WriteString("dialect: gate\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "hooks"}, hooks}}
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// yamlNode shows texts of several lines as such where that is safe, and short
// lists on one line.
func yamlNode(v any) (*yaml.Node, error) {
	n := &yaml.Node{}
	switch v := v.(type) {
	case string:
		n.SetString(v)
		switch {
		case showable(v):
			n.Style = yaml.LiteralStyle
		case strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }):
			n.Style = yaml.DoubleQuotedStyle
		default:
			err := n.Encode(v) // quoted where it could be taken for something else
			return n, err
		}
		return n, nil
	case []any:
		n.Kind, n.Style = yaml.SequenceNode, yaml.FlowStyle
		for _, e := range v {
			c, err := yamlNode(e)
			if err != nil {
				return nil, err
			}
			if c.Style == yaml.LiteralStyle {
				c.Style = yaml.DoubleQuotedStyle
			}
			n.Content = append(n.Content, c)
		}
		return n, nil
	case map[string]any:
		n.Kind = yaml.MappingNode
		for _, key := range slices.Sorted(maps.Keys(v)) {
			k, err := yamlNode(key)
			if err != nil {
				return nil, err
			}
			if k.Style == yaml.LiteralStyle {
				k.Style = yaml.DoubleQuotedStyle
			}
			c, err := yamlNode(v[key])
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, k, c)
		}
		return n, nil
	}
	err := n.Encode(plainTree(v))
	return n, err
}

// showable reports a text of several lines that can stand as it is.
func showable(s string) bool {
	strange := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	return strings.Contains(s, "\n") && !strings.ContainsFunc(s, strange) && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n")
}

func encodeTOML(list [][]pair) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("dialect = \"gate\"\n")
	if len(list) == 0 {
		b.WriteString("hooks = []\n")
	}
	for _, pairs := range list {
		b.WriteString("\n[[hooks]]\n")
		for _, p := range pairs {
			if text, ok := p.value.(string); ok && showable(text) && !strings.Contains(text, "'''") && !strings.HasSuffix(text, "'") {
				fmt.Fprintf(&b, "%s = '''\n%s'''\n", p.key, text)
				continue
			}
			if holdsNull(p.value) {
				return nil, fmt.Errorf("%s of %s: TOML has no null; choose json or yaml", p.key, pairs[0].value)
			}
			enc := toml.NewEncoder(&b)
			enc.SetTablesInline(true)
			if err := enc.Encode(map[string]any{p.key: plainTree(p.value)}); err != nil {
				return nil, fmt.Errorf("%s of %s: %w", p.key, pairs[0].value, err)
			}
		}
	}
	return b.Bytes(), nil
}

func holdsNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(v, holdsNull)
	case map[string]any:
		for _, e := range v {
			if holdsNull(e) {
				return true
			}
		}
	}
	return false
}
