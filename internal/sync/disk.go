package sync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"gate/internal/hostfs"
)

// A Store is the managed directory of a machine, where bundles come into force.
// Any number of processes may use one at the same time. Whoever is killed and
// when, what is in force afterwards is what was before or what was to come.
type Store struct {
	// Dir is absolute and exists. Who may write there decides what the machine
	// believes.
	Dir string
	// Check reports why a file or directory may not be believed, whose it is
	// for example; it is asked about what was opened. Nil believes everything.
	Check func(name string, info fs.FileInfo) error

	at func(step string) error // tests: an error ends the process here, as it were
}

// Names below Dir that nobody else looks at.
const (
	stagingDir = Dir + "/.staging" // what is on its way; whatever a dead process left here is swept
	lockFile   = Dir + "/.lock"    // stays for good, because a lock whose file is gone holds nobody back
)

// What the store writes can be read by everybody: calls of every account are
// judged by it. The modes are set, so that no umask takes that away.
const (
	dirMode  fs.FileMode = 0o755
	fileMode fs.FileMode = 0o644
)

// A disk is the store while this process alone may change it.
type disk struct {
	Store
	root   *os.Root
	unlock func()
}

// open waits for the store as long as ctx lasts, and sweeps what a dead process
// left.
func (s Store) open(ctx context.Context) (*disk, error) {
	if !filepath.IsAbs(s.Dir) {
		return nil, fmt.Errorf("the directory %q is not absolute", s.Dir)
	}
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return nil, err
	}
	d := &disk{Store: s, root: root, unlock: func() {}}
	if err := d.prepare(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *disk) close() {
	d.unlock()
	d.root.Close()
}

func (d *disk) prepare(ctx context.Context) error {
	for _, dir := range []string{".", Dir} {
		if dir != "." {
			if err := d.ensure(dir); err != nil {
				return err
			}
		}
		if info, err := d.root.Lstat(dir); err != nil {
			return d.wrap(dir, err)
		} else if err := d.check(dir, info); err != nil {
			return err
		}
	}
	// The lock is this account's alone: who else could take it could stop
	// every update.
	lock, err := hostfs.Lock(ctx, filepath.Join(d.Dir, filepath.FromSlash(lockFile)), os.O_CREATE)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("another sync holds it: %w", ctx.Err())
	}
	if err != nil {
		return d.wrap(lockFile, err)
	}
	d.unlock = func() { lock.Close() }
	if err := d.remove(stagingDir); err != nil {
		return err
	}
	return d.ensure(stagingDir)
}

func (d *disk) check(name string, info fs.FileInfo) error {
	if d.Check == nil {
		return nil
	}
	return d.Check(filepath.Join(d.Dir, filepath.FromSlash(name)), info)
}

// checkAll checks everything below a directory, and the directory.
func (d *disk) checkAll(dir string) error {
	if d.Check == nil {
		return nil
	}
	return fs.WalkDir(d.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return d.check(name, info)
	})
}

// wrap puts the path of a file of the store before an error.
func (d *disk) wrap(name string, err error) error {
	return fmt.Errorf("%s: %w", filepath.Join(d.Dir, filepath.FromSlash(name)), hostfs.Reason(err))
}

func (d *disk) step(name string) error {
	if d.at == nil {
		return nil
	}
	return d.at(name)
}

// read reads a file that may be believed, of at most a number of bytes.
func (d *disk) read(name string, most int) ([]byte, error) {
	f, info, err := hostfs.Open(d.root, name)
	if err != nil {
		return nil, d.wrap(name, err)
	}
	defer f.Close()
	if err := d.check(name, info); err != nil {
		return nil, err
	}
	data, err := hostfs.ReadAll(f, most)
	if err != nil {
		return nil, d.wrap(name, err)
	}
	return data, nil
}

// ensure makes sure of one directory.
func (d *disk) ensure(name string) error {
	err := d.step("mkdir " + name)
	if err == nil {
		err = d.root.Mkdir(name, dirMode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = d.root.Chmod(name, dirMode)
	}
	if err != nil {
		return d.wrap(name, err)
	}
	return nil
}

// create writes a file that is not there yet. It is not on the disk for good
// before it is settled.
func (d *disk) create(name string, data []byte) error {
	err := d.step("create " + name)
	if err != nil {
		return d.wrap(name, err)
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return d.wrap(name, err)
	}
	half := len(data) / 2
	if _, err = f.Write(data[:half]); err == nil {
		err = d.step("write " + name)
	}
	if err == nil {
		_, err = f.Write(data[half:])
	}
	if err == nil && runtime.GOOS != "windows" {
		err = f.Chmod(fileMode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return d.wrap(name, err)
	}
	return nil
}

// replace puts a whole file in the place of another at once, for good.
func (d *disk) replace(name string, data []byte) error {
	draft := stagingDir + "/" + path.Base(name)
	if err := d.remove(draft); err != nil {
		return err
	}
	if err := d.create(draft, data); err != nil {
		return err
	}
	if err := d.settle(draft); err != nil {
		return err
	}
	return d.rename(draft, name)
}

// rename moves a file or a directory, for good.
func (d *disk) rename(from, to string) error {
	err := d.step("rename " + to)
	if err == nil {
		err = d.root.Rename(from, to)
	}
	if err == nil {
		err = d.step("settle " + to)
	}
	if err != nil {
		return d.wrap(to, err)
	}
	return d.settle(path.Dir(to))
}

// settle has a file or directory survive a loss of power.
func (d *disk) settle(name string) error {
	info, err := d.root.Lstat(name)
	if err == nil && runtime.GOOS == "windows" && info.IsDir() {
		return nil // directories cannot be synced there
	}
	mode := os.O_RDONLY
	if runtime.GOOS == "windows" {
		mode = os.O_WRONLY // there only who may write may sync
	}
	var f *os.File
	if err == nil {
		f, err = d.root.OpenFile(name, mode, 0)
	}
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return d.wrap(name, err)
	}
	return nil
}

// remove removes a file or a directory with everything in it, if it is there.
func (d *disk) remove(name string) error {
	if _, err := d.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := d.step("remove " + name)
	if err == nil {
		err = d.root.RemoveAll(name)
	}
	if err != nil {
		return d.wrap(name, err)
	}
	return nil
}
