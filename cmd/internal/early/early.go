// Package early is what gate and gate-hook do before their other packages begin:
// the system hands out memory by the page, and that is a good part of what an
// answer takes.
//
// The main goroutine gets its stack, which would have grown twice by the time that
// main starts. And it gets a processor that it stays on: each has memory for itself
// by the size of what lies in it, so that a goroutine that moves to another one
// needs most of that twice; to wake the others, and to have them look for work that
// is not there, takes time, too. A program that has work for all of them calls
// [Processors].
//
// Go lets packages begin in the order of their import paths, those first that
// import nothing which has to begin, so this one must import nothing of that kind
// but the runtime, which has begun by then.
package early

import (
	"runtime"

	"gate/internal/room"
)

// all is how many processors the program was given.
var all = begin()

func begin() int {
	n := runtime.GOMAXPROCS(1)
	room.Decide()
	return n
}

// Processors takes all processors into use that there are for the program, and
// returns how many.
func Processors() int {
	runtime.SetDefaultGOMAXPROCS()
	if runtime.GOMAXPROCS(0) != all { // the environment said how many
		runtime.GOMAXPROCS(all)
	}
	return all
}
