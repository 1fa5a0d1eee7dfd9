package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// A Report says what is different about calls that were decided again.
type Report struct {
	Calls    int          // that were read, without those that were read before
	Kinds    map[Kind]int // what they were read from
	Repeated int          // calls that resumed sessions hold a second time
	Decided  int          // calls that could be decided again
	Recorded int          // of these, with the facts that were recorded
	Changed  []Entry      // in the order of the calls
	Faults   []Entry      // decisions in which somebody could not answer who could before, in order
	Lost     []Loss       // calls that could not be decided again, in order

	// Unseen are uses of tools that a transcript has and no log, of the time that the
	// logs which were read span: no hook asked gate about them.
	Unseen []Loss

	// Then and Now are how long decisions take, Added the difference for each
	// call. Without [Options].Then only Now is known.
	Sampled          int
	Then, Now, Added Times
}

// An Entry is one decision that is different.
type Entry struct {
	At       string
	ID       string // of the recorded decision, or the tool's use
	Time     time.Time
	Tool     string
	Call     string // in one line, see [audit.Summary]
	Change   Change
	Policy   string // that the change is put down to, "" if there is none
	Failed   bool
	Redacted []string
	Then     Side
	Now      Side
	Why      string // of a call of a fleet that could not be decided again
}

// A Side is one of two decisions.
type Side struct {
	Effect  hook.Effect
	Reasons []audit.Reason
	Rewrite any // nil: none, or it is not known
	Changed []string
	Faults  []string
}

// A Loss is a call that could not be decided again.
type Loss struct {
	At   string
	ID   string
	Tool string
	Call string
	Why  string
}

// A Group is what is put down to one policy.
type Group struct {
	Policy  string
	Entries []Entry
}

// Groups returns the entries of a change by policy, the largest group first.
func (r *Report) Groups(c Change) []Group {
	at := map[string]int{}
	var out []Group
	for _, e := range r.Changed {
		if e.Change != c {
			continue
		}
		i, known := at[e.Policy]
		if !known {
			i = len(out)
			at[e.Policy] = i
			out = append(out, Group{Policy: e.Policy})
		}
		out[i].Entries = append(out[i].Entries, e)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(len(b.Entries), len(a.Entries)), strings.Compare(a.Policy, b.Policy))
	})
	return out
}

// Count returns how many decisions a change has.
func (r *Report) Count(c Change) int {
	n := 0
	for _, e := range r.Changed {
		if e.Change == c {
			n++
		}
	}
	return n
}

// A collector makes a report of jobs, which come in order.
type collector struct {
	Report
	logged           logged
	sample           []*Call
	every            int // of how many calls one is in the sample
	then, now, added []time.Duration
}

// Limits of what a collector remembers.
const (
	maxSample = 200
	maxSeen   = 1 << 20
)

func newCollector() *collector {
	return &collector{Report: Report{Kinds: map[Kind]int{}}, every: 1}
}

func (c *collector) add(j *job, o *Options) {
	c.logged.add(j.call)
	if j.repeated {
		c.Repeated++
		return
	}
	c.Calls++
	if j.call.Kind != "" {
		c.Kinds[j.call.Kind]++
	}
	if j.call.Lost == "" && o.strayed(j) {
		j.call.Lost = strayedWhy(j.call)
	}
	if j.call.Lost != "" {
		c.Lost = append(c.Lost, Loss{j.call.At, id(j.call), tool(j.call), summary(j.call), j.call.Lost})
		return
	}
	if c.Decided++; j.call.Facts != nil && j.call.Kind == Decision {
		c.Recorded++
	}
	c.choose(j.call)
	if o.Each != nil {
		o.Each(j.call, &j.then, &j.now)
	}
	change := compare(&j.then, &j.now)
	if change != "" {
		c.Changed = append(c.Changed, entryOf(j, change))
	}
	if len(j.now.Faults) > 0 && len(j.then.Faults) == 0 {
		c.Faults = append(c.Faults, entryOf(j, change))
	}
}

// choose takes every so many calls into the sample, spread over all of them.
func (c *collector) choose(call *Call) {
	if (c.Decided-1)%c.every != 0 {
		return
	}
	if len(c.sample) == maxSample {
		half := c.sample[:0]
		for i := 0; i < len(c.sample); i += 2 {
			half = append(half, c.sample[i])
		}
		clear(c.sample[len(half):])
		c.sample = half
		if c.every *= 2; (c.Decided-1)%c.every != 0 {
			return
		}
	}
	c.sample = append(c.sample, call)
}

func (c *collector) report() *Report {
	c.Sampled, c.Unseen = len(c.now), c.logged.unseen()
	c.Report.Then, c.Now, c.Added = times(c.then), times(c.now), times(c.added)
	return &c.Report
}

func times(list []time.Duration) Times {
	if len(list) == 0 {
		return Times{}
	}
	slices.Sort(list)
	return Times{list[len(list)/2], list[len(list)*95/100]}
}

func entryOf(j *job, change Change) Entry {
	return Entry{
		At: j.call.At, ID: id(j.call), Time: j.call.Event.Gate.Now, Tool: tool(j.call), Call: summary(j.call), Change: change,
		Policy: decider(&j.then, &j.now, change), Failed: j.call.Failed, Redacted: j.call.Redacted,
		Then: side(&j.then), Now: side(&j.now),
	}
}

func side(r *audit.Record) Side {
	s := Side{Effect: r.Effect, Reasons: r.Reasons, Changed: r.Changed, Faults: r.Faults}
	if r.Kept != nil {
		s.Rewrite = r.Kept.Final()
	}
	return s
}

func id(c *Call) string {
	if c.Then != nil {
		return c.Then.ID
	}
	return c.Event.Text("tool_use_id")
}

func tool(c *Call) string { return cmp.Or(c.Event.Tool(), string(c.Event.Name)) }

// summary says what a call is about, in one line.
func summary(c *Call) string {
	if c.Then != nil && c.Then.Call != "" {
		return c.Then.Call
	}
	if text := audit.Summary(&c.Event); text != "" {
		return text
	}
	text := c.Event.Text("prompt")
	if input := c.Event.ToolInput(); len(input) > 0 && strictjson.Check(input) == nil {
		text = string(strictjson.Append(nil, input))
	}
	const most = 300
	text = secret.Redact(text[:min(len(text), 8*most)])
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
