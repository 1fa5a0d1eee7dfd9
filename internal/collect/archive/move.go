package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// RowOf makes a row of a record as a machine sent it. Machine, team and the time it came
// are the collector's. nil is a document in the place of a record, which no day has.
func RowOf(machine, team string, received time.Time, body []byte) (*Row, error) {
	r, _, err := store.ReadRecord(body)
	if err != nil || r == nil {
		return nil, err
	}
	r.Machine, r.Team, r.Received = machine, team, received
	return rowOf(r), nil
}

// rowOf makes a row of a record that [store.ReadRecord] has read.
func rowOf(r *store.Record) *Row {
	row := &Row{
		Machine: r.Machine, Log: r.Log, Seq: r.Seq, Prev: r.Prev, Digest: r.Digest, Level: string(r.Level), At: r.At.Truncate(time.Microsecond), Received: r.Received.Truncate(time.Microsecond),
		Team: r.Team, Account: r.Account, Agent: r.Agent, Session: r.Session, Event: r.Event, Tool: r.Tool, Effect: r.Effect, Result: r.Result,
		Effects: strings.Join(r.Effects, " "), CallNS: r.CallNS, Body: r.Body,
	}
	var had, would []string
	for _, p := range r.Policies {
		if p.Effect != "" {
			had = append(had, p.ID)
		}
		if p.Would != "" {
			would = append(would, p.ID)
		}
	}
	row.Policies, row.Would = words(had), words(would)
	return row
}

// words joins ids, sorted and each once.
func words(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// A Moved is what became of a day of a collector's store.
type Moved struct {
	Day string `json:"day"`
	Written
	Dropped int64 `json:"dropped"` // records that the store no longer has
}

// Move archives the days before a day that the store has records of, the first one first,
// and drops them there once they have been read back. Days of no known date stay. Each day
// that is done is yielded; the error is the last, and days before it stay done.
func (a *Archive) Move(ctx context.Context, s *store.Store, before string, now func() time.Time) iter.Seq2[*Moved, error] {
	return func(yield func(*Moved, error) bool) {
		days, err := s.Days(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		slices.Reverse(days)
		for _, d := range days {
			if d.Records == 0 || d.Day >= before || checkDay(d.Day) != nil {
				continue
			}
			m, err := a.moveDay(ctx, s, d.Day, now)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func (a *Archive) moveDay(ctx context.Context, s *store.Store, day string, now func() time.Time) (*Moved, error) {
	read := map[fleet.Level]int64{}
	w, err := a.Write(ctx, day, func(yield func(*Row, error) bool) {
		for r, err := range s.Records(ctx, store.RecordQuery{Day: day}) {
			var row *Row
			if err == nil {
				read[r.Level]++
				row, err = stored(r)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	m := &Moved{Day: day, Written: *w}
	if err := s.SetArchive(ctx, store.Archive{Day: day, Place: a.Name(day), Records: w.Rows, Bytes: w.Bytes, Digest: w.Digest, At: now()}); err != nil {
		return nil, err
	}
	for _, level := range []fleet.Level{fleet.Text, fleet.Effects} {
		if read[level] == 0 {
			continue
		}
		if err := s.DropArchived(ctx, day, string(level), read[level]); err != nil {
			return nil, fmt.Errorf("%s is archived and stays in the store as well: %w", day, err)
		}
		m.Dropped += read[level]
	}
	return m, nil
}

// stored makes a row of a record of the store, which fills in what has a column there.
func stored(r *store.Record) (*Row, error) {
	row, err := RowOf(r.Machine, r.Team, r.Received, r.Body)
	if err == nil && row == nil {
		err = errors.New("a record of the store is none")
	}
	return row, err
}

// EraseIn erases rows of a machine or of an account, as [Archive.Erase] does, and notes in
// the store what is archived since.
func (a *Archive) EraseIn(ctx context.Context, s *store.Store, named func(machine, account string) bool, now func() time.Time) iter.Seq2[*Erased, error] {
	return func(yield func(*Erased, error) bool) {
		for e, err := range a.Erase(ctx, named) {
			if err == nil {
				w := e.Written
				err = s.SetArchive(ctx, store.Archive{Day: e.Day, Place: a.Name(e.Day), Records: w.Rows, Bytes: w.Bytes, Digest: w.Digest, At: now()})
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
