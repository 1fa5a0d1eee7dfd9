//go:build unix && !linux

package beside

import "os"

// inMemory makes no file: the system has none that needs no name.
func inMemory() *os.File { return nil }
