package sync

import (
	"context"
	"maps"
	"slices"

	"gate/bundles"
	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// fetchedFile remembers what sources call the state that is in force. To lose
// it costs one download.
const fetchedFile = Dir + "/fetched.json"

// A fetched is where a bundle in force came from. Of a trial it is not kept: the
// channel names its digest.
type fetched struct {
	URL    string `json:"url"`
	Tag    string `json:"tag"`
	Digest string `json:"digest"`
}

// Tag is what the source at an address called the bundle that is in force; "" if
// something else is, or came from elsewhere.
func (s Store) Tag(name, url string) string {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return ""
	}
	d := &disk{Store: s, root: root}
	defer root.Close()
	c, err := d.current()
	if err != nil {
		return ""
	}
	in, from := c.Find(name), d.fetched()[name]
	if in == nil || from.URL != url || from.Digest != in.Digest {
		return ""
	}
	return from.Tag
}

func (d *disk) fetched() map[string]fetched {
	var file struct {
		Schema  int                `json:"schema"`
		Bundles map[string]fetched `json:"bundles"`
	}
	data, err := d.read(fetchedFile, maxState)
	if err != nil || decode(data, &file) != nil || file.Bundles == nil {
		return map[string]fetched{}
	}
	return file.Bundles
}

// remember notes where the bundles that were taken came from.
func (a *activation) remember(offers []Offer, outcomes []Outcome) error {
	known := a.disk.fetched()
	before := maps.Clone(known)
	for i, o := range offers {
		if out := outcomes[i]; out.Err == nil && !o.Unchanged && !out.Trial {
			known[out.Name] = fetched{URL: o.URL, Tag: o.Tag, Digest: out.After.Digest}
		}
	}
	if maps.Equal(known, before) {
		return nil
	}
	list := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		f := known[name]
		list[name] = map[string]any{"url": f.URL, "tag": f.Tag, "digest": f.Digest}
	}
	return a.replace(fetchedFile, []byte(strictjson.Indent(map[string]any{"schema": format.Fetched.Number(), "bundles": list})))
}

// Current returns what is in force.
func (s Store) Current() (Current, error) {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return Current{}, err
	}
	defer root.Close()
	return (&disk{Store: s, root: root}).current()
}

// Keys returns the key set in force.
func (s Store) Keys() (*bundles.KeySet, error) {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&disk{Store: s, root: root}).keySet()
}

func (d *disk) keySet() (*bundles.KeySet, error) {
	data, err := d.read(KeysFile, maxSealed)
	if err != nil {
		return nil, err
	}
	keys, err := bundles.ParseKeySet(data)
	if err != nil {
		return nil, d.wrap(KeysFile, err)
	}
	return keys, nil
}

// Follow puts the successor of the key set in force, which must be as
// [bundles.KeySet.Follow] wants it. Bundles stay in force; the next
// [Store.Activate] says whether the new keys still vouch for them.
func (s Store) Follow(ctx context.Context, next []byte) error {
	d, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	keys, err := d.keySet()
	if err != nil {
		return err
	}
	successor, err := bundles.ParseKeySet(next)
	if err == nil {
		err = keys.Follow(successor)
	}
	if err != nil {
		return err
	}
	return d.replace(KeysFile, next)
}
