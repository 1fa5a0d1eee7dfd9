package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
)

// Elsewhere asks people who are not at the terminal.
type Elsewhere interface {
	// Ask looks for the answer to a question that nobody at the machine has approved. It
	// may put the question to people and wait, until ctx ends at the latest. record is what
	// the log keeps of the call, without secrets.
	Ask(ctx context.Context, ev *hook.Event, d *hook.Decision, record func() *audit.Record) Told
}

// Told is what came of asking people elsewhere.
type Told struct {
	Who     string   // who said yes, and the answer was used up; "": nobody
	Agent   string   // a sentence for the agent; "": nobody was asked
	Notices []string // what the person should know
}

// An approver looks for what a person approved, and remembers what somebody
// would have to be asked about.
type approver struct {
	store     consent.Store
	rules     consent.Approvals
	elsewhere Elsewhere // nil: nobody else is asked
	gate      *Gate

	mu   sync.Mutex
	why  error // why the last question stays one
	told Told
}

// Approve has the Gate look for what a person approved, where rules let a
// person, and use it up. It is for [Parts], where a call is about to be made. With an
// Elsewhere, people who are not at the terminal are asked, too; nil: they are not.
func (g *Gate) Approve(rules consent.Approvals, elsewhere Elsewhere) {
	if rules.Enabled {
		g.approver = &approver{store: g.Grants(), rules: rules, elsewhere: elsewhere, gate: g}
	}
}

// of is the approver of another gate, and knows of no call yet.
func (a *approver) of(g *Gate) *approver {
	return &approver{store: a.store, rules: a.rules, elsewhere: a.elsewhere, gate: g}
}

// use is what the engine asks about a question.
func (a *approver) use(ctx context.Context, ev *hook.Event, d *hook.Decision) (grant string, ok bool) {
	var told Told
	err := a.store.Use(ev, d, a.rules)
	var refusal consent.Refusal
	if a.elsewhere != nil && errors.As(err, &refusal) && refusal != consent.NotAsked && refusal != consent.Off {
		a.mu.Lock()
		a.why, a.told = err, Told{}
		a.mu.Unlock()
		told = a.elsewhere.Ask(ctx, ev, d, func() *audit.Record { return a.gate.redacted(ev, d) })
	}
	a.mu.Lock()
	a.why, a.told = err, told
	a.mu.Unlock()
	if told.Who != "" {
		return fmt.Sprintf("by %s, who was asked elsewhere, for this one call", told.Who), true
	}
	return "by a person at a terminal, for this one call", err == nil
}

// redacted is what people elsewhere may see of a call: what the log keeps.
func (g *Gate) redacted(ev *hook.Event, d *hook.Decision) *audit.Record {
	event, shown := *ev, *d
	shown.Reasons, shown.Warnings, shown.Notices = slices.Clone(d.Reasons), slices.Clone(d.Warnings), slices.Clone(d.Notices)
	shown.Context, shown.Changes, shown.Remember, shown.Steps = slices.Clone(d.Context), slices.Clone(d.Changes), slices.Clone(d.Remember), slices.Clone(d.Steps)
	Redact(&shown)
	r := audit.Of(&event, &shown, hook.Reject)
	r.Project = g.Project
	var hidden []string
	if kept := g.seen(&event); kept != nil {
		hidden = kept.Parts(&event)
	}
	r.Keep(&event, &shown, ev.Facts, hidden...)
	return &r
}

// remember keeps a call that is still asked about, so that somebody may approve it; the
// decision then says so. It returns what the person should know.
func (a *approver) remember(ev *hook.Event, d *hook.Decision) []string {
	a.mu.Lock()
	why, told := a.why, a.told
	a.why, a.told = nil, Told{}
	a.mu.Unlock()
	notices := told.Notices
	if d.Elsewhere = told.Agent; d.Effect != hook.Ask {
		return notices
	}
	var refusal consent.Refusal
	switch {
	case errors.As(why, &refusal) && refusal == consent.NoApproval:
	case why != nil:
		notices = append(notices, why.Error())
	}
	waits, err := a.store.Keep(ev, d, a.rules)
	switch {
	case errors.As(err, &refusal): // nothing that could be approved
	case err != nil:
		notices = append(notices, "this call cannot be approved: "+err.Error())
	default:
		d.Pending = waits.ID
		notices = append(notices, fmt.Sprintf("a person may approve this one call, in a terminal of their own: gate approve %s", d.Pending))
	}
	return notices
}
