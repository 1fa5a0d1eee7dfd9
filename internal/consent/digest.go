package consent

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gate/internal/hostfs"
)

// Limits of a tree. More is nothing that a person has looked at.
const (
	maxEntries = 10_000   // files and directories
	maxBytes   = 64 << 20 // of all files
	maxDepth   = 64       // directories within each other
)

const digestPrefix = "sha256:"

// A TreeHash adds files up to the digest of a tree. Whatever order they come
// in, equal files give equal digests and others do not: names and contents
// cannot run into each other. The zero TreeHash is ready for use.
type TreeHash struct {
	entries []entry
}

type entry struct {
	kind    byte // d, f, or x for a program
	name    string
	content [sha256.Size]byte
}

// Add adds a file or a directory. Of the mode only its type and whether anybody
// may execute it count; a directory has no content.
func (t *TreeHash) Add(name string, mode fs.FileMode, content []byte) {
	e := entry{kind: 'f', name: name, content: sha256.Sum256(content)}
	switch {
	case mode.IsDir():
		e.kind = 'd'
	case mode&0o111 != 0:
		e.kind = 'x'
	}
	t.entries = append(t.entries, e)
}

// Sum returns the digest: "sha256:" and 64 hex digits.
func (t *TreeHash) Sum() string {
	sorted := slices.SortedFunc(slices.Values(t.entries), func(a, b entry) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind), slices.Compare(a.content[:], b.content[:]))
	})
	h := sha256.New()
	io.WriteString(h, "gate tree 1\n")
	for _, e := range sorted {
		h.Write([]byte{e.kind})
		sized(h, e.name)
		h.Write(e.content[:])
	}
	return digestPrefix + hex.EncodeToString(h.Sum(nil))
}

// Snapshot reads a directory into memory and returns it with the digest of its
// content: names, contents and which files are programs. Any change of a byte
// changes it. What is used is what was checked, as the files themselves can change
// between two looks.
//
// It refuses symbolic links and whatever else is no regular file, set-user-id
// programs, and trees that are too large (10 000 entries, 64 MiB, 64 levels): what
// a digest cannot hold cannot be trusted. Use the FS of an [os.Root].
func Snapshot(fsys fs.FS) (files fs.FS, digest string, err error) {
	var h TreeHash
	m := hostfs.Memory{}
	err = walk(fsys, func(name string, mode fs.FileMode, content []byte) {
		h.Add(name, mode, content)
		m.Add(name, mode, content)
	})
	if err != nil {
		return nil, "", err
	}
	return m, h.Sum(), nil
}

// walk gives every file and directory below the top to add.
func walk(fsys fs.FS, add func(name string, mode fs.FileMode, content []byte)) error {
	entries, left := 0, maxBytes
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		fail := func(err error) error { return fmt.Errorf("%s: %w", name, hostfs.Reason(err)) }
		if err != nil {
			return fail(err)
		}
		switch entries++; {
		case name == ".":
			if !d.IsDir() {
				return fail(errors.New("not a directory"))
			}
			return nil
		case entries > maxEntries+1:
			return fmt.Errorf("more than %d files and directories", maxEntries)
		case strings.Count(name, "/") >= maxDepth:
			return fmt.Errorf("%s: nested deeper than %d directories", clip(name), maxDepth)
		case !fs.ValidPath(name):
			return fmt.Errorf("%q: the name is not valid UTF-8", clip(name))
		case d.IsDir():
			add(name, fs.ModeDir, nil)
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			return fail(errors.New("a symbolic link; put the file itself here"))
		case d.Type() != 0:
			return fail(hostfs.ErrIrregular)
		}
		mode, content, err := contents(fsys, name, left)
		if err != nil {
			return fail(err)
		}
		left -= len(content)
		add(name, mode, content)
		return nil
	})
}

func contents(fsys fs.FS, name string, left int) (fs.FileMode, []byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, nil, err
	case !info.Mode().IsRegular():
		return 0, nil, hostfs.ErrIrregular
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return 0, nil, errors.New("a set-user-id or set-group-id program")
	}
	data, err := hostfs.ReadAll(f, left)
	if err == hostfs.TooLarge(left) {
		err = fmt.Errorf("the files are larger than %d bytes together", maxBytes)
	}
	return info.Mode(), data, err
}

// sized writes a text behind its length, so that two texts in a row have one
// reading.
func sized(h hash.Hash, text string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	io.WriteString(h, text)
}

// tie returns the digest of a list of texts, in hex. No two lists have one.
func tie(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		sized(h, t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func checkDigest(s string) error {
	if rest, ok := strings.CutPrefix(s, digestPrefix); !ok || !isDigest(rest) {
		return fmt.Errorf("%q is not a digest", clip(s))
	}
	return nil
}

// isDigest reports a SHA-256 as lower-case hex digits.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
