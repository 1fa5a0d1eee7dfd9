package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

// layer reads what a document says, by the table of settings. Where the schema
// has found a value of the wrong type already, it looks away.
func (d *document) layer(a hook.Authority) (scopes.Layer, []error) {
	r := &layerReader{document: d, layer: scopes.Layer{Authority: a, File: d.file, Lines: map[string]int{}}}
	tree := map[string]any{}
	for i := range setting.Table() {
		s := &setting.Table()[i]
		value, pointer := r.either(s.Key, s.Alias)
		if value == nil {
			continue
		}
		tree[s.Key] = r.normal(s.Type, value, pointer)
		s.Values(tree[s.Key], func(key string, _ any, way ...string) {
			at := pointer
			for _, part := range way {
				at = below(at, part)
			}
			r.layer.Lines[key] = r.line(at)
		})
	}
	r.layer.Take(tree)
	r.exceptions()
	if a := r.layer.Approvals; a != nil && a.KeyRequired && len(a.Keys) == 0 {
		r.bad("/approvals", "approvals: keyRequired without keys: nobody could approve")
	}
	r.receivers()
	if c := r.layer.Consent; c != nil && c.Key == setting.KeyRequired && len(c.Signers) == 0 {
		r.bad("/consent", "consent: key is required, and signers names none: nobody could agree")
	}
	r.feeds()
	r.programs()
	r.providers()
	r.mcpServers()
	r.decisionLogs()
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

// either returns the value of a key that may have two spellings, nil if it has
// none, and where it stands.
func (r *layerReader) either(key, alias string) (value any, pointer string) {
	value, ok := r.value[key]
	other, both := r.value[alias]
	switch {
	case alias == "" || !both:
		return value, "/" + key
	case ok:
		r.bad("/"+alias, "%s and %s are the same key", key, alias)
		return value, "/" + key
	}
	return other, "/" + alias
}

// normal gives a value its normal form. What has none is reported.
func (r *layerReader) normal(t *setting.Type, v any, pointer string) any {
	text, isText := v.(string)
	if t.Absolute && isText && text != "" && !filepath.IsAbs(text) {
		r.bad(pointer, "%s must be an absolute path", dotted(pointer))
	}
	switch t.Kind {
	case setting.Truth:
		return v != false
	case setting.Texts:
		return anys(strictjson.Texts(v))
	case setting.Span:
		d, err := span(t, v)
		if err != nil {
			r.bad(pointer, "%s %w", dotted(pointer), err)
		}
		return d.String()
	case setting.Moment:
		end, err := endOf(text)
		if err != nil {
			r.bad(pointer, "%s %w", dotted(pointer), err)
		}
		return end.UTC().Format(time.RFC3339Nano)
	case setting.List:
		list, _ := v.([]any)
		list = slices.Clone(list)
		for i := range list {
			list[i] = r.normal(t.Of, list[i], element(pointer, i))
		}
		return list
	case setting.Map, setting.Object:
		m, _ := v.(map[string]any)
		out := make(map[string]any, len(m))
		for _, name := range r.sorted(m, pointer) {
			of := t.Of
			if f := t.FieldNamed(name); f != nil {
				of = f.Type
			}
			if of != nil {
				out[name] = r.normal(of, m[name], below(pointer, name))
			}
		}
		return out
	}
	return v
}

// exceptions checks those of which no key is missing.
func (r *layerReader) exceptions() {
	list, _ := r.value["exceptions"].([]any)
	for i, e := range r.layer.Exceptions {
		if m, _ := list[i].(map[string]any); len(m) < 6 {
			continue // the schema says so
		}
		if err := e.Check(); err != nil {
			for _, f := range loadFaults(err) {
				r.bad(element("/exceptions", i), "exceptions[%d]: %w", i, f.Err)
			}
		}
	}
}

func (r *layerReader) programs() {
	if r.layer.Programs == nil {
		return
	}
	for key := range r.layer.Programs {
		delete(r.layer.Lines, "programs."+key)
	}
	rows, keys := catalogue.Read(r.layer.Programs, func(key string, err error) { r.bad(below("/programs", key), "programs: %s: %w", key, err) })
	r.layer.Programs = rows
	for name, key := range keys {
		r.layer.Lines["programs."+name] = r.line(below("/programs", key))
	}
}

// endOf reads the end of an exception: a moment, or the last day that it
// counts on (in UTC). With an error comes a time all the same: it is not
// missing, too.
func endOf(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.AddDate(0, 0, 1), nil
	}
	return time.Unix(0, 0), fmt.Errorf("must be a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z")
}

// span reads a time of a setting.
func span(t *setting.Type, v any) (time.Duration, error) {
	text, _ := v.(string)
	if n, isNumber := v.(json.Number); t.Zero && (isNumber && n == "0" || text == "0") {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok && t.Days { // as everywhere that people write days
		if n, err := strconv.Atoi(days); err == nil {
			v = fmt.Sprintf("%dh", n*24)
		}
	}
	d, err := duration(v, t.Longest)
	switch {
	case err != nil && t.Days:
		err = fmt.Errorf("must be a time such as 72h or 7d, at most %dd", t.Longest/(24*time.Hour))
	case err != nil && t.Zero:
		err = fmt.Errorf("%w; or 0", err)
	}
	return d, err
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
