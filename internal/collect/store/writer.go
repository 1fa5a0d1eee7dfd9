package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/internal/fleet"
)

// ErrBusy says that too much waits to be written.
var ErrBusy = errors.New("too much waits to be written")

var errClosed = errors.New("the store is closed")

// What is written at once: as many requests as wait, up to these. A transaction costs a
// write to the disk that all in it share.
const (
	maxWaiting = 256  // requests
	maxGroup   = 64   // requests of one transaction
	maxRows    = 5000 // records of one transaction, but for the last request's
	maxWrite   = time.Minute
)

// A writer writes what requests brought, one transaction after the other.
type writer struct {
	s     *Store
	queue chan *job
	done  chan struct{} // closed when nothing is written any more

	mu     sync.Mutex
	closed bool
}

// A job is one request's part of a transaction.
type job struct {
	machine string // jobs of a transaction are in this order, so that collectors do not wait for each other in a circle
	rows    int
	days    []string // whose records it brings
	run     func(context.Context, *txn) error
	said    chan error
}

func newWriter(s *Store) *writer {
	w := &writer{s: s, queue: make(chan *job, maxWaiting), done: make(chan struct{})}
	go w.work()
	return w
}

// do has a job written, and waits until that is on the disk or failed. Where the caller
// goes away, it may be written all the same.
func (w *writer) do(ctx context.Context, j *job) error {
	j.said = make(chan error, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	select {
	case w.queue <- j:
		w.mu.Unlock()
	default:
		w.mu.Unlock()
		return ErrBusy
	}
	select {
	case err := <-j.said:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close writes what waits, and takes no more.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *writer) work() {
	defer close(w.done)
	for first := range w.queue {
		group, rows := []*job{first}, first.rows
	more:
		for len(group) < maxGroup && rows < maxRows {
			select {
			case j, open := <-w.queue:
				if !open {
					break more
				}
				group, rows = append(group, j), rows+j.rows
			default:
				break more
			}
		}
		w.write(group)
	}
}

// write writes a group. Where that fails each is tried by itself, so that one that cannot
// be written is no other's trouble.
func (w *writer) write(group []*job) {
	slices.SortStableFunc(group, func(a, b *job) int { return cmp.Compare(a.machine, b.machine) })
	ctx, cancel := context.WithTimeout(context.Background(), maxWrite)
	defer cancel()
	err := w.s.transact(ctx, group)
	if err == nil || len(group) == 1 {
		for _, j := range group {
			j.said <- err
		}
		return
	}
	for _, j := range group {
		j.said <- w.s.transact(ctx, []*job{j})
	}
}

// transact runs jobs in one transaction, again where another collector was in the way.
func (s *Store) transact(ctx context.Context, group []*job) error {
	for try := 1; ; try++ {
		err := s.attempt(ctx, group)
		if err == nil || try == 5 || ctx.Err() != nil || !s.sql.again(err) {
			return err
		}
		s.days.Clear() // a partition may have been dropped
	}
}

func (s *Store) attempt(ctx context.Context, group []*job) error {
	for _, j := range group {
		for _, day := range j.days {
			if _, known := s.days.Load(day); known {
				continue
			}
			if err := s.sql.ready(ctx, s.db, day); err != nil {
				return err
			}
			s.days.Store(day, true)
		}
	}
	return inTx(ctx, s.db, func(tx *sql.Tx) error {
		t := &txn{s: s, tx: tx, now: s.now().UTC(), figures: newFigures(), kept: map[dayLevel]int64{}}
		for _, j := range group {
			if err := j.run(ctx, t); err != nil {
				return err
			}
		}
		return t.flush(ctx)
	})
}

// A txn is one transaction of the writer.
type txn struct {
	s       *Store
	tx      *sql.Tx
	now     time.Time
	figures *figures // that follow from what it took
	opened  int      // findings

	kept map[dayLevel]int64 // records that are new; see [Store.Days]

	dropped map[string]map[fleet.Level]bool // see forgotten
	erased  map[string]time.Time
}

func (t *txn) exec(ctx context.Context, text string, args ...any) error {
	_, err := t.tx.ExecContext(ctx, t.s.q(text), args...)
	return err
}

// A dayLevel is what records are kept and dropped by.
type dayLevel struct {
	day   string
	level fleet.Level
}

// flush writes what is summed up of the whole transaction.
func (t *txn) flush(ctx context.Context) error {
	var rows [][]any
	for k, n := range t.kept {
		rows = append(rows, []any{k.day, string(k.level), n})
	}
	slices.SortFunc(rows, func(a, b []any) int { return compareKeys(a[:2], b[:2]) })
	if err := t.insert(ctx, "days", []string{"day", "level", "records"}, rows, " ON CONFLICT (day, level) DO UPDATE SET records = days.records + excluded.records"); err != nil {
		return err
	}
	return t.figures.flush(ctx, t)
}

// insert writes rows of a table, many with each statement. Few lengths of statements let
// the driver keep them prepared.
func (t *txn) insert(ctx context.Context, table string, columns []string, rows [][]any, then string) error {
	for len(rows) > 0 {
		n := 1
		for _, size := range []int{100, 10} {
			if len(rows) >= size {
				n = size
				break
			}
		}
		args := make([]any, 0, n*len(columns))
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if err := t.exec(ctx, insertText(table, columns, n, then), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func insertText(table string, columns []string, rows int, then string) string {
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + row + strings.Repeat(", "+row, rows-1) + then
}
