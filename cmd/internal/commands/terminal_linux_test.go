package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"golang.org/x/sys/unix"
)

// asksForCode is the end of what gate shows to a person who grants something.
var asksForCode = regexp.MustCompile(`Type (\S+) to agree: `)

// onTerminal runs a program on a terminal of its own, and types the code that it
// shows. It returns what the program wrote there.
func onTerminal(cmd *exec.Cmd) (string, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return "", err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		return "", err
	}
	var shown bytes.Buffer
	buf, typed := make([]byte, 4096), false
	for {
		n, err := master.Read(buf) // an error when the last holder of the other end is gone
		shown.Write(buf[:n])
		if code := asksForCode.FindSubmatch(shown.Bytes()); code != nil && !typed {
			typed = true
			fmt.Fprintf(master, "%s\n", code[1])
		}
		if err != nil {
			break
		}
	}
	return shown.String(), cmd.Wait()
}

// playTerminal is a terminal emulator with somebody at it: it runs a program on a
// terminal of its own, types the code that it shows, prints what was written there, and
// ends as the program does. Under the name of one it stands for a person's.
func playTerminal() {
	out, err := onTerminal(exec.Command(os.Args[1], os.Args[2:]...))
	fmt.Print(out)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Println(err)
		os.Exit(125)
	}
	os.Exit(0)
}
