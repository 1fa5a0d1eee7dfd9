package look

import (
	"fmt"
	"maps"
	"slices"

	"gate/internal/strictjson"
)

// A node is one of a tree of facts: a value, or what has more below it.
type node struct {
	Key, Text, Hint string
	Children        []node
	Open            bool
}

const mostNodes = 400 // of one list

// nodes makes a tree of a document. What is empty is left out: null and an empty list
// say nothing.
func nodes(v any) []node {
	return branches(v, 0)
}

func branches(v any, depth int) []node {
	var out []node
	if m := Object(v); m != nil {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if n, some := nodeOf(key, m[key], depth); some {
				out = append(out, n)
			}
		}
		return out
	}
	for i, e := range List(v) {
		if i == mostNodes {
			return append(out, node{Key: "…", Text: fmt.Sprintf("%d more, which the JSON has", len(List(v))-i)})
		}
		key := fmt.Sprint(i)
		m := Object(e)
		for _, name := range []string{"kind", "program", "value", "path", "host", "id", "language", "effect"} {
			if s := Text(m[name]); s != "" {
				key = Short(s)
				break
			}
		}
		if n, some := nodeOf(key, e, depth); some {
			out = append(out, n)
		}
	}
	return out
}

func nodeOf(key string, v any, depth int) (n node, some bool) {
	n = node{Key: strictjson.OneLine(key), Open: depth == 0}
	switch v := v.(type) {
	case nil:
		return n, false
	case map[string]any:
		n.Children = branches(v, depth+1)
		n.Hint = hint(v)
		return n, len(n.Children) > 0
	case []any:
		if len(v) == 0 {
			return n, false
		}
		if plainList(v) {
			n.Text = Join(v)
			return n, true
		}
		n.Children = branches(v, depth+1)
		n.Hint = fmt.Sprint(len(v))
		return n, len(n.Children) > 0
	case []string:
		n.Text = Join(v)
		return n, len(v) > 0
	}
	n.Text = OneLine(v)
	return n, n.Text != ""
}

func plainList(l []any) bool {
	return !slices.ContainsFunc(l, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

// hint is what a closed branch says of itself.
func hint(m Document) string {
	for _, name := range []string{"what", "path", "url", "host", "verb", "why", "raw", "message"} {
		if s := Text(m[name]); s != "" {
			return Short(s)
		}
	}
	return ""
}
