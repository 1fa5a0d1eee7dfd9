package core

import (
	"errors"
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// Redact takes secrets out of everything a decision says: a policy may have
// put the whole call into its reason. What is to be run, a rewrite or an
// output, stays as it is.
func Redact(d *hook.Decision) {
	for _, list := range [][]hook.Reason{d.Reasons, d.Warnings} {
		for i := range list {
			list[i] = redactReason(list[i])
		}
	}
	if d.Halt != nil {
		halt := redactReason(*d.Halt)
		d.Halt = &halt
	}
	for i := range d.Context {
		d.Context[i].Text = secret.Redact(Clip(d.Context[i].Text))
	}
	for i := range d.Changes {
		d.Changes[i].Reason = secret.Redact(Clip(d.Changes[i].Reason))
	}
	for i := range d.Remember {
		m := &d.Remember[i]
		if value, name := redactJSON(m.Value), secret.Redact(m.Name); value != m.Value || name != m.Name {
			m.Value, m.Name = value, name
			d.Notices = append(d.Notices, fmt.Sprintf("mark %q of policy %s holds a secret, which is not remembered", name, m.By))
		}
	}
	for i := range d.Notices {
		d.Notices[i] = secret.Redact(Clip(d.Notices[i]))
	}
	d.Elsewhere = secret.Redact(Clip(d.Elsewhere))
	d.Fault = redactFault(d.Fault)
	for i := range d.Steps {
		d.Steps[i].Fault = redactFault(d.Steps[i].Fault)
	}
}

// redactJSON takes secrets out of the texts of a JSON value.
func redactJSON(text string) string {
	if len(secret.Find(text)) == 0 && !strings.ContainsRune(text, '\\') { // most values are a word or a number
		return text
	}
	v, err := strictjson.Decode([]byte(text), strictjson.Limits{})
	if err != nil {
		return mark.None
	}
	return string(strictjson.Append(nil, redactTree(v)))
}

func redactTree(v any) any {
	switch v := v.(type) {
	case string:
		return secret.Redact(v)
	case []any:
		for i := range v {
			v[i] = redactTree(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, e := range v {
			clean[secret.Redact(key)] = redactTree(e)
		}
		return clean
	}
	return v
}

func redactReason(r hook.Reason) hook.Reason {
	r.Reason = secret.Redact(Clip(r.Reason))
	r.Help = secret.Redact(Clip(r.Help))
	r.Suggestion = secret.Redact(Clip(r.Suggestion))
	return r
}

// maxReason is more than any agent shows of a text. A policy may have put an
// event of megabytes into it.
const maxReason = 64 << 10

// Clip cuts a text that is longer than any agent shows.
func Clip(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "…"
}

func redactFault(f *hook.Fault) *hook.Fault {
	if f == nil || f.Err == nil {
		return f
	}
	text := Clip(f.Err.Error())
	if clean := secret.Redact(text); clean != f.Err.Error() {
		return &hook.Fault{Kind: f.Kind, Err: errors.New(clean)}
	}
	return f
}
