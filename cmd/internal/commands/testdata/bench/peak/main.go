// Command peak runs a program and writes into a file how much memory it had at
// the most, in KiB. It is small itself: until a new process becomes another
// program, the memory of the one that started it counts as its own.
package main

import (
	"os"
	"strconv"
)

func main() {
	if len(os.Args) < 3 {
		os.Exit(125)
	}
	p, err := os.StartProcess(os.Args[2], os.Args[2:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		os.Exit(125)
	}
	state, err := p.Wait()
	if err != nil {
		os.Exit(125)
	}
	if err := os.WriteFile(os.Args[1], []byte(strconv.FormatInt(resident(state), 10)), 0o600); err != nil {
		os.Exit(125)
	}
	os.Exit(state.ExitCode())
}
