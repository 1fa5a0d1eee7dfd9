// Package accounts reads the decision logs of the other accounts of a machine, for root.
//
// A directory that a user can write is no place for root to open a file in. So a child
// that has dropped to the account reads its log and hands the records over ([Send]), and
// this process opens none of the account's paths. The account can do with the child what
// it likes: what comes is bounded in bytes and in time, each line must be a record, and
// what was sent is remembered in a directory of root's. Fill in a [Log], and give it to
// a Shipper of internal/audit/ship.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A Log is the decision log of an account. A zero limit means its default.
type Log struct {
	Context  context.Context // ends the reading; what was not reached by its deadline comes the next time
	Account  string          // its name
	UID, GID uint32
	Dir      string   // that the log is in, which only the child opens
	Kept     string   // a directory of root's, for how far this log was sent
	Program  []string // that calls Send with what is appended: directory, chain, number

	Most int64         // bytes that are read at a time, default 64 MiB: the rest comes the next time
	Idle time.Duration // that the child may send nothing, default 20 s
}

// Cursor returns how far the log was sent to a destination.
func (l *Log) Cursor(to string) (audit.Cursor, error) {
	h, err := audit.OpenHistory(l.Kept)
	var c audit.Cursor
	if err == nil {
		c, err = h.Cursor(to)
	}
	if err != nil {
		return audit.Cursor{}, &ReadError{l.Account, err}
	}
	return c, nil
}

// Advance notes how far it was sent.
func (l *Log) Advance(to string, c audit.Cursor) error {
	if err := os.MkdirAll(l.Kept, 0o700); err != nil {
		return fmt.Errorf("%s: %w", l.Kept, hostfs.Reason(err))
	}
	h, err := audit.OpenHistory(l.Kept)
	if err != nil {
		return err
	}
	return h.Advance(to, c)
}

// Unsent yields what the child hands over as [audit.Sendables] does. Where it cannot be
// had, a finding says so, and an error is the last.
func (l *Log) Unsent(c audit.Cursor, o audit.Origin) iter.Seq2[audit.Sendable, error] {
	o.User = l.Account
	return func(yield func(audit.Sendable, error) bool) {
		at := c
		for item, err := range audit.Sendables(l.lines(c), c, o) {
			if err == nil {
				at = item.After
				if !yield(item, nil) {
					return
				}
				continue
			}
			if at != c && (errors.Is(err, errEnough) || errors.Is(err, context.DeadlineExceeded)) {
				return // the rest comes the next time
			}
			f := audit.Finding{Kind: audit.Unread, Before: at, Log: at.Log, Seq: at.Seq, At: o.Now, User: l.Account, Reason: clean(err.Error())}
			if !errors.Is(err, context.Canceled) && !yield(audit.Sendable{Text: f.JSON(o.Labels), After: at, Finding: true, User: l.Account}, nil) {
				return
			}
			yield(audit.Sendable{}, &ReadError{l.Account, err})
		}
	}
}

// A ReadError says why the log of an account was not read, or not to its end.
type ReadError struct {
	Account string
	Err     error
}

func (e *ReadError) Error() string { return "the log of " + e.Account + ": " + clean(e.Err.Error()) }

func (e *ReadError) Unwrap() error { return e.Err }

// clean makes one short line of what an account may have written.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	const most = 300
	return strings.TrimSpace(text[:min(len(text), most)])
}

var (
	errEnough = errors.New("it has more than is read at a time")
	errNoLine = errors.New("what came is no record")
)

// lines yields the lines that a child sends, each of which is a record with a place.
func (l *Log) lines(c audit.Cursor) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		child, err := l.start(c)
		if err != nil {
			yield(nil, err)
			return
		}
		defer child.end()
		torn := false
		for line, err := range strictjson.Lines(child, audit.MaxRecord) {
			if child.err != nil { // what stands before the end is no whole line
				torn = torn || err == nil
				continue
			}
			if err == nil {
				err = look(line)
			}
			if !yield(line.Text, err) || err != nil {
				return
			}
		}
		err = child.ended()
		if err == nil && torn {
			err = errNoLine
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// look reports why a line is nothing that gate wrote into a log.
func look(line strictjson.Line) error {
	if line.Long {
		return errNoLine
	}
	r, err := audit.Parse(line.Text)
	if err != nil || r.Place == nil || !isName(r.Place.Log) {
		return errNoLine
	}
	return nil
}

// isName reports that a text may be the name of a chain, of which file names and
// arguments are made.
func isName(log string) bool {
	return len(log) <= 64 && strings.Trim(log, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
