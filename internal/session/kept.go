package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gate/internal/hostfs"
)

// Kept is where the memory of one session is kept: a file of a [Store], or this
// process.
type Kept interface {
	// Exists reports whether something is remembered.
	Exists() bool

	// Read returns what is remembered, an empty Memory where nothing is. The Memory is
	// the caller's own. An error means that nobody knows what the session may still do.
	Read() (*Memory, error)

	// Update changes the memory while nobody else can. An error of change is returned,
	// and nothing is kept then. The Memory is change's own afterwards, too.
	Update(ctx context.Context, change func(*Memory) error) error
}

// Of is where the memory of a session is kept in the store. It is safe for concurrent
// use, and reads the file again only where it has changed since.
func (s Store) Of(k Key) Kept { return &stored{Store: s, key: k} }

// A stored memory is a file of a store.
type stored struct {
	Store
	key  Key
	last atomic.Pointer[version] // nil: none was read
}

// A version is a file as it was at one time. It is only added to, or replaced.
type version struct {
	fs.FileInfo
	text []byte
}

func (v *version) is(info fs.FileInfo) bool {
	return v != nil && os.SameFile(v, info) && v.Size() == info.Size() && v.ModTime().Equal(info.ModTime())
}

// Exists implements [Kept].
func (s *stored) Exists() bool { return s.Store.Exists(s.key) }

// Read implements [Kept].
func (s *stored) Read() (*Memory, error) {
	m, _, err := s.read()
	return m, err
}

// read returns what is remembered, and the file's text.
func (s *stored) read() (m *Memory, text []byte, err error) {
	text, err = s.current()
	if errors.Is(err, fs.ErrNotExist) {
		return &Memory{}, nil, nil
	}
	if err == nil {
		m, err = decode(&s.key, latest(text))
	}
	if err != nil {
		return nil, nil, s.wrong(err)
	}
	return m, text, nil
}

// current returns the file's text.
func (s *stored) current() ([]byte, error) {
	path := s.path(s.key)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if last := s.last.Load(); last.is(info) {
		return last.text, nil
	}
	text, err := readFile(path)
	if err == nil && int64(len(text)) == info.Size() && bytes.HasSuffix(text, []byte("\n")) { // nobody is changing it
		s.last.Store(&version{info, text})
	}
	return text, err
}

// Update implements [Kept].
func (s *stored) Update(ctx context.Context, change func(*Memory) error) error {
	fresh := !s.Exists()
	if err := s.update(ctx, change); err != nil {
		return err
	}
	if fresh {
		s.Sweep(ctx, time.Now()) // what it cannot remove the next one will
	}
	return nil
}

func (s *stored) update(ctx context.Context, change func(*Memory) error) error {
	if err := s.prepare(); err != nil {
		return fmt.Errorf("memory of the session: %w", err)
	}
	unlock, err := s.lock(ctx, s.key.Name())
	if err != nil {
		return s.wrong(err)
	}
	defer unlock()
	m, text, err := s.read()
	if err != nil {
		return err
	}
	if err := change(m); err != nil {
		return err
	}
	line, err := encode(s.key, m)
	if err == nil {
		err = s.add(s.path(s.key), text, line)
	}
	if err != nil {
		return s.wrong(err)
	}
	return nil
}

func (s *stored) wrong(err error) error {
	return fmt.Errorf("memory of the session: %s: %w", s.path(s.key), hostfs.Reason(err))
}

// Held is the memory of one session in this process, and ends with it. The zero
// value is that of a session nothing is known of. It is safe for concurrent use.
type Held struct {
	mu   sync.Mutex
	text []byte // as a file would hold it, with the same limits; nil: nothing is known
}

// Exists implements [Kept].
func (h *Held) Exists() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text != nil
}

// Read implements [Kept].
func (h *Held) Read() (*Memory, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read()
}

func (h *Held) read() (*Memory, error) {
	if h.text == nil {
		return &Memory{}, nil
	}
	return decode(&Key{}, h.text)
}

// Update implements [Kept].
func (h *Held) Update(_ context.Context, change func(*Memory) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, err := h.read()
	if err == nil {
		err = change(m)
	}
	if err != nil {
		return err
	}
	text, err := encode(Key{}, m)
	if err == nil {
		h.text = text
	}
	return err
}
