package sync_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gate/internal/sync"
)

// TestSlots: ten thousand machines that start at one moment spread over the
// interval, and stay where they are.
func TestSlots(t *testing.T) {
	const machines, parts = 10_000, 60
	var inPart [parts]int
	for i := range machines {
		s := sync.Schedule{Every: time.Hour, Machine: fmt.Sprint("laptop-", i), Random: func() float64 { return 0 }}
		at := now.Add(s.Next(now, 0, 0))
		if wait := at.Sub(now); wait < 15*time.Minute || wait > 75*time.Minute {
			t.Fatalf("machine %d waits %s", i, wait)
		}
		slot := s.Slot(time.Hour)
		if got := time.Duration(at.UnixNano()) % time.Hour; got != slot {
			t.Fatalf("machine %d syncs at %s, its slot is %s", i, got, slot)
		}
		inPart[int(slot*parts/time.Hour)]++
	}
	for i, n := range inPart {
		if n < machines/parts/2 || n > machines/parts*2 {
			t.Errorf("minute %d has %d machines", i, n)
		}
	}
}

// TestBackOff: who fails waits longer each time, by chance, and never longer
// than an interval and a half; what the source asks for is kept to.
func TestBackOff(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := sync.Schedule{Every: time.Hour, Machine: "m", Random: r.Float64}
	for failures, most := range []time.Duration{0, 45 * time.Second, 90 * time.Second, 3 * time.Minute, 6 * time.Minute, 12 * time.Minute, 24 * time.Minute, 48 * time.Minute, 90 * time.Minute, 90 * time.Minute} {
		if failures == 0 {
			continue
		}
		var least, longest time.Duration = time.Hour, 0
		for range 1000 {
			d := s.Next(now, failures, 0)
			least, longest = min(least, d), max(longest, d)
		}
		if least < most/3 || longest > most || longest-least < most/3 {
			t.Errorf("after %d failures: %s to %s, at most %s", failures, least, longest, most)
		}
	}
	for _, failures := range []int{0, 1, 1000} {
		if d := s.Next(now, failures, 5*time.Hour); d < 5*time.Hour {
			t.Errorf("after %d failures: %s, though the source asked for 5 hours", failures, d)
		}
	}
}
