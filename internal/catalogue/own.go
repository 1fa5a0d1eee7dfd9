package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Read reads what settings say of programs: rows under their names, with commas
// between them; lists of words under "let NAME", for which <NAME> stands in
// names, options and conditions; and programs that are another under a new name,
// with that as a text. Lists are for these settings alone. rows are for [New], and
// keys tell where each name stands. What is wrong is handed over with its key.
func Read(programs map[string]any, wrong func(key string, err error)) (rows map[string]any, keys map[string]string) {
	var entries []entry
	for _, key := range slices.Sorted(maps.Keys(programs)) {
		entries = append(entries, entry{key, programs[key]})
	}
	groups, mistakes := expand(entries)
	rows, keys = map[string]any{}, map[string]string{}
	for _, g := range groups {
		key := entries[g.from].head
		for _, name := range g.names {
			if rows[name], keys[name] = any(g.row), key; g.row == nil {
				rows[name] = g.as
			}
		}
	}
	for _, g := range groups {
		for _, name := range g.names {
			if err := checkOwn(name, rows); err != nil {
				wrong(keys[name], err)
			}
		}
	}
	for _, m := range mistakes {
		wrong(entries[m.entry].head, m.err)
	}
	return rows, keys
}

// checkOwn reports what is wrong with a name that settings add and its row.
func checkOwn(name string, rows map[string]any) error {
	words := strings.Fields(name)
	if len(words) == 0 || strings.Join(words, " ") != name || strings.ContainsAny(name, "/\\\"'$`*?<>") {
		return fmt.Errorf("%q is no name of a program, or of a program and its verbs", name)
	}
	if find(words[0]) != "" {
		return fmt.Errorf("gate knows %s already; only programs that it does not know can be added", words[0])
	}
	as, alias := rows[name].(string)
	switch {
	case alias && len(words) > 1:
		return errors.New("only a whole program can be another under a new name")
	case alias && (strings.Contains(as, " ") || find(as) == "" && rows[as] == nil):
		return fmt.Errorf("%q is no program that gate knows or that has a row here", as)
	case alias:
		return nil
	}
	r, err := ownRow(name, rows)
	if err != nil {
		return err
	}
	return r.check()
}

// ownRow reads the row that settings add for a name, nil if there is none. It may
// not name functions of gate's. Of another name of a program, it is that one's row.
func ownRow(name string, rows map[string]any) (*Row, error) {
	var r *Row
	var err error
	switch row := rows[name].(type) {
	case nil:
		return nil, nil
	case string:
		if text := find(row); text != "" {
			r, err = parseRow(row, text)
		} else if m, ok := rows[row].(map[string]any); ok {
			r, err = newRow(row, m)
		} else {
			return nil, fmt.Errorf("%s has no row", row)
		}
	case map[string]any:
		if _, ok := row["special"]; ok {
			return nil, errors.New("special is for gate's own rows")
		}
		r, err = newRow(name, row)
	default:
		return nil, errors.New("a row is an object")
	}
	if err == nil {
		r.Own = true
	}
	return r, err
}

// check finds what a row says that has no meaning. A row is known to be right when
// a call asks for it.
func (r *Row) check() error {
	if !slices.Contains([]string{"", "go", "keyvalue", "raw", "cmdlet", "slash", "letters"}, r.Style) {
		return fmt.Errorf("style: unknown style %q", r.Style)
	}
	if !slices.Contains([]string{"", "echo", "printf", "copy", "filter", "decode", "encode", "fetch", "environment", "secret"}, r.Output) {
		return fmt.Errorf("output: unknown output %q", r.Output)
	}
	for _, t := range r.Effects {
		for _, c := range t.Conds {
			if err := checkCondition(strings.TrimPrefix(c, "!")); err != nil {
				return fmt.Errorf("effects: %s: condition %q: %w", t.Kind, c, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(t.attrs)) {
			if s, _ := t.attrs[name].(string); !meansSomething(s) {
				return fmt.Errorf("effects: %s: %s: unknown value %q", t.Kind, name, s)
			}
		}
	}
	return nil
}

func checkCondition(c string) error {
	rest, isText := strings.CutPrefix(c, "opt~")
	name, pattern, hasPattern := strings.Cut(rest, "=")
	for _, prefix := range []string{"any~", "known~"} {
		if after, ok := strings.CutPrefix(c, prefix); ok {
			name, pattern, hasPattern, isText = prefix, after, true, true
		}
	}
	if isText && name != "" && hasPattern {
		_, err := regexp.Compile(pattern)
		return err
	}
	about, values, compares := strings.Cut(c, "=")
	kind, of, _ := strings.Cut(about, ":")
	switch {
	case c == "operands", kind == "has" && of != "" && !compares, kind == "opt" && of != "" && compares,
		kind == "operand" && isDigit(of) && compares && values != "":
		return nil
	}
	return errors.New("there is no such condition")
}

// meansSomething reports a text that is a value of an effect as it stands, or
// stands for one.
func meansSomething(s string) bool {
	name, arg, _ := strings.Cut(s, ":")
	switch name {
	case "$has", "$opt":
		return arg != ""
	case "$operand":
		return isDigit(arg)
	case "$operands":
		return s == name || isDigit(arg)
	}
	return s == "$verb" || s == "$program" || !strings.HasPrefix(s, "$")
}

func isDigit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }
