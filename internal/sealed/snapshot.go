package sealed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"gate/internal/hostfs"
)

// Snapshot reads the files of a bundle that lies unpacked into memory, with
// their digest: the same files with the same bytes have the same, and no others
// do. [Bundle.FS] and the directory that was written from it have one digest;
// who keeps it need not check signatures again to know that nothing was
// changed. Every file counts, whatever it is called, and what is no regular file
// is an error. Errors begin with the file's name.
func Snapshot(fsys fs.FS, l Limits) (files fs.FS, digest string, err error) {
	s := snapshot{fsys: fsys, left: l.WithDefaults(), files: map[string][]byte{}}
	if err := fs.WalkDir(fsys, ".", s.visit); err != nil {
		return nil, "", err
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(h, "%d %d\n%s\n", len(name), len(s.files[name]), name)
		h.Write(s.files[name])
	}
	return InMemory(s.files), digestPrefix + hex.EncodeToString(h.Sum(nil)), nil
}

type snapshot struct {
	fsys  fs.FS
	left  Limits
	files map[string][]byte
}

func (s *snapshot) visit(name string, d fs.DirEntry, err error) error {
	fail := func(err error) error { return fmt.Errorf("%s: %w", Shown(name), hostfs.Reason(err)) }
	if err != nil {
		return fail(err)
	}
	switch s.left.Entries--; {
	case s.left.Entries < -1: // the top is no entry
		return Refuse(TooLarge, "more files than a bundle may have")
	case strings.Count(name, "/") >= MaxDeep:
		return fail(fmt.Errorf("more than %d directories in one another", MaxDeep))
	case d.IsDir():
		return nil
	case !d.Type().IsRegular():
		return fail(hostfs.ErrIrregular)
	}
	data, err := s.read(name)
	if err != nil {
		return fail(err)
	}
	s.files[name] = data
	return nil
}

// read reads one file, and a byte at most of what is too much.
func (s *snapshot) read(name string) ([]byte, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, hostfs.ErrIrregular
	}
	most := min(s.left.File, s.left.Total)
	data, err := hostfs.ReadAll(f, most)
	if err == hostfs.TooLarge(most) {
		err = Refuse(TooLarge, "more than %d bytes", most)
	}
	s.left.Total -= len(data)
	return data, err
}
