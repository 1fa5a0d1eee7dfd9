package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/plan/value"
)

// EditForm is how edits are written, for people.
const EditForm = `{"span", "text"} or {"command", and env, options, operands or program}`

// CommandEditKeys returns the keys of an edit that names a command.
func CommandEditKeys() []string { return []string{"command", "env", "options", "operands", "program"} }

// OperandKeys returns the keys of an edit's operands.
func OperandKeys() []string { return []string{"add", "remove"} }

// edits reads a list of edits.
func (f *fields) edits(v value.Value) []hook.Edit {
	list, ok := v.(*value.Array)
	if !ok || list.Len() == 0 {
		f.fail("edits is not a list of %s", EditForm)
		return nil
	}
	edits := make([]hook.Edit, 0, list.Len())
	for i := range list.Len() {
		e, err := editOf(list.At(i))
		if err != nil {
			f.fail("edit %d: %w", i, err)
			return nil
		}
		edits = append(edits, e)
	}
	return edits
}

func editOf(v value.Value) (hook.Edit, error) {
	o, ok := v.(*value.Object)
	if !ok {
		return hook.Edit{}, fmt.Errorf("not %s", EditForm)
	}
	if o.Get(value.String("command")) != nil {
		c, err := commandEditOf(o)
		return hook.Edit{Command: c}, err
	}
	span, text := o.Get(value.String("span")), o.Get(value.String("text"))
	if span == nil || text == nil || o.Len() != 2 {
		return hook.Edit{}, fmt.Errorf("not %s", EditForm)
	}
	s, ok := text.(value.String)
	if !ok {
		return hook.Edit{}, fmt.Errorf("text is %s where a string is wanted", value.KindOf(text))
	}
	where, err := spanOf(span)
	if err != nil {
		return hook.Edit{}, fmt.Errorf("span %w", err)
	}
	return hook.Edit{Span: where, Text: string(s)}, nil
}

func commandEditOf(o *value.Object) (*hook.CommandEdit, error) {
	e := &hook.CommandEdit{}
	for _, p := range o.Pairs() {
		key, _ := p.Key.(value.String)
		var err error
		switch key {
		case "command":
			n, ok := value.AsInt(p.Value)
			if !ok || n < 1 {
				err = fmt.Errorf("it is %s where the id of a command is wanted", value.KindOf(p.Value))
			}
			e.Command = int(n)
		case "program":
			e.Program, err = said(p.Value)
		case "env":
			e.Env, err = envOf(p.Value)
		case "options":
			e.Options, err = optionsOf(p.Value)
		case "operands":
			e.Add, e.Remove, err = operandsOf(p.Value)
		default:
			return nil, fmt.Errorf("unknown key %s; an edit of a command has %s", keyName(p.Key), strings.Join(CommandEditKeys(), ", "))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if o.Len() == 1 {
		return nil, errors.New("it names a command and nothing that it is to have")
	}
	return e, nil
}

// said is a text that says something, as each word of a command must.
func said(v value.Value) (string, error) {
	s, ok := v.(value.String)
	switch {
	case !ok:
		return "", fmt.Errorf("%s where a string is wanted", value.KindOf(v))
	case s == "":
		return "", errors.New("a string is empty")
	}
	return string(s), nil
}

func keyName(v value.Value) string {
	if s, ok := v.(value.String); ok {
		return fmt.Sprintf("%q", string(s))
	}
	return "that is " + value.KindOf(v).String()
}

// named reads an object whose keys are names.
func named(v value.Value, isName func(string) error, take func(name string, v value.Value) error) error {
	o, ok := v.(*value.Object)
	if !ok || o.Len() == 0 {
		return errors.New("an object that names something is wanted")
	}
	for _, p := range o.Pairs() {
		name, ok := p.Key.(value.String)
		if !ok {
			return fmt.Errorf("a key is %s", value.KindOf(p.Key))
		}
		if err := isName(string(name)); err != nil {
			return err
		}
		if err := take(string(name), p.Value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func envOf(v value.Value) (map[string]*string, error) {
	env := map[string]*string{}
	variable := func(name string) error {
		rest := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
		if name == "" || rest == name || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "" {
			return fmt.Errorf("%q is no name of a variable", name)
		}
		return nil
	}
	err := named(v, variable, func(name string, v value.Value) error {
		switch v := v.(type) {
		case value.Null:
			env[name] = nil
		case value.String:
			text := string(v)
			env[name] = &text
		default:
			return fmt.Errorf("%s where a string or null is wanted", value.KindOf(v))
		}
		return nil
	})
	return env, err
}

func optionsOf(v value.Value) (map[string]any, error) {
	options := map[string]any{}
	option := func(name string) error {
		switch {
		case name == "" || strings.ContainsAny(name, "= \t\n"):
			return fmt.Errorf("%q is no name of an option", name)
		case strings.HasPrefix(name, "-"):
			return fmt.Errorf("%q is written with dashes; facts name it %q", name, strings.TrimLeft(name, "-"))
		}
		return nil
	}
	err := named(v, option, func(name string, v value.Value) (err error) {
		switch v := v.(type) {
		case value.Null:
			options[name] = nil
		case value.Bool:
			if options[name] = true; !bool(v) {
				return errors.New("false; null takes an option away")
			}
		case value.String:
			options[name], err = said(v)
		default:
			return fmt.Errorf("%s where a string, true or null is wanted", value.KindOf(v))
		}
		return err
	})
	return options, err
}

func operandsOf(v value.Value) (add, remove []string, err error) {
	err = named(v, func(key string) error {
		if key != "add" && key != "remove" {
			return fmt.Errorf("unknown key %q; there are add and remove", key)
		}
		return nil
	}, func(key string, v value.Value) error {
		list, ok := v.(*value.Array)
		if !ok {
			return fmt.Errorf("%s where a list is wanted", value.KindOf(v))
		}
		for i := range list.Len() {
			text, err := said(list.At(i))
			if err != nil {
				return err
			}
			if key == "add" {
				add = append(add, text)
			} else {
				remove = append(remove, text)
			}
		}
		return nil
	})
	if err == nil && slices.ContainsFunc(add, func(text string) bool { return slices.Contains(remove, text) }) {
		err = errors.New("an operand is added and removed")
	}
	return add, remove, err
}
