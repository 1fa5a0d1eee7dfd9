package code

import (
	"slices"
	"strings"

	"gate/internal/secret"
)

// environment is the value of a variable of the environment.
func (p *parser) environment(name string) value {
	switch strings.ToUpper(name) {
	case "HOME", "USERPROFILE":
		return textValue("~")
	case "TMPDIR", "TEMP", "TMP":
		return textValue("/tmp")
	case "PWD":
		return textValue(".")
	}
	if secret.Variable(name) {
		return flagged(fromSecret)
	}
	return value{}
}

func (p *parser) isEnvironment(name string) bool {
	name = strings.TrimLeft(name, "$%@")
	return slices.ContainsFunc(p.lang.env, func(env string) bool { return name == strings.TrimLeft(env, "$%@") })
}

// envOf is the value of a variable of the environment, or of the default that
// is given for it.
func (p *parser) envOf(selector string, u *use) value {
	name := p.arg(selector, u)
	if name.kind != knownValue {
		if len(u.args.pos) == 0 {
			return flagged(fromEnvironment)
		}
		return flagged(fromSecret)
	}
	v := p.environment(name.text)
	if v.kind != knownValue && len(u.args.pos) > 1 {
		return oneOf(v, u.args.pos[1])
	}
	return v
}

// renames reports that text may give another value to a module's member, by its
// name or by ways that need not name it.
func renames(text, member string) bool {
	for _, way := range []string{"setattr", "__dict__", "vars(", "globals(", "patch", "ctypes", "gc."} {
		if strings.Contains(text, way) {
			return true
		}
	}
	_, name, _ := strings.Cut(member, ".")
	for i, n := 0, 0; ; i += n + len(name) {
		if n = strings.Index(text[i:], name); n < 0 {
			return false
		}
		before, after := strings.TrimSuffix(text[:i+n], member[:len(member)-len(name)]), strings.TrimLeft(text[i+n+len(name):], " \t\\")
		before = strings.TrimRight(before, " \t([")
		listed := strings.HasPrefix(after, ",")
		switch {
		case strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "=="), strings.HasPrefix(after, "+="), strings.HasPrefix(after, ":"):
			return true
		case listed && (before == "" || strings.ContainsAny(before[len(before)-1:], "\n;:,")):
			return true
		}
	}
}
