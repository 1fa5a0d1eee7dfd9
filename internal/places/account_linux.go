package places

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gate/internal/hostfs"
)

const (
	maxAccounts = 1 << 20         // bytes of /etc/passwd
	askAccount  = 2 * time.Second // how long a directory service may take
)

var (
	errTooLarge = errors.New("too large for a file of accounts")
	errUnlisted = errors.New("the account has no entry in /etc/passwd")
)

// atHand finds an account in the file that most systems keep all of theirs in.
// Package os/user would do so too, and where there is a C compiler link the C
// library, with all that is then preloaded into gate.
func atHand(uid string) (Account, error) {
	who, ok, err := listed("/etc/passwd", uid)
	if err == nil && !ok {
		err = errUnlisted
	}
	return who, err
}

// lookup finds an account there, else where the C library looks: in a directory
// service, say.
func lookup(uid string) (Account, error) {
	who, err := atHand(uid)
	if !errors.Is(err, errUnlisted) && !errors.Is(err, os.ErrNotExist) {
		return who, err
	}
	line, serviceErr := getent(getents, uid)
	if who, ok := accountIn(line, uid); ok {
		return who, nil
	}
	if serviceErr != nil && !errors.Is(serviceErr, os.ErrNotExist) {
		return Account{}, serviceErr
	}
	return Account{}, err
}

// getents are where the program is that asks directory services.
var getents = []string{"/usr/bin/getent", "/run/current-system/sw/bin/getent"}

// getent returns the entries of accounts that the first of some programs finds, of all
// without a key.
func getent(programs []string, key ...string) ([]byte, error) {
	for _, program := range programs {
		lines, err := output(askAccount, program, append([]string{"passwd"}, key...)...)
		if !errors.Is(err, os.ErrNotExist) {
			return lines, err
		}
	}
	return nil, os.ErrNotExist
}

// listed reads a file of accounts with bare descriptors: every call needs it.
func listed(file, uid string) (who Account, ok bool, err error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Account{}, false, &os.PathError{Op: "open", Path: file, Err: err}
	}
	defer unix.Close(fd)
	var page [8 << 10]byte
	for buf, n := page[:], 0; n < maxAccounts; {
		if n == len(buf) {
			buf = append(buf, make([]byte, n)...)
		}
		m, err := unix.Read(fd, buf[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return Account{}, false, &os.PathError{Op: "read", Path: file, Err: err}
		case m == 0:
			who, ok = accountIn(buf[:n], uid)
			return who, ok, nil
		default:
			n += m
		}
	}
	return Account{}, false, &os.PathError{Op: "read", Path: file, Err: errTooLarge}
}

// output is what a program of the system writes, which gets no environment and
// so much time.
func output(most time.Duration, program string, args ...string) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Env: []string{}, Files: []*os.File{nil, w, nil}})
	w.Close()
	if err != nil {
		return nil, err
	}
	r.SetReadDeadline(time.Now().Add(most)) // what it starts could hold the pipe
	data, err := hostfs.ReadAll(r, maxAccounts)
	late := time.AfterFunc(most/4, func() { p.Kill() })
	if err != nil {
		p.Kill()
	}
	state, ended := p.Wait()
	late.Stop()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%s takes longer than %v", program, most)
	case err != nil || ended != nil:
		return nil, errors.Join(err, ended)
	case !state.Success() && state.ExitCode() != 2: // 2: not found, see getent(1)
		return nil, fmt.Errorf("%s: %v", program, state)
	}
	return data, nil
}

func accountIn(file []byte, uid string) (who Account, ok bool) {
	for len(file) > 0 {
		var line []byte
		line, file, _ = bytes.Cut(file, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.IndexByte([]byte("#:+-"), line[0]) >= 0 || bytes.Count(line, []byte(":")) < 6 {
			continue
		}
		_, rest, _ := bytes.Cut(line, []byte(":"))
		_, rest, _ = bytes.Cut(rest, []byte(":"))
		if id, _, _ := bytes.Cut(rest, []byte(":")); string(id) != uid {
			continue
		}
		fields := strings.SplitN(string(line), ":", 7)
		if _, err := strconv.Atoi(fields[3]); err == nil {
			return Account{Name: fields[0], Home: fields[5]}, true
		}
	}
	return Account{}, false
}
