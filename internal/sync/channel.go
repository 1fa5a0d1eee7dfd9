package sync

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"time"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// TakeChannel verifies a channel file as [bundles.KeySet.OpenChannel] does, and
// keeps it: no older one is taken from then on, nor one of the same version that
// says something else. Nothing else comes into force by it; an [Offer] says what
// the channel has for the machine.
func (s Store) TakeChannel(ctx context.Context, data []byte, now time.Time) (sealed.Channel, error) {
	d, err := s.open(ctx)
	if err != nil {
		return sealed.Channel{}, err
	}
	defer d.close()
	a := activation{disk: d}
	if err := a.load(); err != nil {
		return sealed.Channel{}, err
	}
	before, last, err := d.channel()
	if err != nil {
		return sealed.Channel{}, err
	}
	c, err := a.keys.OpenChannel(data, last.Version, now)
	if err != nil {
		return sealed.Channel{}, err
	}
	if c.Version == last.Version && !says(c, last) {
		return sealed.Channel{}, &bundles.Refusal{
			Reason: sealed.Rollback, Err: fmt.Errorf("version %d of the channel was seen, and said something else", c.Version),
		}
	}
	if bytes.Equal(data, before) {
		return c, nil
	}
	return c, d.replace(ChannelFile, data)
}

// says reports that a channel of the version that was taken says what that said. The
// newer format may say more: the file beside it, for older gates, has no trials.
func says(c, last sealed.Channel) bool {
	if c.Format != 1 && last.Format == 1 {
		last.Format, last.Trials = c.Format, c.Trials
	}
	return reflect.DeepEqual(c, last)
}

// Channel returns the channel that was taken last; version 0 if none was.
func (s Store) Channel() (sealed.Channel, error) {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return sealed.Channel{}, err
	}
	defer root.Close()
	_, c, err := (&disk{Store: s, root: root}).channel()
	return c, err
}

// channel reads the channel that was taken last; version 0 if none was.
func (d *disk) channel() ([]byte, sealed.Channel, error) {
	data, err := d.read(ChannelFile, maxSealed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sealed.Channel{}, nil
	}
	if err != nil {
		return nil, sealed.Channel{}, err
	}
	c, _, err := sealed.ParseChannel(data)
	if err != nil {
		return nil, c, d.wrap(ChannelFile, fmt.Errorf("it cannot be read: %v; put it back, for without it an older one could return", err))
	}
	return data, c, nil
}

// onChannel holds an offer against the channel as it is now: another sync may
// have taken a newer one since the offer was chosen. What is in force already,
// and what the channel has nothing about, stays as it is.
func (a *activation) onChannel(b *bundles.Bundle, o *Offer) error {
	if !slices.Contains(a.rules.Channelled, b.Name()) {
		return nil
	}
	_, c, err := a.channel()
	if err != nil {
		return err
	}
	release, trial := c.For(b.Name(), a.rules.Machine, a.rules.Labels)
	in := a.before.Find(b.Name())
	switch {
	case b.Digest == release, in != nil && in.Digest == b.Digest:
		o.Trial = false
	case b.Digest == trial:
		o.Trial = true
	case o.Trial || release != "":
		return &bundles.Refusal{
			Reason: sealed.OffChannel,
			Err:    fmt.Errorf("it is %s, version %d of the channel has %s for this machine", b.Digest, c.Version, cmp.Or(release, "another trial")),
		}
	}
	return nil
}

// endTrials takes those out of the trials that are in force, and those that the
// channel, as it is now, does not have for this machine. It returns what became of
// those that no offer was about.
func (a *activation) endTrials(outcomes []Outcome) []Outcome {
	var left []Active
	var ended []Outcome
	for _, in := range a.after.Trials {
		if a.tries(in) {
			left = append(left, in)
		} else if !slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Trial && o.Name == in.Name }) {
			ended = append(ended, Outcome{Name: in.Name, Trial: true, Before: in})
		}
	}
	a.after.Trials = left
	for i := range outcomes {
		if o := &outcomes[i]; o.Trial {
			o.After = o.in(a.after)
		}
	}
	return ended
}

// tries reports a trial that goes on.
func (a *activation) tries(in Active) bool {
	r, now := a.rules, a.after.Find(in.Name)
	switch {
	case now != nil && now.Digest == in.Digest:
		return false
	case slices.Contains(a.tried, in.Name):
		return true
	case !slices.Contains(r.Channelled, in.Name):
		return false
	case r.Machine == "": // nobody knows what the channel has for it
		return true
	}
	_, c, err := a.channel()
	if err != nil {
		return true
	}
	_, trial := c.For(in.Name, r.Machine, r.Labels)
	return trial == in.Digest
}
