package sealed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits bound an archive while it is read. A zero field means its default.
type Limits struct {
	Archive int // bytes of the compressed archive; default 32 MiB
	Total   int // bytes of all files; default 64 MiB
	File    int // bytes of one file; default 16 MiB
	Entries int // files and directories; default 20 000
	Ratio   int // bytes out of one byte in; default 250, from 1 MiB on
}

func (l Limits) WithDefaults() Limits {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	set(&l.Archive, 32<<20)
	set(&l.Total, 64<<20)
	set(&l.File, 16<<20)
	set(&l.Entries, 20_000)
	set(&l.Ratio, 250)
	return l
}

const (
	TarBlock  = 512
	ratioFrom = 1 << 20 // small files of one repeated line compress extremely well
)

// unpack reads every file of an archive into memory, by its name within the
// bundle. Nothing but regular files and directories is taken, and no byte that
// another reader might see differently.
func Unpack(archive []byte, l Limits) (map[string][]byte, error) {
	l = l.WithDefaults()
	if len(archive) > l.Archive {
		return nil, Refuse(TooLarge, "the archive has %d bytes, %d are allowed", len(archive), l.Archive)
	}
	in := bytes.NewReader(archive)
	gz, err := gzip.NewReader(in)
	if err != nil {
		return nil, Refuse(Malformed, "not gzip: %w", err)
	}
	gz.Multistream(false) // a second member would be a second archive to some readers
	meter := &meter{from: gz, left: int64(l.Total) + int64(l.Entries+2)*3*TarBlock, in: in, size: len(archive), ratio: int64(l.Ratio)}
	u := unpacker{tar: tar.NewReader(meter), limits: l, left: int64(l.Total), files: map[string][]byte{}, names: newNames(l.Entries)}
	for {
		done, err := u.next()
		if err != nil {
			return nil, meter.explain(err)
		}
		if done {
			break
		}
	}
	if err := meter.end(); err != nil {
		return nil, err
	}
	return u.files, nil
}

type unpacker struct {
	tar    *tar.Reader
	limits Limits
	left   int64
	seen   int
	files  map[string][]byte
	names  *names
}

// next takes one entry.
func (u *unpacker) next() (done bool, err error) {
	h, err := u.tar.Next()
	if err == io.EOF {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if u.seen++; u.seen > u.limits.Entries {
		return false, Refuse(TooLarge, "more than %d files and directories", u.limits.Entries)
	}
	isDir, err := plain(h)
	if err != nil {
		return false, err
	}
	name, err := entryName(h.Name, isDir)
	if err != nil {
		return false, err
	}
	if name == "" { // "./", the bundle's own directory
		return false, nil
	}
	if err := u.names.add(name, isDir); err != nil {
		return false, err
	}
	if isDir {
		return false, nil
	}
	return false, u.content(name, h.Size)
}

// content reads the bytes of a file.
func (u *unpacker) content(name string, size int64) error {
	if size > int64(u.limits.File) {
		return RefuseFile(TooLarge, Shown(name), fmt.Errorf("%d bytes, %d are allowed", size, u.limits.File))
	}
	if u.left -= size; u.left < 0 {
		return Refuse(TooLarge, "the files have more than %d bytes together", u.limits.Total)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(u.tar, data); err != nil {
		return err
	}
	u.files[name] = data
	return nil
}

// plain refuses what is neither a regular file nor a directory, and whatever an
// extended header could change about it.
func plain(h *tar.Header) (isDir bool, err error) {
	for key := range h.PAXRecords {
		switch key {
		case "path", "mtime", "atime", "ctime":
		default:
			return false, RefuseFile(Malformed, Shown(h.Name), fmt.Errorf("extended header %s", Shown(key)))
		}
	}
	switch h.Typeflag {
	case tar.TypeReg, '\x00':
		if strings.HasSuffix(h.Name, "/") {
			return false, RefuseFile(Malformed, Shown(h.Name), errors.New("a file with the name of a directory"))
		}
	case tar.TypeDir:
		isDir = true
		if h.Size != 0 {
			return false, RefuseFile(Malformed, Shown(h.Name), errors.New("a directory with content"))
		}
	case tar.TypeSymlink, tar.TypeLink:
		return false, RefuseFile(Malformed, Shown(h.Name), errors.New("a link"))
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return false, RefuseFile(Malformed, Shown(h.Name), errors.New("a device or a pipe"))
	default:
		return false, RefuseFile(Malformed, Shown(h.Name), fmt.Errorf("an entry of type %q", h.Typeflag))
	}
	if h.Linkname != "" {
		return false, RefuseFile(Malformed, Shown(h.Name), errors.New("a file that names a link's target"))
	}
	return isDir, nil
}

// A meter counts what comes out of the compressed stream, and stops it.
type meter struct {
	from  io.Reader
	left  int64
	out   int64
	in    *bytes.Reader
	size  int
	ratio int64
	err   *Refusal // what stopped it; the tar reader hides it behind its own errors
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	m.out += int64(n)
	m.left -= int64(n)
	used := int64(m.size - m.in.Len())
	switch {
	case m.left < 0:
		m.err = Refuse(TooLarge, "it unpacks to more than is allowed")
	case m.out > ratioFrom && m.out > used*m.ratio:
		m.err = Refuse(TooLarge, "it unpacks to more than %d times its size", m.ratio)
	default:
		return n, err
	}
	return 0, m.err
}

// explain says what is wrong with an archive that could not be read on.
func (m *meter) explain(err error) error {
	var r *Refusal
	switch {
	case m.err != nil:
		return m.err
	case errors.As(err, &r):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Refuse(Malformed, "it ends in the middle")
	}
	return Refuse(Malformed, "%w", err)
}

// end makes sure that nothing but padding follows the last entry.
func (m *meter) end() error {
	buf := make([]byte, 32<<10)
	for {
		n, err := m.Read(buf)
		if bytes.ContainsFunc(buf[:n], func(r rune) bool { return r != 0 }) {
			return Refuse(Malformed, "something follows the end of the archive")
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return m.explain(err)
		}
	}
	if m.in.Len() != 0 {
		return Refuse(Malformed, "something follows the end of the archive, in bytes: %d", m.in.Len())
	}
	return nil
}
