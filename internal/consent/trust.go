package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"gate/hook"
	"gate/internal/hostfs"
)

// An Origin says which source trust is about: whose it is and where. It holds
// for that directory only: a project that was moved or copied is another one.
// Make one with [OriginOf].
type Origin struct {
	Authority hook.Authority // one that needs trust
	Dir       string         // of the project, the plugin or the skill: absolute, without symbolic links
}

// OriginOf returns the origin of a source in a directory that exists. Symbolic
// links are followed now, so that a link that is turned later is another place.
func OriginOf(a hook.Authority, dir string) (Origin, error) {
	if !filepath.IsAbs(dir) {
		return Origin{}, fmt.Errorf("%q is not an absolute path", clip(dir))
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Origin{}, fmt.Errorf("%s: %w", dir, hostfs.Reason(err))
	}
	o := Origin{a, filepath.Clean(real)}
	return o, o.check()
}

func (o Origin) check() error {
	switch {
	case !o.Authority.Valid():
		return fmt.Errorf("a source of authority %s", o.Authority)
	case !o.Authority.NeedsTrust():
		return fmt.Errorf("sources of %s authority need no trust", o.Authority)
	case !filepath.IsAbs(o.Dir) || filepath.Clean(o.Dir) != o.Dir:
		return fmt.Errorf("%q is not a clean absolute path", clip(o.Dir))
	}
	return nil
}

// file is the name of its record.
func (o Origin) file() string { return tie("origin", o.Authority.String(), o.Dir) }

// A Trust is a person's word for a source as it was.
type Trust struct {
	Origin Origin
	Digest string // of the content that the person was shown; see [Snapshot]
	By     string // the account
	At     time.Time
}

// Trust records that a person trusts the source with exactly this content,
// instead of any earlier one.
func (s Store) Trust(w *Witness, o Origin, digest string) error {
	by, at, err := w.Take()
	if err != nil {
		return err
	}
	if err := errors.Join(o.check(), checkDigest(digest), s.apart(o)); err != nil {
		return err
	}
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	return s.write(root, trustDir, o.file(), Trust{o, digest, by, at}.encode())
}

// CheckTrust returns nil if a person trusts the source with exactly this
// content, else a [Refusal] ([NeverTrusted] or [Changed]) or a fault.
func (s Store) CheckTrust(o Origin, digest string) error {
	if err := errors.Join(o.check(), checkDigest(digest), s.apart(o)); err != nil {
		return err
	}
	root, err := s.open(false)
	if err == nil {
		defer root.Close()
		var t Trust
		if t, err = s.readTrust(root, o.file()); err == nil {
			if t.Origin != o || t.Digest != digest {
				return Changed
			}
			return nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return NeverTrusted
	}
	return err
}

// Distrust takes trust back. It needs nobody: it only tightens.
func (s Store) Distrust(o Origin) error { return s.forget(trustDir, o.file()) }

// forget removes a record, if there is one.
func (s Store) forget(dir, file string) error {
	root, err := s.open(false)
	if err == nil {
		defer root.Close()
		err = s.enter(root, dir, false)
	}
	if err == nil {
		if err = root.Remove(path.Join(dir, file)); err != nil {
			err = s.wrap(path.Join(dir, file), err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TrustDir is the directory that trust is recorded in: as long as nothing in it
// changes, nothing is trusted that was not, and the other way round.
func (s Store) TrustDir() string { return filepath.Join(s.Dir, trustDir) }

// Trusts lists what is trusted. Records that are broken are in the error,
// joined; the others hold.
func (s Store) Trusts() ([]Trust, error) {
	return list(s, trustDir, isDigest, s.readTrust)
}

func (s Store) readTrust(root *os.Root, name string) (Trust, error) {
	return readRecord(s, root, trustDir, name, decodeTrust, func(t Trust) error {
		return sameName(t.Origin.file(), name, "source")
	})
}

func (t Trust) encode() []byte {
	return seal("trust", map[string]any{
		"authority": t.Origin.Authority.String(), "dir": t.Origin.Dir, "digest": t.Digest, "by": t.By, "at": stamp(t.At),
	})
}

func decodeTrust(data []byte) (Trust, error) {
	f, err := unseal("trust", data)
	if err != nil {
		return Trust{}, err
	}
	authority := f.text("authority")
	t := Trust{Origin: Origin{Dir: f.text("dir")}, Digest: f.text("digest"), By: f.text("by"), At: f.time("at")}
	for a := hook.Managed; a.Valid(); a++ {
		if a.String() == authority {
			t.Origin.Authority = a
		}
	}
	return t, errors.Join(f.done(), t.Origin.check(), checkDigest(t.Digest))
}

// apart refuses a store that is part of what it speaks about: then the source
// could bring its own trust along.
func (s Store) apart(o Origin) error {
	dir := s.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if !within(o.Dir, dir) {
		return nil
	}
	return fmt.Errorf("%s: gate's state lies inside %s, so nothing there can be trusted", s.Dir, o.Dir)
}
