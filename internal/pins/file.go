package pins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/format"
	"gate/internal/hostfs"
)

// FileName is the file's, below the user's directory.
const FileName = "mcp.lock"

// guard is the file whose lock is held while the other one is written. The other one
// cannot have it, since it is replaced.
const guard = ".mcp.lock"

// patience is how long somebody waits for others who write.
const patience = 10 * time.Second

// A file is what [FileName] says. Its first line has the number of the format and what
// the rest adds up to: against accidents, it is no seal.
type file struct {
	Servers map[string]*entry `json:"servers"`
}

// An entry is one server. Held is who it says it is now, nil if that is who it was.
type entry struct {
	At       time.Time      `json:"at"`
	Told     bool           `json:"told,omitempty"`
	Identity Identity       `json:"identity"`
	Held     Identity       `json:"held,omitempty"`
	Lists    map[Kind]*list `json:"lists,omitempty"`
}

// A list is one list of a server, by the names of its definitions.
type list struct {
	At     time.Time       `json:"at"`
	Pinned map[string]kept `json:"pinned"`
	Held   map[string]kept `json:"held,omitempty"`
}

// A kept definition: the digest of all that it says, and the text for people. A bare one may
// be the digest of all but [meta]: it is of a file of format 1, which does not tell.
type kept struct {
	Digest string `json:"digest"`
	Text   string `json:"text"`
	Bare   bool   `json:"bare,omitempty"`
}

// meta is the member of a definition that format 1 did not have from the beginning.
const meta = "_meta"

// read reads the file. A missing one knows no server.
func (s Store) read() (*file, error) {
	f := &file{Servers: map[string]*entry{}}
	if !filepath.IsAbs(s.Dir) {
		return nil, fmt.Errorf("pins: the directory %q is not absolute", s.Dir)
	}
	root, err := hostfs.OpenDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	defer root.Close()
	data, err := hostfs.ReadFile(root, FileName, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, s.wrap(err)
	}
	if err := f.decode(data); err != nil {
		return nil, s.wrap(err)
	}
	return f, nil
}

func (s Store) wrap(err error) error {
	return fmt.Errorf("%s: %w", filepath.Join(s.Dir, FileName), hostfs.Reason(err))
}

func (f *file) decode(data []byte) error {
	line, text, whole := bytes.Cut(data, []byte{'\n'})
	mark, want, _ := strings.Cut(string(line), " ")
	if !whole {
		return errors.New("it is cut short")
	}
	if err := format.Pins.CheckMark(mark); err != nil {
		return err
	}
	if sum := sha256.Sum256(text); want != hex.EncodeToString(sum[:]) {
		return errors.New("it is damaged: its content does not add up to its checksum")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return err
	}
	first := mark == format.Pins.MarkOf(1)
	for name, e := range f.Servers {
		if e == nil {
			return fmt.Errorf("it says nothing of the server %q", clip(name))
		}
		if e.Identity == nil {
			e.Identity = Identity{}
		}
		for kind, l := range e.Lists {
			if l == nil {
				return fmt.Errorf("it says nothing of the %s of %q", kind, clip(name))
			}
			if l.Pinned == nil {
				l.Pinned = map[string]kept{}
			}
			if l.Held == nil {
				l.Held = map[string]kept{}
			}
			for name, k := range l.Pinned {
				if first {
					k.Bare = true
					l.Pinned[name] = k
				}
			}
		}
	}
	return nil
}

func (f *file) encode() ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	sum := sha256.Sum256(text)
	return append([]byte(format.Pins.Mark()+" "+hex.EncodeToString(sum[:])+"\n"), text...), nil
}

// change has f change the file, while nobody else does. What f reports as changed is
// written; an error of f's changes nothing.
func (s Store) change(ctx context.Context, f func(*file) (changed bool, err error)) error {
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("pins: the directory %q is not absolute", s.Dir)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return s.wrap(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := hostfs.Lock(ctx, filepath.Join(s.Dir, guard), os.O_CREATE)
	if err != nil {
		return s.wrap(err)
	}
	defer lock.Close()
	is, err := s.read()
	if err != nil {
		return err
	}
	changed, err := f(is)
	if err != nil || !changed {
		return err
	}
	data, err := is.encode()
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("with this it would be %w", hostfs.TooLarge(maxFile))
	}
	if err == nil {
		err = hostfs.Replace(filepath.Join(s.Dir, FileName), data, 0o600)
	}
	if err != nil {
		return s.wrap(err)
	}
	return nil
}
