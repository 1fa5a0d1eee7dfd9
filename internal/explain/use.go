package explain

import (
	"fmt"
	"strconv"
	"strings"

	"gate/hook"
)

// A Use is one fact that a rule read: an effect, an unknown, a command … and
// which of its fields.
type Use struct {
	Path    string         // below input, such as facts.effects[0]
	Fields  map[string]any // what was read of it; a JSON tree
	Command int            // the command that it belongs to, 0 for none
}

// usesOf collects what a definition and its helpers read, in the order in which
// they read it.
func usesOf(d *Definition, f *hook.Facts) []Use {
	c := &uses{at: map[string]int{}, facts: f}
	c.definition(d)
	return c.list
}

type uses struct {
	list  []Use
	at    map[string]int
	facts *hook.Facts
}

func (u *uses) definition(d *Definition) {
	for _, c := range d.Conditions {
		for _, v := range c.Values {
			u.value(v)
		}
		for i := range c.Helpers {
			u.definition(&c.Helpers[i])
		}
	}
}

// value takes in one value if it was read from the input.
func (u *uses) value(v Value) {
	path, field := v.Path, ""
	if list, n, rest, ok := element(path); ok {
		path, field = fmt.Sprintf("%s[%d]", list, n), strings.TrimPrefix(rest, ".")
	} else if strings.HasPrefix(path, "facts.") || path == "" || path == "facts" {
		return // a whole list of facts: its elements come by themselves
	}
	i, known := u.at[path]
	if !known {
		i = len(u.list)
		u.at[path] = i
		u.list = append(u.list, Use{Path: path, Fields: map[string]any{}, Command: commandAt(u.facts, path)})
	}
	switch {
	case field != "":
		u.list[i].Fields[field] = v.Value
	case !strings.HasPrefix(path, "facts."):
		u.list[i].Fields[""] = v.Value
	}
}

// element splits facts.effects[3].area.
func element(path string) (list string, n int, rest string, ok bool) {
	for _, list := range []string{"effects", "unknown", "paths", "hosts", "code", "shell.commands"} {
		tail, found := strings.CutPrefix(path, "facts."+list+"[")
		if !found {
			continue
		}
		number, rest, _ := strings.Cut(tail, "]")
		n, err := strconv.Atoi(number)
		return "facts." + list, n, rest, err == nil
	}
	return "", 0, "", false
}

// at returns the element of a list; nil if there is none.
func at[T any](list []T, n int) *T {
	if n < 0 || n >= len(list) {
		return nil
	}
	return &list[n]
}

func commandAt(f *hook.Facts, path string) int {
	list, n, _, ok := element(path)
	if !ok || f == nil {
		return 0
	}
	switch list {
	case "facts.effects":
		if e := at(f.Effects, n); e != nil {
			return e.Command
		}
	case "facts.unknown":
		if e := at(f.Unknown, n); e != nil {
			return e.Command
		}
	case "facts.paths":
		if e := at(f.Paths, n); e != nil {
			return e.Command
		}
	case "facts.hosts":
		if e := at(f.Hosts, n); e != nil {
			return e.Command
		}
	case "facts.code":
		if e := at(f.Code, n); e != nil {
			return e.Command
		}
	case "facts.shell.commands":
		if f.Shell != nil {
			if e := at(f.Shell.Commands, n); e != nil {
				return e.ID
			}
		}
	}
	return 0
}

// Effect returns the effect that a use stands for, nil if it is something else.
func (u *Use) Effect(f *hook.Facts) *hook.FactEffect {
	if list, n, _, ok := element(u.Path); ok && list == "facts.effects" && f != nil {
		return at(f.Effects, n)
	}
	return nil
}

// Unknown returns the unknown that a use stands for, nil if it is something else.
func (u *Use) Unknown(f *hook.Facts) *hook.Unknown {
	if list, n, _, ok := element(u.Path); ok && list == "facts.unknown" && f != nil {
		return at(f.Unknown, n)
	}
	return nil
}
