package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gate/internal/hostfs"
)

// A Journal is one file of records below the state directory that is only added to. The
// rules of a [Store] about owners, links, locks and killed processes hold for it.
type Journal struct {
	Dir  string // absolute and below the state directory
	Name string // of the file
	Most int64  // bytes that the file may have

	// Begin is how files begin that take records of today, such as with their format.
	Begin string

	// Texts keep the files in this process, and nothing in Dir; nil: they do not.
	Texts *Texts

	at func(step string) error // tests: an error ends the process here, as it were
}

// ErrFull is the error of a journal that cannot take more.
var ErrFull = errors.New("it is as long as it may become")

func (j Journal) path() string { return filepath.Join(j.Dir, j.Name) }

func (j Journal) store() Store { return Store{Dir: j.Dir, at: j.at} }

// Exists reports whether there is such a file, at the cost of one system call. What
// cannot be told counts as yes.
func (j Journal) Exists() bool {
	if j.Texts != nil {
		return j.Texts.read(j.Name) != nil
	}
	return !hostfs.Missing(j.path())
}

// Read returns the whole file, nil where there is none.
func (j Journal) Read() ([]byte, error) {
	if j.Texts != nil {
		return j.Texts.read(j.Name), nil
	}
	root, err := hostfs.OpenDir(j.Dir)
	var text []byte
	if err == nil {
		defer root.Close()
		text, err = hostfs.ReadFile(root, j.Name, int(j.Most)+1)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, j.wrong(err)
	}
	return text, nil
}

func (j Journal) wrong(err error) error { return fmt.Errorf("%s: %w", j.path(), hostfs.Reason(err)) }

// Add adds records by one write, while no other process adds any. A file that is not
// there yet begins with what first returns. It waits for others as long as ctx lasts; an
// error means that nothing was added.
func (j Journal) Add(ctx context.Context, first func() ([]byte, error), records []byte) error {
	if j.Texts != nil {
		return j.Texts.add(j, first, records)
	}
	s := j.store()
	if err := s.prepare(); err != nil {
		return err
	}
	unlock, err := s.lock(ctx, j.Name)
	if err != nil {
		return j.wrong(err)
	}
	defer unlock()
	info, err := os.Lstat(j.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var head []byte
		if head, err = first(); err == nil {
			err = s.replace(j.path(), append(head, records...))
		}
	case err != nil:
	case info.Size()+int64(len(records)) > j.Most:
		err = ErrFull
	default:
		if err = hostfs.Private(info); err == nil {
			err = extend(j.path(), j.Begin, info.Size(), records)
		}
	}
	if err != nil {
		return j.wrong(err)
	}
	return nil
}

// Once returns the content of the file, and makes it of what text returns where there is
// none: of several processes at the same time one makes it.
func (j Journal) Once(ctx context.Context, text func() ([]byte, error)) ([]byte, error) {
	if j.Texts != nil {
		return j.Texts.once(j.Name, text)
	}
	if found, err := j.Read(); found != nil || err != nil {
		return found, err
	}
	s := j.store()
	if err := s.prepare(); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, j.Name)
	if err != nil {
		return nil, j.wrong(err)
	}
	defer unlock()
	if found, err := j.Read(); found != nil || err != nil {
		return found, err
	}
	made, err := text()
	if err == nil {
		err = s.replace(j.path(), made)
	}
	if err != nil {
		return nil, j.wrong(err)
	}
	return made, nil
}

// Renewal is how long nobody adds to a file until [Journal.Renew] is worth its while.
const Renewal = 24 * time.Hour

// Renew keeps [Store.Sweep] from a file that is in use and that nobody adds to. It costs a
// system call, and a second one once in a [Renewal].
func (j Journal) Renew(now time.Time) {
	if j.Texts != nil {
		return // nobody sweeps it
	}
	if info, err := os.Lstat(j.path()); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > Renewal {
		os.Chtimes(j.path(), time.Time{}, now) // a file that cannot be renewed is forgotten in time
	}
}
