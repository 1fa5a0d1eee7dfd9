// Package store keeps what a fleet's machines sent: records of decisions, how far each
// chain of them is held, status documents, machines, enrolment tokens, findings, figures
// by hour, and who looked at what. It is one type over SQLite, in one directory, and
// over PostgreSQL 15 or later, which several collectors may share. It knows no HTTP and
// believes nothing of what machines say: its caller has checked who sent it.
//
// Start with [Open]; [Store.Take] takes records, [Store.TakeStatus] a status. Everything
// that has been taken is on the disk when they return.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Options say where a store is and for how long it keeps what. The zero value of a field
// is its default.
type Options struct {
	// Database is "postgres://…", or the directory of an SQLite database, which is made
	// where it is missing.
	Database string

	Keep   Keep
	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // default: nothing is logged
	Silent time.Duration    // without a word for so long a machine is silent; default 24 h
}

// Keep says for how long records are kept, by their level. 0 is for ever.
type Keep struct {
	Text     time.Duration // records with text, as sent at level text
	Effects  time.Duration // records without
	Statuses time.Duration // status documents but a machine's last; default 30 days
	Looks    time.Duration // default 400 days
}

// A Store is safe for concurrent use, and by several processes at once.
type Store struct {
	db      *sql.DB
	sql     dialect
	keep    Keep
	now     func() time.Time
	log     *slog.Logger
	silent  time.Duration
	writer  *writer
	days    sync.Map // days whose partition is known to exist
	closing sync.Once
}

// ErrNotFound says that what was asked for is not there.
var ErrNotFound = errors.New("there is no such thing")

// Open opens a store, makes it where there is none, and brings an older one up to date.
// A store that a newer collector has written is refused.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{keep: o.Keep, now: o.Now, log: o.Log, silent: o.Silent}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.silent <= 0 {
		s.silent = 24 * time.Hour
	}
	if s.keep.Statuses <= 0 {
		s.keep.Statuses = 30 * 24 * time.Hour
	}
	if s.keep.Looks <= 0 {
		s.keep.Looks = 400 * 24 * time.Hour
	}
	var err error
	switch {
	case strings.HasPrefix(o.Database, "postgres://"), strings.HasPrefix(o.Database, "postgresql://"):
		s.sql = postgresDialect{}
		s.db, err = openPostgres(ctx, o.Database)
	case o.Database == "":
		err = errors.New("no database is named")
	default:
		s.sql = sqliteDialect{}
		s.db, err = openSQLite(ctx, o.Database)
	}
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if err := s.migrate(ctx); err != nil {
		s.db.Close()
		return nil, fmt.Errorf("the store: %w", err)
	}
	s.writer = newWriter(s)
	return s, nil
}

// Close waits for what is being written, and closes the database.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.writer.close()
		err = s.db.Close()
	})
	return err
}

// Health reports whether the database answers and can be written to.
func (s *Store) Health(ctx context.Context) error { return s.sql.health(ctx, s.db) }

// Kind is "sqlite" or "postgres".
func (s *Store) Kind() string { return s.sql.kind() }

// micros is how times are stored: microseconds since 1970, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
