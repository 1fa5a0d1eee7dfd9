package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// shift renames FileName to FileName.1 and so on, and removes what is too old:
// files behind Keep, as far as all of their records were sent, and those behind
// Unshipped in any case. Only the holder of the lock does this.
func (l *log) shift(h *head) error {
	name := func(i int) string { return fmt.Sprintf("%s.%d", l.path, i) }
	last := 0
	for missing, i := 0, 1; missing < 2 && i < maxFiles; i++ {
		if _, err := os.Lstat(name(i)); err != nil {
			missing++
			continue
		}
		last = i
	}
	sent := l.sent(h)
	removed := false
	for i := last; i >= l.options.Keep; i-- {
		if i < l.options.Unshipped && !sent(name(i)) {
			break // what is newer was not sent either
		}
		if err := os.Remove(name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		last, removed = i-1, true
	}
	for i := last; i >= 1; i-- {
		if err := os.Rename(name(i), name(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(l.path, name(1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	h.size = 0
	if removed {
		h.begin = (&History{l.dir}).first()
	}
	return nil
}

// sent returns what tells of a file whether all of its records were sent.
func (l *log) sent(h *head) func(string) bool {
	if l.options.Unshipped <= l.options.Keep {
		return func(string) bool { return true }
	}
	c, err := (&History{l.dir}).Cursor("")
	return func(name string) bool {
		return err == nil && c.Log == h.log && lastSeq(name) <= c.Seq
	}
}

// lastSeq is the number of the last record of a file, 0 if none has one.
func lastSeq(name string) int64 {
	f, err := openRecords(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	for r, err := range backwards(f, name) {
		if err == nil && r.Place != nil {
			return r.Place.Seq
		}
	}
	return 0
}
