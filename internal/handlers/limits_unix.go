//go:build unix

package handlers

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// A resourceLimit is one that the system keeps, for each process.
type resourceLimit struct {
	resource int
	most     uint64
}

// limits are what the system is to keep. The time on processors ends what gets
// away because its supervisor was killed; no run is so long.
func (j *job) limits() []resourceLimit {
	longest := max(j.Limit, maxAsync)
	return []resourceLimit{
		{syscall.RLIMIT_CORE, 0},
		{syscall.RLIMIT_FSIZE, uint64(j.Limits.File)},
		{syscall.RLIMIT_NOFILE, uint64(j.Limits.OpenFiles)},
		{syscall.RLIMIT_CPU, uint64(runtime.NumCPU()) * uint64(longest/time.Second+1)},
	}
}

// lowerLimits lowers the limits of this process for good.
func lowerLimits(j *job) error {
	for _, l := range j.limits() {
		var r syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &r); err != nil {
			return fmt.Errorf("limit: %w", err)
		}
		lower(&r.Max, l.most)
		lower(&r.Cur, l.most)
		if err := syscall.Setrlimit(l.resource, &r); err != nil {
			return fmt.Errorf("limit: %w", err)
		}
	}
	return nil
}

// lower keeps a limit at most at a number; systems count with signs and without.
func lower[T int64 | uint64](limit *T, most uint64) {
	if *limit < 0 || uint64(*limit) > most {
		*limit = T(most)
	}
}
