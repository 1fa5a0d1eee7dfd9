// Package catalogue holds what gate knows of programs: data, one row a program or
// verb, in the *.rows files beside it. README.md describes a row. It reads rows and
// finds them by name, of which a call pays for those that it names; package facts
// runs a command by its row. Start with [New], then [Catalogue.Lookup]; settings go
// through [Read] first.
package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// A Catalogue finds rows. It is safe for concurrent use.
type Catalogue struct {
	own map[string]any // rows that settings add

	mu   sync.Mutex
	rows map[string]*Row // rows that were asked for; nil for names without one
}

// New returns the catalogue with the rows that settings add, as [Read] returns them;
// nil for none. Rows with a mistake are not there.
func New(own map[string]any) *Catalogue {
	return &Catalogue{own: own, rows: map[string]*Row{}}
}

// A Row is one entry. The zero row knows nothing: all words are operands.
type Row struct {
	Name     string // the program, with its verbs; of another name of it, not that one
	Options  *Options
	Style    string // "", go, keyvalue, raw, cmdlet, slash
	Stop     bool   // options end at the first operand
	Verbs    bool   // the first operand is a verb with a row of its own
	Ahead    bool   // its options stand before its verb, and are not taken behind it
	Operands []Role
	When     []Variant // other operands when options are there, in the order to try
	Output   string    // what stdout carries: see the README
	Effects  []Template
	Special  string // a function of package facts, for what a row cannot say
	Asks     string // verbs by which it hands the words of its line to a service; "*": by each call
	Fetches  bool   // it is a wrapper that fetches the program which it runs
	Sources  bool   // packages come later from the address that it is given
	Packages string // the language of the packages out of which it starts programs, "" for none
	Own      bool   // added by settings
}

// A Variant is other operands of a row under options.
type Variant struct {
	Options []string // all must be there
	Roles   []Role
}

// parseVariants reads "when": a key joins options with "+"; the one with the
// most of them is tried first, then the alphabet decides.
func parseVariants(m map[string]any) ([]Variant, error) {
	var out []Variant
	for _, key := range slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(strings.Count(b, "+")-strings.Count(a, "+"), strings.Compare(a, b))
	}) {
		list, _ := m[key].([]any)
		roles, err := parseRoles(list)
		if err != nil {
			return nil, err
		}
		out = append(out, Variant{strings.Split(key, "+"), roles})
	}
	return out, nil
}

// A Role says what one operand or option value is.
type Role struct {
	Name   string // read, write, delete, url, command …
	Detail string // after a colon: code:python, write:append
	Many   bool   // zero or more of them
}

// Lookup returns the row of a program or of a program and its verbs.
func (c *Catalogue) Lookup(name string) (*Row, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.rows[name]; ok {
		return r, r != nil
	}
	var r *Row
	var err error
	if text := find(name); text != "" {
		r, err = parseRow(name, text)
	} else {
		r, err = ownRow(name, c.own)
	}
	if err != nil {
		r = nil // TestCatalogue reads every row, and Read those of settings
	}
	if len(c.rows) < maxRows {
		c.rows[name] = r
	}
	return r, r != nil
}

// maxRows bounds what is remembered: names come from the agent.
const maxRows = 4096

func parseRow(name, text string) (*Row, error) {
	m, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("catalogue row %q: %w", name, err)
	}
	r, err := newRow(name, m)
	if err != nil {
		return nil, fmt.Errorf("catalogue row %q: %w", name, err)
	}
	return r, nil
}

func newRow(name string, m map[string]any) (*Row, error) {
	r := &Row{Name: name, Options: &Options{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := r.set(key, m[key]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return r, nil
}

func (r *Row) set(key string, v any) (err error) {
	s, isText := v.(string)
	b, isBool := v.(bool)
	list, _ := v.([]any)
	switch {
	case key == "options" && isText:
		r.Options, err = parseOptions(s)
	case key == "style" && isText:
		r.Style = s
	case key == "output" && isText:
		r.Output = s
	case key == "special" && isText:
		r.Special = s
	case key == "asks" && isText:
		r.Asks = s
	case key == "packages" && isText:
		r.Packages = s
	case key == "fetches" && isBool:
		r.Fetches = b
	case key == "sources" && isBool:
		r.Sources = b
	case key == "stop" && isBool:
		r.Stop = b
	case key == "verbs" && isBool:
		r.Verbs = b
	case key == "ahead" && isBool:
		r.Ahead = b
	case key == "operands" && list != nil:
		r.Operands, err = parseRoles(list)
	case key == "when":
		m, _ := v.(map[string]any)
		r.When, err = parseVariants(m)
	case key == "effects" && list != nil:
		for _, e := range list {
			t, err := parseTemplate(e)
			if err != nil {
				return err
			}
			r.Effects = append(r.Effects, t)
		}
	default:
		return fmt.Errorf("unknown field or wrong type")
	}
	return err
}

// roleNames are what an operand can be.
const roleNames = " text read use list write delete permissions cd execute url host upload data shell command words assign code sql package process proxy "

func parseRoles(list []any) ([]Role, error) {
	var roles []Role
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

func parseRole(s string) (Role, error) {
	s, many := strings.CutSuffix(s, "*")
	name, detail, _ := strings.Cut(s, ":")
	if !wordlist.Has(roleNames, name) {
		return Role{}, fmt.Errorf("unknown role %q", s)
	}
	return Role{Name: name, Detail: detail, Many: many}, nil
}
