package load

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// toml decodes a TOML file. The decoder proper has the rules, among them that
// no key is there twice; the syntax tree has the lines.
func (d *document) toml(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: it cannot be parsed: %v", d.file, p)
		}
	}()
	if line := tooDeep(data); line > 0 {
		return fmt.Errorf("%s:%d: nested deeper than %d", d.file, line, maxDepth)
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		line := 1
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		return fmt.Errorf("%s:%d: %s", d.file, line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if err := d.tomlLines(data); err != nil {
		return err
	}
	budget := maxKeys
	v, errs := d.tomlValue(raw, "", 1, &budget)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	d.value = v.(map[string]any)
	return nil
}

// tomlValue turns what the decoder gives into a JSON tree. Dates and times
// become their text.
func (d *document) tomlValue(v any, pointer string, depth int, budget *int) (any, []error) {
	*budget--
	switch {
	case *budget < 0:
		return nil, []error{d.errorf(pointer, "more than %d keys and values", maxKeys)}
	case depth > maxDepth:
		return nil, []error{d.errorf(pointer, "nested deeper than %d", maxDepth)}
	}
	var errs []error
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		seen := keys{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			at := below(pointer, k)
			if err := seen.add(k); err != nil {
				errs = append(errs, d.errorf(at, "%w", err))
			}
			e, more := d.tomlValue(v[k], at, depth+1, budget)
			errs = append(errs, more...)
			out[k] = e
		}
		return out, errs
	case []any:
		out := make([]any, 0, len(v))
		for i, e := range v {
			e, more := d.tomlValue(e, element(pointer, i), depth+1, budget)
			errs = append(errs, more...)
			out = append(out, e)
		}
		return out, errs
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case fmt.Stringer: // toml.LocalDate and its kind
		return v.String(), nil
	}
	t, err := tree(v)
	if err != nil {
		return nil, []error{d.errorf(pointer, "%w", err)}
	}
	return t, nil
}

// tomlLines finds the line of each key.
func (d *document) tomlLines(data []byte) error {
	lines := newLineIndex(data)
	p := unstable.Parser{}
	p.Reset(data)
	table := ""
	arrays := map[string]int{} // elements so far, by pointer
	note := func(pointer string, key *unstable.Node) string {
		at := below(pointer, string(key.Data))
		if _, seen := d.lines[at]; !seen {
			d.lines[at] = lines.at(int(key.Raw.Offset))
		}
		return at
	}
	var value func(pointer string, n *unstable.Node)
	pair := func(pointer string, n *unstable.Node) {
		for it := n.Key(); it.Next(); {
			pointer = note(pointer, it.Node())
		}
		value(pointer, n.Value())
	}
	value = func(pointer string, n *unstable.Node) {
		i := 0
		for it := n.Children(); it.Next(); i++ {
			switch c := it.Node(); n.Kind {
			case unstable.InlineTable:
				pair(pointer, c)
			case unstable.Array:
				value(element(pointer, i), c)
			}
		}
	}
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.KeyValue:
			pair(table, n)
		case unstable.Table, unstable.ArrayTable:
			table = ""
			for it := n.Key(); it.Next(); {
				key := it.Node()
				table = note(table, key)
				count, isArray := arrays[table]
				switch {
				case it.IsLast() && n.Kind == unstable.ArrayTable:
					arrays[table] = count + 1
					table = element(table, count)
					d.lines[table] = lines.at(int(key.Raw.Offset))
				case isArray:
					table = element(table, count-1)
				}
			}
		}
	}
	return p.Error()
}

// tooDeep returns the line on which a document nests deeper than it may, 0 if
// none does: the decoder recurses, and a stack that overflows ends the program.
// Dotted keys nest, too, and the decoder takes a time for them that grows with the
// square of their parts.
func tooDeep(data []byte) int {
	depth, dots, line := 0, 0, 1
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '\n':
			line++
			dots = 0
		case '=', ',':
			dots = 0
		case '.':
			if dots++; dots >= maxDepth {
				return line
			}
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			end := endOfString(data, i)
			line += bytes.Count(data[i:end], []byte("\n"))
			i = end - 1
		case '[', '{':
			if depth++; depth > maxDepth {
				return line
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return 0
}

// endOfString returns the offset after the TOML string that begins at i. A
// string that does not end on its line ends there, as far as nesting goes.
func endOfString(data []byte, i int) int {
	quote := data[i]
	triple := bytes.Repeat([]byte{quote}, 3)
	if bytes.HasPrefix(data[i:], triple) {
		for j := i + 3; j < len(data); j++ {
			switch {
			case quote == '"' && data[j] == '\\':
				j++
			case bytes.HasPrefix(data[j:], triple):
				return j + 3
			}
		}
		return len(data)
	}
	for j := i + 1; j < len(data); j++ {
		switch {
		case quote == '"' && data[j] == '\\':
			j++
		case data[j] == quote:
			return j + 1
		case data[j] == '\n':
			return j
		}
	}
	return len(data)
}
