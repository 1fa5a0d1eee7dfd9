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

// A logStats counts decisions.
type logStats struct {
	all      tally
	byEffect map[string]*tally
	byPolicy map[string]*tally // that the decision is due to, or that changed the call
	byTool   map[string]*tally
	through  map[string]*tally // that would have objected, and what spared the call
	faults   int               // decisions with one
}

// A tally is what there is of one kind.
type tally struct {
	count   int
	refused int
	took    []time.Duration
}

func (t *tally) add(r *audit.Record) {
	t.count++
	if r.Result == "reject" {
		t.refused++
	}
	t.took = append(t.took, r.Took)
}

// quantile is the time that so much of a hundred stay within.
func (t *tally) quantile(percent int) time.Duration {
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[(len(t.took)*percent+99)/100-1]
}

func (s *logStats) add(r *audit.Record) {
	of := func(m map[string]*tally, name string) {
		if m[name] == nil {
			m[name] = &tally{}
		}
		m[name].add(r)
	}
	s.all.add(r)
	of(s.byEffect, r.Effect.String())
	of(s.byTool, cmp.Or(r.Tool, string(r.Event)))
	seen := map[string]bool{}
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && !seen[why.ID] {
			seen[why.ID] = true
			of(s.byPolicy, why.ID)
		}
	}
	for _, id := range r.Changed {
		if !seen[id] {
			seen[id] = true
			of(s.byPolicy, id)
		}
	}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Objects() {
			of(s.through, p.ID+" ("+p.Would.Spared+")")
		}
	}
	if len(r.Faults) > 0 {
		s.faults++
	}
}

// summary counts the decisions that are wanted.
func (f *logFlags) summary(p process, h *audit.History, wanted func(*audit.Record) bool) error {
	s := logStats{byEffect: map[string]*tally{}, byPolicy: map[string]*tally{}, byTool: map[string]*tally{}, through: map[string]*tally{}}
	var t torn
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
		if r.Sync == nil && wanted(&r) {
			s.add(&r)
		}
	}
	t.report(p)
	if f.format == "json" {
		return printJSON(p, s.document())
	}
	if s.all.count == 0 {
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
	}{{"effect", s.byEffect}, {"policy", s.byPolicy}, {"let_through", s.through}, {"tool", s.byTool}}
}

// mostRows of a table are shown to people.
const mostRows = 20

func (s *logStats) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d rejected, %d with a fault\n", screen.Counted(s.all.count, "decision"), s.all.refused, s.faults)
	for _, part := range s.parts() {
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%-32s %8s %8s %9s %9s\n", part.name, "calls", "rejected", "p50", "p99")
		rows := sortedTallies(part.rows)
		for i, name := range rows {
			if i == mostRows {
				fmt.Fprintf(&b, "and %d more; --format json has all\n", len(rows)-i)
				break
			}
			t := part.rows[name]
			fmt.Fprintf(&b, "%s %8d %8d %9s %9s\n", screen.Column(name, 32), t.count, t.refused, millis(t.quantile(50)), millis(t.quantile(99)))
		}
	}
	return b.String()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// sortedTallies are the names of a table, the most frequent first.
func sortedTallies(rows map[string]*tally) []string {
	return slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b].count, rows[a].count), strings.Compare(a, b))
	})
}

func (t *tally) document() map[string]any {
	return map[string]any{
		"calls": t.count, "rejected": t.refused, "p50_us": t.quantile(50).Microseconds(), "p99_us": t.quantile(99).Microseconds(),
	}
}

func (s *logStats) document() map[string]any {
	doc := map[string]any{"all": s.all.document(), "faults": s.faults}
	for _, part := range s.parts() {
		rows := map[string]any{}
		for name, t := range part.rows {
			rows[name] = t.document()
		}
		doc["by_"+part.name] = rows
	}
	return doc
}
