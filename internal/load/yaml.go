package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: line (\d+): `) })

// yaml decodes the part of YAML that has one meaning: no anchors, aliases,
// merge keys or tags, and keys that are text.
func (d *document) yaml(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: it cannot be parsed: %v", d.file, p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil // only comments: it says nothing
	case err != nil:
		return d.yamlError(data, err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return d.yamlError(data, err)
		}
		return fmt.Errorf("%s:%d: a second document", d.file, second.Line)
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return fmt.Errorf("%s:1: the file must be a mapping of keys to values", d.file)
	}
	budget := maxKeys
	v, errs := d.yamlValue(root.Content[0], "", 1, &budget)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	d.value = v.(map[string]any)
	return nil
}

func (d *document) yamlError(data []byte, err error) error {
	text := err.Error()
	line := 1
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	return fmt.Errorf("%s:%d: %s", d.file, line, yamlMistake(text, string(data)))
}

// yamlMistake is what the parser says about text, in words for those who wrote it.
func yamlMistake(message, text string) string {
	if !strings.Contains(message, "cannot start any token") {
		return message
	}
	for line := range strings.Lines(text) {
		if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(indent, "\t") {
			return "a line begins with a tab: YAML is indented with spaces"
		}
	}
	return message
}

func (d *document) yamlValue(n *yaml.Node, pointer string, depth int, budget *int) (any, []error) {
	bad := func(format string, args ...any) (any, []error) {
		return nil, []error{mistake{fmt.Errorf("%s:%d: %w", d.file, n.Line, fmt.Errorf(format, args...)), n.Line}}
	}
	if _, seen := d.lines[pointer]; !seen {
		d.lines[pointer] = n.Line
	}
	*budget--
	switch {
	case *budget < 0:
		return bad("more than %d keys and values", maxKeys)
	case depth > maxDepth:
		return bad("nested deeper than %d", maxDepth)
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		return bad("anchors and aliases are not allowed; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return bad("tags such as %s are not allowed", n.Tag)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.yamlMapping(n, pointer, depth, budget)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		var errs []error
		for i, c := range n.Content {
			v, e := d.yamlValue(c, element(pointer, i), depth+1, budget)
			errs = append(errs, e...)
			out = append(out, v)
		}
		return out, errs
	case yaml.ScalarNode:
		if tag := n.ShortTag(); tag == "!!timestamp" || tag == "!!str" {
			return n.Value, nil
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return bad("%s", yamlLine().ReplaceAllString(err.Error(), ""))
		}
		t, err := tree(v)
		if err != nil {
			return bad("%w", err)
		}
		return t, nil
	}
	return bad("a value of an unknown kind")
}

func (d *document) yamlMapping(n *yaml.Node, pointer string, depth int, budget *int) (any, []error) {
	out := make(map[string]any, len(n.Content)/2)
	seen := keys{}
	var errs []error
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		fail := func(err error) { errs = append(errs, fmt.Errorf("%s:%d: %w", d.file, k.Line, err)) }
		if k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str" || k.Anchor != "" || k.Style&yaml.TaggedStyle != 0 {
			fail(errors.New("a key must be plain text; quote it"))
			continue
		}
		if err := seen.add(k.Value); err != nil {
			fail(err)
			continue
		}
		at := below(pointer, k.Value)
		d.lines[at] = k.Line
		v, e := d.yamlValue(n.Content[i+1], at, depth+1, budget)
		errs = append(errs, e...)
		out[k.Value] = v
	}
	return out, errs
}
