package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An entry is one piece of what people write, in the files and in settings:
// a list of words under a name, other names of a program, or a row.
type entry struct {
	head  string // "let NAME", or names with commas between them
	value any    // the words; the program; the object
}

// A group is a row with all names that it serves, or names that are others for
// a program. Lists are put in.
type group struct {
	names []string
	row   map[string]any
	as    string // the program; "" for a row
	from  int    // of the entries
}

// A mistake is what is wrong with an entry.
type mistake struct {
	entry int
	err   error
}

// A notation is entries while they are read.
type notation struct {
	lists    map[string][]string
	used     map[string]bool
	mistakes []mistake
}

// expand puts lists into rows and tells their names. A list is for all entries,
// wherever it stands. A list that is not used is a mistake, and so is a name with
// two rows.
func expand(entries []entry) ([]group, []mistake) {
	n := notation{lists: map[string][]string{}, used: map[string]bool{}}
	for i, e := range entries {
		if name, ok := strings.CutPrefix(e.head, "let "); ok {
			n.wrong(i, n.list(name, e.value))
		}
	}
	var groups []group
	rows := map[string]string{} // what each name is another for
	for i, e := range entries {
		if strings.HasPrefix(e.head, "let ") {
			continue
		}
		g, err := n.group(e)
		for _, name := range g.names {
			if _, twice := rows[name]; twice {
				err = errors.Join(err, fmt.Errorf("%s has a row already", name))
			}
			rows[name] = g.as
		}
		if n.wrong(i, err); err == nil {
			g.from = i
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		if rows[g.as] != "" {
			n.wrong(g.from, fmt.Errorf("%s is another name itself, for %s", g.as, rows[g.as]))
		}
	}
	for i, e := range entries {
		if name, ok := strings.CutPrefix(e.head, "let "); ok && n.lists[name] != nil && !n.used[name] {
			n.wrong(i, errors.New("the list is not used"))
		}
	}
	return groups, n.mistakes
}

func (n *notation) wrong(entry int, err error) {
	if err != nil {
		n.mistakes = append(n.mistakes, mistake{entry, err})
	}
}

func (n *notation) list(name string, value any) error {
	words, ok := textOf(value)
	switch {
	case !isListName(name):
		return fmt.Errorf("%q is no name of a list: small letters, digits and dashes", name)
	case n.lists[name] != nil:
		return errors.New("there is a list of this name already")
	case !ok || strings.TrimSpace(words) == "":
		return errors.New("a list is words, in one text or several")
	}
	n.lists[name] = strings.Fields(words)
	return nil
}

// group reads a row, or what stands for one.
func (n *notation) group(e entry) (g group, err error) {
	for head := range strings.SplitSeq(e.head, ",") {
		names, err := n.names(strings.TrimSpace(head))
		if err != nil {
			return group{}, err
		}
		g.names = append(g.names, names...)
	}
	switch v := e.value.(type) {
	case string:
		g.as = v
	case map[string]any:
		g.row, err = n.row(v)
	default:
		err = errors.New("a row is an object, or the name of another program")
	}
	return g, err
}

// names are the names that one with a list stands for: aws <services>.
func (n *notation) names(name string) ([]string, error) {
	before, list, after, err := n.cut(name)
	if list == nil || err != nil {
		return []string{name}, err
	}
	var names []string
	for _, word := range list {
		more, err := n.names(before + word + after)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// row puts lists into the texts of a row in which they may stand: its options, the verbs of
// asks, and the conditions of its effects.
func (n *notation) row(written map[string]any) (map[string]any, error) {
	row := maps.Clone(written)
	var err error
	for _, field := range []string{"options", "asks"} {
		if text, ok := textOf(row[field]); ok {
			if row[field], err = n.text(text, " "); err != nil {
				return nil, fmt.Errorf("%s: %w", field, err)
			}
		}
	}
	effects, _ := row["effects"].([]any)
	effects = slices.Clone(effects)
	for i, e := range effects {
		effect, _ := e.(map[string]any)
		conditions, _ := effect["if"].([]any)
		if len(conditions) == 0 {
			continue
		}
		conditions = slices.Clone(conditions)
		for j, c := range conditions {
			if text, ok := c.(string); ok {
				if conditions[j], err = n.text(text, "|"); err != nil {
					return nil, fmt.Errorf("effects: %w", err)
				}
			}
		}
		effect = maps.Clone(effect)
		effect["if"], effects[i] = conditions, effect
	}
	if effects != nil {
		row["effects"] = effects
	}
	return row, nil
}

// text puts the words of lists into a text, with between between them.
func (n *notation) text(s, between string) (string, error) {
	before, list, after, err := n.cut(s)
	if list == nil || err != nil {
		return s, err
	}
	after, err = n.text(after, between)
	return before + strings.Join(list, between) + after, err
}

// cut finds the first <NAME> of a text.
func (n *notation) cut(s string) (before string, list []string, after string, err error) {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			return s, nil, "", nil
		}
		i += from
		name, rest, closed := strings.Cut(s[i+1:], ">")
		if from = i + 1; !closed || !isListName(name) {
			continue
		}
		if n.lists[name] == nil {
			return s, nil, "", fmt.Errorf("there is no list <%s>", name)
		}
		n.used[name] = true
		return s[:i], n.lists[name], rest, nil
	}
}

func isListName(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// textOf is a text that may be written as several, one after the other.
func textOf(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	list, ok := v.([]any)
	texts := make([]string, len(list))
	for i, e := range list {
		if texts[i], ok = e.(string); !ok {
			return "", false
		}
	}
	return strings.Join(texts, " "), ok
}
