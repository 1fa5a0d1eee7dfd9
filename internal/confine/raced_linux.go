//go:build race

package confine

// raced says that the race detector watches: it does so in functions that the compiler adds,
// and they would take init for a thread of the launcher.
const raced = true
