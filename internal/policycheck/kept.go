package policycheck

import (
	"bytes"
	"sync"

	"gate/internal/load"
)

// A Kept holds what was learned about texts, so that the next check of the same files
// costs little more than what was changed. The zero value is empty. It is safe for
// concurrent use, and belongs to one set of files.
type Kept struct {
	trees load.Kept

	mu      sync.Mutex
	printed map[string]printed // by the name of the file
}

// A printed is what the formatter made of a text.
type printed struct {
	text, formatted []byte
	err             error
}

// maxPrinted bounds the files of which that is kept. Beyond it all are forgotten.
const maxPrinted = 10_000

// format is [Format], once for a text.
func (k *Kept) format(name string, text []byte) ([]byte, error) {
	k.mu.Lock()
	p, found := k.printed[name]
	k.mu.Unlock()
	if found && bytes.Equal(p.text, text) {
		return p.formatted, p.err
	}
	p = printed{text: text}
	p.formatted, p.err = Format(name, text)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.printed == nil || len(k.printed) >= maxPrinted {
		k.printed = map[string]printed{}
	}
	k.printed[name] = p
	return p.formatted, p.err
}
