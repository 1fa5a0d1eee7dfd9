// Package replay decides past calls again and reports the differences.
//
// It reads records of calls ([Read]): gate's decision logs, files with an event a line,
// and transcripts of Claude Code's sessions. [Run] has one or two functions decide
// about each call, and makes a [Report]; [Sum] does for a part of a fleet's records, and makes
// a [Summary]. It loads no policies, works out no facts and
// prints nothing: its caller does.
package replay

import (
	"cmp"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/audit"
)

// A Kind says what a call was read from.
type Kind string

const (
	Decision   Kind = "decision"   // a record of gate's decision log
	Event      Kind = "event"      // an event as an agent's hook gets it
	Transcript Kind = "transcript" // a session's transcript
)

// A Call is one event of the past.
type Call struct {
	Kind  Kind
	At    string // file:line, or of a fleet's record its name
	Of    string // whose it is, of all that a fleet has; "" where all are one's
	Event hook.Event

	// Project is the directory that the agent worked in: recorded, or the
	// first one that the session was seen in; "" if it is not known.
	Project string
	Branch  string        // that was checked out, as a transcript says; "" if it is not known
	Facts   *hook.Facts   // as the decision went by; nil: they are to be worked out
	Then    *audit.Record // what was decided; nil where nobody recorded it
	Failed  bool          // the agent got an error as the result
	Ran     bool          // the agent got a result that is no error, as a transcript has it
	Output  string        // what the agent was shown of the result, as a transcript has it; "": nothing

	Redacted []string // JSON pointers to what lost a secret
	Lost     string   // why the call cannot be decided again, "" if it can
}

// Forget drops the recorded facts, so that they are worked out anew. What lost
// a secret does not read as it did, and is lost.
func (c *Call) Forget() {
	c.Facts = nil
	if c.Lost == "" && len(c.Redacted) > 0 {
		c.Lost = "secrets were taken out of " + pointers(c.Redacted) + ", and facts cannot be worked out without them"
	}
}

// pointers names places of a record's input, some at most.
func pointers(list []string) string {
	const most = 3
	var out []string
	for _, at := range list {
		out = append(out, strings.ReplaceAll(strings.TrimPrefix(at, "/input/"), "/", "."))
	}
	if len(out) > most {
		out = append(out[:most], "…")
	}
	return strings.Join(out, ", ")
}

// A Change says what is different about a decision. The zero Change is none.
type Change string

const (
	NewlyDenied  Change = "newly-denied"
	NewlyAsked   Change = "newly-asked"   // a person is asked who was not, also instead of a denial
	NewlyAllowed Change = "newly-allowed" // what was denied, asked or left to the agent's own rules goes ahead
	Rewritten    Change = "rewritten"     // the call runs with another input
	Reworded     Change = "reworded"      // other policies or reasons, or an allow less, and nothing else
)

// Changes lists the changes in the order of reports.
func Changes() []Change {
	return []Change{NewlyDenied, NewlyAsked, NewlyAllowed, Rewritten, Reworded}
}

// compare says what is different about now.
func compare(then, now *audit.Record) Change {
	switch {
	case now.Effect == then.Effect:
	case now.Effect == hook.Deny:
		return NewlyDenied
	case now.Effect == hook.Ask:
		return NewlyAsked
	case then.Effect >= hook.Ask, now.Effect == hook.Allow:
		return NewlyAllowed
	}
	switch {
	case !sameRewrite(then, now):
		return Rewritten
	case now.Effect != then.Effect, now.Halt != then.Halt, !sameReasons(then, now):
		return Reworded
	}
	return ""
}

// sameReasons compares what was objected. Of a call that lost secrets the
// reasons may have lost them, too: then it is who objected that counts.
func sameReasons(then, now *audit.Record) bool { return firstNew(then, now)+firstNew(now, then) == "" }

// firstNew returns the policy of the first reason of b that a does not have. An
// allow that an objection outvotes is none: nothing comes of it.
func firstNew(a, b *audit.Record) string {
	words := !lostSecrets(a) && !lostSecrets(b)
	said := func(why audit.Reason) string {
		text := why.Effect.String() + " " + why.ID
		if words {
			text += " " + shown(why.Reason)
		}
		return text
	}
	for _, why := range b.Reasons {
		outvoted := why.Effect == hook.Allow && b.Effect > hook.Allow
		if !outvoted && !slices.ContainsFunc(a.Reasons, func(o audit.Reason) bool { return said(o) == said(why) }) {
			return cmp.Or(why.ID, "no policy")
		}
	}
	return ""
}

func lostSecrets(r *audit.Record) bool { return r.Kept != nil && len(r.Kept.Redacted) > 0 }

// shown is a reason as records have it.
func shown(reason string) string {
	const most = 400 // fewer code points than a record keeps
	if r := []rune(reason); len(r) > most {
		return string(r[:most])
	}
	return reason
}

// samePolicies reports that the very same policies were asked.
func samePolicies(then, now *audit.Record) bool {
	known := func(r *audit.Record) []string {
		var out []string
		for _, p := range r.Policies {
			if p.Digest == "" {
				return nil
			}
			out = append(out, p.ID+" "+p.Digest)
		}
		slices.Sort(out)
		return out
	}
	list := known(then)
	return list != nil && slices.Equal(list, known(now))
}

// decider is the policy that a decision is put down to: of what was objected
// the severest, else who changed the call.
func decider(then, now *audit.Record, c Change) string {
	first := func(r *audit.Record) string {
		for _, why := range r.Reasons {
			if why.Effect == r.Effect {
				return why.ID
			}
		}
		return ""
	}
	last := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return list[len(list)-1]
	}
	faulty := ""
	if len(now.Faults) > 0 {
		faulty, _, _ = strings.Cut(now.Faults[0], ": ")
	}
	switch c {
	case NewlyAllowed:
		return cmp.Or(first(then), first(now))
	case Rewritten:
		return cmp.Or(last(now.Changed), last(then.Changed))
	case Reworded:
		if id := cmp.Or(firstNew(then, now), firstNew(now, then)); id != "" {
			return id
		}
	}
	return cmp.Or(first(now), faulty, first(then), last(now.Changed))
}
