package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// hourOf is how hours are stored, and hourTime when one begins.
func hourOf(t time.Time) int64         { return t.Unix() / 3600 }
func hourTime(hour int64) time.Time    { return time.Unix(hour*3600, 0).UTC() }
func dayOf(t time.Time) string         { return t.UTC().Format(time.DateOnly) }
func dayTime(day string) time.Time     { t, _ := time.Parse(time.DateOnly, day); return t }
func (p Span) hours() (from, to int64) { return hourOf(p.From), hourOf(p.Until.Add(time.Hour - 1)) }

// days are the days of a span, the second of which is behind it.
func (p Span) days() (from, to string) {
	return dayOf(p.From), dayOf(p.Until.Add(24*time.Hour - 1))
}

// mostRows is the most that one answer has.
const mostRows = 10_000

// A filter is a column that has to have a value, "" and "*" for any.
type filter struct{ column, value string }

// Figures returns numbers of calls, in the order of By. A span that is no whole number of
// hours, or with Day of days, counts the whole of those that it touches.
func (s *Store) Figures(ctx context.Context, q Figures) ([]Figure, error) {
	table, at := "calls_hour", "hour"
	if q.Day {
		table, at = "calls_day", "day"
	}
	var by []string
	for _, name := range q.By {
		if !slices.Contains(FigureColumns(), name) {
			return nil, fmt.Errorf("figures are told apart by %s, and not by %q", strings.Join(FigureColumns(), ", "), name)
		}
		if name == "time" {
			name = at
		}
		if !slices.Contains(by, name) {
			by = append(by, name)
		}
	}
	w := &where{}
	if q.Day {
		from, to := q.days()
		w.add("day >= ?", from).add("day < ?", to)
	} else {
		from, to := q.hours()
		w.add("hour >= ?", from).add("hour < ?", to)
	}
	others := []filter{{"effect", q.Effect}, {"would", q.Would}}
	if q.ofSums(w) {
		table = "sums_day"
	} else {
		if q.Policy == "*" {
			w.add("policy <> ''")
		} else {
			w.add("policy = ?", q.Policy)
		}
		others = append(others, filter{"team", q.Team}, filter{"tool", q.Tool})
	}
	for _, f := range others {
		switch {
		case f.value == "*" && f.column == "would":
			w.add("would <> ''")
		case f.value != "" && f.value != "*":
			w.add(f.column+" = ?", f.value)
		}
	}
	text := "SELECT " + strings.Join(append(slices.Clone(by), "SUM(n)", "SUM(approved)"), ", ") + " FROM " + table + w.text()
	if len(by) > 0 {
		list := strings.Join(by, ", ")
		text += " GROUP BY " + list + " ORDER BY " + list
	}
	limit := q.Limit
	if limit <= 0 || limit > mostRows {
		limit = mostRows
	}
	text += fmt.Sprintf(" LIMIT %d", limit)
	return all(ctx, s, text, w.args, func(rows *sql.Rows) (f Figure, err error) {
		var hour int64
		var day string
		var n, approved sql.NullInt64
		places := map[string]any{"hour": &hour, "day": &day, "policy": &f.Policy, "team": &f.Team, "agent": &f.Agent, "tool": &f.Tool, "effect": &f.Effect, "would": &f.Would, "spared": &f.Spared}
		var into []any
		for _, name := range by {
			into = append(into, places[name])
		}
		err = rows.Scan(append(into, &n, &approved)...)
		f.N, f.Approved = n.Int64, approved.Int64
		switch {
		case hour != 0:
			f.Time = hourTime(hour)
		case day != "":
			f.Time = dayTime(day)
		}
		return f, err
	})
}

// Asked returns what policies ask about most, those first that were always approved: what
// could be let through. A group is asked about at least least times.
func (s *Store) Asked(ctx context.Context, p Span, policy string, least int64, limit int) ([]Asked, error) {
	from, to := p.days()
	w := new(where).add("day >= ?", from).add("day < ?", to)
	if policy != "" {
		w.add("policy = ?", policy)
	}
	text := fmt.Sprintf(`SELECT policy, tool, effects, SUM(asked), SUM(approved), COUNT(*) FROM asked_day%s
GROUP BY policy, tool, effects HAVING SUM(asked) >= ?
ORDER BY CASE WHEN SUM(asked) <= SUM(approved) THEN 0 ELSE 1 END, SUM(asked) DESC, policy, tool, effects LIMIT %d`, w.text(), bounded(limit, 50))
	return all(ctx, s, text, append(w.args, max(least, 1)), func(rows *sql.Rows) (a Asked, err error) {
		var effects string
		err = rows.Scan(&a.Policy, &a.Tool, &effects, &a.Asked, &a.Approved, &a.Days)
		a.Effects = strings.Fields(effects)
		return a, err
	})
}

// Latencies returns how long gate took and agents waited, by "hour", "day" or, with
// "", in all, and with byTeam of each team by itself.
func (s *Store) Latencies(ctx context.Context, p Span, by string, byTeam bool) ([]Latency, error) {
	team := sum
	if byTeam {
		team = ""
	}
	return s.latencies(ctx, p, by, team)
}

// TeamLatencies returns those of one team.
func (s *Store) TeamLatencies(ctx context.Context, p Span, by, team string) ([]Latency, error) {
	return s.latencies(ctx, p, by, plainName(team))
}

// latencies are those of a team, with "" of each by itself, and with sum of all together.
func (s *Store) latencies(ctx context.Context, p Span, by, of string) ([]Latency, error) {
	table, at := "latency_hour", "0"
	switch by {
	case "hour":
		at = "hour"
	case "day":
		table, at = "latency_day", "hour"
	case "":
	default:
		return nil, fmt.Errorf("latencies are told apart by hour or day, and not by %q", by)
	}
	from, to := p.hours()
	if by == "day" {
		from -= from % 24
	}
	w := new(where).add("hour >= ?", from).add("hour < ?", to)
	who := "team"
	switch {
	case of == "":
		w.add("team <> ?", sum)
	case of != sum:
		w.add("team = ?", of)
	case by == "day":
		w.add("team = ?", sum)
		who = "''"
	default:
		who = "''"
	}
	text := fmt.Sprintf(`SELECT kind, %s AS slot, %s AS who, bucket, SUM(n) FROM %s%s GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`, at, who, table, w.text())
	type bar struct {
		kind, team string
		hour       int64
		bucket, n  int64
	}
	bars, err := all(ctx, s, text, w.args, func(rows *sql.Rows) (b bar, err error) {
		return b, rows.Scan(&b.kind, &b.hour, &b.team, &b.bucket, &b.n)
	})
	if err != nil {
		return nil, err
	}
	var out []Latency
	for len(bars) > 0 {
		n := 1
		for n < len(bars) && bars[n].kind == bars[0].kind && bars[n].hour == bars[0].hour && bars[n].team == bars[0].team {
			n++
		}
		l := Latency{Kind: bars[0].kind, Team: bars[0].team}
		if by != "" {
			l.Time = hourTime(bars[0].hour)
		}
		for _, b := range bars[:n] {
			l.N += b.n
		}
		for _, want := range []struct {
			part float64
			into *time.Duration
		}{{0.5, &l.P50}, {0.9, &l.P90}, {0.99, &l.P99}} {
			rank, below := int64(math.Ceil(want.part*float64(l.N))), int64(0)
			for _, b := range bars[:n] {
				if below += b.n; below >= rank {
					*want.into = bucketEnd(b.bucket)
					break
				}
			}
		}
		out = append(out, l)
		bars = bars[n:]
	}
	return out, nil
}

// Durations are counted in buckets, each of which ends a tenth above the one before.
const bucketStep = 1.1

// bucketOf is the bucket of a duration in nanoseconds; those below 10 µs share one.
func bucketOf(ns int64) int64 {
	if ns <= 10_000 {
		return 0
	}
	return int64(math.Ceil(math.Log(float64(ns)/10_000) / math.Log(bucketStep)))
}

func bucketEnd(bucket int64) time.Duration {
	return time.Duration(10_000 * math.Pow(bucketStep, float64(bucket)))
}

// MachineHours returns the calls of one machine by hour.
func (s *Store) MachineHours(ctx context.Context, machine string, p Span) ([]MachineHour, error) {
	from, to := p.hours()
	return all(ctx, s, `SELECT hour, calls, asked, denied, faults FROM machines_hour WHERE machine = ? AND hour >= ? AND hour < ? ORDER BY hour`,
		[]any{machine, from, to}, func(rows *sql.Rows) (m MachineHour, err error) {
			var hour int64
			err = rows.Scan(&hour, &m.Calls, &m.Asked, &m.Denied, &m.Faults)
			m.Time = hourTime(hour)
			return m, err
		})
}

// A MachineHour is what one machine's agents did in an hour.
type MachineHour struct {
	Time   time.Time `json:"time"`
	Calls  int64     `json:"calls"`
	Asked  int64     `json:"asked"`
	Denied int64     `json:"denied"`
	Faults int64     `json:"faults"` // of all events, not only of calls
}

// where is a condition that grows.
type where struct {
	terms []string
	args  []any
}

func (w *where) add(term string, args ...any) *where {
	w.terms, w.args = append(w.terms, term), append(w.args, args...)
	return w
}

func (w *where) text() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.terms, " AND ")
}

// all runs a query and reads all of its rows.
func all[T any](ctx context.Context, s *Store, text string, args []any, read func(*sql.Rows) (T, error)) ([]T, error) {
	return allOf(ctx, s.db, s.q(text), args, read)
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

func allOf[T any](ctx context.Context, db querier, text string, args []any, read func(*sql.Rows) (T, error)) (out []T, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := read(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

func bounded(limit, usual int) int {
	if limit <= 0 {
		return usual
	}
	return min(limit, mostRows)
}

// FigureColumns are what [Figures] may be told apart by.
func FigureColumns() []string {
	return []string{"time", "policy", "team", "agent", "tool", "effect", "would", "spared"}
}
