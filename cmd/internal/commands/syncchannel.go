package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gate/bundles"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/setting"
	"gate/internal/source"
	"gate/internal/sources"
	"gate/internal/sync"
)

// A want is what a machine is to have of one bundle, and where that is.
type want struct {
	feed   setting.Feed // its URL is whole
	digest string       // "": whatever the source has
	record bool         // there it only says what it would have done
	keep   bool         // it is in force, and nobody needs to be asked
	err    error        // why nothing is to change
}

// wanted says what the machine is to have of each bundle, by the newest key set
// and, where there is one, by the channel.
func (s *syncer) wanted(ctx context.Context, feeds []setting.Feed, labels map[string]string, current sync.Current) []want {
	wants := make([]want, len(feeds))
	followed := map[string]error{"": nil}
	for i, feed := range feeds {
		wants[i].feed = feed
		err, done := followed[feed.Keys]
		if !done {
			if err = s.followKeys(ctx, feed); err != nil {
				err = fmt.Errorf("the key set: %w", err)
			}
			followed[feed.Keys] = err
		}
		wants[i].err = err
	}
	channel, machine, err := s.channel(ctx, feeds)
	for i, feed := range feeds {
		w := &wants[i]
		if feed.Channel == "" || w.err != nil {
			continue
		}
		if err != nil {
			w.err = fmt.Errorf("the channel: %w", err)
			continue
		}
		release, fits := channel.For(feed.Name, machine, labels)
		w.choose(release, fits, current.Find(feed.Name))
	}
	return wants
}

// choose takes in what the channel says; in is what is in force, or nil.
func (w *want) choose(r sealed.Rollout, fits bool, in *sync.Active) {
	switch {
	case fits:
		w.digest, w.record = r.Digest, r.Record
		w.keep = in != nil && in.Digest == r.Digest
	case in != nil:
		w.digest, w.record, w.keep = in.Digest, in.Record, true
	default:
		w.err = errors.New("the channel has no release for this machine")
	}
	w.feed.URL = strings.ReplaceAll(w.feed.URL, setting.DigestMark, strings.TrimPrefix(w.digest, "sha256:"))
}

// offer brings what is wanted, unless it is there.
func (s *syncer) offer(ctx context.Context, w want) (sync.Offer, error) {
	switch {
	case w.err != nil:
		return sync.Offer{}, w.err
	case w.keep:
		return sync.Offer{Name: w.feed.Name, Unchanged: true, Digest: w.digest, Record: w.record}, nil
	}
	return s.fetch(ctx, w, s.store.Tag(w.feed.Name, w.feed.URL))
}

// channelled says of which bundles the channel decides, also where one is given
// by hand.
func (s *syncer) channelled(r *sync.Rules) error {
	for _, feed := range s.settings.Sync {
		if feed.Channel != "" {
			r.Channelled = append(r.Channelled, feed.Name)
		}
	}
	if len(r.Channelled) == 0 {
		return nil
	}
	place := places.Open(s.dirs.Managed, ".", places.ManagedFiles(s.dirs))
	defer place.Close()
	var err error
	if r.Machine, err = sources.MachineName(place); err != nil && s.flags.feed.URL == "" {
		return nil // each of them is told so
	}
	return err
}

// channel fetches the machine's channel, if any bundle has one, and says how it
// names this machine.
func (s *syncer) channel(ctx context.Context, feeds []setting.Feed) (c sealed.Channel, machine string, err error) {
	var feed setting.Feed
	for _, f := range feeds {
		switch {
		case f.Channel == "" || f.Channel == feed.Channel:
		case feed.Channel != "":
			return c, "", fmt.Errorf("a machine has one, but sync names both %s and %s", feed.Channel, f.Channel)
		default:
			feed = f
		}
	}
	if feed.Channel == "" {
		return c, "", nil
	}
	place := places.Open(s.dirs.Managed, ".", places.ManagedFiles(s.dirs))
	defer place.Close()
	if machine, err = sources.MachineName(place); err != nil {
		return c, "", err
	}
	o := optionsOf(feed)
	o.URL, o.Alone, o.Limit = feed.Channel, true, maxSealed
	from, err := s.clients.Bundles.Open(o)
	if err != nil {
		return c, "", err
	}
	found, err := from.Fetch(ctx, "")
	if err != nil {
		return c, "", err
	}
	if c, err = s.store.TakeChannel(ctx, found.Archive, time.Now()); len(bundles.Refusals(err)) > 0 {
		s.noteChannel(found.Archive, o.URL, err)
	}
	return c, machine, err
}

// followKeys takes each successor of the key set in turn, until there is none.
func (s *syncer) followKeys(ctx context.Context, feed setting.Feed) error {
	for {
		keys, err := s.store.Keys()
		if err != nil {
			return err
		}
		o := optionsOf(feed)
		o.URL, o.Alone, o.Limit = joined(feed.Keys, fmt.Sprintf("%d.json", keys.Version+1)), true, maxSealed
		from, err := s.clients.Bundles.Open(o)
		if err != nil {
			return err
		}
		found, err := from.Fetch(ctx, "")
		var e *source.Error
		if errors.As(err, &e) && e.Missing {
			return nil
		}
		if err == nil {
			err = s.store.Follow(ctx, found.Archive)
			s.noteKeys(found.Archive, o.URL, keys.Version, err)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stderr, "gate: version %d of the key set is in force\n", keys.Version+1)
	}
}

// joined is a name below a directory or an address.
func joined(dir, name string) string {
	if dir[len(dir)-1] == '/' {
		return dir + name
	}
	return dir + "/" + name
}
