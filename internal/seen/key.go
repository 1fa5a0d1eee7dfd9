package seen

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/format"
	"gate/internal/session"
)

// A key is what makes digests worth nothing to somebody who has the files without it. A
// new one is made each month. Files of sessions name the one that they use.
type key struct {
	name   string // such as "2026-11"
	secret [32]byte
}

const (
	keyPrefix = "key-"
	keyMonth  = "2006-01"
)

func (s Store) keyFile(name string) session.Journal {
	return session.Journal{Dir: s.Dir, Texts: s.Texts, Name: keyPrefix + name, Most: 256}
}

// makeKey returns the key of the month, and makes it where there is none.
func (s Store) makeKey(ctx context.Context, now time.Time) (*key, error) {
	name := now.UTC().Format(keyMonth)
	text, err := s.keyFile(name).Once(ctx, func() ([]byte, error) {
		var random [32]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, err
		}
		return []byte(format.ShownKey.Mark() + "\n" + hex.EncodeToString(random[:]) + "\n"), nil
	})
	if err != nil {
		return nil, err
	}
	return readKey(name, text)
}

// openKey returns the key that a file names.
func (s Store) openKey(name string) (*key, error) {
	if _, err := time.Parse(keyMonth, name); err != nil {
		return nil, errors.New("it names no key")
	}
	text, err := s.keyFile(name).Read()
	switch {
	case err != nil:
		return nil, err
	case text == nil:
		return nil, fmt.Errorf("its key %s%s is gone", keyPrefix, name)
	}
	return readKey(name, text)
}

func readKey(name string, text []byte) (*key, error) {
	mark, rest, _ := strings.Cut(string(text), "\n")
	if err := format.ShownKey.CheckMark(mark); err != nil {
		return nil, fmt.Errorf("%s%s: %w", keyPrefix, name, err)
	}
	secret, err := hex.DecodeString(strings.TrimSuffix(rest, "\n"))
	if err != nil || len(secret) != len(key{}.secret) {
		return nil, fmt.Errorf("%s%s: it is damaged", keyPrefix, name)
	}
	return &key{name, [32]byte(secret)}, nil
}

// A digest is that of a value under a key.
type digest [16]byte

// of returns the digest of a value of a kind.
func (k *key) of(kind kind, value string) digest {
	var room [256]byte
	text := append(room[:0], k.secret[:]...)
	text = append(append(text, byte(kind)), value...)
	sum := sha256.Sum256(text)
	return digest(sum[:16])
}

// check tells whether a file was written with this very key.
func (k *key) check() string {
	d := k.of(kindCheck, k.name)
	return hex.EncodeToString(d[:8])
}

// A roller has the numbers of the 256 bytes by which a fingerprint of 64 bits goes along
// a text.
type roller [256]uint64

func (k *key) roller() *roller {
	var r roller
	for i := 0; i < len(r); i += 2 {
		d := k.of(kindRoll, string([]byte{byte(i)}))
		r[i], r[i+1] = binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])
	}
	return &r
}

// A mark is a part of a fingerprint: all that is kept of it. To pass over 65 535 of 65 536
// places it is enough, and whoever has the key learns 16 bits from it. A whole fingerprint
// can be put together from halves of a value, which makes guessing a matter of its root.
type mark uint16

func (r *roller) of(value string) mark {
	var sum uint64
	for i := range len(value) {
		sum = bits.RotateLeft64(sum, 1) ^ r[value[i]]
	}
	return mark(sum)
}

// sweep removes files of sessions that nobody has heard of, and keys that none uses.
func (s Store) sweep(ctx context.Context, now time.Time) {
	if s.Texts != nil {
		return
	}
	session.Store{Dir: s.Dir}.Sweep(ctx, now) // what cannot be removed the next one will
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return
	}
	old := now.Add(-2 * session.Life).UTC().Format(keyMonth)
	stale := map[string]bool{}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), keyPrefix); ok && name < old {
			stale[name] = true
		}
	}
	if len(stale) == 0 {
		return
	}
	for _, e := range entries {
		if !isSession(e.Name()) {
			continue
		}
		text, err := session.Journal{Dir: s.Dir, Name: e.Name(), Most: maxFile}.Read()
		if err != nil {
			return // nobody knows which key it uses
		}
		if h, _, err := readHead(text); err == nil {
			delete(stale, h.key)
		}
	}
	for name := range stale {
		os.Remove(filepath.Join(s.Dir, keyPrefix+name))
	}
}
