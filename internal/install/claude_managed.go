package install

import (
	"fmt"
	"slices"
	"strings"
)

// installOwn writes gate's own managed file anew: nothing else is in it. Nobody
// but managed hooks may run beside gate, because a rewrite by another hook would
// not be judged again.
func (c claude) installOwn(m Machine, r Request, path string, old []byte, events []claudeEvent) ([]byte, error) {
	locked := false
	if old != nil {
		if !c.ownsAll(old) {
			return nil, fmt.Errorf("%s: it holds settings that are not gate's; move them to another file beside it", path)
		}
		d, err := c.parse(path, old)
		if err != nil {
			return nil, err
		}
		events = c.kept(d, events)
		locked = d.root.member("permissions") != nil
	}
	text := "{\n  \"allowManagedHooksOnly\": true"
	if locked || !r.KeepBypass {
		text += ",\n  \"permissions\": {\"disableBypassPermissionsMode\": \"disable\"}"
	}
	return c.merge(m, Managed, path, []byte(text+"\n}\n"), events)
}

// ownsAll reports whether a managed file holds only what gate wrote there.
func (c claude) ownsAll(text []byte) bool {
	d, err := c.parse("", text)
	if err != nil || d.root == nil || d.comment >= 0 {
		return false
	}
	for _, it := range d.root.items {
		switch it.key.str {
		case "allowManagedHooksOnly", "hooks":
		case "permissions":
			if len(it.value.items) != 1 || it.value.member("disableBypassPermissionsMode") == nil {
				return false
			}
		default:
			return false
		}
	}
	return c.onlyGate(d)
}

// onlyGate reports whether every entry of the hooks is gate's.
func (c claude) onlyGate(d *document) bool {
	hooks := d.root.member("hooks")
	if hooks == nil {
		return true
	}
	return !slices.ContainsFunc(hooks.items, func(event item) bool {
		return slices.ContainsFunc(event.value.items, func(group item) bool {
			handlers := group.value.member("hooks")
			return !handlers.is('[') || slices.ContainsFunc(handlers.items, func(h item) bool { return !c.isGate(c.words(h.value)) })
		})
	})
}

// olderThan compares versions such as 2.1.295 by their numbers. What is no
// version is not older.
func olderThan(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range min(len(a), len(b)) {
		var x, y int
		if _, err := fmt.Sscanf(a[i], "%d", &x); err != nil {
			return false
		}
		if _, err := fmt.Sscanf(b[i], "%d", &y); err != nil {
			return false
		}
		if x != y {
			return x < y
		}
	}
	return false
}
