package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/facts/catalogue"
	"gate/hook"
	"gate/scopes"
	"gate/strictjson"
)

// layer reads what a document says. Where the schema has found a value of the
// wrong type already, it looks away.
func (d *document) layer(a hook.Authority) (scopes.Layer, []error) {
	r := &layerReader{document: d, layer: scopes.Layer{Authority: a, File: d.file, Lines: map[string]int{}}}
	for _, key := range []string{"deadline", "faults", "approvals", "log", "record", "delegate", "decisionLogs"} {
		r.at(key, "/"+key)
	}
	r.switches()
	r.levels()
	r.params()
	r.exceptions()
	r.limits()
	r.approvals()
	r.stale()
	r.feeds()
	r.names()
	r.programs()
	r.providers()
	r.judges()
	r.mcpServers()
	r.decisionLogs()
	r.layer.StatusLine, r.layer.FileSuggestion = r.script("statusLine"), r.script("fileSuggestion")
	return r.layer, r.errs
}

// A layerReader fills a layer from a document.
type layerReader struct {
	*document
	layer scopes.Layer
	errs  []error
}

func (r *layerReader) bad(pointer, format string, args ...any) {
	r.errs = append(r.errs, r.errorf(pointer, format, args...))
}

// at notes on which line a key of the layer stands.
func (r *layerReader) at(key, pointer string) { r.layer.Lines[key] = r.line(pointer) }

// either returns the value of a key that has two spellings.
func (r *layerReader) either(key, alias string) (value any, ok bool) {
	value, ok = r.value[key]
	other, both := r.value[alias]
	r.at(key, "/"+key)
	switch {
	case ok && both:
		r.bad("/"+alias, "%s and %s are the same key", key, alias)
	case both:
		value, ok = other, true
		r.at(key, "/"+alias)
	}
	return value, ok
}

func (r *layerReader) switches() {
	if v, ok := r.either("disableAllHooks", "disable_all_hooks"); ok {
		b, _ := v.(bool)
		r.layer.DisableAllHooks = &b
	}
	if v, ok := r.either("allowManagedHooksOnly", "allow_managed_hooks_only"); ok {
		only := v != false // any value but false means true
		r.layer.AllowManagedHooksOnly = &only
	}
	if b, ok := r.value["log"].(bool); ok {
		r.layer.Log = &b
	}
	if b, ok := r.value["record"].(bool); ok {
		r.layer.Record = &b
	}
}

func (r *layerReader) levels() {
	m, _ := r.value["policies"].(map[string]any)
	r.layer.Policies = make(map[string]scopes.Level, len(m))
	for k, v := range m {
		s, _ := v.(string)
		if level, err := scopes.ParseLevel(s); err == nil {
			r.layer.Policies[k] = level
		}
		r.at("policies."+k, below("/policies", k))
	}
}

func (r *layerReader) params() {
	m, _ := r.value["params"].(map[string]any)
	r.layer.Params = make(map[string]map[string]any, len(m))
	for policy, v := range m {
		values, ok := v.(map[string]any)
		if !ok {
			continue
		}
		r.layer.Params[policy] = values
		for name := range values {
			r.at("params."+policy+"."+name, below(below("/params", policy), name))
		}
	}
}

func (r *layerReader) exceptions() {
	list, _ := r.value["exceptions"].([]any)
	for i, v := range list {
		pointer := element("/exceptions", i)
		e, err := exceptionOf(v)
		if err != nil {
			for _, f := range loadFaults(err) {
				r.bad(pointer, "exceptions[%d]: %w", i, f.Err)
			}
		}
		r.layer.Exceptions = append(r.layer.Exceptions, e)
		r.at(fmt.Sprintf("exceptions.%d", i), pointer)
	}
}

func (r *layerReader) limits() {
	if v, ok := r.value["deadline"]; ok {
		var err error
		if r.layer.Deadline, err = duration(v, maxDeadline); err != nil {
			r.bad("/deadline", "deadline %w", err)
		}
	}
	if s, _ := r.value["faults"].(string); s != "" {
		r.layer.Faults = hook.OnFault(s)
	}
}

func (r *layerReader) approvals() {
	m, ok := r.value["approvals"].(map[string]any)
	if !ok {
		return
	}
	approvals := approvalsOf(m)
	if approvals.KeyRequired && len(approvals.Keys) == 0 {
		r.bad("/approvals", "approvals: keyRequired without keys: nobody could approve")
	}
	r.layer.Approvals = &approvals
}

// maxStale is the longest time that a machine may go without a sync and nobody
// is told.
const maxStale = 366 * 24 * time.Hour

func (r *layerReader) stale() {
	m, ok := r.value["stale"].(map[string]any)
	if !ok {
		return
	}
	var s scopes.Stale
	if v, given := m["after"]; given {
		text, _ := v.(string)
		if days, ok := strings.CutSuffix(text, "d"); ok { // as everywhere that people write days
			if n, err := strconv.Atoi(days); err == nil {
				v = fmt.Sprintf("%dh", n*24)
			}
		}
		var err error
		if s.After, err = duration(v, maxStale); err != nil {
			r.bad("/stale/after", "stale.after must be a time such as 72h or 7d, at most 366d")
		}
	}
	then, _ := m["then"].(string)
	expired, _ := m["expired"].(string)
	s.Then, s.Expired = scopes.Consequence(then), scopes.Consequence(expired)
	for key := range m {
		r.at("stale."+key, below("/stale", key))
	}
	r.layer.Stale = &s
}

// names reads what names other things: policies, labels, plugins.
func (r *layerReader) names() {
	for i, name := range strictjson.Texts(r.value["delegate"]) {
		r.layer.Delegate = append(r.layer.Delegate, name)
		r.at("delegate."+name, element("/delegate", i))
	}
	if m, ok := r.value["labels"].(map[string]any); ok {
		r.layer.Labels = map[string]string{}
		for k, v := range m {
			r.layer.Labels[k], _ = v.(string)
			r.at("labels."+k, below("/labels", k))
		}
	}
	if m, ok := r.value["plugins"].(map[string]any); ok {
		r.layer.Plugins, r.layer.PluginDir = map[string]bool{}, map[string]string{}
		for k, v := range m {
			at := below("/plugins", k)
			dir, named := v.(string)
			if r.layer.Plugins[k], _ = v.(bool); named {
				r.layer.Plugins[k], r.layer.PluginDir[k] = true, dir
			}
			if named && !filepath.IsAbs(dir) {
				r.bad(at, "plugins.%s: the directory must be an absolute path", k)
			}
			r.at("plugins."+k, at)
		}
	}
}

func (r *layerReader) programs() {
	m, ok := r.value["programs"].(map[string]any)
	if !ok {
		return
	}
	r.layer.Programs = m
	for _, name := range r.sorted(m, "/programs") {
		pointer := below("/programs", name)
		if err := catalogue.Check(name, m[name]); err != nil {
			r.bad(pointer, "programs: %s: %w", name, err)
		}
		r.at("programs."+name, pointer)
	}
}

// script reads what settings run for the status line or for suggestions.
func (r *layerReader) script(key string) *scopes.Script {
	m, ok := r.value[key].(map[string]any)
	if !ok {
		return nil
	}
	r.at(key, "/"+key)
	s := &scopes.Script{Env: strictjson.Texts(m["env"])}
	s.Command, _ = m["command"].(string)
	return s
}

// maxDeadline is what the engine allows itself without an agent's own limit.
const maxDeadline = 55 * time.Second

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
	e := scopes.Exception{If: strictjson.Texts(m["if"])}
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
	a := scopes.Approvals{Keys: strictjson.Texts(m["keys"])}
	a.Enabled, _ = m["enabled"].(bool)
	a.KeyRequired, _ = m["keyRequired"].(bool)
	if n, ok := m["minutes"].(json.Number); ok {
		f, _ := n.Float64()
		a.Minutes = int(f)
	}
	return a
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
