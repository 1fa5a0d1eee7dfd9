// Package sync keeps the bundles that are in force on a machine, and replaces them.
//
// What it keeps lies in the managed directory, laid out as docs/bundles.md says. The
// package decides about no call. To read the bundles in force, start with
// [ParseCurrent], then [Active.Open]; to put one in force, start with [Store.Activate].
package sync

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gate/bundles"
	"gate/internal/format"
	"gate/internal/sealed"
	"gate/internal/strictjson"
)

// Names below the managed directory.
const (
	KeysFile    = "keys.json"            // the key set in force
	SeenFile    = "seen.json"            // [sealed.Seen]
	ChannelFile = "channel.json"         // the signed channel file, as it came
	Dir         = "bundles"              // all that follows
	CurrentFile = "bundles/current.json" // [Current]
	SyncedFile  = "bundles/synced.json"  // [Synced]
	FilesDir    = "files"                // below an Active's Dir: exactly the files that were verified
	ArchiveFile = "bundle.tar.gz"        // beside FilesDir: the archive as it came
)

// maxState bounds the files that say what is in force, in bytes.
const maxState = 1 << 20

// A Current is what is in force, in order: of two bundles that contradict each
// other the first decides. The zero Current is no bundle at all.
type Current struct {
	Bundles []Active
	Trials  []Active // beside those of their names: they decide, too, and do not count
}

// An Active is one bundle in force.
type Active struct {
	Name    string
	Version int64  // 0 for a bundle that is taken because its digest is pinned
	Digest  string // of the archive
	Dir     string // below the directory of bundles, with slashes: company/7-0123456789ab
	Files   string // what [sealed.Snapshot] says of its files
}

// Place is the directory of a release below the directory of bundles.
func Place(name string, version int64, digest string) string {
	short := strings.TrimPrefix(digest, "sha256:")
	return path.Join(name, fmt.Sprintf("%d-%s", version, short[:min(12, len(short))]))
}

// ParseCurrent reads current.json and reports every mistake in it. What format 1
// calls a bundle with "record" is a trial.
func ParseCurrent(data []byte) (Current, error) {
	type entry struct {
		Name    string `json:"name"`
		Version int64  `json:"version"`
		Digest  string `json:"digest"`
		Dir     string `json:"dir"`
		Files   string `json:"files"`
		Record  bool   `json:"record"`
	}
	var file struct {
		Schema  int64   `json:"schema"`
		Bundles []entry `json:"bundles"`
		Trials  []entry `json:"trials"`
	}
	if err := decode(data, &file); err != nil {
		return Current{}, err
	}
	var errs []error
	if err := format.Current.Check(file.Schema); err != nil {
		errs = append(errs, fmt.Errorf("schema: %w", err))
	}
	var c Current
	take := func(key string, list []entry, trials bool) {
		for i, b := range list {
			a := Active{b.Name, b.Version, b.Digest, b.Dir, b.Files}
			if err := a.check(); err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %w", key, i, err))
			}
			into := &c.Bundles
			if trials || b.Record {
				into = &c.Trials
			}
			if find(*into, a.Name) != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %s is there twice", key, i, a.Name))
			}
			*into = append(*into, a)
		}
	}
	take("bundles", file.Bundles, false)
	take("trials", file.Trials, true)
	return c, errors.Join(errs...)
}

func (a Active) check() error {
	switch {
	case !sealed.IsName(a.Name):
		return errors.New("name: a bundle's name is wanted")
	case a.Version < 0:
		return errors.New("version: a whole number is wanted")
	case !sealed.IsDigest(a.Digest):
		return errors.New("digest: a digest such as sha256:0123… is wanted")
	case !sealed.IsDigest(a.Files):
		return errors.New("files: a digest such as sha256:0123… is wanted")
	case !fs.ValidPath(a.Dir) || path.Dir(a.Dir) != a.Name || strings.ContainsAny(a.Dir, `\:`):
		return fmt.Errorf("dir: a directory below %s is wanted", a.Name)
	}
	return nil
}

// Find returns the release in force of a bundle, nil if there is none.
func (c Current) Find(name string) *Active { return find(c.Bundles, name) }

// Trial returns the release of a bundle that is on trial, nil if there is none.
func (c Current) Trial(name string) *Active { return find(c.Trials, name) }

// All are the releases of which the files are used: those in force, then those on
// trial.
func (c Current) All() []Active { return slices.Concat(c.Bundles, c.Trials) }

func find(list []Active, name string) *Active {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// Encode is the file current.json. Without a trial it has format 1, so that an
// older gate, which refuses calls where it cannot read the file, reads it.
func (c Current) Encode() []byte {
	doc := map[string]any{"schema": 1, "bundles": entries(c.Bundles)}
	if len(c.Trials) > 0 {
		doc["schema"], doc["trials"] = format.Current.Number(), entries(c.Trials)
	}
	return []byte(strictjson.Indent(doc))
}

func entries(list []Active) []any {
	out := []any{}
	for _, a := range list {
		out = append(out, map[string]any{"name": a.Name, "version": a.Version, "digest": a.Digest, "dir": a.Dir, "files": a.Files})
	}
	return out
}

// Open gives the files of a bundle in force from the directory of bundles. They
// are read into memory and held against the digest that was kept when the
// bundle was verified, so that what is used is what was signed; no signature is
// checked again.
func (a Active) Open(dir fs.FS) (fs.FS, error) {
	at := path.Join(a.Dir, FilesDir)
	sub, err := fs.Sub(dir, at)
	if err != nil {
		return nil, err
	}
	files, digest, err := sealed.Snapshot(sub, bundles.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s/%w", at, err)
	}
	if digest != a.Files {
		return nil, fmt.Errorf("%s: the files are not those that were verified", at)
	}
	return files, nil
}

// Synced says when bundles were last found to be the newest that their source
// has, by name. A bundle that is not in it was put here by hand and never
// fetched.
type Synced map[string]LastSync

// A LastSync is the last sync of a bundle that succeeded.
type LastSync struct {
	At time.Time
	// Version is what was in force afterwards: what is in force later is never
	// older. 0 if it is not known.
	Version int64
}

// ParseSynced reads synced.json.
func ParseSynced(data []byte) (Synced, error) {
	var file struct {
		Schema   int64                `json:"schema"`
		Bundles  map[string]time.Time `json:"bundles"`
		Versions map[string]int64     `json:"versions"`
	}
	if err := decode(data, &file); err != nil {
		return nil, err
	}
	if err := format.Synced.Check(file.Schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := Synced{}
	for name, at := range file.Bundles {
		if !sealed.IsName(name) {
			return nil, errors.New("bundles: names of bundles are wanted")
		}
		s[name] = LastSync{At: at, Version: file.Versions[name]}
	}
	for name, version := range file.Versions {
		if _, known := file.Bundles[name]; !known || version < 0 {
			return nil, errors.New("versions: whole numbers of the bundles are wanted")
		}
	}
	return s, nil
}

// Encode is the file synced.json.
func (s Synced) Encode() []byte {
	times, versions := map[string]any{}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		times[name] = s[name].At.UTC().Format(time.RFC3339)
		if s[name].Version > 0 {
			versions[name] = s[name].Version
		}
	}
	return []byte(strictjson.Indent(map[string]any{"schema": format.Synced.Number(), "bundles": times, "versions": versions}))
}

// decode reads a file of ours into a struct: strictly, and without keys that
// the struct does not have.
func decode(data []byte, into any) error {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: maxState})
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(strictjson.Append(nil, doc))))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
