//go:build !unix

package mcpproxy

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// terminate does nothing: the closed input is all that such a system can say.
func terminate(*os.Process) {}

func kill(p *os.Process) { p.Kill() }
