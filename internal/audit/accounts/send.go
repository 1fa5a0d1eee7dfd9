package accounts

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"gate/internal/audit"
)

// Send is the part of the child: it writes the records of the log in a directory that
// are at a place of a chain and behind it, a line each. args are directory, chain and
// number. It does nothing as root: it would open an account's paths with root's rights.
func Send(w io.Writer, args []string) error {
	if len(args) != 3 {
		return errors.New("it takes a directory, a chain and a number")
	}
	if os.Geteuid() == 0 || os.Getuid() == 0 {
		return errors.New("root does not read the log of an account")
	}
	seq, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	h, err := audit.OpenHistory(args[0])
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return nil // gate cannot have written there as this account
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for line, err := range h.Behind(audit.Cursor{Log: args[1], Seq: seq}) {
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}
