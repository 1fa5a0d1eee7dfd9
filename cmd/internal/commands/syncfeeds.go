package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/source"
	"gate/internal/sync"
)

// feeds says where bundles come from: --from, or the machine's own managed
// settings. The order is always that of these.
func (s *syncer) feeds() (list []setting.Feed, order []string, labels map[string]string, err error) {
	place := places.Open(s.dirs.Managed, ".", places.ManagedFiles(s.dirs))
	defer place.Close()
	if place == nil {
		return nil, nil, nil, fmt.Errorf("%s is empty: put the key set there first, as %s", s.dirs.Managed, sync.KeysFile)
	}
	if place.Err != nil {
		return nil, nil, nil, place.Err
	}
	c := load.Settings(place.Files, filepath.ToSlash(place.Dir), hook.Managed)
	if c.Source != nil && len(c.Source.Faults) > 0 {
		var errs []error
		for _, f := range c.Source.Faults {
			errs = append(errs, f.Err)
		}
		return nil, nil, nil, errors.Join(errs...)
	}
	settings, err := setting.Combine(c.Layers...)
	if err != nil {
		return nil, nil, nil, err
	}
	s.settings = settings
	for _, feed := range settings.Sync {
		order = append(order, feed.Name)
	}
	switch feeds := settings.Sync; {
	case s.flags.feed.URL != "":
		return []setting.Feed{s.flags.feed}, order, settings.Labels, nil
	case s.flags.feed != (setting.Feed{}):
		return nil, nil, nil, usageError("--name, --pin, --keys and files belong to --from")
	case len(feeds) == 0:
		return nil, nil, nil, fmt.Errorf("nothing says where bundles come from: managed settings have no sync; give --from")
	default:
		return feeds, order, settings.Labels, nil
	}
}

// fetch asks one source for its bundle.
func (s *syncer) fetch(ctx context.Context, w want, tag string) (sync.Offer, error) {
	feed := w.feed
	o := optionsOf(feed)
	o.Partial = filepath.Join(s.dirs.Managed, filepath.FromSlash(sync.Dir), ".partial-"+cmp.Or(feed.Name, "bundle"))
	if w.trial {
		o.Partial += ".trial"
	}
	from, err := s.clients.Bundles.Open(o)
	if err != nil {
		return sync.Offer{}, err
	}
	found, err := from.Fetch(ctx, tag)
	return sync.Offer{
		Name: feed.Name, Archive: found.Archive, Envelope: found.Envelope, Unchanged: found.Unchanged, URL: feed.URL, Tag: found.Tag,
		Digest: w.digest, Trial: w.trial,
	}, err
}

func optionsOf(feed setting.Feed) source.Options {
	return source.Options{
		URL: feed.URL, Name: feed.Name, TokenFile: feed.TokenFile, CertFile: feed.CertFile, KeyFile: feed.KeyFile, CAFile: feed.CAFile,
		Agent: "gate/" + setup.Version(),
	}
}

// machineID tells this machine from others, and stays the same.
func machineID() string {
	if data, err := (hostfs.Files{}).ReadFile("/etc/machine-id", 4096); err == nil && len(data) > 0 {
		return string(data)
	}
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
