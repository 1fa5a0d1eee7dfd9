package sync

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"gate/internal/format"
	"gate/internal/sealed"
)

// load reads what the machine believes and has.
func (a *activation) load() error {
	var err error
	if a.keys, err = a.keySet(); err != nil {
		return err
	}
	if a.before, err = a.current(); err != nil {
		return err
	}
	a.after = Current{Bundles: slices.Clone(a.before.Bundles), Trials: slices.Clone(a.before.Trials)}
	if a.known, err = a.memory(); err != nil {
		return err
	}
	if a.keys.Version < a.known.Keys {
		return a.wrap(KeysFile, fmt.Errorf("version %d of the key set, but version %d was seen here; put that one or a later one there", a.keys.Version, a.known.Keys))
	}
	a.seen = a.known
	a.seen.Keys = a.keys.Version
	// When a bundle was last found is only told, and found again.
	a.synced = Synced{}
	if data, err := a.read(SyncedFile, maxState); err == nil {
		s, err := ParseSynced(data)
		if errors.Is(err, format.ErrNewer) {
			return a.wrap(SyncedFile, err)
		}
		if err == nil && s != nil {
			a.synced = s
		}
	}
	return nil
}

// current reads what is in force.
func (d *disk) current() (Current, error) {
	data, err := d.read(CurrentFile, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return Current{}, nil
	}
	if err != nil {
		return Current{}, err
	}
	c, err := ParseCurrent(data)
	if err != nil {
		return Current{}, d.wrap(CurrentFile, fmt.Errorf("it cannot be read: %w; remove it and install every bundle again", err))
	}
	return c, nil
}

// memory reads what was seen. It never holds less than what is in force; trials do
// not count.
func (a *activation) memory() (sealed.Seen, error) {
	seen := sealed.Seen{Bundles: map[string]sealed.Release{}}
	data, err := a.read(SeenFile, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return seen, err
	default:
		if seen, err = sealed.ParseSeen(data); err != nil {
			return seen, a.wrap(SeenFile, fmt.Errorf("it cannot be read: %w; put it back, for without it old versions could return", err))
		}
	}
	a.unsee(seen)
	for _, in := range a.before.Bundles {
		if in.Version > seen.Bundles[in.Name].Version {
			seen.Bundles[in.Name] = sealed.Release{Version: in.Version, Digest: in.Digest}
		}
	}
	return seen, nil
}

// unsee takes back what an older gate noted as seen when it put a trial in the place
// of a release: that one could not return. The channel, of which no older one is
// taken either, names the release that may.
func (a *activation) unsee(seen sealed.Seen) {
	for _, in := range a.before.Trials {
		noted := seen.Bundles[in.Name] == sealed.Release{Version: in.Version, Digest: in.Digest}
		if noted && a.before.Find(in.Name) == nil && slices.Contains(a.rules.Channelled, in.Name) {
			delete(seen.Bundles, in.Name)
		}
	}
}
