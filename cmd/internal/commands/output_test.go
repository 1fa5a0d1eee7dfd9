package commands

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A failing writer takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: f.err}
}

// TestReaderGone holds that a command whose reader goes, as head does, ends
// without a word, and that one whose output is lost otherwise says so.
func TestReaderGone(t *testing.T) {
	for _, args := range [][]string{{"facts", "ls"}, {"facts", "--json", "ls"}, {"log"}, {"try", "ls"}} {
		for err, want := range map[error]string{
			syscall.EPIPE:         "",
			errors.New("no room"): "gate: standard output cannot be written: write |1: no room\n",
		} {
			dir := t.TempDir()
			var said bytes.Buffer
			args := args
			if args[0] != "facts" {
				args = append(args, "--user-dir", dir, "--state-dir", dir, "--managed-dir", dir)
			}
			status := run(t.Context(), process{args: args, stdin: strings.NewReader(""), stdout: failing{err}, stderr: &said})
			if status != exitFailed || said.String() != want {
				t.Errorf("%v, %v: status %d, said %q, want %q", args, err, status, said.String(), want)
			}
		}
	}
}
