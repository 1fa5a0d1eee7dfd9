package core

import (
	"errors"
	"strings"

	"gate/hook"
	"gate/internal/secret"
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
	for i := range d.Notices {
		d.Notices[i] = secret.Redact(Clip(d.Notices[i]))
	}
	d.Fault = redactFault(d.Fault)
	for i := range d.Steps {
		d.Steps[i].Fault = redactFault(d.Steps[i].Fault)
	}
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
