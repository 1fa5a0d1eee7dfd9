package facts

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"gate/strictjson"
)

//go:embed catalogue/*.rows
var embedded embed.FS

// A Catalogue says what programs do with their words: data, one row a program
// or verb. catalogue/README.md describes a row. It is safe for concurrent use.
type Catalogue struct {
	text map[string]string // name → the JSON of its row, not yet read

	mu   sync.Mutex
	rows map[string]*row // rows that were asked for
}

// A row is one entry. The zero row knows nothing: all words are operands.
type row struct {
	name     string // the program, with its verbs
	options  *optionSpec
	style    string // "", go, keyvalue, raw, find
	stop     bool   // options end at the first operand
	verbs    bool   // the first operand is a verb with a row of its own
	operands []role
	when     map[string][]role // other operands when an option is there
	output   string            // what stdout carries: see the README
	effects  []template
	special  string
	keep     bool // wrapper that only passes on: env, nice, timeout
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

// newCatalogue indexes the embedded rows. It reads no row yet: a call pays for
// the programs it names, not for all.
func newCatalogue() *Catalogue {
	c := &Catalogue{text: make(map[string]string, 1024), rows: map[string]*row{}}
	entries, _ := embedded.ReadDir("catalogue") // embedded: cannot fail
	for _, e := range entries {
		data, _ := embedded.ReadFile("catalogue/" + e.Name())
		c.index(string(data))
	}
	return c
}

func (c *Catalogue) index(text string) {
	for line := range strings.Lines(text) {
		names, body, ok := strings.Cut(line, " {")
		if !ok || names[0] == '#' {
			continue
		}
		body = "{" + body
		for names != "" {
			var name string
			name, names, _ = strings.Cut(names, ",")
			c.text[strings.TrimSpace(name)] = body
		}
	}
}

// Check reads every row and reports all mistakes.
func (c *Catalogue) Check() []error {
	var errs []error
	for name, text := range c.text {
		if _, err := parseRow(name, text); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// lookup returns the row of a program or of a program and its verbs.
func (c *Catalogue) lookup(name string) (*row, bool) {
	text, ok := c.text[name]
	if !ok {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.rows[name]; ok {
		return r, true
	}
	r, err := parseRow(name, text)
	if err != nil {
		return nil, false // TestCatalogue reads every row
	}
	c.rows[name] = r
	return r, true
}

func parseRow(name, text string) (*row, error) {
	m, err := strictjson.Object([]byte(strings.TrimSpace(text)), strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("catalogue row %q: %w", name, err)
	}
	r := &row{name: name, options: &optionSpec{}}
	for key, v := range m {
		if err := r.set(key, v); err != nil {
			return nil, fmt.Errorf("catalogue row %q: %s: %w", name, key, err)
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
		r.when = map[string][]role{}
		for opt, roles := range m {
			l, _ := roles.([]any)
			if r.when[opt], err = parseRoles(l); err != nil {
				return err
			}
		}
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

var roleNames = map[string]bool{
	"text": true, "read": true, "use": true, "list": true, "write": true, "delete": true, "permissions": true,
	"cd": true, "execute": true, "url": true, "host": true, "upload": true, "data": true, "shell": true,
	"command": true, "assign": true, "code": true, "sql": true, "package": true,
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
	if !roleNames[name] {
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
