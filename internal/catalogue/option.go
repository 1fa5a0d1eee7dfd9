package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// An Options knows the options of one program.
type Options struct {
	names []optionName // of equal ones the last counts
	own   int          // where those of the row begin, behind its parent's
}

// An optionName is one name of an option, with dashes.
type optionName struct {
	name   string
	option *Option
}

// An Option is one of them under all its names.
type Option struct {
	Name     string // canonical: the last name, without dashes
	Role     Role   // of its value
	Takes    bool   // has a value
	Pair     bool   // has two values, of which the last is kept
	Attached bool   // only as --name=value or -nvalue
}

// parseOptions reads the spec of a row: blank-separated groups of
// comma-separated names, then =role for a value, ==role for two, or [=role] for
// an attached one.
// The last name is the canonical one.
func parseOptions(spec string) (*Options, error) {
	groups := strings.Fields(spec)
	options := make([]Option, len(groups))
	s := &Options{names: make([]optionName, 0, len(groups)+strings.Count(spec, ","))}
	for i, group := range groups {
		o := &options[i]
		names, value, hasValue := strings.Cut(group, "=")
		if hasValue {
			o.Takes = true
			value, o.Pair = strings.CutPrefix(value, "=")
			if n, ok := strings.CutSuffix(names, "["); ok {
				names, o.Attached = n, true
				value = strings.TrimSuffix(value, "]")
			}
			var err error
			if o.Role, err = parseRole(value); err != nil {
				return nil, fmt.Errorf("option %s: %w", group, err)
			}
		}
		for n := range strings.SplitSeq(names, ",") {
			if !strings.HasPrefix(n, "-") && !strings.HasPrefix(n, "+") && !strings.HasPrefix(n, "/") || len(n) < 2 {
				return nil, fmt.Errorf("option %q", n)
			}
			o.Name = strings.TrimLeft(n, "-/")
			s.names = append(s.names, optionName{n, o})
		}
	}
	return s, nil
}

// Named returns the option with exactly this name, nil if there is none.
func (s *Options) Named(name string) *Option {
	for i := len(s.names) - 1; i >= 0; i-- {
		if s.names[i].name == name {
			return s.names[i].option
		}
	}
	return nil
}

// Canonical returns the option of a canonical name, and how that name is written,
// with dashes; nil if there is none.
func (s *Options) Canonical(name string) (o *Option, written string) {
	for i := len(s.names) - 1; i >= 0; i-- {
		if n := s.names[i]; n.option.Name == name && strings.TrimLeft(n.name, "-/") == name {
			return n.option, n.name
		}
	}
	return nil, ""
}

// Find returns the option with this name, or the only one it abbreviates.
func (s *Options) Find(name string) (*Option, bool) {
	if o := s.Named(name); o != nil {
		return o, true
	}
	if !strings.HasPrefix(name, "--") || len(name) < 4 {
		return nil, false
	}
	o, many := s.abbreviated(s.names[s.own:], name)
	if o == nil && !many && s.own > 0 {
		o, many = s.abbreviated(s.names[:s.own], name)
	}
	return o, o != nil && !many
}

// abbreviated returns the option that a name is the beginning of, and whether it is
// that of several. A verb's own options count before those of its program: git rebase
// --ex is --exec, and not --exec-path.
func (s *Options) abbreviated(names []optionName, name string) (found *Option, many bool) {
	for _, n := range names {
		if strings.HasPrefix(n.name, name) {
			o := s.Named(n.name)
			many = many || found != nil && found != o
			found = o
		}
	}
	return found, many
}

// Abbreviated returns the option that a parameter of a cmdlet names, as PowerShell
// does: without case, or by the beginning of its name, where it has one dash.
func (s *Options) Abbreviated(name string) *Option {
	var found *Option
	for _, n := range s.names {
		if len(n.name) < len(name) || !strings.EqualFold(n.name[:len(name)], name) {
			continue
		}
		if len(n.name) == len(name) {
			return n.option
		}
		if found == nil && !strings.HasPrefix(n.name, "--") {
			found = n.option
		}
	}
	return found
}

// Merge adds the options of a parent row: git's own before git push's.
func (s *Options) Merge(parent *Options) *Options {
	if len(parent.names) == 0 {
		return s
	}
	return &Options{names: slices.Concat(parent.names, s.names), own: len(parent.names)}
}
