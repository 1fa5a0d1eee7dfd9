package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gate/hook"
	"gate/internal/consent"
)

// An approver looks for what a person approved, and remembers what somebody
// would have to be asked about.
type approver struct {
	store consent.Store
	rules consent.Approvals

	mu  sync.Mutex
	why error // why the last question stays one
}

// Approve has the Gate look for what a person approved, where rules let a
// person, and use it up. It is for [Parts], where a call is about to be made.
func (g *Gate) Approve(rules consent.Approvals) {
	if rules.Enabled {
		g.approver = &approver{store: g.Grants(), rules: rules}
	}
}

// use is what the engine asks about a question.
func (a *approver) use(_ context.Context, ev *hook.Event, d *hook.Decision) (grant string, ok bool) {
	err := a.store.Use(ev, d, a.rules)
	a.mu.Lock()
	a.why = err
	a.mu.Unlock()
	return "by a person at a terminal, for this one call", err == nil
}

// remember keeps a call that is still asked about, so that somebody may approve it; the
// decision then says so. It returns what the person should know.
func (a *approver) remember(ev *hook.Event, d *hook.Decision) []string {
	if d.Effect != hook.Ask {
		return nil
	}
	a.mu.Lock()
	why := a.why
	a.why = nil
	a.mu.Unlock()
	var notices []string
	var refusal consent.Refusal
	switch {
	case errors.As(why, &refusal) && refusal == consent.NoApproval:
	case why != nil:
		notices = append(notices, why.Error())
	}
	switch _, err := a.store.AddPending(ev, d, a.rules); {
	case errors.As(err, &refusal): // nothing that could be approved
	case err != nil:
		notices = append(notices, "this call cannot be approved: "+err.Error())
	default:
		d.Pending = true
		notices = append(notices, fmt.Sprintf("a person may approve this one call, in a terminal of their own: gate approve %s", d.ID))
	}
	return notices
}
