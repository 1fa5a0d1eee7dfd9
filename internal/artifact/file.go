package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"

	"gate/internal/hostfs"
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

// Peek says what a file in a directory was made of, if maker made it.
func Peek(in hostfs.Handle, name, maker string) (k Kind, place string, err error) {
	f, err := in.OpenFile(name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	info, err := f.Stat(name)
	if err != nil {
		return 0, "", err
	}
	data, err := Read(f, info)
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
// asked about what was opened, with the name for people, first about the
// directory: where that is no stranger's, it holds nothing that a stranger put
// there. Neither may be a link. A file that is not there is fs.ErrNotExist.
func OpenFile(base, name, maker string, k Kind, check func(name string, info fs.FileInfo) error) (*Artifact, error) {
	path := filepath.Join(base, Dir)
	dir, err := hostfs.OpenHandle(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Stat(path)
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, err
	}
	path = filepath.Join(path, name)
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(path); err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := Read(f, info)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a, err := Open(data, maker, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// LibraryMaker is the maker of the embedded library's form, which belongs to the
// program that embeds it.
const LibraryMaker = "embedded"
