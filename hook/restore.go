package hook

import (
	"encoding/json"
	"fmt"
	"maps"
)

// FactsOf is the reverse of [Facts.Document]: the facts whose document doc is,
// such as a log has kept. line is the text of the shell line, which no document
// holds. The error says what in doc is not as this version writes it: such facts
// are to be worked out anew.
func FactsOf(doc map[string]any, line string) (*Facts, error) {
	r := &restorer{}
	if r.number(doc, "schema") != FactsSchema {
		return nil, fmt.Errorf("facts have schema %v, not %d", doc["schema"], FactsSchema)
	}
	f := &Facts{
		Opaque:  of[bool](r, doc, "opaque"),
		Unknown: all(r, doc, "unknown", r.unknown),
		Code:    all(r, doc, "code", r.code),
		Hosts:   all(r, doc, "hosts", r.host),
		Paths:   all(r, doc, "paths", r.pathOf),
		Effects: all(r, doc, "effects", r.effect),
	}
	if shell := of[map[string]any](r, doc, "shell"); shell != nil {
		f.Shell = &Shell{Dialect: of[string](r, shell, "dialect"), Text: line, Commands: all(r, shell, "commands", r.command)}
	}
	return f, r.err
}

// A restorer reads a document of facts. The first mistake stays in err.
type restorer struct{ err error }

func (r *restorer) fail(key string, v any) {
	if r.err == nil {
		r.err = fmt.Errorf("facts: %s is a %T", key, v)
	}
}

// of returns m[key]; null is the zero value.
func of[T any](r *restorer, m map[string]any, key string) T {
	v, there := m[key]
	t, ok := v.(T)
	if !ok && (v != nil || !there) {
		r.fail(key, v)
	}
	return t
}

func all[T any](r *restorer, m map[string]any, key string, restore func(map[string]any) T) []T {
	var out []T
	for _, v := range of[[]any](r, m, key) {
		e, ok := v.(map[string]any)
		if !ok {
			r.fail(key, v)
			continue
		}
		out = append(out, restore(e))
	}
	return out
}

func (r *restorer) number(m map[string]any, key string) int {
	switch n := m[key].(type) {
	case nil:
	case int:
		return n
	case json.Number:
		i, err := n.Int64()
		if err != nil {
			r.fail(key, m[key])
		}
		return int(i)
	default:
		r.fail(key, n)
	}
	return 0
}

func (r *restorer) text(m map[string]any, key string) *string {
	if m[key] == nil {
		return nil
	}
	s := of[string](r, m, key)
	return &s
}

func (r *restorer) texts(m map[string]any, key string) []string {
	var out []string
	for _, v := range of[[]any](r, m, key) {
		s, ok := v.(string)
		if !ok {
			r.fail(key, v)
		}
		out = append(out, s)
	}
	return out
}

func (r *restorer) span(m map[string]any) *Span {
	list := of[[]any](r, m, "span")
	if list == nil {
		return nil
	}
	if len(list) != 2 {
		r.fail("span", list)
		return nil
	}
	ends := map[string]any{"from": list[0], "to": list[1]}
	return &Span{r.number(ends, "from"), r.number(ends, "to")}
}

func (r *restorer) unknown(m map[string]any) Unknown {
	return Unknown{Kind: of[string](r, m, "kind"), Why: of[string](r, m, "why"), Command: r.number(m, "command"), Span: r.span(m)}
}

func (r *restorer) code(m map[string]any) Code {
	return Code{
		Command: r.number(m, "command"), Language: of[string](r, m, "language"), Text: r.text(m, "text"),
		Source: of[string](r, m, "source"), Calls: r.texts(m, "calls"),
	}
}

func (r *restorer) host(m map[string]any) Host {
	return Host{Command: r.number(m, "command"), Host: r.text(m, "host"), URL: r.text(m, "url"), Access: of[string](r, m, "access")}
}

func (r *restorer) pathOf(m map[string]any) Path {
	p := Path{
		Command: r.number(m, "command"), Raw: of[string](r, m, "raw"), Path: r.text(m, "path"), Resolved: r.text(m, "resolved"),
		Access: of[string](r, m, "access"), Glob: of[bool](r, m, "glob"),
	}
	if m["in_project"] != nil {
		in := of[bool](r, m, "in_project")
		p.InProject = &in
	}
	return p
}

func (r *restorer) effect(m map[string]any) FactEffect {
	e := FactEffect{Kind: of[string](r, m, "kind"), Command: r.number(m, "command"), Attrs: maps.Clone(m)}
	delete(e.Attrs, "kind")
	delete(e.Attrs, "command")
	return e
}

func (r *restorer) command(m map[string]any) ShellCommand {
	c := ShellCommand{
		ID: r.number(m, "id"), Program: r.text(m, "program"), Path: r.text(m, "path"), Subcommand: r.text(m, "subcommand"),
		Words: all(r, m, "words", r.word), Dir: r.text(m, "cwd"), Via: r.texts(m, "via"), Redirects: all(r, m, "redirects", r.redirect),
		PipeTo: r.number(m, "pipe_to"), Depth: r.number(m, "depth"), Span: r.span(m),
	}
	for _, v := range of[[]any](r, m, "operands") {
		c.Operands = append(c.Operands, r.text(map[string]any{"operands": v}, "operands"))
	}
	options := of[map[string]any](r, m, "options")
	for name := range options {
		if c.Options == nil {
			c.Options = make(map[string][]any, len(options))
		}
		c.Options[name] = of[[]any](r, options, name)
	}
	env := of[map[string]any](r, m, "env")
	for name := range env {
		if c.Env == nil {
			c.Env = make(map[string]*string, len(env))
		}
		c.Env[name] = r.text(env, name)
	}
	if in := of[map[string]any](r, m, "stdin"); in != nil {
		c.Stdin = &Stdin{From: of[string](r, in, "from"), Command: r.number(in, "command"), Text: r.text(in, "text"), Path: r.text(in, "path")}
	}
	return c
}

func (r *restorer) word(m map[string]any) Word {
	return Word{Value: r.text(m, "value"), Span: r.span(m)}
}

func (r *restorer) redirect(m map[string]any) Redirect {
	return Redirect{Op: of[string](r, m, "op"), FD: r.number(m, "fd"), Target: r.text(m, "target"), Span: r.span(m)}
}
