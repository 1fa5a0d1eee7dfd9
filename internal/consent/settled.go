package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"
)

// Settled is what settings said when a person last confirmed what they loosen.
type Settled struct {
	Dir    string         // the directory of the settings file: absolute
	Values map[string]any // JSON trees, by the keys of scopes.Change
	By     string
	At     time.Time
}

// Settle records that a person confirmed what settings say, instead of what was
// confirmed earlier. It grants nothing: it is what later values are compared with.
func (s Store) Settle(w *Witness, dir string, values map[string]any) error {
	by, at, err := w.Take()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("consent: the directory %q is not absolute", dir)
	}
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	return s.write(root, settledDir, settledName(dir), Settled{dir, values, by, at}.encode())
}

// Tighten records that settings hold back more than what was confirmed. It needs nobody:
// what is compared with it only becomes more. Whether it is so is for the caller to know.
func (s Store) Tighten(dir string, values map[string]any) error {
	is, err := s.Settled(dir)
	if err != nil {
		return err
	}
	if is.At.IsZero() {
		is.By, is.At = "nobody: it only tightens", time.Now().UTC()
	}
	is.Values = values
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("consent: the directory %q is not absolute", dir)
	}
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	return s.write(root, settledDir, settledName(dir), is.encode())
}

// Settled returns what a person confirmed of the settings in a directory. Where nobody
// has confirmed anything it is empty. A broken record is an error and confirms nothing.
func (s Store) Settled(dir string) (Settled, error) {
	root, err := s.open(false)
	if err == nil {
		defer root.Close()
		var is Settled
		is, err = readRecord(s, root, settledDir, settledName(dir), decodeSettled, func(is Settled) error {
			return sameName(settledName(is.Dir), settledName(dir), "directory")
		})
		if err == nil {
			return is, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return Settled{Dir: dir}, err
}

func settledName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

func (s Settled) encode() []byte {
	values := maps.Clone(s.Values)
	if values == nil {
		values = map[string]any{}
	}
	return seal("settings", map[string]any{"dir": s.Dir, "values": values, "by": s.By, "at": stamp(s.At)})
}

func decodeSettled(data []byte) (Settled, error) {
	f, err := unseal("settings", data)
	if err != nil {
		return Settled{}, err
	}
	is := Settled{Dir: f.text("dir"), By: f.text("by"), At: f.time("at"), Values: f.object("values").m}
	return is, f.done()
}
