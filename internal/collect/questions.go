package collect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/collect/store"
	"gate/internal/sealed"
)

// personRoutes are those that people and their programs ask.
func (s *Server) personRoutes() {
	for _, route := range []struct {
		path   string
		role   Role
		answer func(ctx context.Context, q *query) (any, error)
	}{
		{"/v1/counts", Reader, s.counts},
		{"/v1/machines", Reader, s.machines},
		{"/v1/machines/{machine}", Reader, s.machine},
		{"/v1/findings", Reader, s.findings},
		{"/v1/figures", Reader, s.figures},
		{"/v1/releases", Reader, s.releases},
		{"/v1/asked", Reader, s.asked},
		{"/v1/latency", Reader, s.latency},
		{"/v1/trials", Reader, s.trials},
		{"/v1/days", Reader, s.days},
		{"/v1/looks", Administrator, s.looks},
		{"/v1/tokens", Administrator, s.tokens},
	} {
		s.Handle("GET "+route.path, route.role, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := &query{values: r.URL.Query(), machine: r.PathValue("machine"), now: s.now().UTC()}
			doc, err := route.answer(r.Context(), q)
			var bad badQuery
			switch {
			case errors.As(q.err, &bad):
				fail(w, http.StatusBadRequest, bad.Error())
			case err != nil:
				s.broken(w, r, err)
			default:
				answer(w, doc)
			}
		}))
	}
	s.Handle("GET /v1/records", Reviewer, http.HandlerFunc(s.records))
}

// A badQuery is a parameter that is no good.
type badQuery string

func (e badQuery) Error() string { return string(e) }

// A query is what stands behind the question mark. Its first error is kept.
type query struct {
	values  url.Values
	machine string // of the path
	now     time.Time
	err     error
}

func (q *query) bad(format string, args ...any) {
	if q.err == nil {
		q.err = badQuery(fmt.Sprintf(format, args...))
	}
}

func (q *query) text(name string) string { return q.values.Get(name) }

func (q *query) flag(name string) bool {
	switch v := q.values.Get(name); v {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	default:
		q.bad("%s: 1 or 0 is wanted", name)
		return false
	}
}

func (q *query) number(name string) int64 {
	v := q.values.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		q.bad("%s: a number is wanted", name)
	}
	return n
}

// span is from one moment to another one: the last 7 days, unless from and until say.
func (q *query) span() store.Span {
	p := store.Span{From: q.now.Add(-7 * 24 * time.Hour), Until: q.now}
	if t, given := q.time("until"); given {
		p.Until = t
		p.From = t.Add(-7 * 24 * time.Hour)
	}
	if t, given := q.time("from"); given {
		p.From = t
	}
	if !p.From.Before(p.Until) {
		q.bad("from is not before until")
	}
	return p
}

func (q *query) time(name string) (time.Time, bool) {
	v := q.values.Get(name)
	if v == "" {
		return time.Time{}, false
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, v); err == nil {
			if t.Year() < 1971 || t.Year() > 9000 {
				break
			}
			return t.UTC(), true
		}
	}
	q.bad("%s: a time such as 2026-11-28 or 2026-11-28T12:00:00Z is wanted", name)
	return time.Time{}, false
}

// list keeps an empty list a list.
func list[T any](name string, l []T, next any) map[string]any {
	if l == nil {
		l = []T{}
	}
	doc := map[string]any{name: l}
	if next != nil {
		doc["next"] = next
	}
	return doc
}

// usual is how many rows the store returns where nobody says.
const usual = 200

// more reports that there may be more rows than n, of those that were asked for.
func more(n, limit int) bool {
	if limit <= 0 {
		limit = usual
	}
	return n > 0 && n >= limit
}

func (s *Server) counts(ctx context.Context, _ *query) (any, error) { return s.store.Counts(ctx) }

func (s *Server) machines(ctx context.Context, q *query) (any, error) {
	want := store.MachineQuery{After: q.text("after"), Team: q.text("team"), Find: q.text("find"), Limit: int(q.number("limit"))}
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Machines(ctx, want)
	var next any
	if n := len(l); more(n, want.Limit) {
		next = l[n-1].Machine
	}
	return list("machines", l, next), err
}

func (s *Server) machine(ctx context.Context, q *query) (any, error) {
	m, err := s.store.Machine(ctx, q.machine)
	if err != nil {
		return nil, err
	}
	p := q.span()
	if q.err != nil {
		return nil, q.err
	}
	hours, err := s.store.MachineHours(ctx, q.machine, p)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Findings(ctx, store.FindingQuery{Machine: q.machine, Closed: q.flag("closed")})
	return map[string]any{"machine": m, "hours": hours, "findings": found}, err
}

func (s *Server) findings(ctx context.Context, q *query) (any, error) {
	want := store.FindingQuery{Kind: q.text("kind"), Machine: q.text("machine"), Team: q.text("team"), Closed: q.flag("closed"), Before: q.number("before"), Limit: int(q.number("limit"))}
	if want.Kind != "" && !slices.Contains(store.Kinds(), want.Kind) {
		q.bad("kind: there are %s", strings.Join(store.Kinds(), ", "))
	}
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Findings(ctx, want)
	var next any
	if n := len(l); more(n, want.Limit) {
		next = l[n-1].ID
	}
	return list("findings", l, next), err
}

func (s *Server) figures(ctx context.Context, q *query) (any, error) {
	want := store.Figures{Span: q.span(), Day: q.flag("day"), Policy: q.text("policy"), Team: q.text("team"), Tool: q.text("tool"), Effect: q.text("effect"), Would: q.text("would"), Limit: int(q.number("limit"))}
	for by := range strings.SplitSeq(q.text("by"), ",") {
		if by == "" {
			continue
		}
		if !slices.Contains(store.FigureColumns(), by) {
			q.bad("by: there are %s", strings.Join(store.FigureColumns(), ", "))
		}
		want.By = append(want.By, by)
	}
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Figures(ctx, want)
	return list("figures", l, nil), err
}

// releases tells which machine has what, and how far the channel is rolled out.
func (s *Server) releases(ctx context.Context, _ *query) (any, error) {
	l, err := s.store.Releases(ctx)
	if err != nil {
		return nil, err
	}
	doc := list("releases", l, nil)
	if s.channel == nil {
		return doc, nil
	}
	data, err := s.channel()
	if err != nil {
		doc["channel_error"] = "the channel could not be read"
		s.log.Warn("the channel could not be read", "error", err)
		return doc, nil
	}
	c, _, err := sealed.ParseChannel(data)
	if err != nil {
		doc["channel_error"] = err.Error()
		return doc, nil
	}
	rollout, err := Rollout(ctx, s.store, c)
	doc["channel"] = map[string]any{"version": c.Version, "rollout": rollout}
	return doc, err
}

// A Rolled is how many machines have the release, or the trial, that a channel wants
// them to have.
type Rolled struct {
	Bundle string `json:"bundle"`
	Digest string `json:"digest"`
	Trial  bool   `json:"trial,omitempty"`
	Wanted int    `json:"wanted"` // machines that the channel wants it on
	There  int    `json:"there"`  // of these, on which it is in force
}

// Rollout holds what machines say that they have against a channel. Labels are those of
// their enrolment.
func Rollout(ctx context.Context, st *store.Store, c sealed.Channel) ([]Rolled, error) {
	type key struct {
		bundle, digest string
		trial          bool
	}
	counts := map[key]*Rolled{}
	var order []key
	count := func(k key, there bool) {
		if k.digest == "" {
			return
		}
		if counts[k] == nil {
			counts[k] = &Rolled{Bundle: k.bundle, Digest: k.digest, Trial: k.trial}
			order = append(order, k)
		}
		counts[k].Wanted++
		if there {
			counts[k].There++
		}
	}
	for after := ""; ; {
		machines, err := st.Machines(ctx, store.MachineQuery{After: after, Limit: 1000})
		if err != nil {
			return nil, err
		}
		for i := range machines {
			m := &machines[i]
			for _, name := range c.Names() {
				release, trial := c.For(name, m.Machine, m.Labels)
				has := func(digest string, trial bool) bool {
					return slices.ContainsFunc(m.Releases, func(r store.MachineRelease) bool {
						return r.Bundle == name && r.Trial == trial && r.Digest == digest
					})
				}
				count(key{name, release, false}, has(release, false))
				count(key{name, trial, true}, has(trial, true))
			}
			after = m.Machine
		}
		if len(machines) < 1000 {
			break
		}
	}
	out := []Rolled{}
	for _, k := range order {
		out = append(out, *counts[k])
	}
	slices.SortStableFunc(out, func(a, b Rolled) int { return strings.Compare(a.Bundle, b.Bundle) })
	return out, nil
}

func (s *Server) asked(ctx context.Context, q *query) (any, error) {
	p, policy, least, limit := q.span(), q.text("policy"), q.number("least"), int(q.number("limit"))
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Asked(ctx, p, policy, least, limit)
	return list("asked", l, nil), err
}

func (s *Server) latency(ctx context.Context, q *query) (any, error) {
	p, by, teams := q.span(), q.text("by"), q.flag("teams")
	if by != "" && by != "hour" && by != "day" {
		q.bad("by: hour or day is wanted")
	}
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Latencies(ctx, p, by, teams)
	return list("latency", l, nil), err
}

// trials tells who would be stopped. What calls were is for those who may see records.
func (s *Server) trials(ctx context.Context, q *query) (any, error) {
	p := q.span()
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Trials(ctx, p)
	if PersonOf(ctx).Role < Reviewer {
		for i := range l {
			for j := range l[i].Calls {
				c := &l[i].Calls[j]
				c.Near.Text = ""
				for k := range c.Nearest {
					c.Nearest[k].Text = ""
				}
			}
		}
	}
	return list("trials", l, nil), err
}

func (s *Server) days(ctx context.Context, _ *query) (any, error) {
	l, err := s.store.Days(ctx)
	return list("days", l, nil), err
}

func (s *Server) looks(ctx context.Context, q *query) (any, error) {
	before, limit := q.number("before"), int(q.number("limit"))
	if q.err != nil {
		return nil, q.err
	}
	l, err := s.store.Looks(ctx, before, limit)
	var next any
	if n := len(l); more(n, limit) {
		next = l[n-1].ID
	}
	return list("looks", l, next), err
}

func (s *Server) tokens(ctx context.Context, _ *query) (any, error) {
	l, err := s.store.Tokens(ctx)
	return list("tokens", l, nil), err
}

// mostRecords is how many records one answer has at most; the rest is asked for with
// after.
const mostRecords = 100_000

// records writes the records of a day, one a line, in the order of their keys. The last
// line has next, the cursor of the rest, or is {"end":true}: an answer without such a
// line broke off.
func (s *Server) records(w http.ResponseWriter, r *http.Request) {
	q := &query{values: r.URL.Query(), now: s.now()}
	day := q.text("day")
	if t, err := time.Parse(time.DateOnly, day); day != store.OddDay && (err != nil || t.Format(time.DateOnly) != day) {
		q.bad("day: a day such as 2026-11-28 is wanted")
	}
	want := store.RecordQuery{Day: day, Machine: q.text("machine"), Limit: int(min(q.number("limit"), mostRecords))}
	if after := q.text("after"); after != "" {
		key, err := ParseCursor(day, after)
		if err != nil {
			q.bad("after: %s", err)
		}
		want.After = key
	}
	if q.err != nil {
		fail(w, http.StatusBadRequest, q.err.Error())
		return
	}
	if want.Limit == 0 {
		want.Limit = mostRecords
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := bufio.NewWriterSize(w, 64<<10)
	n, last := 0, store.Key{}
	for record, err := range s.store.Records(r.Context(), want) {
		if err != nil {
			s.log.Error("records could not be read", "day", day, "error", err)
			if n == 0 {
				s.broken(w, r, err)
				return
			}
			panic(http.ErrAbortHandler) // the answer has no end: that must show
		}
		line, err := json.Marshal(Line{Machine: record.Machine, Team: record.Team, Received: record.Received, Record: record.Body})
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out.Write(line)
		out.WriteByte('\n')
		n, last = n+1, record.Key
	}
	end, _ := json.Marshal(End{End: n < want.Limit})
	if n == want.Limit {
		end, _ = json.Marshal(End{Next: Cursor(last)})
	}
	out.Write(append(end, '\n'))
	out.Flush()
}

// A Line is a record among others of /v1/records and of gate collect export.
type Line struct {
	Machine  string          `json:"machine"`
	Team     string          `json:"team,omitempty"`
	Received time.Time       `json:"received"`
	Record   json.RawMessage `json:"record"` // as the machine sent it
}

// An End is the last line of records.
type End struct {
	End  bool   `json:"end,omitempty"`  // there are no more
	Next string `json:"next,omitempty"` // the cursor of the rest
}

// Cursor is the text of a key, as /v1/records takes it in after.
func Cursor(k store.Key) string {
	return fmt.Sprintf("%s.%s.%d", k.Machine, url.QueryEscape(k.Log), k.Seq)
}

// ParseCursor reads it.
func ParseCursor(day, text string) (store.Key, error) {
	machine, rest, ok := strings.Cut(text, ".")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 {
		return store.Key{}, errors.New("the next of a page before is wanted")
	}
	log, err := url.QueryUnescape(rest[:i])
	seq, bad := strconv.ParseInt(rest[i+1:], 10, 64)
	if err != nil || bad != nil {
		return store.Key{}, errors.New("the next of a page before is wanted")
	}
	return store.Key{Day: day, Machine: machine, Log: log, Seq: seq}, nil
}
