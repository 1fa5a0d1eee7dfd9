package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gate/internal/fleet"
)

func contains(body []byte, text string) bool { return text != "" && bytes.Contains(body, []byte(text)) }

// Rebuild makes the figures of all days anew out of the records and counters that are
// kept. Figures of days of which something was dropped stay as they are. No collector may
// write meanwhile: it holds the database for as long as it takes.
func (s *Store) Rebuild(ctx context.Context) (records int64, err error) {
	err = s.sql.alone(ctx, s.db, func(tx *sql.Tx) error {
		records = 0
		t := &txn{s: s, tx: tx, now: s.now().UTC(), figures: newFigures()}
		if err := s.sql.still(ctx, tx); err != nil {
			return err
		}
		dropped, _, err := t.forgotten(ctx)
		if err != nil {
			return err
		}
		kept := slices.Sorted(maps.Keys(dropped))
		for _, table := range []struct{ name, day string }{{"calls_day", "day"}, {"sums_day", "day"}, {"asked_day", "day"}, {"calls_hour", s.sql.dayOfHour()}, {"machines_hour", s.sql.dayOfHour()}, {"latency_hour", s.sql.dayOfHour()}, {"latency_day", s.sql.dayOfHour()}} {
			text, args := "DELETE FROM "+table.name, []any{}
			if len(kept) > 0 {
				text += " WHERE " + table.day + " NOT IN (?" + strings.Repeat(", ?", len(kept)-1) + ")"
				for _, day := range kept {
					args = append(args, day)
				}
			}
			if err := t.exec(ctx, text, args...); err != nil {
				return err
			}
		}
		r := &rebuilder{txn: t, dropped: dropped, asks: map[string]*question{}}
		if err := r.days(ctx); err != nil {
			return err
		}
		records = r.records
		return r.counted(ctx)
	})
	return records, err
}

// A rebuilder goes through all records.
type rebuilder struct {
	*txn
	dropped map[string]map[fleet.Level]bool
	asks    map[string]*question // by machine, log and call
	records int64
}

// A question is about a call.
type question struct {
	asked *Record
	ran   bool
}

func (r *rebuilder) days(ctx context.Context) error {
	days, err := allOf(ctx, r.tx, `SELECT DISTINCT day FROM days WHERE records > 0 ORDER BY day`, nil, func(rows *sql.Rows) (day string, err error) { return day, rows.Scan(&day) })
	if err != nil {
		return err
	}
	for _, day := range days {
		for after := (Key{}); ; {
			list, err := r.s.recordPage(ctx, r.tx, RecordQuery{Day: day}, after, page)
			if err != nil {
				return err
			}
			for _, row := range list {
				whole, err := row.Whole()
				if err != nil {
					return err
				}
				r.record(whole)
				after = row.Key
			}
			if len(list) < page {
				break
			}
		}
		maps.DeleteFunc(r.asks, func(_ string, q *question) bool {
			return day != OddDay && dayTime(day).Sub(q.asked.At) > 2*maxWaitForRun
		})
		if err := r.flush(ctx); err != nil {
			return err
		}
		r.figures = newFigures()
	}
	return nil
}

func (r *rebuilder) record(one *Record) {
	r.records++
	skip := len(r.dropped[dayOf(hourTime(one.hour()))]) > 0
	if !skip {
		r.figures.add(one)
	}
	name := one.Machine + " " + one.Log + " " + one.Call
	switch {
	case one.Call == "" || one.Approved:
	case one.Calls() && one.Effect == "ask":
		if r.asks[name] == nil && !skip {
			r.asks[name] = &question{asked: one}
		}
	case one.ran():
		if q := r.asks[name]; q != nil && !q.ran && q.asked.Seq < one.Seq && one.At.Sub(q.asked.At) <= maxWaitForRun {
			r.figures.approve(q.asked)
			q.ran = true
		}
	}
}

// counted takes in what machines counted themselves.
func (r *rebuilder) counted(ctx context.Context) error {
	type one struct {
		machine, team string
		received      int64
		hours         []fleet.Hour
	}
	list, err := allOf(ctx, r.tx, `SELECT machine, team, received, body FROM counted`, nil, func(rows *sql.Rows) (c one, err error) {
		var body []byte
		if err := rows.Scan(&c.machine, &c.team, &c.received, &body); err != nil {
			return c, err
		}
		if body, err = unpack(body); err != nil {
			return c, err
		}
		return c, json.Unmarshal(body, &c.hours)
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		received := fromMicros(c.received)
		kept := slices.DeleteFunc(c.hours, func(h fleet.Hour) bool {
			hour := hourOf(h.Hour)
			if r.s.dayFor(h.Hour, received) == OddDay {
				hour = hourOf(received)
			}
			return len(r.dropped[dayOf(hourTime(hour))]) > 0
		})
		r.s.count(r.figures, c.machine, c.team, received, kept)
	}
	return r.flush(ctx)
}
