package facts

import (
	"strconv"

	"gate/secret"
)

// scalar looks a name up: in the line, then among the few variables of the
// environment whose values are no secret.
func (x *expander) scalar(name string) (f field, set bool) {
	if v, ok := x.state.lookup(name); ok {
		return v.first(), !v.unset
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && x.state.zero != nil:
			return *x.state.zero, true
		case n == 0:
			return literalField("bash"), true
		case x.state.args && !countable(x.state.params[:min(n-1, len(x.state.params))]):
			return holeField(&hole{why: "an argument after many", empty: true}), false
		case x.state.args && n <= len(x.state.params):
			return x.state.params[n-1], true
		case x.state.args:
			return literalField(""), false
		}
		return holeField(&hole{why: "argument $" + name, empty: true, unset: true}), false
	}
	return x.environment(name)
}

func (x *expander) environment(name string) (field, bool) {
	w := x.world
	switch name {
	case "HOME":
		return literalField(w.Home), w.Home != ""
	case "PWD":
		if len(x.state.dirs) > 0 {
			return holeOrLiteral("the directory", x.state.dirs), true
		}
	case "OLDPWD":
		if len(x.state.old) > 0 {
			return holeOrLiteral("the directory before", x.state.old), true
		}
	case "USER", "LOGNAME":
		if w.User != "" {
			return literalField(w.User), true
		}
	case "TMPDIR":
		if v, ok := w.Env("TMPDIR"); ok && v != "" {
			return literalField(v), true
		}
		return holeField(&hole{why: "$TMPDIR", alts: []string{"/tmp"}, empty: true, unset: true}), false
	case "CLAUDE_PROJECT_DIR", "GITHUB_WORKSPACE":
		if w.Project != "" {
			return literalField(w.Project), true
		}
	case "IFS":
		return literalField(" \t\n"), true
	case "$", "?", "!", "#", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "SHLVL", "BASHPID", "EPOCHSECONDS":
		return holeField(&hole{why: "$" + name}), true
	case "_", "-":
		return holeField(&hole{why: "$" + name, empty: true}), true
	}
	h := &hole{why: "$" + name + " is not set in this line", empty: true, unset: true}
	if secret.Variable(name) {
		h.taint.secret = "environment variable " + name
	}
	return holeField(h), false
}

func holeOrLiteral(why string, alts []string) field {
	if len(alts) == 1 {
		return literalField(alts[0])
	}
	return holeField(&hole{why: why, alts: alts})
}
