package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// copiedPrograms are gate's programs in the order in which their copies are replaced:
// one that hands over follows the one that it hands over to. A program that a system does
// not have is left out.
var copiedPrograms = [...]string{"gate-run", "gate-server", "gate", "gate-hook"}

// MakeCopies puts copies of gate's programs where Command starts them, if they are to be
// copied. All of them are written beside their old form before the first is renamed to
// it, so that each path leads to a whole program at every moment, and a program that runs
// goes on. It returns what it wrote: nothing where the copies are the same already.
func (m Machine) MakeCopies() (written []string, err error) {
	if m.Source == "" {
		return nil, nil
	}
	if at, _, why := m.weakPlace(m.Copies, false); why != "" {
		return nil, fmt.Errorf("gate's programs cannot be copied to %s: %s: %s", m.Copies, at, why)
	}
	if err := os.MkdirAll(m.Copies, 0o700); err != nil {
		return nil, fmt.Errorf("gate's programs cannot be copied: %w", err)
	}
	var drafts []draft
	defer func() {
		for _, d := range drafts {
			os.Remove(d.temp)
		}
	}()
	for _, name := range copiedPrograms {
		name += filepath.Ext(m.Source)
		d, err := newDraft(filepath.Join(filepath.Dir(m.Source), name), filepath.Join(m.Copies, name))
		if err != nil {
			return nil, fmt.Errorf("gate's programs cannot be copied: %w", err)
		}
		if d.temp != "" {
			drafts = append(drafts, d)
		}
	}
	for _, d := range drafts {
		if err := d.replace(); err != nil {
			return written, fmt.Errorf("gate's programs cannot be copied: %w", err)
		}
		written = append(written, d.path)
	}
	if len(written) == 0 {
		return nil, nil
	}
	return written, m.system().SyncDir(m.Copies)
}

// Outdated reports copies that are there and are not what MakeCopies would write.
func (m Machine) Outdated() bool {
	if m.Source == "" || !m.exists(m.Program) {
		return false
	}
	for _, name := range copiedPrograms {
		name += filepath.Ext(m.Source)
		source, err := os.Open(filepath.Join(filepath.Dir(m.Source), name))
		if err != nil {
			continue
		}
		as := same(source, filepath.Join(m.Copies, name))
		source.Close()
		if !as {
			return true
		}
	}
	return false
}

// A draft is a copy that is not yet in its place.
type draft struct{ temp, path string }

// newDraft copies a program beside its place; the zero draft says that the same is
// there, or that there is nothing to copy.
func newDraft(from, to string) (draft, error) {
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(to); err == nil {
			return draft{}, fmt.Errorf("%s is not there, and %s would be of another build: remove it, or build all programs into one directory", from, to)
		}
		return draft{}, nil
	}
	if err != nil {
		return draft{}, err
	}
	defer source.Close()
	if same(source, to) {
		return draft{}, nil
	}
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return draft{}, err
	}
	temp, err := os.CreateTemp(filepath.Dir(to), ".draft-*")
	if err != nil {
		return draft{}, err
	}
	_, err = io.Copy(temp, source)
	if err = errors.Join(err, temp.Chmod(0o755), temp.Sync(), temp.Close()); err != nil {
		os.Remove(temp.Name())
		return draft{}, err
	}
	return draft{temp.Name(), to}, nil
}

// same reports whether a program is there already, as a file of the right mode.
func same(source *os.File, to string) bool {
	info, err := os.Lstat(to)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		return false
	}
	about, err := source.Stat()
	if err != nil || about.Size() != info.Size() {
		return false
	}
	there, err := os.Open(to)
	if err != nil {
		return false
	}
	defer there.Close()
	var a, b [64 << 10]byte
	for {
		n, err := io.ReadFull(source, a[:])
		m, otherErr := io.ReadFull(there, b[:])
		if n != m || !bytes.Equal(a[:n], b[:m]) {
			return false
		}
		if err != nil || otherErr != nil {
			return err == otherErr || err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
}

// replace puts the copy into its place. Windows renames no file to one that runs, but it
// renames the one that runs.
func (d draft) replace() error {
	err := os.Rename(d.temp, d.path)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	old := d.path + ".old"
	os.Remove(old)
	if err := os.Rename(d.path, old); err != nil {
		return err
	}
	if err := os.Rename(d.temp, d.path); err != nil {
		return errors.Join(err, os.Rename(old, d.path))
	}
	os.Remove(old) // fails while it runs; the next copy tries again
	return nil
}
