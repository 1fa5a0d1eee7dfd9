package load_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/load"
	"gate/internal/moment"
	"gate/internal/strictjson"
	"gate/matcher"
)

// any JSON value of a file.
type object = map[string]any

// A maker makes random parts of files.
type maker struct{ *rand.Rand }

func (m maker) of(list ...any) any { return list[m.IntN(len(list))] }

func (m maker) text() string {
	parts := []string{
		"x", "run.sh", " --flag", "é", "'", `"`, "\n", "\t", `\`, "''' ", "#", ": ", "${HOME}", "- ", "true", "1", "\u00a0", "a=b", "{}", "|", "\r", "~", "null", "\u2028",
	}
	var b strings.Builder
	for range 1 + m.IntN(6) {
		b.WriteString(parts[m.IntN(len(parts))])
	}
	return b.String()
}

func (m maker) pattern() string {
	parts := []string{"Bash", "Write", "*", "|", "a", "_", "mcp__", ".", "?", "[ab]", "[!x", "^", ",", " ", "(", "glob:", "-"}
	var b strings.Builder
	for range m.IntN(5) {
		b.WriteString(parts[m.IntN(len(parts))])
	}
	return b.String()
}

// maybe leaves a key out as often as not.
func (m maker) maybe(o object, key string, value any) {
	if m.IntN(2) == 0 {
		o[key] = value
	}
}

func (m maker) list(n int, each func() any) []any {
	out := []any{}
	for range n {
		out = append(out, each())
	}
	return out
}

func (m maker) cocode() object {
	return object{"hooks": m.list(1+m.IntN(4), func() any {
		h := object{"event": m.of("PreToolUse", "PostToolUse", "Stop", "Notification")}
		m.maybe(h, "tool_matcher", m.pattern())
		m.maybe(h, "name", m.text())
		m.maybe(h, "once", true)
		m.maybe(h, "async", true)
		m.maybe(h, "timeout_sec", 1+m.IntN(1000))
		switch m.IntN(3) {
		case 0:
			shell := object{"command": m.text()}
			m.maybe(shell, "pass_context", m.of(true, false))
			h["shell"] = shell
		case 1:
			h["webhook"] = object{"url": "https://api.example.com/x", "method": m.of("Post", "Put"), "headers": object{"Authorization": "Bearer ${TOKEN}", "content-type": "application/json"}}
		case 2:
			h["prompt"] = object{"prompt": m.text()}
		}
		return h
	})}
}

func (m maker) claude() object {
	return object{"hooks": object{fmt.Sprint(m.of("PreToolUse", "PostToolUse", "Stop")): m.list(1+m.IntN(3), func() any {
		g := object{"hooks": m.list(m.IntN(3), func() any {
			h := object{"type": "command", "command": m.text()}
			m.maybe(h, "args", m.list(m.IntN(3), func() any { return m.text() }))
			m.maybe(h, "timeout", m.of(1, 2.5, 0.001, 3600))
			m.maybe(h, "onFailure", m.of("block", "continue"))
			m.maybe(h, "if", m.of("Bash(git push:*)", "Read(.env)", "Bash"))
			return h
		})}
		m.maybe(g, "matcher", m.pattern())
		return g
	})}}
}

func (m maker) zeph() object {
	return object{fmt.Sprint(m.of("PreToolUse", "PostToolUse", "PermissionDenied")): m.list(1+m.IntN(3), func() any {
		return object{"matcher": m.pattern(), "hooks": m.list(m.IntN(3), func() any {
			h := object{"type": "command", "command": m.text()}
			if m.IntN(2) == 0 {
				h = object{"type": "mcp_tool", "server": m.text(), "tool": m.text(), "args": m.of(nil, object{"a": []any{1, m.text(), nil, object{m.text(): 2.5}}})}
			}
			m.maybe(h, "timeout_secs", 1+m.IntN(1000))
			m.maybe(h, "fail_closed", m.of(true, false))
			return h
		})}
	})}
}

func (m maker) massgen() object {
	hooks := func() any {
		return object{fmt.Sprint(m.of("PreToolUse", "PostToolUse")): m.list(m.IntN(3), func() any {
			h := object{"handler": "a.b", "type": m.of("python", "command")}
			m.maybe(h, "matcher", m.pattern())
			m.maybe(h, "timeout", m.of(1, 60, 2.5))
			m.maybe(h, "fail_closed", m.of(true, false))
			return h
		})}
	}
	agents := m.list(m.IntN(3), func() any {
		own := hooks().(object)
		for name, list := range own {
			own[name] = object{"override": m.of(true, false), "hooks": list}
		}
		return object{"id": fmt.Sprint("agent_", m.IntN(9)), "backend": object{"hooks": own}}
	})
	return object{"hooks": hooks(), "agents": agents}
}

func (m maker) codewhale() object {
	return object{"hooks": object{"hooks": m.list(1+m.IntN(3), func() any {
		h := object{"event": m.of("message_submit", "turn_end", "shell_env", "tool_call_before"), "command": m.text()}
		m.maybe(h, "name", m.text())
		m.maybe(h, "background", m.of(true, false))
		m.maybe(h, "continue_on_error", m.of(true, false))
		m.maybe(h, "timeout_secs", 1+m.IntN(1000))
		if h["event"] == "tool_call_before" {
			m.maybe(h, "condition", object{"type": "tool_name", "name": m.text()})
		}
		return h
	})}}
}

// Whatever a file of a system says, gate's own form of it says the same.
func TestImportMeansTheSame(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(1, 2))}
	makers := map[hook.Dialect]func() object{
		moment.Cocode: m.cocode, moment.Claude: m.claude, moment.Zeph: m.zeph, moment.MassGen: m.massgen, moment.CodeWhale: m.codewhale,
	}
	for dialect, file := range makers {
		read := 0
		for range 500 {
			text := strictjson.Append(nil, file())
			f, err := load.ReadHooks("hooks.json", text, string(dialect), asUser)
			if err != nil {
				if !strings.Contains(err.Error(), "matcher") && !strings.Contains(err.Error(), "look alike") {
					t.Fatalf("%s: %v in\n%s", dialect, err, text)
				}
				continue
			}
			read++
			meansTheSame(t, &f)
		}
		if read < 200 {
			t.Errorf("%s: only %d files were read", dialect, read)
		}
	}
}

// names are what tools may be called.
func (m maker) names() []string {
	out := []string{"Bash", "Write", "BashWrite", "a", "Ba", "mcp__", "mcp__a", "a.", "_", "[!x", "glob:a", "a|b", "a,b", "Write ", " Write", "(", "^", "^Bash", "-", "*", "a*"}
	for range 5 {
		if s := m.pattern(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// A translated matcher stands for the same names as the system's own.
func TestMatchersMeanTheSame(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(3, 4))}
	files := map[hook.Dialect]struct {
		file func(pattern string) object
		is   func(pattern, name string) bool
	}{
		moment.Cocode: {func(p string) object {
			return object{"hooks": object{"PreToolUse": []any{object{"matcher": p, "command": "x"}}}}
		}, cocodeMatches},
		moment.Zeph: {func(p string) object {
			return object{"PreToolUse": []any{object{"matcher": p, "hooks": []any{object{"type": "command", "command": "x"}}}}}
		}, zephMatches},
		moment.MassGen: {func(p string) object {
			return object{"hooks": []any{object{"type": "PreToolUse", "callable": "a.b", "matcher": p}}}
		}, massgenMatches},
	}
	for dialect, d := range files {
		compared := 0
		for range 3000 {
			pattern := m.pattern()
			f, err := load.ReadHooks("hooks.json", strictjson.Append(nil, d.file(pattern)), string(dialect), asUser)
			if err != nil {
				continue // an expression with a mistake
			}
			for _, name := range m.names() {
				got := matcher.No
				if len(f.Hooks) > 0 {
					compiled, err := matcher.Compile(f.Hooks[0].Matcher, backtracking.Compile)
					if err != nil {
						t.Fatalf("%s: %q became %q: %v", dialect, pattern, f.Hooks[0].Matcher, err)
					}
					got = compiled.Match(name)
				}
				compared++
				if want := d.is(pattern, name); (got == matcher.Yes) != want {
					t.Fatalf("%s: %q on %q: %v, and there %v (gate's form %+v)", dialect, pattern, name, got, want, f.Hooks)
				}
			}
		}
		if compared < 10_000 {
			t.Errorf("%s: only %d names were compared", dialect, compared)
		}
	}
}

// FuzzDialects reads foreign bytes in every dialect.
func FuzzDialects(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(5, 6))}
	for _, file := range []func() object{m.cocode, m.claude, m.zeph, m.massgen, m.codewhale} {
		f.Add("json", string(strictjson.Append(nil, file())))
	}
	f.Add("toml", "[[hooks]]\nevent = \"Stop\"\n[hooks.shell]\ncommand = '''\nx'''\n")
	f.Add("toml", "[[hooks.hooks]]\nevent = \"turn_end\"\ncommand = 'x'\n")
	f.Add("yaml", "PreToolUse:\n  - matcher: \"|a\"\n    hooks: [{type: command, command: x}]\n")
	f.Add("yaml", "hooks:\n  - {type: PreToolUse, callable: a.b, matcher: \"[!a]*\"}\n")
	f.Add("md", "---\nhooks:\n  Stop: [{hooks: [{type: command, command: x}]}]\n---\n")
	f.Fuzz(func(t *testing.T, ext, text string) {
		if strings.Contains(ext, "\n") {
			t.Skip("a mistake's position could not be told from its text")
		}
		for _, dialect := range []string{"", "gate", "claude", "cocode", "codewhale", "massgen", "zeph"} {
			foreign, err := load.ReadHooks("hooks."+ext, []byte(text), dialect, asUser)
			if err != nil {
				for line := range strings.Lines(err.Error()) {
					if strings.HasPrefix(line, "hooks."+ext) {
						continue
					}
					t.Fatalf("no position: %q", err)
				}
				continue
			}
			for _, h := range foreign.Hooks {
				if h.Scope != asUser.Scope || h.Authority != asUser.Authority || h.Library || h.Source != asUser.Name || h.Kind == "" {
					t.Fatalf("hook %+v", h)
				}
			}
			meansTheSame(t, &foreign)
		}
	})
}
