// Package room gives a goroutine at once the stack that its work usually needs: to
// grow bit by bit, copying all of it each time, takes longer than that.
//
// It imports nothing, so that it can be had before anything else. Call [Decide] or
// [Evaluate] first thing in the goroutine.
package room

// Decide makes the stack of the calling goroutine large enough for a decision by
// compiled policies.
func Decide() { grow[[60 << 10]byte](false) }

// Evaluate makes it large enough for policies that OPA evaluates, which recurses
// deeply: without it the growing takes a quarter of an evaluation.
func Evaluate() { grow[[124 << 10]byte](false) }

// grow could use so much of the stack, which is enough to have it; that it does
// not keeps the memory untouched.
//
//go:noinline
func grow[Frame [60 << 10]byte | [124 << 10]byte](use bool) byte {
	if !use {
		return 0
	}
	var frame Frame
	for i := range len(frame) {
		frame[i] = byte(i)
	}
	return frame[len(frame)/2]
}
