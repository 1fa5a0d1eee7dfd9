//go:build !linux

package consent

// Ancestors returns the processes above this one, the nearest first, where they
// can be seen without running anything: on Linux. Elsewhere it returns none.
func Ancestors() []Ancestor { return nil }
