package sync

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// A Schedule says when a machine asks its sources, so that many machines do not
// ask at once: each has its own moment in every interval, whenever it was
// started, and those whose source failed come back one by one.
type Schedule struct {
	Every   time.Duration  // from one sync to the next; default 1 hour
	Machine string         // what tells the machine from others; the same after a restart
	Random  func() float64 // from 0 up to 1
}

const (
	defaultEvery = time.Hour
	firstRetry   = 30 * time.Second // after the first failure, doubled with each
)

func (s Schedule) every() time.Duration {
	if s.Every <= 0 {
		return defaultEvery
	}
	return s.Every
}

// Slot is the machine's moment in an interval of a length.
func (s Schedule) Slot(length time.Duration) time.Duration {
	sum := sha256.Sum256([]byte("gate sync\n" + s.Machine))
	return time.Duration(float64(length) * float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53))
}

// Next is how long to wait for the next sync after one that ended now: failures
// is how many failed since the last success, and wait how long the source wants
// to be left alone at least.
func (s Schedule) Next(now time.Time, failures int, wait time.Duration) time.Duration {
	every := s.every()
	if failures == 0 {
		// The next slot, and a little by chance: clocks that agree too well
		// would meet at the ends of seconds.
		past := time.Duration(now.UnixNano()) % every
		next := s.Slot(every) - past
		for next < every/4 { // the slot that was just used, or is too near
			next += every
		}
		return max(wait, next+time.Duration(s.Random()*float64(every)/20))
	}
	back := every
	if failures < 20 {
		back = min(every, firstRetry<<(failures-1))
	}
	return max(wait, back/2+time.Duration(s.Random()*float64(back)))
}
