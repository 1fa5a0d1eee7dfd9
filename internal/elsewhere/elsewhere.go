// Package elsewhere puts questions to people who are not at the terminal, and takes their
// answers. A delivery is a notice and never a key: whoever reads, follows or copies it
// changes nothing. The answer is an approver's SSH signature over one exact question, so
// that it may come back by any way. Silence is no.
//
// The package keeps nothing itself: package consent has the questions and the answers, and
// says which count. It must not be linked by gate-hook, which hands such calls over. Start
// with [Desk.Ask] on the machine of the agent, and with [ReadQuestion] on that of an approver.
package elsewhere

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/setting"
)

const (
	margin = 2 * time.Second        // what is left of the agent's time for the answer
	look   = 250 * time.Millisecond // between two looks into the store
)

// A Desk puts questions and takes answers, by the settings of one machine.
type Desk struct {
	Store    consent.Store
	Rules    consent.Approvals
	Settings setting.Approvals
	Roots    *x509.CertPool // by which servers are trusted; nil: the system's
}

// Answer gives an answer to the store, which says whether it counts.
func (d *Desk) Answer(a Answer, now time.Time) (consent.Answer, error) {
	taken, err := d.Store.Answer(a.ID, a.Yes, a.Signature, d.Rules, now)
	if errors.Is(err, consent.BadKey) {
		if what := a.differs(taken.Question); what != "" {
			err = errDiffers(what)
		}
	}
	return taken, err
}

// Ask implements [core.Elsewhere].
func (d *Desk) Ask(ctx context.Context, ev *hook.Event, dec *hook.Decision, record func() *audit.Record) (told core.Told) {
	if d.Rules.Elsewhere == nil {
		return told
	}
	if end, ok := ctx.Deadline(); ok { // what is done must be told in time
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, end.Add(-min(margin, max(0, time.Until(end)/2))))
		defer stop()
	}
	q, _, err := d.Store.Asked(ev, dec)
	open, looks := err == nil, newLooks(d)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		note(&told, "nobody elsewhere can be asked: "+err.Error())
		return told
	case open:
		if err := looks.look(ctx); err != nil {
			note(&told, err.Error())
		}
	case len(d.Settings.Deliver) == 0 || asksHere(ev) && d.Settings.When != setting.WhenAlways:
		return told
	default:
		if q, open = d.put(ctx, ev, dec, record, &told); !open {
			return told
		}
	}
	d.await(ctx, ev, dec, q, looks, &told)
	return told
}

// put makes a question of the call and delivers it. It reports false where that reached
// nobody; then nobody can answer.
func (d *Desk) put(ctx context.Context, ev *hook.Event, dec *hook.Decision, record func() *audit.Record, told *core.Told) (consent.Question, bool) {
	no := func(err error) (consent.Question, bool) {
		told.Agent = "Nobody elsewhere was asked: " + err.Error() + "."
		return consent.Question{}, false
	}
	text, err := shownOf(ev, dec, record())
	if err != nil {
		return no(err)
	}
	p, err := d.Store.AddPending(ev, dec, d.Rules)
	if err != nil {
		return no(err)
	}
	q, shown, err := d.Store.Ask(p, text, d.Rules, ev.Gate.Now)
	if err != nil {
		return no(err)
	}
	if shown == "" { // another call asked the same a moment ago, and waits for both
		if err := d.Store.Forget(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			note(told, err.Error())
		}
		return q, true
	}
	reached, failed := d.deliver(ctx, Question{shown, q.StatementOpen()})
	var down []string
	for _, err := range failed {
		down = append(down, err.Error())
	}
	if len(down) > 0 {
		note(told, "the question "+q.Pending.ID+" did not reach "+strings.Join(down, "; "))
	}
	if len(reached) == 0 {
		if err := d.Store.Withdraw(q); err != nil {
			note(told, err.Error())
		}
		return no(errors.New("no message went out (" + strings.Join(down, "; ") + ")"))
	}
	note(told, "the question "+q.Pending.ID+" was put to "+strings.Join(reached, "; "))
	return q, true
}

// await waits for an answer as long as the agent does, where nobody sits at its terminal.
func (d *Desk) await(ctx context.Context, ev *hook.Event, dec *hook.Decision, q consent.Question, looks *looks, told *core.Told) {
	left := d.Settings.Wait
	if deadline, ok := ctx.Deadline(); ok && (left == 0 || left > time.Until(deadline)) {
		left = time.Until(deadline)
	}
	if asksHere(ev) {
		left = 0
	}
	began := time.Now()
	for {
		now := *ev
		now.Gate.Now = ev.Gate.Now.Add(time.Since(began))
		who, err := d.Store.UseAnswer(&now, dec, d.Rules)
		switch {
		case err == nil:
			told.Who, told.Agent = who, who+" was asked elsewhere and said yes ("+q.Pending.ID+")."
			return
		case errors.Is(err, consent.SaidNo):
			told.Agent = who + " was asked elsewhere and said no to this call (" + q.Pending.ID + "). Do not repeat it."
			return
		case !errors.Is(err, consent.NoApproval):
			note(told, err.Error())
		}
		if time.Since(began) >= left || ctx.Err() != nil || err != nil && !errors.Is(err, consent.NoApproval) {
			break
		}
		if looks.due(time.Now()) {
			if err := looks.look(ctx); err != nil {
				note(told, err.Error())
			}
		}
		time.Sleep(min(look, max(0, left-time.Since(began))))
	}
	told.Agent = fmt.Sprintf("People elsewhere were asked (%s). Once they said yes, the same call goes through once, if it is repeated in this session before %s.",
		q.Pending.ID, q.Until.Format(time.RFC3339))
}

// asksHere reports that the agent puts the question to a person at its own terminal.
func asksHere(ev *hook.Event) bool {
	a, known := adapters.Lookup(ev.Agent)
	if !known {
		return ev.Gate.Interactive
	}
	return a.CanAsk(ev)
}

// note tells the person, once.
func note(told *core.Told, text string) {
	if !slices.Contains(told.Notices, text) {
		told.Notices = append(told.Notices, text)
	}
}
