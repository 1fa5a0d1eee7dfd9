package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
)

// RecordQuery asks for records of one day.
type RecordQuery struct {
	Day     string // required
	Machine string // "": all
	After   Key    // the key before; the zero Key: from the first on
	Limit   int    // 0: all of them
}

const recordColumns = `machine, log, seq, prev, digest, level, at, received, team, account, agent, session, event, tool, effect, result, effects, call_ns, body`

// page is how many records are read at a time, so that no reader holds the database for
// as long as a day takes.
const page = 500

// Records yields records in the order of their keys. Of each it fills in what has a
// column; [ReadRecord] has the rest out of the body. The error is the last.
func (s *Store) Records(ctx context.Context, q RecordQuery) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		left := q.Limit
		for after := q.After; ; {
			n := page
			if left > 0 {
				n = min(n, left)
			}
			list, err := s.recordPage(ctx, s.db, q, after, n)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range list {
				if !yield(r, nil) {
					return
				}
				after = r.Key
			}
			if left > 0 {
				if left -= len(list); left == 0 {
					return
				}
			}
			if len(list) < n {
				return
			}
		}
	}
}

func (s *Store) recordPage(ctx context.Context, db querier, q RecordQuery, after Key, n int) ([]*Record, error) {
	w := new(where).add("day = ?", q.Day)
	if q.Machine != "" {
		w.add("machine = ?", q.Machine)
	}
	if after.Day == q.Day {
		w.add("(machine, log, seq) > (?, ?, ?)", after.Machine, after.Log, after.Seq)
	}
	return allOf(ctx, db, s.q(fmt.Sprintf("SELECT %s FROM records%s ORDER BY machine, log, seq LIMIT %d", recordColumns, w.text(), n)), w.args, func(rows *sql.Rows) (*Record, error) {
		return readRecordRow(rows, q.Day)
	})
}

func readRecordRow(rows *sql.Rows, day string) (*Record, error) {
	r := &Record{Key: Key{Day: day}}
	var at, received int64
	var effects string
	var body, prev, digest []byte
	err := rows.Scan(&r.Machine, &r.Log, &r.Seq, &prev, &digest, &r.Level, &at, &received, &r.Team, &r.Account, &r.Agent, &r.Session, &r.Event, &r.Tool, &r.Effect, &r.Result, &effects, &r.CallNS, &body)
	if err != nil {
		return nil, err
	}
	r.Prev, r.Digest = hex.EncodeToString(prev), hex.EncodeToString(digest)
	r.At, r.Received, r.Effects = fromMicros(at), fromMicros(received), strings.Fields(effects)
	if r.Body, err = unpack(body); err != nil {
		return nil, fmt.Errorf("the record %d of %s of %s: %w", r.Seq, r.Log, r.Machine, err)
	}
	return r, nil
}

// Days returns how much is kept of each day, the latest first.
func (s *Store) Days(ctx context.Context) ([]Day, error) {
	list, err := all(ctx, s, `SELECT day, SUM(records), SUM(CASE WHEN level = 'text' THEN records ELSE 0 END) FROM days WHERE records > 0 GROUP BY day ORDER BY day DESC`, nil, func(rows *sql.Rows) (d Day, err error) {
		return d, rows.Scan(&d.Day, &d.Records, &d.Text)
	})
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, d := range list {
		at[d.Day] = i
	}
	find := func(day string) *Day {
		if _, ok := at[day]; !ok {
			at[day] = len(list)
			list = append(list, Day{Day: day})
		}
		return &list[at[day]]
	}
	type drop struct{ day, level string }
	drops, err := all(ctx, s, `SELECT day, level FROM dropped ORDER BY day DESC, level`, nil, func(rows *sql.Rows) (d drop, err error) { return d, rows.Scan(&d.day, &d.level) })
	if err != nil {
		return nil, err
	}
	for _, d := range drops {
		x := find(d.day)
		x.Dropped = strings.TrimSpace(x.Dropped + " " + d.level)
	}
	archives, err := s.Archives(ctx)
	for _, a := range archives {
		find(a.Day).Archive = a.Place
	}
	return list, err
}

// Archives returns the days that are kept outside, the latest first.
func (s *Store) Archives(ctx context.Context) ([]Archive, error) {
	return all(ctx, s, `SELECT day, place, records, bytes, digest, at FROM archives ORDER BY day DESC`, nil, func(rows *sql.Rows) (a Archive, err error) {
		var at int64
		err = rows.Scan(&a.Day, &a.Place, &a.Records, &a.Bytes, &a.Digest, &at)
		a.At = fromMicros(at)
		return a, err
	})
}

// SetArchive notes that a day was archived, in the place of what was noted before.
func (s *Store) SetArchive(ctx context.Context, a Archive) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.q(`INSERT INTO archives (day, place, records, bytes, digest, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (day) DO UPDATE SET place = excluded.place, records = excluded.records, bytes = excluded.bytes, digest = excluded.digest, at = excluded.at`),
			a.Day, a.Place, a.Records, a.Bytes, a.Digest, micros(a.At))
		return err
	})
}

// DropDay drops the records of a day and a level, "text" or "effects". Figures stay.
// Records of that day and level are not taken again.
func (s *Store) DropDay(ctx context.Context, day, level string) (records int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		var err error
		records, err = s.dropDay(ctx, tx, day, level)
		return err
	})
	return records, err
}

func (s *Store) dropDay(ctx context.Context, tx *sql.Tx, day, level string) (int64, error) {
	records, err := s.sql.drop(ctx, tx, day, level)
	if err != nil {
		return 0, err
	}
	s.days.Delete(day)
	if _, err := tx.ExecContext(ctx, s.q(`DELETE FROM days WHERE day = ? AND level = ?`), day, level); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, s.q(`INSERT INTO dropped (day, level, at, records) VALUES (?, ?, ?, ?) ON CONFLICT (day, level) DO UPDATE SET at = excluded.at, records = dropped.records + excluded.records`),
		day, level, micros(s.now()), records)
	return records, err
}

// write runs a transaction that writes, again where another writer was in its way.
func (s *Store) write(ctx context.Context, run func(*sql.Tx) error) error {
	for try := 1; ; try++ {
		err := inTx(ctx, s.db, run)
		if err == nil || try == 5 || !s.sql.again(err) || ctx.Err() != nil {
			return err
		}
	}
}
