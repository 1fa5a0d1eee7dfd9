// Package early is what the program gate-hook does before its other packages
// begin: the system hands out memory by the page, and that is a good part of what
// an answer takes.
//
// The main goroutine gets its stack, which would have grown twice by the time that
// main starts. And it gets a processor that it stays on: each has memory for itself
// by the size of what lies in it, so that a goroutine that moves to another one
// needs most of that twice; to wake the others, and to have them look for work that
// is not there, takes time, too.
//
// A program imports it for that alone. Go lets packages begin in the order of
// their import paths, those first that import nothing which has to begin, so this
// one must import nothing of that kind.
package early

import (
	"runtime"

	"gate/engine/room"
)

var _ = made()

func made() bool {
	runtime.GOMAXPROCS(1)
	room.Decide()
	return true
}
