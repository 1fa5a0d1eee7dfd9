package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gate/cmd/internal/places"
	"gate/consent"
	"gate/hostfs"
	"gate/scopes/load"
)

// A memory keeps the user's settings, hook files and policies as they were
// when they last decided about a call. The end of a TOML, YAML or Rego file
// cannot be told from a place where it was cut off: a file that is now the
// beginning of what it was is taken for half-written, and closes, until a
// person says otherwise. JSON says itself that its end is missing. Of managed
// files nothing is remembered: an administrator who removes the last lines on
// every machine must not have to go to each of them.
type memory struct {
	dir   string            // below the state directory
	known map[string][]byte // what was looked up, by the file's name
}

func memoryOf(d dirs) memory {
	return memory{filepath.Join(d.State, "good"), map[string][]byte{}}
}

// endless reports a file whose end cannot be told.
func endless(name string) bool {
	return slices.Contains([]string{".toml", ".yaml", ".yml", ".rego"}, path.Ext(name))
}

func (m memory) file(name string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16]))
}

// last returns what a file was, nil if that is not known.
func (m memory) last(name string) []byte {
	if data, ok := m.known[name]; ok {
		return data
	}
	data, err := hostfs.Files{}.ReadFile(m.file(name), maxSettings)
	if err != nil {
		data = nil
	}
	m.known[name] = data
	return data
}

// keep remembers what a file is. Where nothing can be written, nothing is
// known the next time. It does not wait for the disk, as [hostfs.Replace] does: many
// policies may be new, and the call waits.
func (m memory) keep(name string, data []byte) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(m.dir, ".draft-*")
	if err != nil {
		return err
	}
	_, err = draft.Write(data)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), m.file(name))
	}
	if err != nil {
		os.Remove(draft.Name())
		return err
	}
	m.known[name] = data
	return nil
}

// guard makes reading a file of the place fail if it lost its end.
func (m memory) guard(p *places.Place) {
	if p == nil || p.Err != nil {
		return
	}
	p.Files = load.Whole(p.Files, func(name string) []byte {
		if !endless(name) {
			return nil
		}
		return m.last(filepath.Join(p.Dir, filepath.FromSlash(name)))
	})
}

// keepAll remembers the files of a place that decided about a call.
func (m memory) keepAll(p *places.Place) {
	for _, name := range endlessFiles(p) {
		data, err := load.ReadFile(p.Files, name, maxSettings)
		full := filepath.Join(p.Dir, filepath.FromSlash(name))
		if err == nil && string(data) != string(m.last(full)) {
			m.keep(full, data) // a state directory that cannot be written is no reason to be loud
		}
	}
}

// endlessFiles lists the settings, hook files and policies of a place whose end
// cannot be told.
func endlessFiles(p *places.Place) []string {
	var names []string
	entries, err := fs.ReadDir(p.Files, ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		stem := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		if endless(e.Name()) && !e.IsDir() && (stem == load.SettingsStem || stem == load.HooksStem) {
			names = append(names, e.Name())
		}
	}
	for _, dir := range []string{load.HooksDir, policyDir} {
		fs.WalkDir(p.Files, dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && endless(name) && !strings.HasSuffix(name, "_test.rego") {
				names = append(names, name)
			}
			return nil // what cannot be read did not decide
		})
	}
	return names
}

// accept takes the user's files for whole, as a person says. An agent cannot.
func (m memory) accept(p process, d dirs) error {
	if err := consent.Refuse(true, p.lookupEnv, p.ancestors()...); err != nil {
		return nil
	}
	user := places.Open(d.User, ".", places.UserFiles())
	defer user.Close()
	if user == nil || user.Err != nil {
		return nil
	}
	var errs []error
	for _, name := range endlessFiles(user) {
		full := filepath.Join(user.Dir, filepath.FromSlash(name))
		data, err := load.ReadFile(user.Files, name, maxSettings)
		if err == nil && load.CutOff(m.last(full), data) {
			err = m.keep(full, data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
