package commands

import (
	"os"
	"runtime"
	"slices"
)

// superviseCommand is the hidden command that runs one handler's program for
// another gate.
const superviseCommand = "supervise"

// selfCommand is how this program is started again. On Linux that is this very
// program, also when another one lies in its place now.
func selfCommand() []string {
	if runtime.GOOS == "linux" {
		const self = "/proc/self/exe"
		if _, err := os.Readlink(self); err == nil {
			return []string{self}
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{exe}
}

// supervisor is how a supervisor of handlers is started, nil if it cannot be.
func (p process) supervisor() []string {
	if p.self == nil {
		return nil
	}
	return append(slices.Clone(p.self), superviseCommand)
}
