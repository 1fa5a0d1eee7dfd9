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
	trial  bool         // it is to stand beside the release in force
	keep   bool         // it is in force, and nobody needs to be asked
	err    error        // why nothing is to change
}

// wanted says what the machine is to have of each bundle, by the newest key set
// and, where there is one, by the channel. The trials follow.
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
	var trials []want
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
		release, trial := channel.For(feed.Name, machine, labels)
		in, tried := current.Find(feed.Name), current.Trial(feed.Name)
		switch {
		case release == "" && in == nil && trial != "": // there is nothing yet that it would stand beside
			w.trial = true
			w.choose(trial, tried)
			continue
		case trial != "" && (in == nil || in.Digest != trial):
			trials = append(trials, want{feed: feed, trial: true})
			trials[len(trials)-1].choose(trial, tried)
		}
		w.choose(release, in)
	}
	return append(wants, trials...)
}

// choose takes in which release the channel has, "" if none; in is the one that is
// there, or nil.
func (w *want) choose(digest string, in *sync.Active) {
	switch {
	case digest != "":
		w.digest, w.keep = digest, in != nil && in.Digest == digest
	case in != nil:
		w.digest, w.keep = in.Digest, true
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
		return sync.Offer{Name: w.feed.Name, Unchanged: true, Digest: w.digest, Trial: w.trial}, nil
	case w.trial:
		return s.fetch(ctx, w, "")
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
	data, from, err := s.fetchChannel(ctx, feed)
	if err != nil {
		return c, "", err
	}
	if c, err = s.store.TakeChannel(ctx, data, time.Now()); len(bundles.Refusals(err)) > 0 {
		s.noteChannel(data, from, err)
	}
	return c, machine, err
}

// fetchChannel fetches the channel of format 2 that lies beside the address, or where
// there is none what lies there. Servers have many ways to say that there is none.
// Only once a machine took one of format 2, it is taken for an error.
func (s *syncer) fetchChannel(ctx context.Context, feed setting.Feed) (data []byte, from string, err error) {
	last, err := s.store.Channel()
	if err != nil {
		return nil, "", err
	}
	from = sealed.ChannelBeside(feed.Channel)
	data, err = s.fetchAlone(ctx, feed, from)
	var e *source.Error
	if errors.As(err, &e) && (e.Missing || last.Format == 1 || last.Version == 0) {
		from = feed.Channel
		data, err = s.fetchAlone(ctx, feed, from)
	}
	return data, from, err
}

// fetchAlone fetches one small file, beside which there is no other.
func (s *syncer) fetchAlone(ctx context.Context, feed setting.Feed, url string) ([]byte, error) {
	o := optionsOf(feed)
	o.URL, o.Alone, o.Limit = url, true, maxSealed
	from, err := s.clients.Bundles.Open(o)
	if err != nil {
		return nil, err
	}
	found, err := from.Fetch(ctx, "")
	return found.Archive, err
}

// followKeys takes each successor of the key set in turn, until there is none.
func (s *syncer) followKeys(ctx context.Context, feed setting.Feed) error {
	for {
		keys, err := s.store.Keys()
		if err != nil {
			return err
		}
		url := joined(feed.Keys, fmt.Sprintf("%d.json", keys.Version+1))
		next, err := s.fetchAlone(ctx, feed, url)
		var e *source.Error
		if errors.As(err, &e) && e.Missing {
			return nil
		}
		if err == nil {
			err = s.store.Follow(ctx, next)
			s.noteKeys(next, url, keys.Version, err)
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
