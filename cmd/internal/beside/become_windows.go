package beside

import (
	"bytes"
	"os"
	"os/exec"
)

// replace runs another program and ends this process as it ended. It returns
// only with an error.
func replace(program string, args []string, event []byte) error {
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if event != nil {
		cmd.Stdin = bytes.NewReader(event)
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}
