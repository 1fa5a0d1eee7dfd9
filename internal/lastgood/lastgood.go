// Package lastgood remembers the user's settings, hook files and policies as they
// were when they last decided about a call.
//
// Nobody can tell the end of a TOML, YAML or Rego file from a cut. So a file that is
// now the beginning of its former self counts as half-written, and closes, until a
// person says otherwise. JSON needs no memory: a cut shows. The package remembers no
// managed files: an administrator may remove the last lines on every machine without a
// visit to each.
//
// Start with [In]; [Memory.Guard] a place before it is read, and [Memory.KeepAll]
// of it what decided.
package lastgood

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

	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
)

// maxFile is more than gate reads of a settings file, in bytes.
const maxFile = 4 << 20

// A Memory is what is remembered in one state directory. [In] makes one; it is for one
// goroutine.
type Memory struct {
	dir   string            // below the state directory
	known map[string][]byte // what was looked up, by the file's name
}

// In returns the memory of a state directory, which need not be there.
func In(state string) Memory {
	return Memory{filepath.Join(state, "good"), map[string][]byte{}}
}

// Endless reports a file whose end cannot be told.
func Endless(name string) bool {
	return slices.Contains([]string{".toml", ".yaml", ".yml", ".rego"}, path.Ext(name))
}

func (m Memory) file(name string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16]))
}

// Last returns what a file was, nil if that is not known.
func (m Memory) Last(name string) []byte {
	if data, ok := m.known[name]; ok {
		return data
	}
	data, err := hostfs.Files{}.ReadFile(m.file(name), maxFile)
	if err != nil {
		data = nil
	}
	m.known[name] = data
	return data
}

// Keep remembers what a file is. Where nothing can be written, nothing is
// known the next time. It does not wait for the disk, as [hostfs.Replace] does: many
// policies may be new, and the call waits.
func (m Memory) Keep(name string, data []byte) error {
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

// Guard makes reading a file of the place fail if it lost its end.
func (m Memory) Guard(p *places.Place) {
	if p == nil || p.Err != nil {
		return
	}
	p.Files = load.Whole(p.Files, func(name string) []byte {
		if !Endless(name) {
			return nil
		}
		return m.Last(filepath.Join(p.Dir, filepath.FromSlash(name)))
	})
}

// KeepAll remembers the files of a place that decided about a call.
func (m Memory) KeepAll(p *places.Place) {
	for _, name := range endlessFiles(p) {
		data, err := load.ReadFile(p.Files, name, maxFile)
		full := filepath.Join(p.Dir, filepath.FromSlash(name))
		if err == nil && string(data) != string(m.Last(full)) {
			m.Keep(full, data) // a state directory that cannot be written is no reason to be loud
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
		if Endless(e.Name()) && !e.IsDir() && (stem == load.SettingsStem || stem == load.HooksStem) {
			names = append(names, e.Name())
		}
	}
	for _, dir := range []string{load.HooksDir, load.PoliciesDir} {
		fs.WalkDir(p.Files, dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && Endless(name) && !strings.HasSuffix(name, "_test.rego") {
				names = append(names, name)
			}
			return nil // what cannot be read did not decide
		})
	}
	return names
}

// Cut lists the files of a place that lost their end, by their full names, with what is
// left of each.
func (m Memory) Cut(p *places.Place) (map[string][]byte, error) {
	cut := map[string][]byte{}
	var errs []error
	for _, name := range endlessFiles(p) {
		full := filepath.Join(p.Dir, filepath.FromSlash(name))
		data, err := load.ReadFile(p.Files, name, maxFile)
		if err == nil && load.CutOff(m.Last(full), data) {
			cut[full] = data
		}
		errs = append(errs, err)
	}
	return cut, errors.Join(errs...)
}
