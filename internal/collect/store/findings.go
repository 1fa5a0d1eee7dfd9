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

// Kinds of findings. Those that a machine's own state opens close by themselves when it
// is over; those about what stands in a chain stay until a person closes them.
const (
	Gap          = "gap"           // records of a chain are missing; closes when they come
	Lost         = "lost"          // the machine says that it has them no more; stays
	Changed      = "changed"       // a record is not the one that the next one was written behind; stays
	Twice        = "twice"         // a record was sent with two contents, both of which are kept; stays
	Anew         = "anew"          // a log was deleted and begun again; stays
	Gone         = "gone"          // a log that was sent holds nothing any more; stays
	Shorter      = "shorter"       // a log ends before what was sent of it; stays
	Unread       = "unread"        // root could not read the log of an account; stays
	OtherAccount = "other_account" // a record in a log is of another account than the log; stays
	OddTime      = "odd_time"      // a record's time is days ahead, or longer ago than records are kept; stays
	TimeBack     = "time_back"     // a record is more than 5 minutes older than the one before; stays
	Skew         = "skew"          // the machine's clock is more than 5 minutes off; closes
	Ahead        = "ahead"         // a log has records that did not come since the status before; closes
	Behind       = "behind"        // a log ends before what came of it; stays
	HeadGone     = "head_gone"     // a log of which records came is not among the machine's any more; closes
	StatusBack   = "status_back"   // a status with a number that was there already; stays
	Unknown      = "unknown"       // requests in the name of a machine that is not enrolled; closes when it is
	BadSignature = "bad_signature" // requests in a machine's name that its key did not sign; stays
	Silent       = "silent"        // enrolled, and not heard of; closes
	NotEnrolled  = "not_enrolled"  // expected, and not enrolled; closes
	Unlisted     = "unlisted"      // enrolled, and on no list, where there is one; closes
	Weaker       = "weaker"        // a setting is weaker than a bundle wants it; closes
	Hook         = "hook"          // an agent's hook is missing, or another program's; closes
	NoRecords    = "no_records"    // an agent ran, and gate wrote no record of it; closes
	NotSynced    = "not_synced"    // a bundle could not be fetched, or was refused; closes
	NotSent      = "not_sent"      // records could not be sent; closes
	Doctor       = "doctor"        // an error that gate doctor found on the machine; closes
)

// Kinds returns them all.
func Kinds() []string {
	return []string{Gap, Lost, Changed, Twice, Anew, Gone, Shorter, Unread, OtherAccount, OddTime, TimeBack, Skew, Ahead, Behind, HeadGone, StatusBack, Unknown, BadSignature,
		Silent, NotEnrolled, Unlisted, Weaker, Hook, NoRecords, NotSynced, NotSent, Doctor}
}

// maxOpen is how many findings of a kind a machine has by themselves. More are counted
// in one, so that nobody can fill the store with them.
const maxOpen = 50

// collective is the Log of the finding that stands for more.
const collective = "*"

// open opens a finding, or counts it once more where it is open.
func (t *txn) open(ctx context.Context, f Finding) error {
	n, err := t.touch(ctx, f, 1)
	if err != nil || n > 0 {
		return err
	}
	var there int
	if err := t.tx.QueryRowContext(ctx, t.s.q(`SELECT COUNT(*) FROM findings WHERE machine = ? AND kind = ? AND closed = 0`), f.Machine, f.Kind).Scan(&there); err != nil {
		return err
	}
	if there >= maxOpen {
		f.Log, f.First, f.Last, f.Detail = collective, 0, 0, "more of them than are listed; the last: "+f.Detail
		if n, err := t.touch(ctx, f, 1); err != nil || n > 0 {
			return err
		}
	}
	t.opened++
	return t.exec(ctx, `INSERT INTO findings (kind, machine, log, first, last, detail, times, opened, seen) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)
ON CONFLICT (machine, kind, log, first) WHERE closed = 0 DO UPDATE SET times = findings.times + 1, seen = excluded.seen`,
		f.Kind, f.Machine, clip(f.Log), f.First, f.Last, clip(f.Detail), micros(t.now), micros(t.now))
}

func (t *txn) touch(ctx context.Context, f Finding, times int) (int64, error) {
	return affected(t.tx.ExecContext(ctx, t.s.q(`UPDATE findings SET last = ?, detail = ?, seen = ?, times = times + ? WHERE machine = ? AND kind = ? AND log = ? AND first = ? AND closed = 0`),
		f.Last, clip(f.Detail), micros(t.now), times, f.Machine, f.Kind, clip(f.Log), f.First))
}

// state opens a finding of which there is one for each machine and log, or says anew
// what it is about.
func (t *txn) state(ctx context.Context, f Finding) error {
	n, err := affected(t.tx.ExecContext(ctx, t.s.q(`UPDATE findings SET first = ?, last = ?, detail = ?, seen = ? WHERE machine = ? AND kind = ? AND log = ? AND closed = 0`),
		f.First, f.Last, clip(f.Detail), micros(t.now), f.Machine, f.Kind, clip(f.Log)))
	if err != nil || n > 0 {
		return err
	}
	return t.open(ctx, f)
}

// states has findings of a kind open for these logs of a machine, and for no others.
func (t *txn) states(ctx context.Context, machine, kind string, now []Finding) error {
	keep := map[string]bool{}
	for _, f := range now {
		f.Machine, f.Kind = machine, kind
		if err := t.state(ctx, f); err != nil {
			return err
		}
		keep[clip(f.Log)] = true
	}
	if len(now) > maxOpen {
		keep[collective] = true
	}
	there, err := allOf(ctx, t.tx, t.s.q(`SELECT log FROM findings WHERE machine = ? AND kind = ? AND closed = 0`), []any{machine, kind}, func(rows *sql.Rows) (log string, err error) { return log, rows.Scan(&log) })
	for _, log := range there {
		if !keep[log] {
			if err := t.closeOne(ctx, machine, kind, log); err != nil {
				return err
			}
		}
	}
	return err
}

func (t *txn) closeOne(ctx context.Context, machine, kind, log string) error {
	return t.exec(ctx, `UPDATE findings SET closed = ? WHERE machine = ? AND kind = ? AND log = ? AND closed = 0`, micros(t.now), machine, kind, clip(log))
}

func (t *txn) closeKind(ctx context.Context, machine, kind string) error {
	return t.exec(ctx, `UPDATE findings SET closed = ? WHERE machine = ? AND kind = ? AND closed = 0`, micros(t.now), machine, kind)
}

// Open opens a finding about a machine or, with "", about something that has none.
func (s *Store) Open(ctx context.Context, f Finding) error {
	return s.writer.do(ctx, &job{machine: f.Machine, run: func(ctx context.Context, t *txn) error { return t.open(ctx, f) }})
}

// Check opens and closes the findings that time alone brings: machines that are silent,
// expected and not enrolled, or on no list. Call it every few minutes.
func (s *Store) Check(ctx context.Context) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		now := s.now().UTC()
		late := micros(now.Add(-s.silent))
		listed := `EXISTS (SELECT 1 FROM expected e WHERE e.name = m.machine OR e.name = m.host)`
		enrolled := `EXISTS (SELECT 1 FROM machines m WHERE m.machine = e.name OR m.host = e.name)`
		for _, one := range []struct {
			kind, detail, from, machine, log, when string
			args                                   []any
		}{
			{Silent, fmt.Sprintf("nothing was heard of it for %s", s.silent), "machines m", "m.machine", "''", `CASE WHEN m.seen > m.enrolled THEN m.seen ELSE m.enrolled END < ?`, []any{late}},
			{Unlisted, "it is on no list of expected machines", "machines m", "m.machine", "''", `EXISTS (SELECT 1 FROM expected) AND NOT ` + listed, nil},
			{NotEnrolled, "it is expected, and never enrolled", "expected e", "''", "e.name", `NOT ` + enrolled, nil},
		} {
			at := micros(now)
			if _, err := tx.ExecContext(ctx, s.q(fmt.Sprintf(`INSERT INTO findings (kind, machine, log, first, last, detail, times, opened, seen)
SELECT '%s', %s, %s, 0, 0, '%s', 1, %d, %d FROM %s WHERE %s ON CONFLICT (machine, kind, log, first) WHERE closed = 0 DO UPDATE SET seen = excluded.seen`,
				one.kind, one.machine, one.log, one.detail, at, at, one.from, one.when)), one.args...); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, s.q(fmt.Sprintf(`UPDATE findings SET closed = %d WHERE kind = '%s' AND closed = 0 AND NOT EXISTS (SELECT 1 FROM %s WHERE %s = findings.machine AND %s = findings.log AND %s)`,
				at, one.kind, one.from, one.machine, one.log, one.when)), one.args...); err != nil {
				return err
			}
		}
		return nil
	})
}
