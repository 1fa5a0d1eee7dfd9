package audit

import (
	"slices"
	"strconv"

	"gate/hook"
)

// facts writes what keep makes of [hook.Facts.Document], without that tree:
// most records have facts, and they are most of it. It returns nil where there is
// no room for all of them.
func (k *keeper) facts(f *hook.Facts) (rendered, marks) {
	k.start(maxFacts, "input", "facts")
	k.left -= 4
	k.out.Object()
	objects(k, "code", f.Code, (*keeper).code)
	k.effects(f.Effects)
	objects(k, "hosts", f.Hosts, (*keeper).host)
	k.member("opaque", f.Opaque)
	objects(k, "paths", f.Paths, (*keeper).file)
	k.member("schema", hook.FactsSchema)
	k.shell(f.Shell)
	objects(k, "unknown", f.Unknown, (*keeper).unknown)
	k.out.EndObject()
	if k.left < 0 || len(k.cuts) > 0 {
		// Half of them would read as if there were no more.
		return nil, marks{cuts: []Cut{{At: factsPointer}}}
	}
	slices.Sort(k.redacted)
	return k.out.JSON, k.marks
}

func (k *keeper) code(c *hook.Code) {
	elements(k, "calls", c.Calls, k.textOrNull)
	k.number("command", c.Command)
	k.string("language", &c.Language)
	k.string("source", &c.Source)
	k.string("text", c.Text)
}

func (k *keeper) effects(list []hook.FactEffect) {
	elements(k, "effects", list, func(e *hook.FactEffect) {
		open := len(k.keys)
		k.keys = append(k.keys, "kind", "command")
		for key := range e.Attrs {
			if key != "kind" && key != "command" {
				k.keys = append(k.keys, key)
			}
		}
		k.fields(open, func(key string) any {
			switch {
			case key == "kind":
				return e.Kind
			case key != "command":
				return e.Attrs[key]
			case e.Command == 0:
				return nil
			}
			return e.Command
		})
	})
}

func (k *keeper) host(h *hook.Host) {
	k.string("access", &h.Access)
	k.number("command", h.Command)
	k.string("host", h.Host)
	k.string("url", h.URL)
}

func (k *keeper) file(p *hook.Path) {
	k.string("access", &p.Access)
	k.number("command", p.Command)
	k.member("glob", p.Glob)
	if p.InProject == nil {
		k.member("in_project", nil)
	} else {
		k.member("in_project", *p.InProject)
	}
	k.string("path", p.Path)
	k.string("raw", orNull(&p.Raw))
	k.string("resolved", p.Resolved)
}

func (k *keeper) unknown(u *hook.Unknown) {
	k.number("command", u.Command)
	k.string("kind", &u.Kind)
	k.bounds(u.Span)
	k.string("why", &u.Why)
}

func (k *keeper) shell(s *hook.Shell) {
	if s == nil {
		k.member("shell", nil)
		return
	}
	k.begin("shell")
	k.out.Object()
	objects(k, "commands", s.Commands, (*keeper).command)
	k.string("dialect", orNull(&s.Dialect))
	k.out.EndObject()
	k.end()
}

func (k *keeper) command(c *hook.ShellCommand) {
	k.string("cwd", c.Dir)
	k.member("depth", c.Depth)
	k.begin("env")
	object(k, c.Env, func(v *string) any {
		if v == nil {
			return nil
		}
		return *v
	})
	k.end()
	k.member("id", c.ID)
	elements(k, "operands", c.Operands, func(s **string) { k.textOrNull(*s) })
	k.begin("options")
	object(k, c.Options, func(v []any) any { return v })
	k.end()
	k.string("path", c.Path)
	k.number("pipe_to", c.PipeTo)
	k.string("program", c.Program)
	objects(k, "redirects", c.Redirects, (*keeper).redirect)
	k.bounds(c.Span)
	k.stdin(c.Stdin)
	k.string("subcommand", c.Subcommand)
	elements(k, "via", c.Via, k.textOrNull)
	objects(k, "words", c.Words, (*keeper).word)
}

func (k *keeper) redirect(r *hook.Redirect) {
	k.member("fd", r.FD)
	k.string("op", &r.Op)
	k.bounds(r.Span)
	k.string("target", r.Target)
}

func (k *keeper) stdin(s *hook.Stdin) {
	if s == nil {
		k.member("stdin", nil)
		return
	}
	k.begin("stdin")
	k.out.Object()
	k.number("command", s.Command)
	k.string("from", &s.From)
	k.string("path", s.Path)
	k.string("text", s.Text)
	k.out.EndObject()
	k.end()
}

func (k *keeper) word(w *hook.Word) {
	k.bounds(w.Span)
	k.string("value", w.Value)
}

// begin begins a member whose value is written next; end ends it.
func (k *keeper) begin(key string) {
	k.out.Key(key)
	k.left -= len(key) + 4 + 4
	k.path = append(k.path, key)
}

func (k *keeper) end() { k.path = k.path[:len(k.path)-1] }

// string writes a member, null where it is not known.
func (k *keeper) string(key string, s *string) {
	k.begin(key)
	k.textOrNull(s)
	k.end()
}

func (k *keeper) textOrNull(s *string) {
	if s == nil {
		k.out.Value(nil)
		return
	}
	k.out.Text(k.text(*s))
}

func orNull(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

// number writes the number of a command, null for none.
func (k *keeper) number(key string, n int) {
	if n == 0 {
		k.member(key, nil)
		return
	}
	k.member(key, n)
}

// bounds writes a span of the line.
func (k *keeper) bounds(s *hook.Span) {
	k.begin("span")
	defer k.end()
	if s == nil {
		k.out.Value(nil)
		return
	}
	from, to := s[0], s[1]
	if len(k.line) > 0 {
		from, to = k.line.move(from), k.line.move(to)
	} else {
		k.left -= 2 * 4
	}
	k.out.List()
	k.out.Int(int64(from))
	k.out.Int(int64(to))
	k.out.EndList()
}

// elements writes a member that is a list, each element by a function.
func elements[T any](k *keeper, key string, list []T, element func(*T)) {
	k.begin(key)
	k.out.List()
	for i := range list {
		k.path = append(k.path, strconv.Itoa(i))
		k.left -= 4
		element(&list[i])
		k.end()
	}
	k.out.EndList()
	k.end()
}

// objects writes a member that is a list of objects, the members of each by a
// function.
func objects[T any](k *keeper, key string, list []T, members func(*keeper, *T)) {
	elements(k, key, list, func(e *T) {
		k.out.Object()
		members(k, e)
		k.out.EndObject()
	})
}
