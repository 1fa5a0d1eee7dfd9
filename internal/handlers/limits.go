package handlers

import (
	"time"

	"gate/hook"
)

// Limits bound what a command and all that it starts may use of the machine,
// as far as the system offers it (docs/handlers.md). They keep mistakes from
// taking the machine down; nothing that stays below them is hindered. The zero
// value of a field means its default.
type Limits struct {
	Processes int   // at once; default 1024
	Memory    int64 // in bytes, of all processes together; default 8 GiB
	File      int64 // in bytes, the largest file that a process writes; default 4 GiB
	OpenFiles int   // of one process; default 16384
}

// orDefault fills in what is not given.
func (l Limits) orDefault() Limits {
	if l.Processes <= 0 {
		l.Processes = 1024
	}
	if l.Memory <= 0 {
		l.Memory = 8 << 30
	}
	if l.File <= 0 {
		l.File = 4 << 30
	}
	if l.OpenFiles <= 0 {
		l.OpenFiles = 16 << 10
	}
	return l
}

// An excess says which limit a command went beyond.
type excess struct {
	Kind hook.FaultKind
	What string // such as "started more than 1024 processes"
}

const (
	firstLook = 50 * time.Millisecond  // most commands have ended by then
	eachLook  = 100 * time.Millisecond // at least; looking takes a twentieth of the time at most
)

// watchUse looks from time to time whether a tree stays within its limits, and
// tells the first one that it went beyond. stop returns when nobody looks any
// more.
func (t *tree) watchUse() (beyond <-chan excess, stop func()) {
	told, done, ended := make(chan excess, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		timer := time.NewTimer(firstLook)
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			start := time.Now()
			if x, is := t.exceeds(); is {
				told <- x
				return
			}
			timer.Reset(max(eachLook, 20*time.Since(start)))
		}
	}()
	return told, func() { close(done); <-ended }
}
