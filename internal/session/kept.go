package session

import (
	"context"
	"sync"
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

// Of is where the memory of a session is kept in the store.
func (s Store) Of(k Key) Kept { return stored{s, k} }

type stored struct {
	store Store
	key   Key
}

func (s stored) Exists() bool           { return s.store.Exists(s.key) }
func (s stored) Read() (*Memory, error) { return s.store.Read(s.key) }

func (s stored) Update(ctx context.Context, change func(*Memory) error) error {
	return s.store.Update(ctx, s.key, change)
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
