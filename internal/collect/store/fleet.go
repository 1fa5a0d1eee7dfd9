package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// SilentAfter is how long a machine is not heard of before it is silent.
func (s *Store) SilentAfter() time.Duration { return s.silent }

// A Chain is how far a log of a machine is held.
type Chain struct {
	Log      string    `json:"log"`
	Account  string    `json:"account,omitempty"` // a pseudonym
	Seq      int64     `json:"seq"`               // of the last record that came
	At       time.Time `json:"at,omitzero"`       // its time
	Received time.Time `json:"received,omitzero"` // when it came
	Head     int64     `json:"head,omitempty"`    // of the last record that the machine says it has
}

// Chains returns those of a machine, the one that was last added to first; 200 at most.
func (s *Store) Chains(ctx context.Context, machine string) ([]Chain, error) {
	return all(ctx, s, `SELECT log, account, seq, at, received, head FROM chains WHERE machine = ? ORDER BY received DESC, log LIMIT 200`, []any{machine}, func(rows *sql.Rows) (c Chain, err error) {
		var at, received int64
		err = rows.Scan(&c.Log, &c.Account, &c.Seq, &at, &received, &c.Head)
		c.At, c.Received = fromMicros(at), fromMicros(received)
		return c, err
	})
}

// A StatusDocument is one that a machine sent.
type StatusDocument struct {
	Seq      int64
	Received time.Time
	Body     []byte // JSON
}

// LastStatus returns the last one of a machine; [ErrNotFound] where none is kept.
func (s *Store) LastStatus(ctx context.Context, machine string) (StatusDocument, error) {
	list, err := all(ctx, s, `SELECT seq, received, body FROM statuses WHERE machine = ? ORDER BY seq DESC LIMIT 1`, []any{machine}, func(rows *sql.Rows) (d StatusDocument, err error) {
		var received int64
		var body []byte
		if err := rows.Scan(&d.Seq, &received, &body); err != nil {
			return d, err
		}
		d.Received = fromMicros(received)
		d.Body, err = unpack(body)
		return d, err
	})
	if err != nil || len(list) == 0 {
		return StatusDocument{}, orNotFound(err)
	}
	return list[0], nil
}

// A Sending is what came of a machine at one time.
type Sending struct {
	Received time.Time `json:"received"`
	Records  int64     `json:"records"`
	First    time.Time `json:"first"` // the time of the oldest record
	Last     time.Time `json:"last"`
}

// Sendings returns the latest ones of a machine, the latest first. It looks at the
// records of the day of the latest record and of the day before.
func (s *Store) Sendings(ctx context.Context, machine string, limit int) ([]Sending, error) {
	var last int64
	if err := s.db.QueryRowContext(ctx, s.q(`SELECT last_record FROM machines WHERE machine = ?`), machine).Scan(&last); err != nil {
		return nil, orNotFound(err)
	}
	to := fromMicros(last)
	return all(ctx, s, fmt.Sprintf(`SELECT received, COUNT(*), MIN(at), MAX(at) FROM records WHERE day IN (?, ?) AND machine = ? GROUP BY received ORDER BY received DESC LIMIT %d`, bounded(limit, 10)),
		[]any{dayOf(to), dayOf(to.AddDate(0, 0, -1)), machine}, func(rows *sql.Rows) (b Sending, err error) {
			var received, first, last int64
			err = rows.Scan(&received, &b.Records, &first, &last)
			b.Received, b.First, b.Last = fromMicros(received), fromMicros(first), fromMicros(last)
			return b, err
		})
}

// Faults are how many decisions of a time had a hook that could not answer.
type Faults struct {
	Time     time.Time `json:"time,omitzero"`     // when the day begins
	Machine  string    `json:"machine,omitempty"` // where machines are told apart
	Host     string    `json:"host,omitempty"`
	Team     string    `json:"team,omitempty"`
	Faults   int64     `json:"faults"`
	Machines int64     `json:"machines"` // that had any
}

// FaultsByDay returns them by day in UTC.
func (s *Store) FaultsByDay(ctx context.Context, p Span) ([]Faults, error) {
	from, to := p.hours()
	return all(ctx, s, `SELECT hour - hour % 24, SUM(faults), COUNT(DISTINCT machine) FROM machines_hour WHERE faults > 0 AND hour >= ? AND hour < ? GROUP BY 1 ORDER BY 1`, []any{from, to},
		func(rows *sql.Rows) (f Faults, err error) {
			var hour int64
			err = rows.Scan(&hour, &f.Faults, &f.Machines)
			f.Time = hourTime(hour)
			return f, err
		})
}

// FaultsByMachine returns those of the machines that have most.
func (s *Store) FaultsByMachine(ctx context.Context, p Span, limit int) ([]Faults, error) {
	from, to := p.hours()
	return all(ctx, s, fmt.Sprintf(`SELECT h.machine, COALESCE(m.host, ''), COALESCE(m.team, ''), h.n FROM
	(SELECT machine, SUM(faults) AS n FROM machines_hour WHERE faults > 0 AND hour >= ? AND hour < ? GROUP BY machine ORDER BY n DESC, machine LIMIT %d) h
	LEFT JOIN machines m ON m.machine = h.machine ORDER BY h.n DESC, h.machine`, bounded(limit, 20)), []any{from, to}, func(rows *sql.Rows) (f Faults, err error) {
		f.Machines = 1
		return f, rows.Scan(&f.Machine, &f.Host, &f.Team, &f.Faults)
	})
}
