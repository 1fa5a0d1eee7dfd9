package sync

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"gate/bundles"
	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// Names below the managed directory that only repairs need.
const (
	keptKeysFile = Dir + "/keys.json" // the key set in force once more, in case KeysFile is lost
	damagedEnd   = ".damaged"         // ends what could not be read and was made anew, below Dir
)

// Damaged is where [Store.Heal] leaves a file that it could not read, below the
// managed directory.
func Damaged(name string) string { return path.Join(Dir, path.Base(name)+damagedEnd) }

// DamagedFiles are the files that could not be read and were made anew, with the
// moment of that, as long as their remains are there.
func (s Store) DamagedFiles() map[string]time.Time {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	found := map[string]time.Time{}
	for _, name := range []string{SeenFile, CurrentFile} {
		if info, err := fs.Stat(root.FS(), Damaged(name)); err == nil {
			found[name] = info.ModTime()
		}
	}
	return found
}

// Heal makes what is lost or cut off anew, as far as it is proven by signatures or
// by what was kept here, and says what it did. A file that nothing proves stays
// as it is, and every activation says so. A file of a newer gate is never touched.
func (s Store) Heal(ctx context.Context, r Rules) (did []string, err error) {
	d, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer d.close()
	h := healing{activation: activation{disk: d, rules: r}}
	if err = h.keySets(); err == nil {
		err = h.memories()
	}
	return h.did, errors.Join(err, d.remove(stagingDir))
}

// A healing is one look at the files that say what is in force.
type healing struct {
	activation
	did []string
}

func (h *healing) say(format string, args ...any) {
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

// unreadable reports an error of a file's content, which is not a newer gate's.
func unreadable(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, format.ErrNewer)
}

// keySets puts the key set back that was in force last, where it is lost, broken or
// an older one.
func (h *healing) keySets() error {
	data, err := h.read(KeysFile, maxSealed)
	var keys *bundles.KeySet
	if err == nil {
		keys, err = bundles.ParseKeySet(data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err // not to be believed, or not to be read
	}
	kept, keptErr := h.read(keptKeysFile, maxSealed)
	var last *bundles.KeySet
	if keptErr == nil {
		last, keptErr = bundles.ParseKeySet(kept)
	}
	switch {
	case keptErr == nil && errors.Is(err, fs.ErrNotExist):
		h.say("%s was lost; version %d, which was in force, is there again", KeysFile, last.Version)
	case keptErr == nil && unreadable(err):
		h.say("%s could not be read; version %d, which was in force, is there again", KeysFile, last.Version)
	case keptErr == nil && err == nil && keys.Version < last.Version && related(keys, last):
		h.say("%s was version %d again; version %d, which was in force, is there again", KeysFile, keys.Version, last.Version)
	case err == nil:
		h.keys = keys
		if bytes.Equal(data, kept) {
			return nil
		}
		return h.replace(keptKeysFile, data)
	case errors.Is(err, fs.ErrNotExist):
		return h.wrap(KeysFile, fmt.Errorf("%w; put the key set there: no update is taken without it", fs.ErrNotExist))
	default:
		return h.wrap(KeysFile, err)
	}
	h.keys = last
	return h.replace(KeysFile, kept)
}

// related reports that one set may have come of another: the set of an administrator
// who begins anew has other root keys, and is never taken away.
func related(old, last *bundles.KeySet) bool {
	return slices.ContainsFunc(old.Root.Keys, func(id string) bool {
		k, known := last.Keys[id]
		return known && sealed.SamePublic(old.Keys[id].Public, k.Public)
	})
}

// memories makes seen.json and current.json anew where they cannot be read.
func (h *healing) memories() error {
	current, err := h.read(CurrentFile, maxState)
	lostCurrent := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		if h.before, err = ParseCurrent(current); unreadable(err) {
			lostCurrent = true
		}
	}
	if err != nil && !lostCurrent {
		return h.wrap(CurrentFile, err)
	}
	seen, err := h.read(SeenFile, maxState)
	lostSeen := false
	if err == nil {
		h.known, err = sealed.ParseSeen(seen)
		lostSeen = unreadable(err)
	}
	if err != nil && !lostSeen && !errors.Is(err, fs.ErrNotExist) {
		return h.wrap(SeenFile, err)
	}
	if lostSeen {
		h.known = sealed.Seen{}
	}
	if lostCurrent {
		if err := h.recover(current); err != nil {
			return err
		}
	}
	if lostSeen {
		return h.begin(seen)
	}
	return nil
}

// begin begins the memory of versions with what is in force.
func (h *healing) begin(damaged []byte) error {
	h.known.Keys = h.keys.Version
	h.known.Bundles = map[string]sealed.Release{}
	for _, in := range h.before.Bundles {
		if in.Version > 0 {
			h.known.Bundles[in.Name] = sealed.Release{Version: in.Version, Digest: in.Digest}
		}
	}
	h.say("%s could not be read; it begins anew with the bundles in force, and %s is what it was", SeenFile, Damaged(SeenFile))
	if err := h.replace(Damaged(SeenFile), damaged); err != nil {
		return err
	}
	return h.replace(SeenFile, h.known.Encode())
}

// recover finds the releases on the disk that are signed and were the last ones
// seen, and puts them in force as they were.
func (h *healing) recover(damaged []byte) error {
	var found []Active
	names, err := fs.ReadDir(h.files(), ".")
	if err != nil {
		return h.wrap(Dir, err)
	}
	for _, n := range names {
		if !n.IsDir() || !sealed.IsName(n.Name()) {
			continue
		}
		if a, ok := h.newest(n.Name()); ok {
			found = append(found, a)
		}
	}
	what := "could not be read"
	if damaged == nil {
		what = "was lost"
	}
	switch {
	case len(found) > 0:
		h.say("%s %s; what is signed and was in force last is in force again", CurrentFile, what)
	case damaged == nil:
		return nil // none was in force
	default:
		h.say("%s %s, and no bundle on this disk is proven by its signatures; the sources are asked", CurrentFile, what)
	}
	h.after = Current{Bundles: found}
	h.sort()
	h.before = h.after
	if damaged != nil {
		if err := h.replace(Damaged(CurrentFile), damaged); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return h.remove(CurrentFile)
	}
	return h.replace(CurrentFile, h.before.Encode())
}

// newest is the newest release of a bundle on the disk that its signatures prove,
// and that is what was seen last. Its files are as they were verified.
func (h *healing) newest(name string) (best Active, ok bool) {
	releases, err := fs.ReadDir(h.files(), name)
	if err != nil {
		return best, false
	}
	onTrial := h.onTrial(name)
	var list []Active
	for _, r := range releases {
		a := Active{Name: name, Dir: path.Join(name, r.Name())}
		archive, envelope, err := h.packed(a)
		if err != nil {
			continue
		}
		b, err := h.opened(name, archive, envelope)
		if err != nil {
			continue
		}
		a.Version, a.Digest = b.Manifest.Gate.Version, b.Digest
		if seen, ok := h.known.Bundles[name]; ok && seen.Digest != a.Digest || onTrial(a.Digest) {
			continue // it was in force before, or on trial
		}
		if _, a.Files, err = sealed.Snapshot(b.FS(), h.rules.Limits); err != nil || a.Dir != Place(name, a.Version, a.Digest) {
			continue
		}
		if _, err := a.Open(h.files()); err == nil && h.checkAll(path.Join(Dir, a.Dir)) == nil {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return best, false
	}
	return slices.MaxFunc(list, func(x, y Active) int { return cmp.Compare(x.Version, y.Version) }), true
}

// onTrial reports the releases of a bundle that the channel, as it was taken last, has
// as trials only: their signatures do not say that they ever counted.
func (h *healing) onTrial(name string) func(digest string) bool {
	_, c, err := h.channel()
	has := func(list []sealed.Rollout, digest string) bool {
		return slices.ContainsFunc(list, func(r sealed.Rollout) bool { return r.Digest == digest })
	}
	return func(digest string) bool {
		return err != nil || has(c.Trials[name], digest) && !has(c.Releases[name], digest)
	}
}

// opened verifies a release as when it came into force: one whose time is over
// stays in force, too.
func (h *healing) opened(name string, archive, envelope []byte) (*bundles.Bundle, error) {
	c, err := sealed.Inspect(archive, envelope, h.rules.Limits)
	if err != nil {
		return nil, err
	}
	now, r := h.rules.Now, h.rules
	if end := c.Manifest.Gate.Expires; !end.IsZero() && !now.Before(end) {
		now = end.Add(-time.Second)
	}
	return bundles.Open(archive, envelope, bundles.Check{
		Keys: h.keys, Now: now, Name: name, Labels: r.Labels, Gate: r.Gate, Facts: r.Facts, Pins: r.Pins, Limits: r.Limits,
	})
}
