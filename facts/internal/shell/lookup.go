package shell

import (
	"strconv"

	"gate/facts/internal/flow"
	"gate/internal/secret"
)

// scalar looks a name up: in the line, then among the few variables of the
// environment whose values are no secret.
func (x *expander) scalar(name string) (f flow.Word, set bool) {
	if v, ok := x.state.lookup(name); ok {
		return v.first(), !v.unset
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && x.state.zero != nil:
			return *x.state.zero, true
		case n == 0:
			return flow.Literal("bash"), true
		case x.state.args && !flow.Countable(x.state.params[:min(n-1, len(x.state.params))]):
			return flow.Unknown(&flow.Hole{Why: "an argument after many", Empty: true}), false
		case x.state.args && n <= len(x.state.params):
			return x.state.params[n-1], true
		case x.state.args:
			return flow.Literal(""), false
		}
		return flow.Unknown(&flow.Hole{Why: "argument $" + name, Empty: true, Unset: true}), false
	}
	return x.environment(name)
}

func (x *expander) environment(name string) (flow.Word, bool) {
	w := x.World
	switch name {
	case "HOME":
		return flow.Literal(w.Home), w.Home != ""
	case "PWD":
		if len(x.state.Dirs) > 0 {
			return holeOrLiteral("the directory", x.state.Dirs), true
		}
	case "OLDPWD":
		if len(x.state.old) > 0 {
			return holeOrLiteral("the directory before", x.state.old), true
		}
	case "USER", "LOGNAME":
		if w.User != "" {
			return flow.Literal(w.User), true
		}
	case "TMPDIR":
		if v, ok := w.Env("TMPDIR"); ok && v != "" {
			return flow.Literal(v), true
		}
		return flow.Unknown(&flow.Hole{Why: "$TMPDIR", Alts: []string{"/tmp"}, Empty: true, Unset: true}), false
	case "CLAUDE_PROJECT_DIR", "GITHUB_WORKSPACE":
		if w.Project != "" {
			return flow.Literal(w.Project), true
		}
	case "CLAUDE_ENV_FILE": // the agent's shell reads it before each command
		if w.Home != "" {
			return flow.Literal(w.Home + "/.claude/session-env/env.sh"), true
		}
	case "IFS":
		return flow.Literal(" \t\n"), true
	case "PPID":
		return flow.Unknown(&flow.Hole{Why: "$PPID", Taint: flow.Taint{Process: flow.Parent}}), true
	case "$", "?", "!", "#", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "SHLVL", "BASHPID", "EPOCHSECONDS":
		return flow.Unknown(&flow.Hole{Why: "$" + name}), true
	case "_", "-":
		return flow.Unknown(&flow.Hole{Why: "$" + name, Empty: true}), true
	}
	h := &flow.Hole{Why: "$" + name + " is not set in this line", Empty: true, Unset: true}
	if x.state.unread != "" {
		h = &flow.Hole{Why: "$" + name + ", which " + x.state.unread + " may set"}
	}
	if secret.Variable(name) {
		h.Taint.Secret = "environment variable " + name
	}
	return flow.Unknown(h), false
}

func holeOrLiteral(why string, alts []string) flow.Word {
	if len(alts) == 1 {
		return flow.Literal(alts[0])
	}
	return flow.Unknown(&flow.Hole{Why: why, Alts: alts})
}

// opened leaves every variable open that a file may have set which nobody has read.
// What the line gave them is a guess from here on.
func (s *state) opened(file string) {
	s.own()
	s.unread = file
	for name, v := range s.vars {
		if v.held == surely || v.array || v.ref != "" {
			continue
		}
		h := &flow.Hole{Why: "$" + name + ", which " + file + " may set", Taint: v.value.Taint(), Many: v.value.Many(), Empty: v.value.MayVanish()}
		h.Guess, _ = v.value.Variants()
		v.value, v.unset = flow.Unknown(h), false
		s.vars[name] = v
	}
}
