package repository

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A budget is how many bytes may still be looked at.
type budget int64

var errTooMuch = errors.New("it is more than is looked at")

// limited passes at most what the budget has left.
func (b *budget) limited(r io.Reader) io.Reader { return &spender{r, b} }

type spender struct {
	r    io.Reader
	left *budget
}

func (s *spender) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if *s.left -= budget(n); *s.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// copyLoose copies the file of a loose object as it is, and fails unless its content has the
// name. Its parts, such as the paths of a tree, are not looked at.
func copyLoose(to io.Writer, from io.Reader, name string, left *budget) error {
	packed := bufio.NewReader(io.TeeReader(from, to))
	z, err := zlib.NewReader(packed)
	if err != nil {
		return err
	}
	content := bufio.NewReader(left.limited(z))
	head, err := content.ReadSlice(0)
	if err != nil || len(head) > 32 {
		return errors.New("it has no head")
	}
	kind, size, _ := strings.Cut(string(head[:len(head)-1]), " ")
	length, err := strconv.ParseInt(size, 10, 64)
	if err != nil || length < 0 || size != strconv.FormatInt(length, 10) || !isKind(kind) {
		return errors.New("it has no head")
	}
	h := newHash(len(name))
	h.Write(head)
	n, err := io.Copy(h, content)
	switch {
	case err != nil:
		return err
	case n != length || hex.EncodeToString(h.Sum(nil)) != name:
		return errors.New("its content has another name")
	}
	if _, err := packed.ReadByte(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

func isKind(kind string) bool {
	return kind == "blob" || kind == "tree" || kind == "commit" || kind == "tag"
}

// writeLoose writes an object in the form of a loose one.
func writeLoose(to io.Writer, kind string, content []byte) error {
	z, err := zlib.NewWriterLevel(to, zlib.BestSpeed)
	if err != nil {
		return err
	}
	fmt.Fprintf(z, "%s %d\x00", kind, len(content))
	if _, err := z.Write(content); err != nil {
		return err
	}
	return z.Close()
}

// nameOf is the name of an object.
func nameOf(kind string, content []byte, hexes int) string {
	h := newHash(hexes)
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// inflate reads so many bytes of what follows at a place of a pack.
func inflate(from io.Reader, size int64, left *budget) ([]byte, error) {
	if size > mostObject {
		return nil, fmt.Errorf("it has an object of %d bytes, and %d are looked at", size, mostObject)
	}
	z, err := zlib.NewReader(from)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(left.limited(z), size+1))
	if err == nil && n != size {
		err = errors.New("an object has another length than it says")
	}
	return out.Bytes(), err
}

// mostObject is how many bytes an object in a pack may have. Git itself makes loose ones of
// most that are new, whose size has no such limit.
const mostObject = 256 << 20
