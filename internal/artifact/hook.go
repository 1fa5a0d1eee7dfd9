package artifact

import (
	"time"

	"gate/hook"
)

// A slab hands out parts of larger pieces of memory: hooks have many short lists.
type slab[T any] struct{ rest []T }

func (s *slab[T]) cut(n int) []T {
	if n > len(s.rest) {
		s.rest = make([]T, max(n, 32))
	}
	list := s.rest[:n:n]
	s.rest = s.rest[n:]
	return list
}

// lists are what the lists of hooks are cut from.
type lists struct {
	events slab[hook.Name]
	texts  slab[string]
}

// hookHead reads what a hook begins with: why the program does not hold it, its
// fingerprint, and which one it is.
func (d *decoder) hookHead(h *hook.Hook) (why, fingerprint string) {
	why, fingerprint = d.text(), d.text()
	h.ID = d.text()
	h.Kind = hook.Kind(d.text())
	return why, fingerprint
}

// hook reads a hook.
func (d *decoder) hook(h *hook.Hook, from *lists) (why, fingerprint string) {
	why, fingerprint = d.hookHead(h)
	h.Dialect = hook.Dialect(d.text())
	h.Title = d.text()
	h.Description = d.text()
	h.Serves = d.texts()
	h.File = d.text()
	h.Line = d.int()
	if n := d.count(); n > 0 {
		h.Events = from.events.cut(n)
		for i := range h.Events {
			h.Events[i] = hook.Name(d.text())
		}
	}
	h.Matcher = d.text()
	if n := d.count(); n > 0 {
		h.If = from.texts.cut(n)
		for i := range h.If {
			h.If[i] = d.text()
		}
	}
	h.Priority = int(d.signed())
	h.Timeout = time.Duration(d.signed())
	h.OnFault = hook.OnFault(d.text())
	h.Opaque = d.bool()
	h.Params = mapOf(d, func() hook.Param {
		return hook.Param{Type: d.text(), Default: d.value(0), Description: d.text(), Values: d.texts()}
	})
	h.WhenSet = d.texts()
	h.Session = d.bool()
	h.Beside = d.bool()
	h.Consults = d.bool()
	h.Recheck = pointer(d, d.bool)
	h.Once = d.bool()
	h.Async = d.bool()
	h.Consult = d.bool()
	h.Parallel = d.bool()
	h.Config = d.tree()
	return why, fingerprint
}
