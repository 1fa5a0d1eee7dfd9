// Package early prepares the main goroutine of gate and gate-hook before their other
// packages begin. The system hands out memory by the page, and each page costs a good
// part of an answer's time.
//
// The main goroutine gets its whole stack at once; otherwise the stack would grow twice
// before main starts. The goroutine also stays on one processor. Each processor has
// memory of its own, so a goroutine that moves needs most of it twice. To wake idle
// processors takes time, too. A program with work for all of them calls [Processors].
//
// Go initialises packages in the order of their import paths, those without imports to
// initialise first. So this package may import nothing but the runtime that has an
// initialiser.
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
