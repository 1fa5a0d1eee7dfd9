package board

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/store"
	"gate/internal/page/look"
)

// A sight is one view: whether its address names something, who may see it, and where
// its document comes from.
type sight struct {
	named int // as in look.Views
	least collect.Role
	load  func(*ask) (look.Document, error)
}

// sights are the views by the first part of their address.
func sights() map[string]sight {
	return map[string]sight{
		"overview": {0, collect.Reader, (*ask).overview},
		"findings": {0, collect.Reader, (*ask).findings},
		"machines": {-1, collect.Reader, (*ask).machines},
		"policies": {-1, collect.Reader, (*ask).policies},
		"asked":    {0, collect.Reader, (*ask).asked},
		"trial":    {0, collect.Reader, (*ask).trial},
		"figures":  {0, collect.Reader, (*ask).figures},
		"looks":    {0, collect.Administrator, (*ask).looks},
	}
}

func views() look.Views {
	out := look.Views{}
	for view, s := range sights() {
		out[view] = s.named
	}
	return out
}

// An ask is what somebody asks a view for.
type ask struct {
	b      *Board
	ctx    context.Context
	person collect.Person
	name   string // that the address names, "" for none
	query  url.Values
}

func (a *ask) store() *store.Store { return a.b.o.Store }

// Days of figures.
const (
	usualDays = 14
	mostDays  = 90
)

// span are the last days, the day of now among them.
func (a *ask) span(usual int) (store.Span, int, error) {
	days := usual
	if text := a.query.Get("days"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostDays {
			return store.Span{}, 0, formError(fmt.Sprintf("days is a number from 1 to %d", mostDays))
		}
		days = n
	}
	now := a.b.o.Clock().UTC()
	today := now.Truncate(24 * time.Hour)
	return store.Span{From: today.AddDate(0, 0, 1-days), Until: now}, days, nil
}

// number is a number of the address, 0 where there is none.
func (a *ask) number(name string) (int64, error) {
	text := a.query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, formError(name + " is a number")
	}
	return n, nil
}

// overview is what needs attention, and how the fleet stands.
func (a *ask) overview() (look.Document, error) {
	counts, err := a.store().Counts(a.ctx)
	if err != nil {
		return nil, err
	}
	releases, err := a.releases()
	if err != nil {
		return nil, err
	}
	span, days, err := a.span(usualDays)
	if err != nil {
		return nil, err
	}
	perDay, err := a.tallies(store.Figures{Span: span, By: []string{"time", "effect"}, Day: true})
	if err != nil {
		return nil, err
	}
	open := 0
	var attention []any
	for _, k := range kinds() {
		if n := counts.Open[k.kind]; n > 0 {
			open += n
			attention = append(attention, look.Document{"kind": k.kind, "severity": k.severity, "title": k.title, "todo": k.todo, "open": n})
		}
	}
	return tree(look.Document{"counts": counts, "heard": counts.Enrolled - counts.Silent, "silence": spell(a.store().SilentAfter()), "open": open, "attention": attention, "releases": releases, "per_day": perDay, "days": days, "all": sum(perDay)})
}

// releases are the bundles with their releases, those that most machines have first.
func (a *ask) releases() ([]any, error) {
	list, err := a.store().Releases(a.ctx)
	if err != nil {
		return nil, err
	}
	type bundle struct {
		name  string
		trial bool
	}
	var order []bundle
	rows, machines := map[bundle][]any{}, map[bundle]int{}
	for _, r := range list {
		b := bundle{r.Bundle, r.Trial}
		if rows[b] == nil {
			order = append(order, b)
		}
		machines[b] += r.Machines
		rows[b] = append(rows[b], r)
	}
	slices.SortStableFunc(order, func(x, y bundle) int { return cmp.Compare(machines[y], machines[x]) })
	var out []any
	for _, b := range order {
		out = append(out, look.Document{"bundle": b.name, "trial": b.trial, "machines": machines[b], "releases": rows[b]})
	}
	return out, nil
}

// findings are those that are open, or with closed also those that were.
func (a *ask) findings() (look.Document, error) {
	before, err := a.number("before")
	if err != nil {
		return nil, err
	}
	const page = 200
	list, err := a.store().Findings(a.ctx, store.FindingQuery{Kind: a.query.Get("kind"), Team: a.query.Get("team"), Closed: a.query.Get("closed") == "yes", Before: before, Limit: page + 1})
	if err != nil {
		return nil, err
	}
	next := int64(0)
	if len(list) > page {
		list = list[:page]
		next = list[page-1].ID
	}
	open, err := a.store().OpenFindings(a.ctx)
	if err != nil {
		return nil, err
	}
	teams, err := a.teams()
	if err != nil {
		return nil, err
	}
	doc := look.Document{"findings": list, "next": next, "kinds": kindRows(open), "teams": teams}
	if k := a.query.Get("kind"); k != "" {
		doc["kind"] = k
	}
	return tree(doc)
}

func kindRows(open map[string]int) []any {
	var out []any
	for _, k := range kinds() {
		out = append(out, look.Document{"kind": k.kind, "title": k.title, "open": open[k.kind]})
	}
	return out
}

// teams are the names of those that have machines.
func (a *ask) teams() ([]string, error) {
	counts, err := a.store().Teams(a.ctx)
	return namesOf(counts), err
}

func namesOf(teams map[string]int) []string {
	var out []string
	for team := range teams {
		if team != "" {
			out = append(out, team)
		}
	}
	slices.Sort(out)
	return out
}

// machines are those that the address asks for, a page of them.
func (a *ask) machines() (look.Document, error) {
	if a.name != "" {
		return a.machine()
	}
	const page = 100
	q := store.MachineQuery{After: a.query.Get("after"), Team: a.query.Get("team"), Find: a.query.Get("text"), Finding: a.query.Get("finding"), Limit: page + 1}
	if release := a.query.Get("release"); release != "" {
		release, q.Trial = strings.CutPrefix(release, "trial:")
		q.Bundle, q.Revision, _ = strings.Cut(release, "@")
	}
	list, err := a.store().Machines(a.ctx, q)
	if err != nil {
		return nil, err
	}
	next := ""
	if len(list) > page {
		list = list[:page]
		next = list[page-1].Machine
	}
	counts, err := a.store().Counts(a.ctx)
	if err != nil {
		return nil, err
	}
	releases, err := a.store().Releases(a.ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range releases {
		names = append(names, releaseName(r.Bundle, r.Revision, r.Trial))
	}
	return tree(look.Document{"machines": list, "next": next, "counts": counts, "kinds": kindRows(counts.Open), "teams": namesOf(counts.Teams), "releases": names})
}

func releaseName(bundle, revision string, trial bool) string {
	name := bundle + "@" + revision
	if trial {
		name = "trial:" + name
	}
	return name
}

// machine is one machine.
func (a *ask) machine() (look.Document, error) {
	m, err := a.store().Machine(a.ctx, a.name)
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", a.name, err)
	}
	findings, err := a.store().Findings(a.ctx, store.FindingQuery{Machine: a.name, Closed: true, Limit: 100})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(findings, func(x, y store.Finding) int { return cmp.Compare(open(x), open(y)) })
	chains, err := a.store().Chains(a.ctx, a.name)
	if err != nil {
		return nil, err
	}
	sendings, err := a.store().Sendings(a.ctx, a.name, 10)
	if err != nil {
		return nil, err
	}
	span, days, err := a.span(usualDays)
	if err != nil {
		return nil, err
	}
	hours, err := a.store().MachineHours(a.ctx, a.name, span)
	if err != nil {
		return nil, err
	}
	doc := look.Document{"machine": m, "findings": findings, "chains": chains, "sendings": sendings, "per_day": daysOfHours(hours, span), "days": days}
	if a.person.Role >= collect.Reviewer {
		status, err := a.lastStatus()
		if err != nil {
			return nil, err
		}
		if status != nil {
			doc["status"] = status
		}
	}
	return tree(doc)
}

func open(f store.Finding) int {
	if f.Closed.IsZero() {
		return 0
	}
	return 1
}

// looks are who looked at what, the latest first.
func (a *ask) looks() (look.Document, error) {
	before, err := a.number("before")
	if err != nil {
		return nil, err
	}
	const page = 200
	list, err := a.store().Looks(a.ctx, before, page+1)
	if err != nil {
		return nil, err
	}
	next := int64(0)
	if len(list) > page {
		list = list[:page]
		next = list[page-1].ID
	}
	return tree(look.Document{"looks": list, "next": next})
}

// spell is a time in words: whole days or hours where it is some.
func spell(d time.Duration) string {
	switch {
	case d%(24*time.Hour) == 0 && d > 24*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d%time.Hour == 0 && d > time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return d.String()
}
