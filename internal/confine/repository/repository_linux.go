package repository

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A Base is what a repository was before a program began.
type Base struct {
	Git   string // the directory in which git keeps what is its own, absolute and without symbolic links
	Hexes int    // digits in the name of an object: 40 or 64
	parts []part
}

type part struct {
	Part
	head   string            // what HEAD holds
	refs   map[string]string // what files of refs hold
	packed held              // packed-refs
	index  held
}

// A held is a file that git replaces as a whole: with it open, its content stays readable.
type held struct {
	mark string // "" where there is none
	file *os.File
}

const (
	mostRefs = 20_000    // files of refs
	mostText = 1 << 20   // bytes of a short text
	mostData = 256 << 20 // bytes of an index, of packed-refs, or of a log
)

// Look says what a repository is. It is an error if git keeps something in it in a way that
// [Base.TakeOver] does not know, or is in the middle of something.
func Look(git string, hexes int, parts []Part) (*Base, error) {
	real, err := openTree(git)
	if err != nil {
		return nil, err
	}
	defer real.close()
	b := &Base{Git: git, Hexes: hexes}
	left := mostRefs
	for _, p := range parts {
		is := part{Part: p, refs: map[string]string{}}
		for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer", "reftable"} {
			if real.kind(path.Join(p.Dir, name)) != gone {
				b.Close()
				return nil, fmt.Errorf("%s/%s is there", git, path.Join(p.Dir, name))
			}
		}
		err := real.walk(path.Join(p.Dir, "refs"), "refs", &left, func(name, ref string, kind kind) error {
			if strings.HasSuffix(ref, ".lock") {
				return nil
			}
			text, err := real.text(name, mostText)
			is.refs[ref] = string(text)
			return err
		})
		if err == nil {
			var head []byte
			head, err = real.text(path.Join(p.Dir, "HEAD"), mostText)
			is.head = string(head)
		}
		if err == nil {
			is.packed, err = real.hold(path.Join(p.Dir, "packed-refs"))
		}
		if err == nil {
			is.index, err = real.hold(path.Join(p.Dir, "index"))
		}
		b.parts = append(b.parts, is)
		if err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close lets go of the files that are held.
func (b *Base) Close() {
	for _, p := range b.parts {
		p.packed.close()
		p.index.close()
	}
}

func (h held) close() {
	if h.file != nil {
		h.file.Close()
	}
}

// Texts is a Base as a list of texts, which may hold any bytes.
func (b *Base) Texts() []string {
	list := []string{b.Git, fmt.Sprint(b.Hexes)}
	for _, p := range b.parts {
		list = append(list, p.Dir, p.Common, p.Work, p.head, p.packed.mark, p.index.mark, fmt.Sprint(len(p.refs)))
		for ref, text := range p.refs {
			list = append(list, ref, text)
		}
	}
	return list
}

// FromTexts is the other way round. It holds no files: what a person's git replaced meanwhile
// counts as changed.
func FromTexts(list []string) (*Base, error) {
	bad := errors.New("the state of a repository cannot be read")
	next := func() (text string) {
		if len(list) > 0 {
			text, list = list[0], list[1:]
		}
		return text
	}
	b := &Base{Git: next()}
	if _, err := fmt.Sscan(next(), &b.Hexes); err != nil || b.Hexes != 40 && b.Hexes != 64 {
		return nil, bad
	}
	for len(list) > 0 {
		p := part{Part: Part{next(), next(), next()}, refs: map[string]string{}, head: next(), packed: held{mark: next()}, index: held{mark: next()}}
		n := 0
		if _, err := fmt.Sscan(next(), &n); err != nil || n < 0 || 2*n > len(list) {
			return nil, bad
		}
		for range n {
			ref := next()
			p.refs[ref] = next()
		}
		b.parts = append(b.parts, p)
	}
	return b, nil
}

// A tree is a directory in which files are named without symbolic links on the way.
type tree struct{ fd int }

func openTree(name string) (tree, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return tree{-1}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return tree{fd}, nil
}

func (t tree) close() { unix.Close(t.fd) }

// open opens a file below the tree; a pipe does not keep it waiting.
func (t tree) open(name string, flags uint64, mode uint64) (*os.File, error) {
	if name == "" {
		name = "."
	}
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK
	}
	how := &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Mode: mode, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH}
	for {
		fd, err := unix.Openat2(t.fd, name, how)
		if err == unix.EINTR || err == unix.EAGAIN { // a name changed on the way
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// file opens a file that has content.
func (t tree) file(name string) (*os.File, error) {
	file, err := t.open(name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no file")}
	}
	return file, nil
}

// text reads a file that has at most so many bytes.
func (t tree) text(name string, most int64) ([]byte, error) {
	file, err := t.file(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return content(file, most)
}

func content(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has more than %d bytes", file.Name(), most)
	}
	data := make([]byte, info.Size())
	n, err := file.ReadAt(data, 0)
	if n == len(data) {
		err = nil
	}
	return data[:n], err
}

// hold opens a file that may be missing.
func (t tree) hold(name string) (held, error) {
	file, err := t.file(name)
	if errors.Is(err, fs.ErrNotExist) {
		return held{}, nil
	}
	if err != nil {
		return held{}, err
	}
	mark, err := markOf(file)
	return held{mark, file}, err
}

// markOf tells a file from what it was or what stood there before.
func markOf(file *os.File) (string, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &s); err != nil {
		return "", err
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim), nil
}

// A kind is what a name of a layer is.
type kind uint8

const (
	gone    kind = iota // nothing
	regular             // a file
	folder
	removed // the layer's mark for what was removed
	odd     // a symbolic link, a pipe, a socket
)

func (t tree) kind(name string) kind {
	var s unix.Stat_t
	file, err := t.open(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return gone
	}
	if err != nil {
		return odd
	}
	defer file.Close()
	if unix.Fstat(int(file.Fd()), &s) != nil {
		return odd
	}
	switch {
	case s.Mode&unix.S_IFMT == unix.S_IFREG:
		return regular
	case s.Mode&unix.S_IFMT == unix.S_IFDIR:
		return folder
	case s.Mode&unix.S_IFMT == unix.S_IFCHR && s.Rdev == 0:
		return removed
	}
	return odd
}

var errTooMany = errors.New("there are too many files")

// An item is a name in a directory.
type item struct {
	name string
	kind kind
}

// list reads a directory that may be missing. Left is how many names may still come.
func (t tree) list(name string, left *int) (items []item, err error) {
	dir, err := t.open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(1024)
		if *left -= len(entries); *left < 0 {
			return nil, errTooMany
		}
		for _, e := range entries {
			is := odd
			switch {
			case e.IsDir():
				is = folder
			case e.Type().IsRegular():
				is = regular
			case e.Type()&fs.ModeCharDevice != 0:
				is = t.kind(path.Join(name, e.Name()))
			}
			items = append(items, item{e.Name(), is})
		}
		if err == io.EOF {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// mostDeep is how many directories lie above a file that is looked at.
const mostDeep = 40

// walk tells of everything below a directory that is no directory, with its name and one
// that begins with as.
func (t tree) walk(name, as string, left *int, found func(name, as string, kind kind) error) error {
	if strings.Count(as, "/") > mostDeep {
		return fmt.Errorf("%s lies too deep", as)
	}
	items, err := t.list(name, left)
	if err != nil {
		return err
	}
	for _, i := range items {
		below, belowAs := path.Join(name, i.name), as+"/"+i.name
		if i.kind == folder {
			err = t.walk(below, belowAs, left, found)
		} else {
			err = found(below, belowAs, i.kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// opaque reports a directory of a layer that hides what lies below it.
func (t tree) opaque(name string) bool {
	dir, err := t.open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer dir.Close()
	var value [4]byte
	n, err := unix.Fgetxattr(int(dir.Fd()), "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
}
