package commands

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/internal/audit"
)

// A logStats counts calls, and what gate needed for them.
type logStats struct {
	since     time.Time // the zero time: all that the log has
	all       tally
	byOutcome map[string]*tally
	byPolicy  map[string]*tally // that held the call back, or changed it
	byTool    map[string]*tally
	byDay     map[string]*tally // by the local date on which the call was made
	through   map[string]*tally // that would have objected, and what spared the call
	reviewed  map[string]*tally // policies of calls of which a person said something; other numbers than that are 0
	decisions int               // about events of any kind
	took      time.Duration     // by all of them
	faults    int               // decisions with one

	sessions map[string]time.Duration // what agents waited for gate, by their agent and name
}

// A tally is what there is of one kind of calls.
type tally struct {
	count    int
	asked    int // about, whatever came of it
	approved int // of those
	denied   int
	took     []time.Duration // to decide whether it may run

	falseAlarms int // a person said so
	missed      int // a person said that it should have been held back
}

func (t *tally) add(c *audit.Call) {
	t.count++
	if c.Review != nil {
		t.review(c.Review.Says)
	}
	switch c.Outcome() {
	case audit.CallAsked:
		t.asked++
	case audit.CallApproved:
		t.asked++
		t.approved++
	case audit.CallDenied:
		t.denied++
	}
	t.took = append(t.took, c.Records[0].Took)
}

// review counts what a person said of a call.
func (t *tally) review(says audit.Opinion) {
	switch says {
	case audit.FalseAlarm:
		t.falseAlarms++
	case audit.Missed:
		t.missed++
	}
}

// quantile is the time that so much of a hundred stay within.
func (t *tally) quantile(percent int) time.Duration {
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[(len(t.took)*percent+99)/100-1]
}

// wait adds what an agent waited for a decision. A record that does not say it has at
// least the time of the decision itself.
func (s *logStats) wait(r *audit.Record) {
	if r.Session != "" {
		s.sessions[r.Agent+"\x00"+r.Session] += cmp.Or(r.Whole, r.Took)
	}
}

// waits are what agents waited in their sessions.
func (s *logStats) waits() *tally {
	return &tally{took: slices.Collect(maps.Values(s.sessions))}
}

// addCall counts one call, once for each policy that held it back or changed it.
func (s *logStats) addCall(c *audit.Call) {
	of := func(m map[string]*tally, name string) {
		if m[name] == nil {
			m[name] = &tally{}
		}
		m[name].add(c)
	}
	r := c.Deciding()
	s.all.add(c)
	of(s.byOutcome, string(c.Outcome()))
	of(s.byDay, c.Records[0].Time.Local().Format(time.DateOnly))
	of(s.byTool, cmp.Or(r.Tool, "not known"))
	for _, id := range r.Decided() {
		of(s.byPolicy, id)
	}
	s.addReview(c.Review)
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Objects() {
			of(s.through, p.ID+" ("+p.Would.Spared+")")
		}
	}
}

// addReview counts what a person said of a call, once for each policy that it is about.
func (s *logStats) addReview(v *audit.Review) {
	if v == nil {
		return
	}
	names := v.Policies
	if len(names) == 0 {
		names = []string{noPolicy}
	}
	for _, id := range names {
		if s.reviewed[id] == nil {
			s.reviewed[id] = &tally{}
		}
		s.reviewed[id].review(v.Says)
	}
}

// noPolicy is in the place of a policy where none spoke.
const noPolicy = "(no policy)"

// week is how far back --stats looks unless --since says so.
const week = 7 * 24 * time.Hour

// eachCall hands over the records that are not too old, the newest first, and the calls
// that are wanted, each when it is whole. Lines that are no records are told.
func (f *logFlags) eachCall(p process, h *audit.History, wanted func(*audit.Record) bool, record func(*audit.Record), call func(*audit.Call)) error {
	var calls audit.Calls
	var t torn
	add := func(c *audit.Call) {
		if c != nil && f.wantsCall(c, wanted) {
			call(c)
		}
	}
	for r, err := range h.Newest() {
		if err != nil {
			if err = t.count(err); err != nil {
				return err
			}
			continue
		}
		if f.filter.tooOld(&r) {
			break
		}
		record(&r)
		add(calls.Add(r))
	}
	for _, c := range calls.Rest() {
		add(c)
	}
	t.report(p)
	return nil
}

// sum counts the calls that are wanted.
func (f *logFlags) sum(p process, h *audit.History, wanted func(*audit.Record) bool) (*logStats, error) {
	table := func() map[string]*tally { return map[string]*tally{} }
	s := &logStats{since: f.filter.from, byOutcome: table(), byPolicy: table(), byTool: table(), byDay: table(), through: table(), reviewed: table(), sessions: map[string]time.Duration{}}
	err := f.eachCall(p, h, wanted, func(r *audit.Record) {
		if r.IsDecision() && wanted(r) {
			s.decisions++
			s.took += r.Took
			s.wait(r)
			if len(r.Faults) > 0 {
				s.faults++
			}
		}
	}, s.addCall)
	return s, err
}

// summary shows how many calls there are of what is wanted.
func (f *logFlags) summary(p process, h *audit.History, wanted func(*audit.Record) bool) error {
	s, err := f.sum(p, h, wanted)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return printJSON(p, s.document())
	}
	if s.decisions == 0 {
		return f.nothing(p, h, 0)
	}
	return printAll(p, s.text())
}

// parts are the tables of the statistics.
func (s *logStats) parts() []struct {
	name string
	rows map[string]*tally
} {
	return []struct {
		name string
		rows map[string]*tally
	}{{"policy", s.byPolicy}, {"let_through", s.through}, {"tool", s.byTool}}
}

// mostRows of a table are shown to people.
const mostRows = 20

func (s *logStats) text() string {
	var b strings.Builder
	if !s.since.IsZero() {
		fmt.Fprintf(&b, "since %s: ", s.since.Local().Format("2006-01-02 15:04"))
	}
	fmt.Fprintf(&b, "%s, %d asked about, %d of them approved, %d denied\n", screen.Counted(s.all.count, "call"), s.all.asked, s.all.approved, s.all.denied)
	if s.all.falseAlarms+s.all.missed > 0 {
		fmt.Fprintf(&b, "reviewed: %s, %d missed\n", screen.Counted(s.all.falseAlarms, "false alarm"), s.all.missed)
	}
	fmt.Fprintf(&b, "gate took %s for %s, %d with a fault\n", s.took.Round(time.Millisecond), screen.Counted(s.decisions, "decision"), s.faults)
	if w := s.waits(); len(w.took) > 0 {
		fmt.Fprintf(&b, "an agent waited %s in a session at p50, %s at p90, %s at p99, of %s\n",
			seconds(w.quantile(50)), seconds(w.quantile(90)), seconds(w.quantile(99)), screen.Counted(len(w.took), "session"))
	}
	for _, part := range s.parts() {
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%-32s %8s %8s %8s %8s %9s %9s\n", part.name, "calls", "asked", "approved", "denied", "p50", "p99")
		rows := sortedTallies(part.rows)
		for i, name := range rows {
			if i == mostRows {
				fmt.Fprintf(&b, "and %d more; --format json has all\n", len(rows)-i)
				break
			}
			t := part.rows[name]
			fmt.Fprintf(&b, "%s %8d %8d %8d %8d %9s %9s\n", screen.Column(name, 32), t.count, t.asked, t.approved, t.denied, millis(t.quantile(50)), millis(t.quantile(99)))
		}
	}
	if len(s.reviewed) > 0 {
		fmt.Fprintf(&b, "\n%-32s %12s %8s\n", "reviewed", "false alarms", "missed")
		for _, name := range slices.SortedFunc(maps.Keys(s.reviewed), func(a, b string) int {
			return cmp.Or(cmp.Compare(s.reviewed[b].falseAlarms, s.reviewed[a].falseAlarms), strings.Compare(a, b))
		}) {
			fmt.Fprintf(&b, "%s %12d %8d\n", screen.Column(name, 32), s.reviewed[name].falseAlarms, s.reviewed[name].missed)
		}
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// sortedTallies are the names of a table, the most frequent first.
func sortedTallies(rows map[string]*tally) []string {
	return slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b].count, rows[a].count), strings.Compare(a, b))
	})
}

func (t *tally) document() map[string]any {
	return map[string]any{
		"calls": t.count, "asked": t.asked, "approved": t.approved, "denied": t.denied, "false_alarms": t.falseAlarms, "missed": t.missed,
		"p50_us": t.quantile(50).Microseconds(), "p90_us": t.quantile(90).Microseconds(), "p99_us": t.quantile(99).Microseconds(),
	}
}

func (s *logStats) document() map[string]any {
	doc := map[string]any{"all": s.all.document(), "decisions": s.decisions, "took_us": s.took.Microseconds(), "faults": s.faults}
	w := s.waits()
	doc["sessions"] = map[string]any{
		"count": len(w.took), "p50_us": w.quantile(50).Microseconds(), "p90_us": w.quantile(90).Microseconds(), "p99_us": w.quantile(99).Microseconds(),
	}
	outcomes := map[string]any{}
	for name, t := range s.byOutcome {
		outcomes[name] = t.count
	}
	doc["by_outcome"] = outcomes
	for _, part := range s.parts() {
		doc["by_"+part.name] = tallyDocuments(part.rows)
	}
	reviewed := map[string]any{}
	for name, t := range s.reviewed {
		reviewed[name] = map[string]any{"false_alarms": t.falseAlarms, "missed": t.missed}
	}
	doc["by_reviewed"] = reviewed
	doc["by_day"] = tallyDocuments(s.byDay)
	return doc
}

func tallyDocuments(rows map[string]*tally) map[string]any {
	doc := map[string]any{}
	for name, t := range rows {
		doc[name] = t.document()
	}
	return doc
}
