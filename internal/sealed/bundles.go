package sealed

import (
	"io/fs"
	"time"

	"gate/internal/hostfs"
)

// A Check is everything that decides whether a bundle is taken. The zero Check
// takes none.
type Check struct {
	Keys   *KeySet
	Now    time.Time         // required
	Name   string            // the bundle that is wanted; "": any that its keys may sign
	Labels map[string]string // of this machine, for the audience
	Gate   string            // this gate's version, such as v1.4.0; "": older than any
	Facts  int64             // the schema of this gate's facts; 0: the first
	Seen   Seen              // what was taken before
	Pins   map[string]string // digest to name: bundles without metadata.gate that are taken all the same
	Limits Limits
}

// A Bundle is one that was verified. It is immutable and safe for concurrent use.
type Bundle struct {
	Manifest   Manifest
	Digest     string      // of the archive
	Signatures []Signature // all of them, also those that do not count
	Files      fs.FS
}

// Name is the bundle's name: the manifest's, or that of the pin.
func (b *Bundle) Name() string { return b.Manifest.Gate.Name }

// FS gives the files of the bundle: the bytes that were verified, and none else.
// The signature file is not among them.
func (b *Bundle) FS() fs.FS { return b.Files }

func InMemory(files map[string][]byte) fs.FS {
	m := hostfs.Memory{}
	for name, data := range files {
		m.Add(name, 0, data)
	}
	return m
}

func (s *KeySet) Expired(now time.Time) bool { return !s.Expires.IsZero() && !now.Before(s.Expires) }

func Day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
