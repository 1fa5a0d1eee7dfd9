package program

import (
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
)

// effects adds what the row says besides its roles.
func (u *use) effects() {
	for _, t := range u.row.Effects {
		if !u.holds(t.Conds) || t.Kind == "infrastructure" && u.localEndpoint() || t.Kind == "git.discard" && u.scratch() || u.explains(t.Kind) {
			continue
		}
		e := t.Effect(u.value)
		u.effect(e)
		switch e := e.(type) {
		case *hook.NetSend:
			if e.Secret == nil && e.Source != "file" && e.Source != "text" {
				e.Secret = flow.Known(u.Stdin.Secret())
			}
			if e.Path == nil && e.Source == "stdin" {
				e.Path = u.inputPath()
			}
		case *hook.Kubernetes:
			e.NamespaceFrom = "unknown"
			if e.Namespace != nil {
				e.NamespaceFrom = "option"
			}
		case *hook.SecretRead:
			u.Out.Taint.Secret = e.What
			if e.What == "environment" { // which the end of the line would report again
				u.Out.Taint.Secret = "secret"
			}
		}
	}
}

// inputPath is the file that the program's input is, nil where it is none that is known.
func (u *use) inputPath() *string {
	if p := u.Stdin.Taint.Path; p != "" {
		return &p
	}
	if u.Input == nil || u.Input.From != "file" || u.Input.Path == nil {
		return nil
	}
	if ts := u.targets(flow.Literal(*u.Input.Path)); len(ts) == 1 {
		return flow.Known(ts[0].Path)
	}
	return nil
}

// explains reports a line that asks how a command is used and names nothing for
// it to work on: rails db:drop --help, aws s3 rb help.
func (u *use) explains(kind string) bool {
	if !slices.Contains([]string{"infrastructure", "database", "package.publish", "container"}, kind) {
		return false
	}
	asks := false
	for _, a := range u.args {
		switch text := a.field.Text(); {
		case !a.field.Literal() || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789:._-") != "":
			return false
		case a.option != nil && (text != "--help" && text != "-h" || len(a.value.Parts) > 0): // -h may name a host
			return false
		case a.option != nil, text == "help" && u.name == "aws":
			asks = true
		}
	}
	return asks
}

func (u *use) holds(conds []string) bool {
	return !slices.ContainsFunc(conds, func(c string) bool { return !u.holdsOne(c) })
}

func (u *use) holdsOne(cond string) bool {
	body, negated := strings.CutPrefix(cond, "!")
	ok := false
	switch {
	case body == "operands":
		ok = len(u.rest) > 0
	case strings.HasPrefix(body, "has:"):
		ok = u.has(body[4:])
	case strings.HasPrefix(body, "opt:"):
		name, values, _ := strings.Cut(body[4:], "=")
		f, set := u.opt(name)
		ok = set && (oneOf(f, values) || f.Value() != nil && oneOf(flow.Literal(strings.ToUpper(*f.Value())), values))
	case strings.HasPrefix(body, "operand:"):
		n, values, _ := strings.Cut(body[8:], "=")
		i := int(n[0] - '0')
		values, exact := strings.CutPrefix(values, "=")
		ok = i < len(u.rest) && oneOf(u.rest[i], values) && (!exact || u.rest[i].Value() != nil)
	case strings.HasPrefix(body, "any~"):
		re, err := regexp.Compile(body[4:])
		for _, f := range u.rest {
			vs, known := f.Variants()
			ok = ok || !known && !negated || err != nil
			for _, v := range vs {
				ok = ok || err == nil && re.MatchString(v)
			}
		}
	case strings.HasPrefix(body, "known~"):
		ok = matchesKnown(body[len("known~"):], u.rest, negated)
	case strings.HasPrefix(body, "opt~"):
		name, pattern, _ := strings.Cut(body[len("opt~"):], "=")
		ok = matchesKnown(pattern, u.opts[name], negated)
	}
	return ok != negated
}

// matchesKnown reports whether a pattern matches what is known of some word.
func matchesKnown(pattern string, words []flow.Word, negated bool) bool {
	re, err := regexp.Compile(pattern)
	ok := err != nil
	for _, f := range words {
		vs, known := f.Variants()
		switch {
		case !known && negated: // what comes behind it may be anything
			continue
		case !known: // what is unknown may be nothing
			vs = []string{f.Prefix(), f.Text()}
		}
		ok = ok || err == nil && slices.ContainsFunc(vs, re.MatchString)
	}
	return ok
}

// oneOf reports whether f is one of the values, separated by "|", or unknown.
func oneOf(f flow.Word, values string) bool {
	vs, known := f.Variants()
	if !known {
		return true
	}
	return slices.ContainsFunc(vs, func(v string) bool { return slices.Contains(strings.Split(values, "|"), v) })
}

// value resolves a template's value.
func (u *use) value(v any) any {
	s, ok := v.(string)
	if !ok || !strings.HasPrefix(s, "$") {
		return v
	}
	switch name, arg, _ := strings.Cut(s[1:], ":"); name {
	case "has":
		return u.has(arg)
	case "opt":
		if f, ok := u.opt(arg); ok {
			return textOrNil(f)
		}
		return nil
	case "operand":
		if i := int(arg[0] - '0'); i < len(u.rest) {
			return textOrNil(u.rest[i])
		}
		return nil
	case "operands":
		from := 0
		if arg != "" {
			from = int(arg[0] - '0')
		}
		list := []any{}
		for i := from; i < len(u.rest); i++ {
			list = append(list, textOrNil(u.rest[i]))
		}
		return list
	case "verb":
		return strings.Join(u.verbs, " ")
	case "program":
		return u.name
	}
	return v
}
