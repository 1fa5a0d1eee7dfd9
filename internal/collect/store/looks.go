package store

import (
	"context"
	"database/sql"
	"fmt"
)

// AddLook notes that somebody looked at something. What is to be told waits for it: a
// look that cannot be noted is not had.
func (s *Store) AddLook(ctx context.Context, l Look) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.q(`INSERT INTO looks (at, who, role, what, detail) VALUES (?, ?, ?, ?, ?)`), micros(s.now()), clip(l.Who), clip(l.Role), clip(l.What), clip(l.Detail))
		return err
	})
}

// Looks returns the latest ones before an ID, 0 for the latest of all, the latest first.
func (s *Store) Looks(ctx context.Context, before int64, limit int) ([]Look, error) {
	w := &where{}
	if before > 0 {
		w.add("id < ?", before)
	}
	return all(ctx, s, fmt.Sprintf(`SELECT id, at, who, role, what, detail FROM looks%s ORDER BY id DESC LIMIT %d`, w.text(), bounded(limit, 200)), w.args, func(rows *sql.Rows) (l Look, err error) {
		var at int64
		err = rows.Scan(&l.ID, &at, &l.Who, &l.Role, &l.What, &l.Detail)
		l.At = fromMicros(at)
		return l, err
	})
}
