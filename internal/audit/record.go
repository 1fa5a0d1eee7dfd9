package audit

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/mark"
	"gate/internal/secret"
)

// version is that of the records that [Append] writes. Older ones are read, too:
// what they did not have yet is empty. From 3 on they have the form of OPA's
// decision log.
const version = 3

// A Record is one decision as the log keeps it, what became of a bundle, or what a
// person said of a decision.
type Record struct {
	Version int // of the record that was read; Append writes 3
	Time    time.Time
	ID      string // the decision's
	Key     string // names the record among those of all machines; "": Append makes one
	User    string // the account that the agent runs as
	Agent   string
	Session string // as the agent calls it
	Trace   string // the caller's trace context, as [moment.TraceParent] returns it; "" if it told none
	Event   hook.Name
	Tool    string
	Dir     string // the agent's working directory
	Project string // the project root that the decision went by, "" if it is not known
	Call    string // what was asked for, in one line; see Summary
	Effect  hook.Effect
	Result  hook.Result
	Halt    bool // the turn was ended, too

	Approved bool // a person had approved what would be asked

	Confined string   // the profile by which the call runs, or ran, confined; "" where it does not
	Refused  []string // after the call: what that profile refused it

	Reasons []Reason
	Warned  []Reason // warnings
	Changed []string // hooks whose rewrite took effect
	Faults  []string // who could not answer, and why
	Took    time.Duration
	Whole   time.Duration // what the agent waited for, from the start of gate to this record; 0: not known

	Remembered []mark.Mark // what the session remembers of the call; their values are not kept where the event is not
	Marks      mark.Marks  // what it remembered before, with the event only

	Policies []Policy          // hooks that were asked, those with an effect first
	Kept     *Kept             // the event itself; nil where it is not to be kept
	Labels   map[string]string // of the machine
	Bundles  []Bundle          // what was in force; by name in a record that was read

	Sync   *Sync   // the record is about a bundle or the key set, and about no call; nil: it is not
	Review *Review // the record is what a person said of a decision; nil: it is not

	Place *Place // in the chain; nil until it was appended, and in logs of older versions
}

// BundleName is how records name a bundle: a trial has another name than the
// release that it stands beside.
func BundleName(b hook.Bundle) string {
	if b.Trial {
		return b.Source()
	}
	return b.Name
}

// A Bundle is a bundle that was in force when it was decided.
type Bundle struct {
	Name     string // see [BundleName]
	Revision string // its version
	Digest   string // of its archive, "sha256:…"
}

// A Reason is one reason of a decision as the log keeps it.
type Reason struct {
	ID     string
	Effect hook.Effect
	Reason string
	Source string
	Pos    string // file:line
}

// A Policy is a hook that was asked about the event.
type Policy struct {
	ID     string
	Source string
	Effect hook.Effect // what it added to the decision
	Digest string      // the beginning of the SHA-256 of its module, in hex; "" if it has none

	Kind    string       // what runs, such as "command"; "" for Rego
	Outcome hook.Outcome // of its last run
	Runs    int          // how often it ran, re-checks of a rewritten input counted

	Would *Would // what it said, and what did not follow; nil: everything followed

	Usage *hook.Usage   // of the language model that it asked, all runs together; else nil
	Took  time.Duration // to ask it
}

// A Would is an answer of a policy that did not follow, or not in full.
type Would struct {
	Effect  hook.Effect
	Reason  string // the first of that effect
	Rewrite bool   // it would have changed the call
	Spared  string // what took from it, as [hook.Step] has it
}

// Objects reports that the call was let through what would have stopped it or changed
// it.
func (p *Policy) Objects() bool {
	return p.Would != nil && (p.Would.Rewrite || p.Would.Effect >= hook.Ask)
}

// Of returns the record of a decision about ev, without the event itself: see
// [Record.Keep]. result is what followed for the call.
func Of(ev *hook.Event, d *hook.Decision, result hook.Result) Record {
	r := Record{
		Version: version, Time: ev.Gate.Now, ID: d.ID, User: ev.Gate.User, Labels: ev.Gate.Labels, Agent: ev.Agent, Session: ev.SessionID(), Trace: ev.Gate.Trace, Event: ev.Name, Tool: ev.Tool(),
		Dir: ev.Dir(), Call: Summary(ev), Effect: d.Effect, Result: result, Halt: d.Halt != nil, Approved: d.Approved, Took: d.Took,
		Reasons: reasonsOf(d.Reasons), Warned: reasonsOf(d.Warnings), Policies: policiesOf(d.Steps),
		Remembered: d.Remember, Marks: ev.Marks,
	}
	if c := d.Confined; c != nil {
		r.Confined, r.Refused = c.Profile, c.Refused
	}
	for _, b := range d.Bundles {
		r.Bundles = append(r.Bundles, Bundle{BundleName(b), strconv.FormatInt(b.Version, 10), b.Digest})
	}
	for _, c := range d.Changes {
		r.Changed = append(r.Changed, c.Hook)
	}
	if d.Fault != nil {
		r.Faults = append(r.Faults, "gate: "+d.Fault.Error())
	}
	for _, s := range d.Steps {
		if s.Fault != nil && s.Fault != d.Fault && s.Hook != nil {
			r.Faults = append(r.Faults, s.Hook.ID+": "+s.Fault.Error())
		}
	}
	return r
}

func reasonsOf(list []hook.Reason) []Reason {
	var out []Reason
	for _, why := range first(list) {
		out = append(out, Reason{why.ID, why.Effect, why.Reason, why.Source, why.Pos})
	}
	return out
}

// policiesOf lists each hook once, however often it ran, those first that added
// most.
func policiesOf(steps []hook.Step) []Policy {
	listed := severest(steps)
	out := make([]Policy, len(listed))
	for i, h := range listed {
		out[i] = Policy{ID: h.ID, Source: h.Source}
		if h.Kind != hook.Rego {
			out[i].Kind = string(h.Kind)
		}
	}
	for i := range steps {
		s := &steps[i]
		if at := slices.Index(listed, s.Hook); at >= 0 {
			out[at].Outcome = s.Outcome
			out[at].Runs++
			out[at].Effect = max(out[at].Effect, s.Effect)
			if w := wouldOf(s); w != nil && (out[at].Would == nil || out[at].Would.Effect < w.Effect) {
				out[at].Would = w
			}
			out[at].use(s)
		}
	}
	return out
}

// wouldOf is what a run said and did not bring about; nil: nothing.
func wouldOf(s *hook.Step) *Would {
	v := s.Would
	if v == nil {
		return nil
	}
	w := Would{Effect: v.Effect(), Rewrite: len(v.Rewrites) > len(s.Verdict.Rewrites), Spared: s.Spared}
	if w.Effect == s.Effect && !w.Rewrite {
		return nil
	}
	for _, why := range slices.Concat(v.Halt, v.Reasons) {
		if len(v.Halt) > 0 || why.Effect == w.Effect {
			w.Reason = why.Reason
			break
		}
	}
	return &w
}

// severest returns the hooks that are listed, each with its severest run in mind,
// what it only would have done after that, else in the order in which they ran
// first.
func severest(steps []hook.Step) []*hook.Hook {
	type ran struct {
		hook          *hook.Hook
		effect, would hook.Effect
	}
	list := make([]ran, 0, len(steps))
	find := func(h *hook.Hook) int { return slices.IndexFunc(list, func(r ran) bool { return r.hook == h }) }
	if len(steps) > maxPolicies { // else to look through the list costs less
		places := make(map[*hook.Hook]int, len(steps))
		find = func(h *hook.Hook) int {
			if at, again := places[h]; again {
				return at
			}
			places[h] = len(list)
			return -1
		}
	}
	for i := range steps {
		h, effect, would := steps[i].Hook, steps[i].Effect, hook.Pass
		if w := steps[i].Would; w != nil {
			would = w.Effect()
		}
		if h == nil || h.Kind == hook.Inline {
			continue
		}
		if at := find(h); at >= 0 {
			list[at].effect, list[at].would = max(list[at].effect, effect), max(list[at].would, would)
			continue
		}
		list = append(list, ran{h, effect, would})
	}
	sort.SliceStable(list, func(i, j int) bool { // slices has a body for each type
		a, b := list[i], list[j]
		return cmp.Or(cmp.Compare(b.effect, a.effect), cmp.Compare(b.would, a.would)) < 0
	})
	hooks := make([]*hook.Hook, min(len(list), maxPolicies))
	for i := range hooks {
		hooks[i] = list[i].hook
	}
	return hooks
}

// use adds what a run cost.
func (p *Policy) use(s *hook.Step) {
	u := s.Usage
	if u == nil {
		return
	}
	p.Took += s.Took
	all := *u
	if p.Usage != nil {
		all.InputTokens += p.Usage.InputTokens
		all.OutputTokens += p.Usage.OutputTokens
		all.Turns += p.Usage.Turns
		all.Cached = u.Cached && p.Usage.Cached
	}
	p.Usage = &all
}

const (
	maxCall     = 300 // code points of a call
	maxText     = 500 // of any other text
	maxDetail   = 20  // reasons, warnings, changes and faults, each
	maxPolicies = 64  // hooks that were asked
	maxLabels   = 64  // labels, and bundles
)

// Summary says in one short line, without secrets, what a tool call is about:
// its command line, its path or its address, and never the content that it
// carries. It is "" for other events.
func Summary(ev *hook.Event) string {
	input := ev.ToolInput()
	for _, field := range []string{"command", "cmd", "file_path", "path", "notebook_path", "url", "pattern"} {
		if text, ok := input[field].(string); ok && text != "" {
			if field == "url" {
				text, _, _ = strings.Cut(text, "?")
			}
			return short(text, maxCall)
		}
	}
	return ""
}

func first[T any](list []T) []T { return list[:min(len(list), maxDetail)] }

// short redacts a text and cuts it to a number of code points. What lies far
// behind the cut is not looked at: a call may hold megabytes.
func short(s string, most int) string {
	return clip(secret.Redact(ahead(s, 16*most)), most)
}

// clip cuts a text to a number of code points.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
