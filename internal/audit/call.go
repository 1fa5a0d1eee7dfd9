package audit

import (
	"slices"

	"gate/hook"
)

// A Call is one call of a tool, as the decisions about its events show it: whether
// it may run, what a dialog was told, what came of it.
type Call struct {
	// Records are the decisions about the call, the oldest first; one at least.
	Records []Record

	// Review is what a person said of one of the decisions last, nil: nothing that counts.
	Review *Review

	id string // as the agent names the call, "" if it does not
}

// An Outcome says in one word what became of a call.
type Outcome string

const (
	CallPassed   Outcome = "passed"   // no policy had anything to say
	CallAllowed  Outcome = "allowed"  // a policy let it go ahead
	CallChanged  Outcome = "changed"  // it went on with other input
	CallAsked    Outcome = "asked"    // somebody was to be asked, and nothing shows that they agreed
	CallApproved Outcome = "approved" // somebody was asked, and it ran
	CallDenied   Outcome = "denied"   // a policy rejected it, or what came of it
)

// HeldBack reports a decision that did not let its event go on as it was.
func (r *Record) HeldBack() bool { return r.IsDecision() && r.Effect >= hook.Ask }

// Begins reports the decision whether a call of a tool may run.
func (r *Record) Begins() bool { return r.IsDecision() && r.Event == hook.PreToolUse }

// ran reports an event that only a call has that was run.
func (r *Record) ran() bool {
	return r.Event == hook.PostToolUse || r.Event == hook.PostToolUseFailure
}

// OfCall reports a decision about a call of a tool, or about what came of one.
func (r *Record) OfCall() bool { return r.Begins() || r.IsDecision() && r.Tool != "" }

// callID is the name that the agent gave the call, "" if the log does not have it.
func (r *Record) callID() string {
	if r.Kept == nil {
		return ""
	}
	id, _ := r.Kept.Input["tool_use_id"].(string)
	return id
}

// Deciding returns the decision that made the outcome: the first of the severest.
func (c *Call) Deciding() *Record {
	found := &c.Records[0]
	for i := range c.Records {
		if r := &c.Records[i]; r.Effect > found.Effect {
			found = r
		}
	}
	return found
}

// Outcome says what became of the call, as far as the log shows it.
func (c *Call) Outcome() Outcome {
	r := c.Deciding()
	switch {
	case r.Effect == hook.Deny:
		return CallDenied
	case slices.ContainsFunc(c.Records, func(r Record) bool { return r.Approved }),
		r.Effect == hook.Ask && slices.ContainsFunc(c.Records, func(r Record) bool { return r.ran() }):
		return CallApproved
	case r.Effect == hook.Ask:
		return CallAsked
	case slices.ContainsFunc(c.Records, func(r Record) bool { return len(r.Changed) > 0 }):
		return CallChanged
	case r.Effect == hook.Allow:
		return CallAllowed
	}
	return CallPassed
}

// Calls gathers the calls of a log that is read from its newest record on. The zero
// Calls has met none.
type Calls struct {
	open    []*Call // whose beginning was not met yet, the newest first
	reviews Reviews
}

// mostOpen bounds the calls that wait for their beginning: an agent may have gate
// asked about what comes of calls alone.
const mostOpen = 256

// Add takes in the next older record, and returns a call of which no more is to come.
func (c *Calls) Add(r Record) *Call {
	c.reviews.Add(&r)
	if !r.OfCall() {
		return nil
	}
	i := slices.IndexFunc(c.open, func(o *Call) bool { return o.goesWith(&r) })
	if i < 0 {
		i = len(c.open)
		c.open = append(c.open, &Call{id: r.callID()})
	}
	o := c.open[i]
	o.Records = slices.Insert(o.Records, 0, r)
	if v := c.reviews.Of(&r); v != nil && (o.Review == nil || o.Review.At.Before(v.At)) {
		o.Review = v
	}
	switch {
	case r.Begins():
		c.open = slices.Delete(c.open, i, i+1)
		return o
	case len(c.open) > mostOpen:
		o, c.open = c.open[0], c.open[1:]
		return o
	}
	return nil
}

// Review returns what a person said of a decision that was met, as [Reviews.Of] does.
func (c *Calls) Review(r *Record) *Review { return c.reviews.Of(r) }

// Rest returns the calls whose beginning the log does not have, the newest first.
func (c *Calls) Rest() []*Call { return c.open }

// goesWith reports whether an older record is about the same call. Where the agent
// does not name its calls, the same tool was asked for the same.
func (c *Call) goesWith(r *Record) bool {
	later := &c.Records[0]
	if r.Agent != later.Agent || r.Session != later.Session || r.Tool != later.Tool {
		return false
	}
	if id := r.callID(); id != "" && c.id != "" {
		return id == c.id
	}
	return r.Call == later.Call && r.Event != later.Event
}
