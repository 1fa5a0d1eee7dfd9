package store

import "context"

// A Batch is what one request of a machine brought.
type Batch struct {
	Machine string
	Records []*Record
	Told    []*Told
}

// A Taken is what became of a batch.
type Taken struct {
	Taken    int // records that are new
	Again    int // that were here already, or that were dropped since
	Findings int // that the batch opened
}

// Take takes what a machine sent, in one transaction with the figures and findings that
// follow from it, possibly together with other batches. When it returns without an
// error, all is on the disk; when it returns an error, the batch may be sent again
// whatever became of it. [ErrBusy] says that too many wait.
func (s *Store) Take(ctx context.Context, b Batch) (Taken, error) { return s.writer.take(ctx, b) }
