package commands

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
)

// A questionCount counts what persons were asked in one part of the log.
type questionCount struct {
	sessions map[string]bool // by agent and name
	calls    int
	asked    int // by policies
	own      int // by the agent itself: it told gate of a dialog, and no policy had asked
	allowed  int
	asks     map[string]int // by policy
	allows   map[string]int
}

func newQuestionCount() *questionCount {
	return &questionCount{sessions: map[string]bool{}, asks: map[string]int{}, allows: map[string]int{}}
}

// add counts one call. A call that was denied asked nobody.
func (q *questionCount) add(c *audit.Call) {
	r := c.Deciding()
	q.calls++
	if r.Session != "" {
		q.sessions[r.Agent+"\x00"+r.Session] = true
	}
	count := func(by map[string]int) {
		var ids []string
		for _, why := range r.Reasons {
			if why.Effect == r.Effect {
				ids = append(ids, why.ID)
			}
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			by[id]++
		}
	}
	switch {
	case r.Effect == hook.Ask:
		q.asked++
		count(q.asks)
	case r.Effect == hook.Deny:
	case slices.ContainsFunc(c.Records, func(r audit.Record) bool { return r.Event == hook.PermissionRequest }):
		q.own++
	case r.Effect == hook.Allow:
		q.allowed++
		count(q.allows)
	}
}

// aSession is how many of something there are in a session.
func (q *questionCount) aSession(n int) float64 { return float64(n) / float64(max(len(q.sessions), 1)) }

func (q *questionCount) document() map[string]any {
	return map[string]any{
		"sessions": len(q.sessions), "calls": q.calls, "asked": q.asked, "asked_by_agent": q.own, "allowed": q.allowed,
		"a_session": q.aSession(q.asked + q.own), "by_policy": counts(q.asks), "allowed_by_policy": counts(q.allows),
	}
}

func counts(by map[string]int) map[string]any {
	doc := map[string]any{}
	for id, n := range by {
		doc[id] = n
	}
	return doc
}

// questions counts the questions of the calls that are wanted, before and after a moment.
func (f *logFlags) questions(p process, h *audit.History, wanted func(*audit.Record) bool) error {
	at, why, err := f.moment()
	if err != nil {
		return err
	}
	var list []*audit.Call
	if err := f.eachCall(p, h, wanted, func(*audit.Record) {}, func(c *audit.Call) { list = append(list, c) }); err != nil {
		return err
	}
	if at.IsZero() {
		at, why = firstAllowed(list), "the first call that a policy allowed"
	}
	before, after := newQuestionCount(), newQuestionCount()
	for _, call := range list {
		if !at.IsZero() && call.Deciding().Time.Before(at) {
			before.add(call)
		} else {
			after.add(call)
		}
	}
	if f.format == "json" {
		doc := map[string]any{"before": before.document(), "after": after.document(), "moment": nil}
		if !at.IsZero() {
			doc["moment"] = at.UTC().Format(time.RFC3339Nano)
		}
		return printJSON(p, doc)
	}
	if len(list) == 0 {
		return f.nothing(p, h, 0)
	}
	if at.IsZero() {
		return printAll(p, questionTable("", nil, after))
	}
	return printAll(p, questionTable(fmt.Sprintf("before and after %s, %s", at.Local().Format("2006-01-02 15:04"), why), before, after))
}

// moment is when --before says that something changed; the zero time without it.
func (f *logFlags) moment() (at time.Time, why string, err error) {
	at, err = sinceTime(f.before, time.Now())
	return at, "as --before says", err
}

// firstAllowed is when a policy first allowed a call; the zero time if none did.
func firstAllowed(list []*audit.Call) (at time.Time) {
	for _, call := range list {
		if r := call.Deciding(); r.Effect == hook.Allow && (at.IsZero() || r.Time.Before(at)) {
			at = r.Time
		}
	}
	return at
}

// questionTable shows counts side by side; before is nil where there is one part only.
func questionTable(title string, before, after *questionCount) string {
	var b strings.Builder
	row := func(name string, value func(*questionCount) string) {
		fmt.Fprint(&b, screen.Column(name, 36))
		for _, q := range []*questionCount{before, after} {
			if q != nil {
				fmt.Fprintf(&b, " %9s", value(q))
			}
		}
		b.WriteByte('\n')
	}
	number := func(n func(*questionCount) int) func(*questionCount) string {
		return func(q *questionCount) string { return fmt.Sprint(n(q)) }
	}
	if before != nil {
		fmt.Fprintf(&b, "%s\n\n%36s %9s %9s\n", title, "", "before", "after")
	}
	row("sessions", number(func(q *questionCount) int { return len(q.sessions) }))
	row("calls", number(func(q *questionCount) int { return q.calls }))
	row("questions of policies", number(func(q *questionCount) int { return q.asked }))
	row("questions of the agent itself", number(func(q *questionCount) int { return q.own }))
	row("questions a session", func(q *questionCount) string { return fmt.Sprintf("%.1f", q.aSession(q.asked+q.own)) })
	row("allowed by policies", number(func(q *questionCount) int { return q.allowed }))
	for _, part := range []struct {
		title string
		of    func(*questionCount) map[string]int
	}{
		{"questions by policy", func(q *questionCount) map[string]int { return q.asks }},
		{"allowed by policy", func(q *questionCount) map[string]int { return q.allows }},
	} {
		sum := maps.Clone(part.of(after))
		if before != nil {
			for id, n := range part.of(before) {
				sum[id] += n
			}
		}
		ids := slices.SortedFunc(maps.Keys(sum), func(x, y string) int { return cmp.Or(cmp.Compare(sum[y], sum[x]), strings.Compare(x, y)) })
		if len(ids) > 0 {
			fmt.Fprintf(&b, "\n%s\n", part.title)
		}
		for _, id := range ids {
			row(id, number(func(q *questionCount) int { return part.of(q)[id] }))
		}
	}
	return b.String()
}
