package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"gate/hostfs"
	"gate/owned"
)

// Dir is where files lie: below the state directory those of the user's and of
// projects' places, below the managed directory those of managed ones.
const Dir = "compiled"

// Name returns the name of the file of a place within [Dir]: of id, which is the
// absolute directory. A place has one file, which is
// replaced when the place has changed.
func Name(k Kind, id string) string {
	sum := sha256.Sum256([]byte(id))
	return k.String() + "-" + hex.EncodeToString(sum[:16]) + Suffix
}

// Suffix ends the names of files.
const Suffix = ".plan"

// Peek says what an open file was made of, if maker made it.
func Peek(f *os.File, maker string) (k Kind, place string, err error) {
	data, err := Read(f)
	if err != nil {
		return 0, "", err
	}
	a := &Artifact{data: data}
	if err := a.readTable(); err != nil {
		return 0, "", err
	}
	d, err := a.open(sectionHead)
	if err != nil {
		return 0, "", err
	}
	k = Kind(d.byte())
	if by := d.text(); by != maker {
		return k, "", ErrStale
	}
	place = d.text()
	return k, place, d.err
}

// Maker names the program that is running, for [Open]: its version, and that of
// the Go that built it. Programs that were built of the same sources have one
// name.
func Maker() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Path + " " + info.Main.Version + " " + info.GoVersion
}

// OpenFile opens the file of a place below base, which is the state directory or
// the managed one. check says whose the file and the directory must be; it is
// asked about what was opened, with the name for people. A file that is not
// there is fs.ErrNotExist.
func OpenFile(base, name, maker string, k Kind, check func(name string, info fs.FileInfo) error) (*Artifact, error) {
	dir := filepath.Join(base, Dir)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", dir)
	}
	if err := check(dir, info); err != nil {
		return nil, err
	}
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if now, err := root.Stat("."); err != nil || !os.SameFile(now, info) {
		return nil, fmt.Errorf("%s: it was replaced while it was opened", dir)
	}
	path := filepath.Join(dir, name)
	f, err := openRegular(root, name, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := Read(f)
	if err != nil {
		return nil, err
	}
	a, err := Open(data, maker, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// openRegular opens what has a name itself: no link, and nothing that can wait.
func openRegular(root *os.Root, name, path string) (*os.File, error) {
	found, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !found.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|owned.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(found, info) {
		f.Close()
		return nil, fmt.Errorf("%s: it was replaced while it was opened", path)
	}
	return f, nil
}

// LibraryMaker is the maker of the embedded library's form, which belongs to the
// program that embeds it.
const LibraryMaker = "embedded"
