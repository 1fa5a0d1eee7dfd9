package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/fleet"
)

// figures are the numbers that follow from some records. Adding those of the same
// records in any order and in any groups gives the same.
type figures struct {
	calls   map[callKey]tally
	machine map[machineKey]machineTally
	latency map[latencyKey]int64
	asked   map[askedKey]tally
}

type callKey struct {
	policy                                  string
	hour                                    int64
	team, agent, tool, effect, would, spare string
}

type tally struct{ n, approved int64 }

type machineKey struct {
	machine string
	hour    int64
}

type machineTally struct{ calls, asked, denied, faults int64 }

type latencyKey struct {
	kind   string
	hour   int64
	team   string
	bucket int64
}

type askedKey struct{ day, policy, tool, effects string }

func newFigures() *figures {
	return &figures{map[callKey]tally{}, map[machineKey]machineTally{}, map[latencyKey]int64{}, map[askedKey]tally{}}
}

// hour is the one that a record counts in.
func (r *Record) hour() int64 {
	if r.Day == OddDay {
		return hourOf(r.Received)
	}
	return hourOf(r.At)
}

// outcome is the word for what became of a call, as figures have it.
func (r *Record) outcome() string {
	if r.Result == string(hook.ModifyInput) && r.Effect != hook.Ask.String() {
		return changed
	}
	return r.Effect
}

// add counts a record.
func (f *figures) add(r *Record) {
	hour := r.hour()
	if r.Calls() {
		key := callKey{hour: hour, team: r.Team, agent: r.Agent, tool: r.Tool, effect: r.outcome()}
		f.call(key, 1, 0)
		m := machineTally{calls: 1}
		switch r.Effect {
		case hook.Ask.String():
			m.asked = 1
		case hook.Deny.String():
			m.denied = 1
		}
		f.ofMachine(machineKey{r.Machine, hour}, m)
		if r.CallNS > 0 {
			f.latency[latencyKey{"call", hour, r.Team, bucketOf(r.CallNS)}]++
		}
	}
	if r.Path == audit.DecisionPath && r.DecideNS > 0 {
		f.latency[latencyKey{"decision", hour, r.Team, bucketOf(r.DecideNS)}]++
	}
	if r.Faults > 0 {
		f.ofMachine(machineKey{r.Machine, hour}, machineTally{faults: 1})
	}
	if r.Approved && r.Calls() {
		f.call(callKey{hour: hour, team: r.Team, agent: r.Agent, tool: r.Tool, effect: r.outcome()}, 0, 1)
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		f.call(r.policyKey(p), 1, 0)
		switch {
		case !r.Calls():
		case p.Effect == hook.Ask.String():
			f.ask(r.askedKey(p), 1, 0)
		case p.Would == hook.Ask.String() && p.Spared == sparedByApproval:
			f.ask(r.askedKey(p), 0, 1)
		}
	}
}

// sparedByApproval is what a record has where a person had approved a call.
const sparedByApproval = "approval"

func (r *Record) policyKey(p *Policy) callKey {
	return callKey{hour: r.hour(), policy: p.ID, team: r.Team, agent: r.Agent, tool: r.Tool, effect: cmp.Or(p.Effect, hook.Pass.String()), would: p.Would, spare: p.Spared}
}

func (r *Record) askedKey(p *Policy) askedKey {
	return askedKey{dayOf(hourTime(r.hour())), p.ID, r.Tool, strings.Join(r.Effects, " ")}
}

func (f *figures) ask(k askedKey, n, approved int64) {
	t := f.asked[k]
	f.asked[k] = tally{t.n + n, t.approved + approved}
}

// approve counts that a person let a call through that was asked about.
func (f *figures) approve(r *Record) {
	f.call(callKey{hour: r.hour(), team: r.Team, agent: r.Agent, tool: r.Tool, effect: r.outcome()}, 0, 1)
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Effect == hook.Ask.String() {
			f.call(r.policyKey(p), 0, 1)
			f.ask(r.askedKey(p), 0, 1)
		}
	}
}

// maxCounted is the most that one number of a machine's own counts for: thousands of calls
// a second for an hour. Figures of all machines of a team are sums of such numbers, and a
// sum that no column holds would keep those of all of them out.
const maxCounted = 10_000_000

func counted(n int64) int64 { return min(max(n, 0), maxCounted) }

// count takes in what a machine that sends no records counted itself.
func (f *figures) count(machine, team string, hour int64, h *fleet.Hour) {
	base := callKey{hour: hour, team: team}
	one := fleet.Hour{Calls: counted(h.Calls), Asked: counted(h.Asked), Approved: counted(h.Approved), Denied: counted(h.Denied), Changed: counted(h.Changed), Faults: counted(h.Faults), Policies: h.Policies}
	h = &one
	left := max(h.Calls-h.Asked-h.Denied-h.Changed, 0)
	for _, part := range []struct {
		effect      string
		n, approved int64
	}{{hook.Ask.String(), h.Asked, 0}, {hook.Deny.String(), h.Denied, 0}, {changed, h.Changed, 0}, {hook.Pass.String(), left, min(h.Approved, left)}} {
		if part.n > 0 {
			base.effect = part.effect
			f.call(base, part.n, part.approved)
		}
	}
	f.ofMachine(machineKey{machine, hour}, machineTally{h.Calls, h.Asked, h.Denied, h.Faults})
	for _, p := range h.Policies {
		if p.N <= 0 || word(p.Policy) == "" {
			continue
		}
		f.call(callKey{hour: hour, team: team, policy: word(p.Policy), effect: word(p.Effect), would: word(p.Would), spare: word(p.Spared)}, counted(p.N), min(counted(p.Approved), counted(p.N)))
	}
}

func (f *figures) call(k callKey, n, approved int64) {
	t := f.calls[k]
	f.calls[k] = tally{t.n + n, t.approved + approved}
}

func (f *figures) ofMachine(k machineKey, more machineTally) {
	t := f.machine[k]
	f.machine[k] = machineTally{t.calls + more.calls, t.asked + more.asked, t.denied + more.denied, t.faults + more.faults}
}

// flush adds the figures to those of the database, in an order that all writers keep to.
func (f *figures) flush(ctx context.Context, t *txn) error {
	var hours, days, machines, latencies, asked [][]any
	byDay := map[callKey]tally{}
	for k, n := range f.calls {
		hours = append(hours, []any{k.policy, k.hour, k.team, k.agent, k.tool, k.effect, k.would, k.spare, n.n, n.approved})
		k.hour -= k.hour % 24
		d := byDay[k]
		byDay[k] = tally{d.n + n.n, d.approved + n.approved}
	}
	for k, n := range byDay {
		days = append(days, []any{k.policy, dayOf(hourTime(k.hour)), k.team, k.agent, k.tool, k.effect, k.would, k.spare, n.n, n.approved})
	}
	for k, n := range f.machine {
		machines = append(machines, []any{k.machine, k.hour, n.calls, n.asked, n.denied, n.faults})
	}
	for k, n := range f.latency {
		latencies = append(latencies, []any{k.kind, k.hour, k.team, k.bucket, n})
	}
	for k, n := range f.asked {
		asked = append(asked, []any{k.day, k.policy, k.tool, k.effects, n.n, n.approved})
	}
	for _, part := range []struct {
		table string
		keys  []string
		sums  []string
		rows  [][]any
	}{
		{"calls_hour", []string{"policy", "hour", "team", "agent", "tool", "effect", "would", "spared"}, []string{"n", "approved"}, hours},
		{"calls_day", []string{"policy", "day", "team", "agent", "tool", "effect", "would", "spared"}, []string{"n", "approved"}, days},
		{"sums_day", []string{"team", "policy", "day", "effect", "would", "spared"}, []string{"n", "approved"}, sums(byDay)},
		{"machines_hour", []string{"machine", "hour"}, []string{"calls", "asked", "denied", "faults"}, machines},
		{"latency_hour", []string{"kind", "hour", "team", "bucket"}, []string{"n"}, latencies},
		{"latency_day", []string{"kind", "team", "hour", "bucket"}, []string{"n"}, latencyDays(f.latency)},
		{"asked_day", []string{"day", "policy", "tool", "effects"}, []string{"asked", "approved"}, asked},
	} {
		slices.SortFunc(part.rows, func(a, b []any) int { return compareKeys(a[:len(part.keys)], b[:len(part.keys)]) })
		var add []string
		for _, sum := range part.sums {
			add = append(add, sum+" = "+part.table+"."+sum+" + excluded."+sum)
		}
		then := " ON CONFLICT (" + strings.Join(part.keys, ", ") + ") DO UPDATE SET " + strings.Join(add, ", ")
		if err := t.insert(ctx, part.table, slices.Concat(part.keys, part.sums), part.rows, then); err != nil {
			return err
		}
	}
	return nil
}

// compareKeys compares keys of texts and numbers.
func compareKeys(a, b []any) int {
	for i := range a {
		var c int
		if x, ok := a[i].(int64); ok {
			c = cmp.Compare(x, b[i].(int64))
		} else {
			c = strings.Compare(a[i].(string), b[i].(string))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// maxWaitForRun is how long after a question a call may run to count as let through.
const maxWaitForRun = 24 * time.Hour

// figure counts a record that is new, and finds out whether a call that was asked about
// ran: then a person let it through.
func (c *chain) figure(ctx context.Context, r *Record) error {
	c.figures.add(r)
	switch {
	case r.Call == "" || r.Approved:
	case r.Calls() && r.Effect == hook.Ask.String():
		return c.asks(ctx, r)
	case r.ran():
		return c.ran(ctx, r)
	}
	return nil
}

// asks notes a call that was asked about. Records come in order, unless what was missing
// comes later: then the call may have run already.
func (c *chain) asks(ctx context.Context, r *Record) error {
	if err := c.exec(ctx, `INSERT INTO asks (machine, log, call, seq, day, at, ran) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, c.machine, c.log, r.Call, r.Seq, r.Day, micros(r.At), false); err != nil {
		return err
	}
	if c.seq == r.Seq { // nothing behind it is here
		return nil
	}
	later, err := c.ranBehind(ctx, r)
	if err != nil {
		return err
	}
	for _, ran := range later {
		if ran.Seq > r.Seq && ran.Seq < r.Seq+mostBehind {
			if err := c.ran(ctx, ran); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostBehind is how far behind a question it is looked for what came of it, in records.
const mostBehind = 10_000

// A behind is what came of the calls of a day and the next one, as far as a batch has
// looked: each record is read once for all questions of the batch, however many come late.
type behind struct {
	to    int64 // the first that was not looked at
	calls map[string][]*Record
}

// ranBehind returns the records that show that a call was made, of those that are here
// already and stand behind the question. Questions come in the order of their numbers.
func (c *chain) ranBehind(ctx context.Context, r *Record) ([]*Record, error) {
	b := c.behind[r.Day]
	if b == nil {
		b = &behind{calls: map[string][]*Record{}}
		if c.behind == nil {
			c.behind = map[string]*behind{}
		}
		c.behind[r.Day] = b
	}
	_, err := allOf(ctx, c.tx, c.s.q(`SELECT body FROM records WHERE day IN (?, ?) AND machine = ? AND log = ? AND seq >= ? AND seq < ? AND event IN ('PostToolUse', 'PostToolUseFailure')`),
		[]any{r.Day, dayOf(r.At.Add(24 * time.Hour)), c.machine, c.log, max(r.Seq+1, b.to), r.Seq + mostBehind}, func(rows *sql.Rows) (struct{}, error) {
			var body []byte
			err := rows.Scan(&body)
			if err == nil {
				body, err = unpack(body)
			}
			if err != nil {
				return struct{}{}, err
			}
			if ran, _, err := ReadRecord(body); err == nil && ran != nil && ran.Call != "" {
				b.calls[ran.Call] = append(b.calls[ran.Call], &Record{Key: ran.Key, Call: ran.Call, At: ran.At})
			}
			return struct{}{}, nil
		})
	b.to = r.Seq + mostBehind
	return b.calls[r.Call], err
}

// ran counts the question about a call that ran as answered.
func (c *chain) ran(ctx context.Context, r *Record) error {
	var seq, at int64
	var day string
	var ran bool
	err := c.tx.QueryRowContext(ctx, c.s.q(`SELECT seq, day, at, ran FROM asks WHERE machine = ? AND log = ? AND call = ?`), c.machine, c.log, r.Call).Scan(&seq, &day, &at, &ran)
	if err == sql.ErrNoRows || err == nil && (ran || seq > r.Seq || r.At.Sub(fromMicros(at)) > maxWaitForRun) {
		return nil
	}
	if err != nil {
		return err
	}
	asked := c.fresh[seq]
	if asked == nil {
		if asked, err = c.record(ctx, day, seq); err != nil || asked == nil {
			return err
		}
	}
	c.figures.approve(asked)
	return c.exec(ctx, `UPDATE asks SET ran = ? WHERE machine = ? AND log = ? AND call = ?`, true, c.machine, c.log, r.Call)
}

// record reads one that is kept; nil where it is not any more.
func (c *chain) record(ctx context.Context, day string, seq int64) (*Record, error) {
	list, err := allOf(ctx, c.tx, c.s.q(`SELECT `+recordColumns+` FROM records WHERE day = ? AND machine = ? AND log = ? AND seq = ?`), []any{day, c.machine, c.log, seq}, func(rows *sql.Rows) (*Record, error) {
		return readRecordRow(rows, day)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0].Whole()
}

// Whole returns the record with all that its body says, for one that [Store.Records]
// yielded.
func (r *Record) Whole() (*Record, error) {
	whole, _, err := ReadRecord(r.Body)
	if err != nil {
		return nil, err
	}
	whole.Key, whole.Received, whole.Team = r.Key, r.Received, r.Team
	return whole, nil
}
