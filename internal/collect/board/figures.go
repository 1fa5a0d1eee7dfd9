package board

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/store"
	"gate/internal/page/look"
)

// A tally is how many calls of a day, a policy, a team or a tool had which outcome.
type tally struct {
	Name     string `json:"name"`
	Calls    int64  `json:"calls"`
	Asked    int64  `json:"asked"`
	Approved int64  `json:"approved"` // of what was asked about
	Denied   int64  `json:"denied"`
	Changed  int64  `json:"changed"`
	Would    int64  `json:"would"` // would have been asked about, denied or changed
}

func (t *tally) add(f store.Figure) {
	t.Calls += f.N
	if f.Would != "" {
		t.Would += f.N
	}
	switch f.Effect {
	case "ask":
		t.Asked += f.N
		t.Approved += f.Approved
	case "deny":
		t.Denied += f.N
	case "change":
		t.Changed += f.N
	}
}

// tallies are the figures of a query by what it tells apart first. Days are all of the
// span, others those with most calls first.
func (a *ask) tallies(q store.Figures) ([]tally, error) {
	rows, err := a.store().Figures(a.ctx, q)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var out []tally
	of := func(name string) *tally {
		i, known := at[name]
		if !known {
			i = len(out)
			at[name], out = i, append(out, tally{Name: name})
		}
		return &out[i]
	}
	if q.By[0] == "time" {
		for _, day := range daysOf(q.Span) {
			of(day)
		}
	}
	for _, f := range rows {
		name := map[string]string{"time": f.Time.Format(time.DateOnly), "policy": f.Policy, "team": f.Team, "tool": f.Tool}[q.By[0]]
		of(name).add(f)
	}
	if q.By[0] != "time" {
		slices.SortStableFunc(out, func(x, y tally) int {
			return cmp.Or(cmp.Compare(y.Asked+y.Denied, x.Asked+x.Denied), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name))
		})
	}
	return out, nil
}

func daysOf(p store.Span) []string {
	var out []string
	for at := p.From; at.Before(p.Until); at = at.AddDate(0, 0, 1) {
		out = append(out, at.Format(time.DateOnly))
	}
	return out
}

func sum(list []tally) tally {
	var all tally
	for _, t := range list {
		all.Calls += t.Calls
		all.Asked += t.Asked
		all.Approved += t.Approved
		all.Denied += t.Denied
		all.Changed += t.Changed
		all.Would += t.Would
	}
	return all
}

// daysOfHours adds the hours of one machine up by day.
func daysOfHours(hours []store.MachineHour, p store.Span) []any {
	at := map[string]store.MachineHour{}
	for _, h := range hours {
		day := h.Time.Format(time.DateOnly)
		d := at[day]
		at[day] = store.MachineHour{Calls: d.Calls + h.Calls, Asked: d.Asked + h.Asked, Denied: d.Denied + h.Denied, Faults: d.Faults + h.Faults}
	}
	var out []any
	for _, day := range daysOf(p) {
		d := at[day]
		out = append(out, look.Document{"name": day, "calls": d.Calls, "asked": d.Asked, "denied": d.Denied, "faults": d.Faults})
	}
	return out
}

// policies are asks and denials by policy, team and day; of one policy also by tool.
func (a *ask) policies() (look.Document, error) {
	span, days, err := a.span(usualDays)
	if err != nil {
		return nil, err
	}
	teams, err := a.teams()
	if err != nil {
		return nil, err
	}
	q := store.Figures{Span: span, Day: true, Policy: a.name, Team: a.query.Get("team")}
	doc := look.Document{"days": days, "teams": teams}
	parts := map[string]string{"per_day": "time", "per_team": "team"}
	if a.name == "" {
		q.Policy = "*"
		parts["per_policy"] = "policy"
	} else {
		doc["policy"] = a.name
		parts["per_tool"] = "tool"
	}
	for key, by := range parts {
		q.By = []string{by, "effect", "would"}
		list, err := a.tallies(q)
		if err != nil {
			return nil, err
		}
		doc[key] = list
		if by == "time" {
			doc["all"] = sum(list)
		}
	}
	return tree(doc)
}

// leastAsked is how often something is asked about before it is worth a policy.
const leastAsked = 10

// asked is what is asked most; what was always approved stands first.
func (a *ask) asked() (look.Document, error) {
	span, days, err := a.span(30)
	if err != nil {
		return nil, err
	}
	list, err := a.store().Asked(a.ctx, span, a.query.Get("policy"), leastAsked, 100)
	if err != nil {
		return nil, err
	}
	var always, others []store.Asked
	for _, one := range list {
		if one.Approved >= one.Asked {
			always = append(always, one)
		} else {
			others = append(others, one)
		}
	}
	return tree(look.Document{"days": days, "least": leastAsked, "always": always, "others": others})
}

// trial is who would be stopped by a release on trial, and by which policy.
func (a *ask) trial() (look.Document, error) {
	span, days, err := a.span(7)
	if err != nil {
		return nil, err
	}
	perDay, err := a.tallies(store.Figures{Span: span, By: []string{"time", "would"}, Day: true, Policy: "*", Would: "*"})
	if err != nil {
		return nil, err
	}
	list, err := a.store().Trials(a.ctx, span)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if a.person.Role < collect.Reviewer {
		for i := range list {
			for j := range list[i].Calls {
				withoutText(&list[i].Calls[j])
			}
		}
	}
	all, err := a.releases()
	if err != nil {
		return nil, err
	}
	trials := slices.DeleteFunc(all, func(v any) bool { return look.Object(v)["trial"] != true })
	return tree(look.Document{"days": days, "trials": trials, "policies": list, "per_day": perDay, "all": sum(perDay), "texts": a.person.Role >= collect.Reviewer})
}

// withoutText takes away what readers may not see.
func withoutText(c *store.TrialCall) {
	c.Near.Text = ""
	for i := range c.Nearest {
		c.Nearest[i].Text = ""
	}
}

// figures are calls, latencies and faults by day.
func (a *ask) figures() (look.Document, error) {
	span, days, err := a.span(usualDays)
	if err != nil {
		return nil, err
	}
	team := a.query.Get("team")
	perDay, err := a.tallies(store.Figures{Span: span, By: []string{"time", "effect"}, Day: true, Team: team})
	if err != nil {
		return nil, err
	}
	var perTeam []tally // of all teams, or of none
	if team == "" {
		if perTeam, err = a.tallies(store.Figures{Span: span, By: []string{"team", "effect"}, Day: true}); err != nil {
			return nil, err
		}
	}
	latency, err := a.latencies(span, team)
	if err != nil {
		return nil, err
	}
	faults, err := a.store().FaultsByDay(a.ctx, span)
	if err != nil {
		return nil, err
	}
	faulty, err := a.store().FaultsByMachine(a.ctx, span, 20)
	if err != nil {
		return nil, err
	}
	teams, err := a.teams()
	if err != nil {
		return nil, err
	}
	return tree(look.Document{"days": days, "teams": teams, "per_day": perDay, "all": sum(perDay), "per_team": perTeam, "latency": latency, "faults": faultRows(faults, span), "faulty": faulty})
}

// faultRows have every day of a span.
func faultRows(faults []store.Faults, p store.Span) []any {
	at := map[string]store.Faults{}
	for _, f := range faults {
		at[f.Time.Format(time.DateOnly)] = f
	}
	var out []any
	for _, day := range daysOf(p) {
		out = append(out, look.Document{"name": day, "faults": at[day].Faults, "machines": at[day].Machines})
	}
	return out
}

// latencies are how long decisions took and agents waited, by day.
func (a *ask) latencies(span store.Span, team string) ([]any, error) {
	read := func() ([]store.Latency, error) { return a.store().Latencies(a.ctx, span, "day", false) }
	if team != "" {
		read = func() ([]store.Latency, error) { return a.store().TeamLatencies(a.ctx, span, "day", team) }
	}
	list, err := read()
	if err != nil {
		return nil, err
	}
	rows := map[string]look.Document{}
	var out []any
	for _, day := range daysOf(span) {
		rows[day] = look.Document{"name": day}
		out = append(out, rows[day])
	}
	for _, l := range list {
		row := rows[l.Time.Format(time.DateOnly)]
		if row == nil {
			continue
		}
		for key, d := range map[string]time.Duration{"p50": l.P50, "p90": l.P90, "p99": l.P99} {
			row[l.Kind+"_"+key+"_us"] = d.Microseconds()
		}
	}
	return out, nil
}

// lastStatus is what a machine sent of itself last, nil where nothing is kept.
func (a *ask) lastStatus() (look.Document, error) {
	s, err := a.store().LastStatus(a.ctx, a.name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decoded(s.Body)
}

// tree makes a JSON tree of a document that has values of the store in it.
func tree(doc look.Document) (look.Document, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return decoded(data)
}

func decoded(data []byte) (look.Document, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out look.Document
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("a document cannot be read: %w", err)
	}
	return out, nil
}

// percent is a part of a whole in words.
func percent(part, whole any) string {
	p, w := look.Number(part), look.Number(whole)
	if w == 0 {
		return "0 %"
	}
	share := 100 * p / w
	switch {
	case share == 0 || share >= 10 && share < 99.5 || p == w:
		return fmt.Sprintf("%.0f %%", share)
	case share >= 99.5:
		return fmt.Sprintf("%.1f %%", min(share, 99.9))
	}
	return fmt.Sprintf("%.1f %%", share)
}

// count is a number with spaces between thousands.
func count(v any) string {
	text := fmt.Sprintf("%.0f", look.Number(v))
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			b.WriteRune('\u202f')
		}
		b.WriteRune(r)
	}
	return b.String()
}
