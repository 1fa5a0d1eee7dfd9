package commands

import (
	"context"
	stdsync "sync"
	"sync/atomic"
	"time"
)

// rest waits for the next sync, or for less: until a server that holds requests
// has something new for one of the bundles. With a channel it is the channel that
// brings news, not the address of a release.
func (s *syncer) rest(ctx context.Context, d time.Duration, list []synced) (news bool) {
	ctx, cancel := context.WithCancel(ctx)
	var all stdsync.WaitGroup
	var heard atomic.Bool
	for _, b := range list {
		tag := s.store.Tag(b.Name, b.url)
		if s.flags.longPoll == 0 || b.feed.Channel != "" || tag == "" {
			continue
		}
		all.Go(func() {
			o := optionsOf(b.feed)
			o.Name = b.Name
			if s.clients.Bundles.Await(ctx, o, tag, s.flags.longPoll) {
				heard.Store(true)
				cancel()
			}
		})
	}
	s.wait(ctx, d)
	cancel()
	all.Wait()
	return heard.Load()
}
