package facts

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gate/strictjson"
)

// catalogueIndex says where the rows of a name lie, so that a call pays for the
// programs it names and not for all: a line with the names of the files, then
// entries in the order of their hashes. TestIndex writes it and keeps it true.
//
//go:embed catalogue.index
var catalogueIndex string

// A Catalogue says what programs do with their words: data, one row a program
// or verb. catalogue/README.md describes a row. It is safe for concurrent use.
type Catalogue struct {
	index string
	own   map[string]any // rows that settings add

	mu   sync.Mutex
	rows map[string]*row // rows that were asked for; nil for names without one
}

func newCatalogue(own map[string]any) *Catalogue {
	return &Catalogue{index: catalogueIndex, own: own, rows: map[string]*row{}}
}

// CheckProgram reports what is wrong with a row that settings add for a program
// or verb (World.Programs).
func CheckProgram(name string, entry any) error {
	words := strings.Fields(name)
	if len(words) == 0 || strings.Join(words, " ") != name || strings.ContainsAny(name, "/\\\"'$`*?") {
		return fmt.Errorf("%q is no name of a program, or of a program and its verbs", name)
	}
	if c := newCatalogue(nil); c.find(words[0]) != "" {
		return fmt.Errorf("gate knows %s already; only programs that it does not know can be added", words[0])
	}
	_, err := ownRow(name, entry)
	return err
}

// ownRow reads a row that settings add. It may not name functions of gate's.
func ownRow(name string, entry any) (*row, error) {
	m, ok := entry.(map[string]any)
	if !ok {
		return nil, errors.New("a row is an object")
	}
	if _, ok := m["special"]; ok {
		return nil, errors.New("special is for gate's own rows")
	}
	r, err := newRow(name, m)
	if err == nil {
		r.own = true
	}
	return r, err
}

// A row is one entry. The zero row knows nothing: all words are operands.
type row struct {
	name     string // the program, with its verbs
	options  *optionSpec
	style    string // "", go, keyvalue, raw, find
	stop     bool   // options end at the first operand
	verbs    bool   // the first operand is a verb with a row of its own
	operands []role
	when     []variant // other operands when options are there, in the order to try
	output   string    // what stdout carries: see the README
	effects  []template
	special  string
	own      bool // added by settings
}

// A variant is other operands of a row under options.
type variant struct {
	options []string // all must be there
	roles   []role
}

// parseVariants reads "when": a key joins options with "+"; the one with the
// most of them is tried first, then the alphabet decides.
func parseVariants(m map[string]any) ([]variant, error) {
	var out []variant
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list, _ := m[key].([]any)
		roles, err := parseRoles(list)
		if err != nil {
			return nil, err
		}
		out = append(out, variant{strings.Split(key, "+"), roles})
	}
	slices.SortStableFunc(out, func(a, b variant) int { return len(b.options) - len(a.options) })
	return out, nil
}

// A role says what one operand or option value is.
type role struct {
	name   string // read, write, delete, url, command …
	detail string // after a colon: code:python, write:append
	many   bool   // zero or more of them
}

// A template is an effect as a row writes it.
type template struct {
	kind  string
	attrs map[string]any
	conds []string
}

// lookup returns the row of a program or of a program and its verbs.
func (c *Catalogue) lookup(name string) (*row, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.rows[name]; ok {
		return r, r != nil
	}
	var r *row
	var err error
	if text := c.find(name); text != "" {
		r, err = parseRow(name, text)
	} else if entry, ok := c.own[name]; ok {
		r, err = ownRow(name, entry)
	}
	if err != nil {
		r = nil // TestCatalogue reads every row, and CheckProgram those of settings
	}
	if len(c.rows) < maxRows {
		c.rows[name] = r
	}
	return r, r != nil
}

// maxRows bounds what is remembered: names come from the agent.
const maxRows = 4096

func parseRow(name, text string) (*row, error) {
	m, err := strictjson.Object([]byte(strings.TrimSpace(text)), strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("catalogue row %q: %w", name, err)
	}
	r, err := newRow(name, m)
	if err != nil {
		return nil, fmt.Errorf("catalogue row %q: %w", name, err)
	}
	return r, nil
}

func newRow(name string, m map[string]any) (*row, error) {
	r := &row{name: name, options: &optionSpec{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := r.set(key, m[key]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return r, nil
}

func (r *row) set(key string, v any) (err error) {
	s, isText := v.(string)
	b, isBool := v.(bool)
	list, _ := v.([]any)
	switch {
	case key == "options" && isText:
		r.options, err = parseOptions(s)
	case key == "style" && isText:
		r.style = s
	case key == "output" && isText:
		r.output = s
	case key == "special" && isText:
		r.special = s
		if special(s) == nil {
			err = fmt.Errorf("no function %q", s)
		}
	case key == "stop" && isBool:
		r.stop = b
	case key == "verbs" && isBool:
		r.verbs = b
	case key == "operands" && list != nil:
		r.operands, err = parseRoles(list)
	case key == "when":
		m, _ := v.(map[string]any)
		r.when, err = parseVariants(m)
	case key == "effects" && list != nil:
		for _, e := range list {
			t, err := parseTemplate(e)
			if err != nil {
				return err
			}
			r.effects = append(r.effects, t)
		}
	default:
		return fmt.Errorf("unknown field or wrong type")
	}
	return err
}

// isRole reports a name of what an operand can be.
func isRole(name string) bool {
	switch name {
	case "text", "read", "use", "list", "write", "delete", "permissions", "cd", "execute", "url", "host", "upload", "data", "shell",
		"command", "words", "assign", "code", "sql", "package":
		return true
	}
	return false
}

func parseRoles(list []any) ([]role, error) {
	var roles []role
	for _, e := range list {
		s, _ := e.(string)
		rl, err := parseRole(s)
		if err != nil {
			return nil, err
		}
		roles = append(roles, rl)
	}
	return roles, nil
}

func parseRole(s string) (role, error) {
	s, many := strings.CutSuffix(s, "*")
	name, detail, _ := strings.Cut(s, ":")
	if !isRole(name) {
		return role{}, fmt.Errorf("unknown role %q", s)
	}
	return role{name: name, detail: detail, many: many}, nil
}

func parseTemplate(e any) (template, error) {
	m, _ := e.(map[string]any)
	kind, _ := m["kind"].(string)
	if kind == "" {
		return template{}, fmt.Errorf("an effect without kind")
	}
	t := template{kind: kind, attrs: map[string]any{}}
	for k, v := range m {
		switch k {
		case "kind":
		case "if":
			list, _ := v.([]any)
			for _, c := range list {
				s, _ := c.(string)
				t.conds = append(t.conds, s)
			}
		default:
			t.attrs[k] = v
		}
	}
	return t, nil
}
