package store

import (
	"context"
	"database/sql"
	"fmt"
)

// FindingQuery asks for findings, the latest first.
type FindingQuery struct {
	Kind    string // "": all
	Machine string
	Team    string
	Closed  bool  // those that are closed, too
	Before  int64 // the ID of the last one of the page before; 0: from the latest on
	Limit   int   // default 200
}

// Findings returns them.
func (s *Store) Findings(ctx context.Context, q FindingQuery) ([]Finding, error) {
	w := &where{}
	if !q.Closed {
		w.add("f.closed = 0")
	}
	if q.Before > 0 {
		w.add("f.id < ?", q.Before)
	}
	for _, c := range []struct{ column, value string }{{"f.kind", q.Kind}, {"f.machine", q.Machine}, {"m.team", q.Team}} {
		if c.value != "" {
			w.add(c.column+" = ?", c.value)
		}
	}
	return all(ctx, s, fmt.Sprintf(`SELECT f.id, f.kind, f.machine, COALESCE(m.host, ''), COALESCE(m.team, ''), f.log, f.first, f.last, f.detail, f.times, f.opened, f.seen, f.closed, f.closed_by
FROM findings f LEFT JOIN machines m ON m.machine = f.machine%s ORDER BY f.id DESC LIMIT %d`, w.text(), bounded(q.Limit, 200)), w.args, func(rows *sql.Rows) (f Finding, err error) {
		var opened, seen, closed int64
		err = rows.Scan(&f.ID, &f.Kind, &f.Machine, &f.Host, &f.Team, &f.Log, &f.First, &f.Last, &f.Detail, &f.Times, &opened, &seen, &closed, &f.ClosedBy)
		f.Opened, f.Seen, f.Closed = fromMicros(opened), fromMicros(seen), fromMicros(closed)
		return f, err
	})
}

// CloseFinding closes one by hand; [ErrNotFound] where it is not open.
func (s *Store) CloseFinding(ctx context.Context, id int64, by string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, s.q(`UPDATE findings SET closed = ?, closed_by = ? WHERE id = ? AND closed = 0`), micros(s.now()), clip(by), id))
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}
