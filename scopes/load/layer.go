package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gate/facts"
	"gate/hook"
	"gate/scopes"
)

// layer reads what a document says. Where the schema has found a value of the
// wrong type already, it looks away.
func (d *document) layer(a hook.Authority) (scopes.Layer, []error) {
	l := scopes.Layer{Authority: a, File: d.file, Lines: map[string]int{}}
	var errs []error
	bad := func(pointer, format string, args ...any) { errs = append(errs, d.errorf(pointer, format, args...)) }
	line := func(key, pointer string) { l.Lines[key] = d.line(pointer) }

	for _, key := range []string{"deadline", "faults", "approvals", "log", "record", "delegate"} {
		line(key, "/"+key)
	}
	either := func(key, alias string) (value any, ok bool) {
		value, ok = d.value[key]
		other, both := d.value[alias]
		line(key, "/"+key)
		switch {
		case ok && both:
			bad("/"+alias, "%s and %s are the same key", key, alias)
		case both:
			value, ok = other, true
			line(key, "/"+alias)
		}
		return value, ok
	}
	if v, ok := either("disableAllHooks", "disable_all_hooks"); ok {
		b, _ := v.(bool)
		l.DisableAllHooks = &b
	}
	if v, ok := either("allowManagedHooksOnly", "allow_managed_hooks_only"); ok {
		only := v != false // any value but false means true (DESIGN 8)
		l.AllowManagedHooksOnly = &only
	}
	l.Policies = d.levels(&l)
	l.Params = d.params(&l)
	if list, ok := d.value["exceptions"].([]any); ok {
		for i, v := range list {
			pointer := element("/exceptions", i)
			e, err := exceptionOf(v)
			if err != nil {
				for _, f := range loadFaults(err) {
					bad(pointer, "exceptions[%d]: %w", i, f.Err)
				}
			}
			l.Exceptions = append(l.Exceptions, e)
			line(fmt.Sprintf("exceptions.%d", i), pointer)
		}
	}
	for i, name := range texts(d.value["delegate"]) {
		l.Delegate = append(l.Delegate, name)
		line("delegate."+name, element("/delegate", i))
	}
	if v, ok := d.value["deadline"]; ok {
		var err error
		if l.Deadline, err = duration(v, maxDeadline); err != nil {
			bad("/deadline", "deadline %w", err)
		}
	}
	if s, _ := d.value["faults"].(string); s != "" {
		l.Faults = hook.OnFault(s)
	}
	if m, ok := d.value["approvals"].(map[string]any); ok {
		approvals := approvalsOf(m)
		if approvals.KeyRequired && len(approvals.Keys) == 0 {
			bad("/approvals", "approvals: keyRequired without keys: nobody could approve")
		}
		l.Approvals = &approvals
	}
	if m, ok := d.value["labels"].(map[string]any); ok {
		l.Labels = map[string]string{}
		for k, v := range m {
			l.Labels[k], _ = v.(string)
			line("labels."+k, below("/labels", k))
		}
	}
	if b, ok := d.value["log"].(bool); ok {
		l.Log = &b
	}
	if b, ok := d.value["record"].(bool); ok {
		l.Record = &b
	}
	if m, ok := d.value["plugins"].(map[string]any); ok {
		l.Plugins = map[string]bool{}
		for k, v := range m {
			l.Plugins[k], _ = v.(bool)
			line("plugins."+k, below("/plugins", k))
		}
	}
	if m, ok := d.value["programs"].(map[string]any); ok {
		l.Programs = m
		for _, name := range d.sorted(m, "/programs") {
			pointer := below("/programs", name)
			if err := facts.CheckProgram(name, m[name]); err != nil {
				bad(pointer, "programs: %s: %w", name, err)
			}
			line("programs."+name, pointer)
		}
	}
	return l, errs
}

// maxDeadline is what the engine allows itself without an agent's own limit.
const maxDeadline = 55 * time.Second

func (d *document) levels(l *scopes.Layer) map[string]scopes.Level {
	m, _ := d.value["policies"].(map[string]any)
	out := make(map[string]scopes.Level, len(m))
	for k, v := range m {
		s, _ := v.(string)
		if level, err := scopes.ParseLevel(s); err == nil {
			out[k] = level
		}
		l.Lines["policies."+k] = d.line(below("/policies", k))
	}
	return out
}

func (d *document) params(l *scopes.Layer) map[string]map[string]any {
	m, _ := d.value["params"].(map[string]any)
	out := make(map[string]map[string]any, len(m))
	for policy, v := range m {
		values, ok := v.(map[string]any)
		if !ok {
			continue
		}
		out[policy] = values
		for name := range values {
			l.Lines["params."+policy+"."+name] = d.line(below(below("/params", policy), name))
		}
	}
	return out
}

func exceptionOf(v any) (scopes.Exception, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return scopes.Exception{}, nil // the schema says so
	}
	for _, key := range []string{"policy", "if", "project", "until", "owner", "reason"} {
		if _, ok := m[key]; !ok {
			return scopes.Exception{}, nil // the schema says so
		}
	}
	e := scopes.Exception{If: texts(m["if"])}
	e.Policy, _ = m["policy"].(string)
	e.Project, _ = m["project"].(string)
	e.Owner, _ = m["owner"].(string)
	e.Reason, _ = m["reason"].(string)
	until, _ := m["until"].(string)
	var err error
	if e.Until, err = endOf(until); err != nil {
		e.Until = time.Unix(0, 0) // so that it is not reported as missing, too
	}
	return e, errors.Join(err, e.Check())
}

// endOf reads the end of an exception: a moment, or the last day that it
// counts on (in UTC).
func endOf(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.AddDate(0, 0, 1), nil
	}
	return time.Time{}, fmt.Errorf("until must be a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z")
}

func approvalsOf(m map[string]any) scopes.Approvals {
	a := scopes.Approvals{Keys: texts(m["keys"])}
	a.Enabled, _ = m["enabled"].(bool)
	a.KeyRequired, _ = m["keyRequired"].(bool)
	if n, ok := m["minutes"].(json.Number); ok {
		f, _ := n.Float64()
		a.Minutes = int(f)
	}
	return a
}

// texts returns a string or a list of strings as a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// duration reads seconds, or a text such as 500ms.
func duration(v any, most time.Duration) (time.Duration, error) {
	d := time.Duration(0)
	switch v := v.(type) {
	case string:
		d, _ = time.ParseDuration(v)
	case json.Number:
		if f, err := v.Float64(); err == nil && f > 0 && f <= most.Seconds() && !math.IsNaN(f) {
			d = time.Duration(f * float64(time.Second))
		}
	}
	if d <= 0 || d > most {
		return 0, fmt.Errorf("must be seconds or a time such as 500ms, more than 0 and at most %s", most)
	}
	return d, nil
}

// sorted returns the keys of an object in the order of their lines.
func (d *document) sorted(m map[string]any, pointer string) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if x, y := d.line(below(pointer, a)), d.line(below(pointer, b)); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
}
