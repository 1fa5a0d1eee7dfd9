package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"
)

// maxBack is how far the clock may go back without a fault: time zones and
// corrections do not do more.
const maxBack = 24 * time.Hour

// latest is the last moment that counts as a time.
var latest = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()

// Clock returns the time that expiry is measured by: now, or the highest time
// that this store has seen, if the clock was set back. Nothing comes to life
// again by setting a clock. A clock that went back by
// more than a day is an error, and so is everything that keeps the store from
// remembering: then nothing that expires may count, and a person should know.
//
// The highest time is the highest name in a directory of empty files. A file
// is removed only by somebody who sees a higher one, so that it never falls,
// whoever is killed or held up in between.
func (s Store) Clock(now time.Time) (time.Time, error) {
	now = now.UTC().Round(0)
	if now.Unix() <= 0 || now.Unix() > latest {
		return now, fmt.Errorf("consent: the clock says %s", stamp(now))
	}
	root, err := s.open(true)
	if err != nil {
		return now, err
	}
	defer root.Close()
	high, err := s.high(root)
	if err != nil {
		return now, err
	}
	seen := time.Unix(high, 0).UTC()
	switch {
	case now.Unix() > high:
		return now, s.advance(root, now.Unix())
	case seen.Sub(now) > maxBack:
		return seen, fmt.Errorf("the clock says %s, but it has been %s before: it was set back; what expires does not count until it is right",
			stamp(now), stamp(seen))
	case seen.After(now):
		return seen, nil
	}
	return now, nil
}

// high returns the highest time seen, 0 for none.
func (s Store) high(root *os.Root) (int64, error) {
	names, err := s.names(root, clockDir)
	if err != nil {
		return 0, err
	}
	var high int64
	for _, name := range names {
		t, ok := clockTime(name)
		if !ok {
			return 0, s.wrap(path.Join(clockDir, clip(name)), errors.New("it is not gate's"))
		}
		high = max(high, t)
	}
	return high, nil
}

// clockTime reads a name; only the one spelling that clockName writes counts.
func clockTime(name string) (int64, bool) {
	t, err := strconv.ParseInt(name, 10, 64)
	return t, err == nil && t > 0 && t <= latest && clockName(t) == name
}

func clockName(t int64) string { return fmt.Sprintf("%012d", t) }

// advance adds a time and removes lower ones.
func (s Store) advance(root *os.Root, t int64) error {
	if err := s.enter(root, clockDir, true); err != nil {
		return err
	}
	at := path.Join(clockDir, clockName(t))
	if err := create(root, at, nil, false); err != nil && !errors.Is(err, fs.ErrExist) {
		return s.wrap(at, err)
	}
	names, err := s.names(root, clockDir)
	for _, name := range names {
		if other, ok := clockTime(name); ok && other < t {
			at := path.Join(clockDir, name)
			if rerr := root.Remove(at); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, s.wrap(at, rerr))
			}
		}
	}
	return err
}
