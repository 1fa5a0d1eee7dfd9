package load

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// editTOML replaces, removes or adds one line. Values that stand on several
// lines, and keys in inline tables, are not for it. Tables of a list, such as exceptions,
// are added at the end.
func editTOML(data []byte, old map[string]any, value any, key []string) ([]byte, error) {
	if more, ok := newTables(old, value, key); ok {
		return addTables(data, more, key[0])
	}
	table, name := key[:len(key)-1], key[len(key)-1]
	line := ""
	if value != nil {
		text, err := toml.Marshal(map[string]any{"x": plainTree(value)})
		if err != nil || bytes.Count(text, []byte("\n")) != 1 {
			return nil, errors.New("the value does not fit on a line of TOML")
		}
		line = tomlKey(name) + strings.TrimPrefix(string(text), "x")
	}
	rows := strings.SplitAfter(string(data), "\n")
	if last := len(rows) - 1; rows[last] == "" {
		rows = rows[:last]
	} else {
		rows[last] += "\n"
	}
	place, err := tomlPlace(data, table, name)
	switch {
	case err != nil:
		return nil, err
	case place.key > 0:
		if at := strings.IndexByte(rows[place.key-1], '#'); at >= 0 && line != "" && strings.Count(rows[place.key-1], `"`)%2 == 0 {
			line = strings.TrimSuffix(line, "\n") + " " + rows[place.key-1][at:]
		}
		rows[place.key-1] = line
	case place.table >= 0:
		rows = slices.Insert(rows, place.table, line)
	default:
		var names []string
		for _, k := range table {
			names = append(names, tomlKey(k))
		}
		gap := "\n"
		if len(rows) == 0 {
			gap = ""
		}
		rows = append(rows, gap+"["+strings.Join(names, ".")+"]\n"+line)
	}
	return []byte(strings.Join(rows, "")), nil
}

// newTables returns the tables that a value adds to a list of the file, or to none.
func newTables(old map[string]any, value any, key []string) ([]any, bool) {
	more, ok := appended(old, value, key)
	if old[key[0]] == nil && len(key) == 1 {
		more, ok = value.([]any)
	}
	for _, v := range more {
		if _, isTable := v.(map[string]any); !isTable {
			return nil, false
		}
	}
	return more, ok && len(more) > 0
}

// addTables writes tables of a list at the end of a file.
func addTables(data []byte, tables []any, name string) ([]byte, error) {
	text, err := toml.Marshal(map[string]any{name: plainTree(tables)})
	if err != nil {
		return nil, err
	}
	out := bytes.TrimRight(data, "\n")
	if len(out) > 0 {
		out = append(slices.Clip(out), "\n\n"...)
	}
	return append(out, text...), nil
}

// A tomlAt says on which lines a key and the header of its table stand. Lines
// count from 1; key 0 and table -1 are nowhere. The root table has line 0.
type tomlAt struct{ key, table int }

func tomlPlace(data []byte, table []string, name string) (tomlAt, error) {
	at := tomlAt{table: -1}
	if len(table) == 0 {
		at.table = 0
	}
	lines := newLineIndex(data)
	p := unstable.Parser{}
	p.Reset(data)
	var current []string
	want := append(slices.Clone(table), name)
	for p.NextExpression() {
		n := p.Expression()
		var parts []string
		line := 0
		for it := n.Key(); it.Next(); {
			parts = append(parts, string(it.Node().Data))
			line = lines.at(int(it.Node().Raw.Offset))
		}
		switch n.Kind {
		case unstable.Table:
			if current = parts; slices.Equal(current, table) {
				at.table = line
			}
		case unstable.ArrayTable:
			current = append(parts, "[]")
		case unstable.KeyValue:
			if slices.Equal(append(slices.Clone(current), parts...), want) {
				at.key = line
			}
		}
	}
	return at, p.Error()
}

func tomlKey(k string) string {
	for _, c := range []byte(k) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(k) + `"`
		}
	}
	return k
}
