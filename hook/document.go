package hook

import "maps"

// Document returns the facts as the JSON tree that policies see.
// The receiver may be nil: an event that nobody looked into has empty facts.
func (f *Facts) Document() map[string]any {
	if f == nil {
		f = &Facts{}
	}
	doc := map[string]any{
		"schema":  FactsSchema,
		"opaque":  f.Opaque,
		"unknown": list(f.Unknown, Unknown.document),
		"shell":   nil,
		"code":    list(f.Code, Code.document),
		"hosts":   list(f.Hosts, Host.document),
		"paths":   list(f.Paths, Path.document),
		"effects": list(f.Effects, FactEffect.document),
	}
	if f.Shell != nil {
		doc["shell"] = f.Shell.Document()
	}
	return doc
}

// Document returns the shell's part of the document of facts.
func (s *Shell) Document() map[string]any {
	return map[string]any{
		"dialect":  orNull(s.Dialect),
		"commands": list(s.Commands, ShellCommand.document),
	}
}

func list[T any](in []T, document func(T) map[string]any) []any {
	out := make([]any, len(in))
	for i, e := range in {
		out[i] = document(e)
	}
	return out
}

func (u Unknown) document() map[string]any {
	return map[string]any{"kind": u.Kind, "why": u.Why, "command": id(u.Command), "span": span(u.Span)}
}

func (c ShellCommand) document() map[string]any {
	options := make(map[string]any, len(c.Options))
	for k, v := range c.Options {
		options[k] = v
	}
	env := make(map[string]any, len(c.Env))
	for k, v := range c.Env {
		env[k] = text(v)
	}
	operands := make([]any, len(c.Operands))
	for i, o := range c.Operands {
		operands[i] = text(o)
	}
	return map[string]any{
		"id": c.ID, "program": text(c.Program), "path": text(c.Path), "subcommand": text(c.Subcommand),
		"operands": operands, "options": options, "words": list(c.Words, Word.document),
		"env": env, "cwd": text(c.Dir), "via": strings(c.Via),
		"redirects": list(c.Redirects, Redirect.document), "stdin": c.Stdin.document(),
		"pipe_to": id(c.PipeTo), "depth": c.Depth, "span": span(c.Span),
	}
}

func (w Word) document() map[string]any {
	return map[string]any{"value": text(w.Value), "span": span(w.Span)}
}

func (r Redirect) document() map[string]any {
	return map[string]any{"op": r.Op, "fd": r.FD, "target": text(r.Target), "span": span(r.Span)}
}

func (s *Stdin) document() any {
	if s == nil {
		return nil
	}
	return map[string]any{"from": s.From, "command": id(s.Command), "text": text(s.Text), "path": text(s.Path)}
}

func (c Code) document() map[string]any {
	return map[string]any{
		"command": id(c.Command), "language": c.Language, "text": text(c.Text),
		"source": c.Source, "calls": strings(c.Calls),
	}
}

func (h Host) document() map[string]any {
	return map[string]any{"command": id(h.Command), "host": text(h.Host), "url": text(h.URL), "access": h.Access}
}

func (p Path) document() map[string]any {
	doc := map[string]any{
		"command": id(p.Command), "raw": orNull(p.Raw), "path": text(p.Path), "resolved": text(p.Resolved),
		"access": p.Access, "glob": p.Glob, "in_project": nil,
	}
	if p.InProject != nil {
		doc["in_project"] = *p.InProject
	}
	return doc
}

func (e FactEffect) document() map[string]any {
	doc := make(map[string]any, len(e.Attrs)+2)
	maps.Copy(doc, e.Attrs)
	doc["kind"], doc["command"] = e.Kind, id(e.Command)
	return doc
}

// id is null for "none": a command's number counts from 1.
func id(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func strings(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}

func span(s *Span) any {
	if s == nil {
		return nil
	}
	return []any{s[0], s[1]}
}
