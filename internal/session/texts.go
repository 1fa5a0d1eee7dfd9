package session

import (
	"slices"
	"sync"
)

// Texts are the files of journals in this process, which end with it. The zero value has
// none. It is safe for concurrent use.
type Texts struct {
	mu sync.Mutex
	of map[string][]byte // by the names of journals, with the same limits as files
}

// read returns a file, nil where there is none.
func (t *Texts) read(name string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.of[name])
}

// add adds records to the file of a journal.
func (t *Texts) add(j Journal, first func() ([]byte, error), records []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, known := t.of[j.Name]
	switch {
	case known && int64(len(text)+len(records)) > j.Most:
		return ErrFull
	case !known:
		var err error
		if text, err = first(); err != nil {
			return err
		}
	}
	t.put(j.Name, append(text, records...))
	return nil
}

// once returns a file, and makes it where there is none.
func (t *Texts) once(name string, make func() ([]byte, error)) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := t.of[name]; text != nil {
		return slices.Clip(text), nil
	}
	text, err := make()
	if err == nil {
		t.put(name, text)
	}
	return text, err
}

func (t *Texts) put(name string, text []byte) {
	if t.of == nil {
		t.of = map[string][]byte{}
	}
	t.of[name] = text
}
