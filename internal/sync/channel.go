package sync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"time"

	"gate/bundles"
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
	if c.Version == last.Version && !reflect.DeepEqual(c, last) {
		return sealed.Channel{}, &bundles.Refusal{
			Reason: sealed.Rollback, Err: fmt.Errorf("version %d of the channel was seen, and said something else", c.Version),
		}
	}
	if bytes.Equal(data, before) {
		return c, nil
	}
	return c, d.replace(ChannelFile, data)
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
	r, fits := c.For(b.Name(), a.rules.Machine, a.rules.Labels)
	in := a.before.Find(b.Name())
	switch {
	case fits && r.Digest == b.Digest:
		o.Record = r.Record
	case fits && (in == nil || in.Digest != b.Digest):
		return &bundles.Refusal{
			Reason: sealed.OffChannel, Err: fmt.Errorf("it is %s, version %d of the channel has %s for this machine", b.Digest, c.Version, r.Digest),
		}
	}
	return nil
}
