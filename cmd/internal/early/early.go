// Package early is what the program gate-hook does before its other packages
// begin: the main goroutine gets its stack. By the time that main starts, they
// have made it grow twice, and each time the system hands out memory by the page:
// that is a hundredth of what an answer takes.
//
// A program imports it for that alone. Go lets packages begin in the order of
// their import paths, those first that import nothing which has to begin, so this
// one must import nothing of that kind.
package early

import "gate/engine/room"

var _ = made()

func made() bool {
	room.Decide()
	return true
}
