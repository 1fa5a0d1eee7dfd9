package commands

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gate/internal/collect/store"
)

// onMachines runs a program on machines of a fleet, each with directories, a home and an
// environment of its own below m/N: machines LIST STATUS PROGRAM [arg...]. LIST is numbers
// and ranges, such as 1-3,7. An argument <FILE is what the program reads, @ in the others is
// the machine's number. What they print goes to the file out, with N: before each line.
func onMachines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: machines list status program [arg...]")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	list := numbered(ts, args[0])
	said, failed := make([]string, len(list)), make([]error, len(list))
	var group sync.WaitGroup
	room := make(chan struct{}, 4)
	for i, n := range list {
		cmd := machineCommand(ts, n, args[2:])
		group.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			said[i], failed[i] = endsWith(cmd, want)
		})
	}
	group.Wait()
	var out strings.Builder
	for i, n := range list {
		for line := range strings.Lines(said[i]) {
			fmt.Fprintf(&out, "%d: %s\n", n, strings.TrimSuffix(line, "\n"))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(out.String()), 0o600))
	if err := errors.Join(failed...); err != nil {
		ts.Fatalf("%v\n%s", err, &out)
	}
}

// machineCommand is a program on machine n.
func machineCommand(ts *testscript.TestScript, n int, words []string) *exec.Cmd {
	dir := ts.MkAbs(filepath.Join("m", strconv.Itoa(n)))
	program := words[0]
	var args []string
	var stdin []byte
	for _, word := range words[1:] {
		if file, ok := strings.CutPrefix(word, "<"); ok {
			text := strings.ReplaceAll(ts.ReadFile(file), "$WORK", filepath.ToSlash(dir))
			stdin = []byte(strings.ReplaceAll(text, "@", strconv.Itoa(n)))
			continue
		}
		args = append(args, strings.ReplaceAll(word, "@", strconv.Itoa(n)))
	}
	if strings.HasPrefix(program, "gate") {
		args = append(args, "--managed-dir="+filepath.Join(dir, "managed"), "--user-dir="+filepath.Join(dir, "user"), "--state-dir="+filepath.Join(dir, "state"))
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + ts.Getenv("PATH"), "TMPDIR=" + ts.Getenv("TMPDIR"), "TEST_ROOT=" + filepath.Join(dir, "root")}
	return cmd
}

// endsWith runs a command, and returns what it printed, and an error where it ended with
// another status.
func endsWith(cmd *exec.Cmd, want int) (string, error) {
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return string(out), err
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		return string(out), fmt.Errorf("%s: status %d, want %d", filepath.Base(cmd.Dir), got, want)
	}
	return string(out), nil
}

// numbered reads a list such as 1-3,7.
func numbered(ts *testscript.TestScript, text string) (list []int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		ts.Check(err)
		to := from
		if isRange {
			to, err = strconv.Atoi(last)
			ts.Check(err)
		}
		for n := from; n <= to; n++ {
			list = append(list, n)
		}
	}
	return list
}

// nameMachines reads what gate enroll printed on the machines, and sets M1 and so on to
// their names: names FILE.
func nameMachines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: names file")
	}
	found := regexp.MustCompile(`(?m)^(\d+): machine ([0-9a-f]{32}) is enrolled`).FindAllStringSubmatch(ts.ReadFile(args[0]), -1)
	if len(found) == 0 {
		ts.Fatalf("%s names no machine", args[0])
	}
	for _, m := range found {
		ts.Setenv("M"+m[1], m[2])
	}
}

// moveAway has a machine have said its last word so many days ago, as the collector of
// collects knows it, and looks who is silent: away MACHINE DAYS. Nobody waits a month.
func moveAway(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: away machine days")
	}
	days, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs("fleet")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "collect.db"))+"?_pragma=busy_timeout(20000)")
	ts.Check(err)
	defer db.Close()
	at := time.Now().AddDate(0, 0, -days).UnixMicro()
	res, err := db.Exec(`UPDATE machines SET enrolled = ?, seen = ? WHERE machine = ?`, at, at, args[0])
	ts.Check(err)
	if n, err := res.RowsAffected(); n != 1 || err != nil {
		ts.Fatalf("%s: %d machines, %v", args[0], n, err)
	}
	s, err := store.Open(context.Background(), store.Options{Database: dir})
	ts.Check(err)
	defer s.Close()
	ts.Check(s.Check(context.Background()))
}
