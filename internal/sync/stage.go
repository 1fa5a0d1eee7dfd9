package sync

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	stdsync "sync"

	"gate/bundles"
	"gate/internal/sealed"
)

// EnvelopeFile is beside ArchiveFile, if the bundle has an envelope.
const EnvelopeFile = ArchiveFile + ".gate.json"

// What is read at most, in bytes.
const (
	maxArchive = 64 << 20 // more than a bundle may have, so that package bundles says so
	maxSealed  = 2 << 20  // of a key set or an envelope
)

// stage writes a verified bundle below the staging directory, and returns where.
func (d *disk) stage(b *bundles.Bundle, archive, envelope []byte) (string, error) {
	at := path.Join(stagingDir, b.Name())
	if err := d.remove(at); err != nil {
		return "", err
	}
	if err := d.ensure(at); err != nil {
		return "", err
	}
	written := []string{at}
	write := func(name string, data []byte) error {
		written = append(written, name)
		return d.create(name, data)
	}
	err := write(path.Join(at, ArchiveFile), archive)
	if err == nil && envelope != nil {
		err = write(path.Join(at, EnvelopeFile), envelope)
	}
	if err == nil {
		err = fs.WalkDir(b.FS(), ".", func(name string, e fs.DirEntry, err error) error {
			to := path.Join(at, FilesDir, name)
			if err != nil {
				return err
			}
			if e.IsDir() {
				written = append(written, to)
				return d.ensure(to)
			}
			data, err := fs.ReadFile(b.FS(), name)
			if err != nil {
				return err
			}
			return write(to, data)
		})
	}
	if err == nil {
		err = d.settleAll(written)
	}
	return at, err
}

// syncers is how many files are synced at once: journals write what is waiting
// together.
const syncers = 16

func (d *disk) settleAll(names []string) error {
	errs := make([]error, syncers)
	var all stdsync.WaitGroup
	for i := range syncers {
		all.Go(func() {
			for n := i; n < len(names) && errs[i] == nil; n += syncers {
				errs[i] = d.settle(names[n])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// place moves a staged bundle to where it will be read. What lies there, which
// is damaged or was never whole, is moved out of the way.
func (d *disk) place(staged string, a Active) error {
	if err := d.ensure(path.Join(Dir, a.Name)); err != nil {
		return err
	}
	if err := d.settle(Dir); err != nil {
		return err
	}
	to := path.Join(Dir, a.Dir)
	if _, err := d.root.Lstat(to); err == nil {
		old := stagingDir + "/damaged"
		if err := d.remove(old); err != nil {
			return err
		}
		if err := d.rename(to, old); err != nil {
			return err
		}
	}
	return d.rename(staged, to)
}

// packed reads the archive and the envelope of a bundle in its place.
func (d *disk) packed(a Active) (archive, envelope []byte, err error) {
	if archive, err = d.read(path.Join(Dir, a.Dir, ArchiveFile), maxArchive); err != nil {
		return nil, nil, err
	}
	envelope, err = d.read(path.Join(Dir, a.Dir, EnvelopeFile), maxSealed)
	if errors.Is(err, fs.ErrNotExist) {
		return archive, nil, nil
	}
	return archive, envelope, err
}

// refresh mends the archive and the envelope of a bundle whose files are whole:
// a bundle can be signed again and stay what it is.
func (d *disk) refresh(a Active, archive, envelope []byte) error {
	packed, beside, err := d.packed(a)
	if err != nil || !bytes.Equal(packed, archive) {
		if err := d.replace(path.Join(Dir, a.Dir, ArchiveFile), archive); err != nil {
			return err
		}
	}
	to := path.Join(Dir, a.Dir, EnvelopeFile)
	switch {
	case envelope == nil:
		return d.remove(to)
	case err != nil || !bytes.Equal(beside, envelope):
		return d.replace(to, envelope)
	}
	return nil
}

// files is the directory of bundles. Its error is found when it is read.
func (d *disk) files() fs.FS {
	files, _ := fs.Sub(d.root.FS(), Dir)
	return files
}

// sweep removes the releases that are neither in force nor were until now: a
// call that began before the update still reads those. What cannot be removed is
// left for the next time.
func (d *disk) sweep(keep ...Current) error {
	kept := func(dir string) bool {
		return slices.ContainsFunc(keep, func(c Current) bool {
			return slices.ContainsFunc(c.All(), func(a Active) bool { return a.Dir == dir })
		})
	}
	names, err := fs.ReadDir(d.files(), ".")
	for _, n := range names {
		if !n.IsDir() || !sealed.IsName(n.Name()) {
			continue
		}
		releases, e := fs.ReadDir(d.files(), n.Name())
		err = errors.Join(err, e)
		for _, r := range releases {
			if dir := path.Join(n.Name(), r.Name()); !kept(dir) {
				err = errors.Join(err, d.remove(path.Join(Dir, dir)))
			}
		}
	}
	return errors.Join(err, d.remove(stagingDir))
}
