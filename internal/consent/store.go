package consent

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gate/internal/format"
	"gate/internal/hostfs"
)

// A Store is the directory that grants are kept in. It belongs to one account:
// directories are 0700 and files 0600, and whatever is a link, has a second
// name, belongs to somebody else or can be touched by others is refused, with
// its path. Where a system has no owners and modes (Windows),
// the access list of the user's directory is the protection.
//
// Any number of processes may use one store at the same time; there is no lock
// that a dead one could hold. The zero Store has no directory: it grants
// nothing and refuses to record.
type Store struct {
	// Dir is absolute and below the state directory; it is made when
	// something is recorded. It must never lie in a project.
	Dir string
}

// The directories of a store. A record is a file in one of them.
const (
	trustDir    = "trust"     // by the digest of origin
	settledDir  = "settings"  // by the digest of a directory
	injectorDir = "injectors" // by the digest of a directory and a project
	pendingDir  = "pending"   // by decision id
	approvedDir = "approved"  // by the digest of the call
	usedDir     = "used"      // by the digest of the call: what was spent
	claimsDir   = "claims"    // files on their way, under names that nobody looks for
	clockDir    = "clock"     // see Clock

	questionsDir = "questions" // by the digest of the call: what was put to people elsewhere
	answeredDir  = "answered"  // by the digest of the call: what they said
)

// maxNames bounds what is looked at in one directory of the store.
const maxNames = 4096

// open opens the store. Without create a missing one is fs.ErrNotExist.
func (s Store) open(create bool) (*os.Root, error) {
	if !filepath.IsAbs(s.Dir) {
		return nil, fmt.Errorf("consent: the directory %q is not absolute", s.Dir)
	}
	if create {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Dir, hostfs.Reason(err))
		}
	}
	info, err := os.Lstat(s.Dir)
	if err == nil {
		err = directory(info)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, hostfs.Reason(err))
	}
	above := filepath.Dir(s.Dir)
	if err := parent(above); err != nil {
		return nil, fmt.Errorf("%s: %w", above, hostfs.Reason(err))
	}
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, hostfs.Reason(err))
	}
	// The second look, at what was opened, is the one that counts.
	opened, err := root.Lstat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = errors.New("it was replaced while it was opened")
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("%s: %w", s.Dir, hostfs.Reason(err))
	}
	return root, nil
}

// directory checks a directory of the store.
func directory(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link, not a directory")
	case !info.IsDir():
		return errors.New("it is not a directory")
	}
	return hostfs.Private(info)
}

// parent checks the directory above the store: who can write it can put
// another store in its place.
func parent(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return hostfs.Steady(info)
}

// wrap puts the path of a file of the store before an error.
func (s Store) wrap(name string, err error) error {
	return fmt.Errorf("%s: %w", filepath.Join(s.Dir, filepath.FromSlash(name)), hostfs.Reason(err))
}

// enter makes sure of a directory of the store.
func (s Store) enter(root *os.Root, dir string, create bool) error {
	if create {
		if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return s.wrap(dir, err)
		}
	}
	info, err := root.Lstat(dir)
	if err == nil {
		err = directory(info)
	}
	if err != nil {
		return s.wrap(dir, err)
	}
	return nil
}

// read reads a record. It never follows a link and never waits.
func (s Store) read(root *os.Root, dir, name string) ([]byte, error) {
	if err := s.enter(root, dir, false); err != nil {
		return nil, err
	}
	at := path.Join(dir, name)
	data, err := hostfs.ReadFile(root, at, maxRecord)
	if err != nil {
		return nil, s.wrap(at, err)
	}
	return data, nil
}

// write puts a whole record in its place at once, and makes sure that it stays
// there when the machine loses power.
func (s Store) write(root *os.Root, dir, name string, data []byte) error {
	draft, err := s.draft(root, dir, data)
	if err != nil {
		return err
	}
	return s.place(root, draft, dir, name)
}

// draft writes a whole record where nobody looks for it, and makes sure of the directory
// that it is for.
func (s Store) draft(root *os.Root, dir string, data []byte) (at string, err error) {
	for _, d := range []string{dir, claimsDir} {
		if err := s.enter(root, d, true); err != nil {
			return "", err
		}
	}
	at = path.Join(claimsDir, "draft-"+token(8))
	if err := create(root, at, data, true); err != nil {
		root.Remove(at)
		return "", s.wrap(at, err)
	}
	return at, nil
}

// place puts a draft where it belongs.
func (s Store) place(root *os.Root, draft, dir, name string) error {
	at := path.Join(dir, name)
	err := s.spare(root, dir, name)
	if err == nil {
		err = root.Rename(draft, at)
	}
	if err != nil {
		root.Remove(draft)
		return s.wrap(at, err)
	}
	return s.settle(root, dir)
}

// readRecord reads a record and holds it against its name.
func readRecord[T any](s Store, root *os.Root, dir, name string, decode func([]byte) (T, error), check func(T) error) (record T, err error) {
	data, err := s.read(root, dir, name)
	if err != nil {
		return record, err
	}
	read, err := decode(data)
	if err == nil {
		err = check(read)
	}
	if err != nil {
		return record, s.wrap(path.Join(dir, name), err)
	}
	return read, nil
}

func sameName(is, want, about string) error {
	if is != want {
		return fmt.Errorf("it was renamed: it is about another %s", about)
	}
	return nil
}

// spare reports a record of a newer gate's: that gate wants it back.
func (s Store) spare(root *os.Root, dir, name string) error {
	data, err := s.read(root, dir, name)
	if err == nil {
		_, err = unseal("", data)
	}
	if errors.Is(err, format.ErrNewer) {
		return err
	}
	return nil
}

// create writes a file that must not exist yet.
func create(root *os.Root, at string, data []byte, durable bool) error {
	f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// claim takes a record away from its place, for this process alone: of any
// number that try, the rename succeeds for one. The new name is one that did
// not exist, because to rename a file to another name of itself does nothing.
// A record that is gone is fs.ErrNotExist.
func (s Store) claim(root *os.Root, dir, name string) (string, error) {
	if err := s.enter(root, claimsDir, true); err != nil {
		return "", err
	}
	claimed := name + "-" + token(8)
	if err := root.Rename(path.Join(dir, name), path.Join(claimsDir, claimed)); err != nil {
		return "", s.wrap(path.Join(dir, name), err)
	}
	// What is spent must stay spent when the machine loses power.
	return claimed, s.settle(root, dir)
}

// settle makes a rename last.
func (s Store) settle(root *os.Root, dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	d, err := root.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return s.wrap(dir, err)
	}
	return nil
}

// names lists a directory of the store; a missing one is empty.
func (s Store) names(root *os.Root, dir string) ([]string, error) {
	if err := s.enter(root, dir, false); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil, s.wrap(dir, err)
	}
	defer d.Close()
	names, err := d.Readdirnames(maxNames + 1)
	switch {
	case err != nil && err != io.EOF:
		return nil, s.wrap(dir, err)
	case len(names) > maxNames:
		return nil, s.wrap(dir, fmt.Errorf("it holds more than %d files", maxNames))
	}
	slices.Sort(names)
	return names, nil
}

// keep is how long files stay that nobody asks for any more, and how many; the
// oldest go first. Sweeping only takes away: it goes by the files' own times.
var keep = []struct {
	dir  string
	age  time.Duration
	most int
}{
	{pendingDir, pendingLife, 256},
	{approvedDir, maxLife, 256},
	{usedDir, 24 * time.Hour, 256},
	{questionsDir, maxLife, 256},
	{answeredDir, maxLife, 256},
	{claimsDir, time.Hour, maxNames},
}

// Sweep removes what has expired. [Store.AddPending] does it by itself.
func (s Store) Sweep(now time.Time) error {
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return s.sweep(root, now)
}

func (s Store) sweep(root *os.Root, now time.Time) error {
	type entry struct {
		at       string
		modified time.Time
	}
	var errs []error
	for _, k := range keep {
		names, err := s.names(root, k.dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var files []*entry
		for _, name := range names {
			at := path.Join(k.dir, name)
			if info, err := root.Lstat(at); err == nil && !info.IsDir() {
				files = append(files, &entry{at, info.ModTime()})
			}
		}
		slices.SortFunc(files, func(a, b *entry) int {
			return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.at, b.at))
		})
		for i, f := range files {
			if len(files)-i > k.most || now.Sub(f.modified) > k.age {
				if err := root.Remove(f.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, s.wrap(f.at, err))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// token returns random letters and digits that nobody mistakes for each other,
// five bits each.
func token(n int) string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return string(b)
}
