package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"gate/internal/fleet"
)

// An Erased is how much was erased.
type Erased struct {
	Records  int64 `json:"records"`
	Statuses int64 `json:"statuses"`
	Findings int64 `json:"findings"`
}

// Forget erases all about a machine: records, chains, statuses, findings, and its key,
// so that it must enrol anew. Figures of teams keep what it counted for, without its
// name, until [Store.Rebuild]. Archives outside the store are not touched: the days that
// it was in are returned.
func (s *Store) Forget(ctx context.Context, machine string) (e Erased, days []string, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		t := &txn{s: s, tx: tx, now: s.now().UTC()}
		var n int
		if err := tx.QueryRowContext(ctx, s.q(`SELECT COUNT(*) FROM machines WHERE machine = ?`), machine).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		if days, err = s.archivedDays(ctx, tx); err != nil {
			return err
		}
		if err := t.uncount(ctx, "machine", machine); err != nil {
			return err
		}
		for _, part := range []struct {
			table string
			into  *int64
		}{
			{"records", &e.Records}, {"twice", nil}, {"statuses", &e.Statuses}, {"counted", nil}, {"releases", nil}, {"chains", nil}, {"spans", nil}, {"asks", nil},
			{"machines_hour", nil}, {"findings", &e.Findings}, {"machines", nil},
		} {
			n, err := affected(tx.ExecContext(ctx, s.q(`DELETE FROM `+part.table+` WHERE machine = ?`), machine))
			if err != nil {
				return err
			}
			if part.into != nil {
				*part.into = n
			}
		}
		return t.exec(ctx, `UPDATE tokens SET used_by = '' WHERE used_by = ?`, machine)
	})
	return e, days, err
}

// ErrNoPseudonym says that a text is no pseudonym of an account.
var ErrNoPseudonym = errors.New("an account is named by its pseudonym: u- and 16 hexadecimal digits")

func isPseudonym(s string) bool {
	digits, ok := strings.CutPrefix(s, "u-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Erase erases the records of an account by its pseudonym. Those that are older than now
// are not taken any more either. What is returned is as of [Store.Forget].
func (s *Store) Erase(ctx context.Context, account string) (e Erased, days []string, err error) {
	if !isPseudonym(account) { // it is looked for in texts, and what fits all of them would erase all
		return e, nil, ErrNoPseudonym
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		t := &txn{s: s, tx: tx, now: s.now().UTC()}
		if days, err = s.archivedDays(ctx, tx); err != nil {
			return err
		}
		if err := t.exec(ctx, `INSERT INTO erased (account, at) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET at = excluded.at`, account, micros(t.now)); err != nil {
			return err
		}
		if err := t.uncount(ctx, "account", account); err != nil {
			return err
		}
		if e.Records, err = affected(tx.ExecContext(ctx, s.q(`DELETE FROM records WHERE account = ?`), account)); err != nil {
			return err
		}
		if err := t.exec(ctx, `DELETE FROM twice WHERE account = ?`, account); err != nil {
			return err
		}
		if err := t.exec(ctx, `UPDATE chains SET account = '' WHERE account = ?`, account); err != nil {
			return err
		}
		// Details and names of findings may have it, and so have statuses.
		e.Findings, err = affected(tx.ExecContext(ctx, s.q(`DELETE FROM findings WHERE log LIKE ? OR detail LIKE ?`), "%"+account+"%", "%"+account+"%"))
		if err != nil {
			return err
		}
		e.Statuses, err = s.eraseStatuses(ctx, tx, account)
		return err
	})
	return e, days, err
}

// eraseStatuses erases the statuses that name an account.
func (s *Store) eraseStatuses(ctx context.Context, tx *sql.Tx, account string) (n int64, err error) {
	type key struct {
		machine string
		seq     int64
	}
	list, err := allOf(ctx, tx, `SELECT machine, seq, body FROM statuses`, nil, func(rows *sql.Rows) (k key, err error) {
		var body []byte
		if err := rows.Scan(&k.machine, &k.seq, &body); err != nil {
			return k, err
		}
		if body, err = unpack(body); err != nil || !contains(body, account) {
			k = key{}
		}
		return k, err
	})
	for _, k := range list {
		if k.machine == "" {
			continue
		}
		n++
		if _, err := tx.ExecContext(ctx, s.q(`DELETE FROM statuses WHERE machine = ? AND seq = ?`), k.machine, k.seq); err != nil {
			return n, err
		}
		if _, err := tx.ExecContext(ctx, s.q(`UPDATE machines SET agents = '' WHERE machine = ? AND agents LIKE ?`), k.machine, "%"+account+"%"); err != nil {
			return n, err
		}
	}
	return n, err
}

// uncount takes records that are about to be erased out of what is kept of each day.
func (t *txn) uncount(ctx context.Context, column, value string) error {
	type row struct {
		dayLevel
		n int64
	}
	list, err := allOf(ctx, t.tx, t.s.q(`SELECT day, level, COUNT(*) FROM records WHERE `+column+` = ? GROUP BY day, level ORDER BY day, level`), []any{value}, func(rows *sql.Rows) (r row, err error) {
		return r, rows.Scan(&r.day, &r.level, &r.n)
	})
	for _, r := range list {
		if err := t.exec(ctx, `UPDATE days SET records = records - ? WHERE day = ? AND level = ?`, r.n, r.day, string(r.level)); err != nil {
			return err
		}
	}
	return err
}

func (s *Store) archivedDays(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return allOf(ctx, tx, `SELECT day FROM archives ORDER BY day`, nil, func(rows *sql.Rows) (day string, err error) { return day, rows.Scan(&day) })
}

// An Expiry is what was dropped as too old.
type Expiry struct {
	Day     string      `json:"day"`
	Level   fleet.Level `json:"level"`
	Records int64
}

// Expire drops what is older than it is kept for. Call it every day; doing it again does
// nothing. Days are dropped whole, the day after their last record is too old.
func (s *Store) Expire(ctx context.Context) ([]Expiry, error) {
	now := s.now().UTC()
	days, err := s.Days(ctx)
	if err != nil {
		return nil, err
	}
	var out []Expiry
	for _, d := range days {
		if d.Records == 0 {
			continue
		}
		for _, level := range []struct {
			level fleet.Level
			keep  time.Duration
			n     int64
		}{{fleet.Text, s.keep.Text, d.Text}, {fleet.Effects, s.keep.Effects, d.Records - d.Text}} {
			if level.keep <= 0 || level.n == 0 || d.Day != OddDay && !dayTime(d.Day).Add(24*time.Hour).Before(now.Add(-level.keep)) {
				continue
			}
			if d.Day == OddDay { // by when they came
				n, err := s.expireOdd(ctx, level.level, now.Add(-level.keep))
				if err != nil {
					return out, err
				}
				if n > 0 {
					out = append(out, Expiry{d.Day, level.level, n})
				}
				continue
			}
			n, err := s.DropDay(ctx, d.Day, string(level.level))
			if err != nil {
				return out, err
			}
			out = append(out, Expiry{d.Day, level.level, n})
		}
	}
	return out, s.write(ctx, func(tx *sql.Tx) error {
		t := &txn{s: s, tx: tx, now: now}
		before := func(keep time.Duration) int64 { return micros(now.Add(-keep)) }
		for _, one := range []struct {
			text string
			args []any
		}{
			{`DELETE FROM statuses WHERE received < ? AND seq < (SELECT m.status_seq FROM machines m WHERE m.machine = statuses.machine)`, []any{before(s.keep.Statuses)}},
			{`DELETE FROM looks WHERE at < ?`, []any{before(s.keep.Looks)}},
			{`DELETE FROM asks WHERE at < ?`, []any{before(2 * maxWaitForRun)}},
			{`DELETE FROM tokens WHERE expires < ?`, []any{before(365 * 24 * time.Hour)}},
			{`DELETE FROM findings WHERE closed > 0 AND closed < ?`, []any{before(400 * 24 * time.Hour)}},
		} {
			if err := t.exec(ctx, one.text, one.args...); err != nil {
				return err
			}
		}
		for _, level := range []struct {
			level fleet.Level
			keep  time.Duration
		}{{fleet.Text, s.keep.Text}, {fleet.Effects, s.keep.Effects}} {
			if level.keep > 0 {
				if err := t.exec(ctx, `DELETE FROM twice WHERE level = ? AND received < ?`, string(level.level), before(level.keep)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *Store) expireOdd(ctx context.Context, level fleet.Level, before time.Time) (n int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		n, err = affected(tx.ExecContext(ctx, s.q(`DELETE FROM records WHERE day = ? AND level = ? AND received < ?`), OddDay, string(level), micros(before)))
		if err == nil {
			_, err = tx.ExecContext(ctx, s.q(`UPDATE days SET records = records - ? WHERE day = ? AND level = ?`), n, OddDay, string(level))
		}
		return err
	})
	return n, err
}
