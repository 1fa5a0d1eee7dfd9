package store

import (
	"context"
	"database/sql"
	"errors"
)

// ErrMore says that a day has other records than were archived. Nothing was dropped.
var ErrMore = errors.New("more records have come since")

// DropArchived drops the records of a day and a level, as [Store.DropDay] does, where
// there are as many as were archived. Records that have come since are [ErrMore].
func (s *Store) DropArchived(ctx context.Context, day, level string, archived int64) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		n, err := s.dropDay(ctx, tx, day, level)
		if err == nil && n != archived {
			err = ErrMore
		}
		return err
	})
}
