// Package room gives a goroutine at once the stack that a decision usually
// needs: to grow bit by bit, copying all of it each time, takes longer than that.
//
// It imports nothing, so that it can be had before anything else. Call [Make]
// first thing in the goroutine.
package room

// Make makes the stack of the calling goroutine large enough. That grow could use
// so much is enough for that.
func Make() { grow(false) }

//go:noinline
func grow(use bool) byte {
	if !use {
		return 0
	}
	var frame [60 << 10]byte
	for i := range frame {
		frame[i] = byte(i)
	}
	return frame[len(frame)/2]
}
