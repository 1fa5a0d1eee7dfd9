package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/hostfs"
)

// A Store is the directory that memories are kept in, a file a session. It
// belongs to one account: what is a link, belongs to somebody else or can be
// touched by others is refused, with its path. Where a system has no owners and
// modes (Windows), the access list of the user's directory is the protection.
//
// Any number of processes may use one store at the same time. A change is whole
// or not there, whoever is killed and when; the lock of a dead process is free.
// Files are not synced: what a loss of power destroys is an error to read.
//
// A change adds a line to the session's file, and the last whole line counts. To put a
// new file in the place of the old one at every call would take the disk each time.
type Store struct {
	// Dir is absolute and below the state directory. It is made when
	// something is written. It must never lie in a project.
	Dir string

	at func(step string) error // tests: an error ends the process here, as it were
}

// lockDir holds the locks. A file stays for good, because a lock whose file is
// gone holds nobody back.
const lockDir = "locks"

// Exists reports whether something is remembered of a session, at the cost of
// one system call. What cannot be told counts as yes, so that it is found out.
func (s Store) Exists(k Key) bool {
	return !hostfs.Missing(s.path(k))
}

func (s Store) path(k Key) string { return filepath.Join(s.Dir, k.Name()) }

// Read returns what is remembered of a session, an empty Memory where nothing
// is. An error means that nobody knows what the session may still do.
func (s Store) Read(k Key) (*Memory, error) { return s.Of(k).Read() }

// latest is the last whole line of a file. What stands behind it is of a process that was
// killed in the middle of a write, or is about to end one: nobody has gone by it yet. Zeros
// are of no process: a loss of power left them in the place of lines that calls went by.
func latest(data []byte) []byte {
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 || bytes.IndexByte(data[end:], 0) >= 0 {
		return data[end+1:] // which must be whole
	}
	return data[bytes.LastIndexByte(data[:end], '\n')+1 : end]
}

// Broken finds the memories that cannot be read: their files, and why.
func (s Store) Broken() map[string]error {
	_, broken := s.All()
	return broken
}

// All reads every memory, by its file. Nothing in one says which session's it
// is. Those that cannot be read are apart, with the reason.
func (s Store) All() (memories map[string]*Memory, broken map[string]error) {
	memories, broken = map[string]*Memory{}, map[string]error{}
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		broken[s.Dir] = hostfs.Reason(err)
	}
	for _, e := range entries {
		if len(e.Name()) != len(Key{}.Name()) {
			continue
		}
		path := filepath.Join(s.Dir, e.Name())
		var m *Memory
		data, err := readFile(path)
		if err == nil {
			m, err = decode(nil, latest(data))
		}
		switch {
		case err == nil:
			memories[path] = m
		case !errors.Is(err, fs.ErrNotExist):
			broken[path] = hostfs.Reason(err)
		}
	}
	return memories, broken
}

// Update changes the memory of a session: it reads it, lets change change it,
// and writes it, while no other process can. It waits for others as long as ctx
// lasts. An error of change is returned, and nothing is written then.
func (s Store) Update(ctx context.Context, k Key, change func(*Memory) error) error {
	return s.Of(k).Update(ctx, change)
}

// add puts a line behind what a file has. A file that would become too long, or ends in
// half a line, is replaced.
func (s Store) add(path string, has, line []byte) error {
	if len(has) == 0 || has[len(has)-1] != '\n' || len(has)+len(line) > maxGrown {
		return s.replace(path, line)
	}
	return extend(path, "", int64(len(has)), line)
}

// prepare makes the directories, and looks whether they are this account's.
func (s Store) prepare() error {
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("the directory %q is not absolute", s.Dir)
	}
	locks := filepath.Join(s.Dir, lockDir)
	if _, err := os.Lstat(locks); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(locks, 0o700); err != nil {
			return err
		}
	}
	above, err := os.Stat(filepath.Dir(s.Dir))
	if err == nil {
		err = hostfs.Steady(above)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(s.Dir), hostfs.Reason(err))
	}
	for _, dir := range []string{s.Dir, locks} {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory", dir)
		}
		if err := hostfs.Private(info); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// lock takes the lock of a file, and of others that share it. It ends with the
// process at the latest.
func (s Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := hostfs.Lock(ctx, filepath.Join(s.Dir, lockDir, name[:1]), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// readFile reads a small file of this account's alone.
func readFile(path string) ([]byte, error) {
	root, err := hostfs.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return hostfs.ReadFile(root, filepath.Base(path), maxFile+1) // with the end of its line
}

// draft marks a file on its way. There is at most one a session, for only the
// holder of the lock writes.
const draft = ".draft"

// replace puts a whole file in the place of another at once.
func (s Store) replace(path string, data []byte) error {
	if err := os.Remove(path + draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path+draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL|hostfs.OpenFlags, 0o600)
	if err != nil {
		return err
	}
	half := len(data) / 2
	_, err = f.Write(data[:half])
	if err == nil {
		err = s.step("write")
	}
	if err == nil {
		_, err = f.Write(data[half:])
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err // the next one removes it
	}
	if err := s.step("rename"); err != nil {
		return err
	}
	return os.Rename(path+draft, path)
}

func (s Store) step(name string) error {
	if s.at == nil {
		return nil
	}
	return s.at(name)
}

// Sweep removes the sessions that nobody has heard of for [Life]. An Update
// that begins a session does it by itself.
func (s Store) Sweep(ctx context.Context, now time.Time) error {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), draft); len(name) == len(Key{}.Name()) {
			err = errors.Join(err, s.forget(ctx, e.Name(), now.Add(-Life)))
		}
	}
	return err
}

// forget removes a file that nobody has changed since.
func (s Store) forget(ctx context.Context, name string, since time.Time) error {
	path := filepath.Join(s.Dir, name)
	stale := func() bool {
		info, err := os.Lstat(path)
		return err == nil && info.Mode().IsRegular() && info.ModTime().Before(since)
	}
	if !stale() {
		return nil
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	if !stale() { // somebody woke it up
		return nil
	}
	return os.Remove(path)
}
