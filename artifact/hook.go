package artifact

import (
	"time"

	"gate/hook"
)

// hook reads a hook, why the program does not hold it, and its fingerprint.
func (d *decoder) hook(h *hook.Hook) (why, fingerprint string) {
	why, fingerprint = d.text(), d.text()
	h.ID = d.text()
	h.Kind = hook.Kind(d.text())
	h.Dialect = hook.Dialect(d.text())
	h.Title = d.text()
	h.Description = d.text()
	h.File = d.text()
	h.Line = d.int()
	if n := d.count(); n > 0 {
		h.Events = make([]hook.Name, n)
		for i := range h.Events {
			h.Events[i] = hook.Name(d.text())
		}
	}
	h.Matcher = d.text()
	h.If = d.texts()
	h.Priority = int(d.signed())
	h.Timeout = time.Duration(d.signed())
	h.OnFault = hook.OnFault(d.text())
	h.Opaque = d.bool()
	h.Params = mapOf(d, func() hook.Param {
		return hook.Param{Type: d.text(), Default: d.value(0), Description: d.text()}
	})
	h.WhenSet = d.texts()
	h.Session = d.bool()
	h.Recheck = pointer(d, d.bool)
	h.Once = d.bool()
	h.Async = d.bool()
	h.Consult = d.bool()
	h.Config = d.tree()
	return why, fingerprint
}
