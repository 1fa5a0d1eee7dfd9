package accounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"gate/internal/audit"
)

// A child reads a log as the account that has it.
type child struct {
	ctx  context.Context
	cmd  *exec.Cmd
	out  *os.File
	says excerpt // on standard error
	idle time.Duration
	left int64
	err  error // what ended the reading, io.EOF where the child closed its end

	waited chan error
	stop   func() bool
}

// Defaults of a [Log].
const (
	defaultMost = 64 << 20
	defaultIdle = 20 * time.Second
)

// patience is how long a child that was killed may take to end: one that waits for a
// file system that does not answer never does.
const patience = 2 * time.Second

func (l *Log) start(c audit.Cursor) (*child, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	k := &child{ctx: l.Context, out: in, idle: l.Idle, left: l.Most, waited: make(chan error, 1)}
	if k.idle <= 0 {
		k.idle = defaultIdle
	}
	if k.left <= 0 {
		k.left = defaultMost
	}
	args := append(l.Program[1:len(l.Program):len(l.Program)], l.Dir, c.Log, strconv.FormatInt(c.Seq, 10))
	k.cmd = exec.Command(l.Program[0], args...)
	k.cmd.Args[0] = "gate" // for whoever lists processes
	k.cmd.Env, k.cmd.Dir = []string{}, "/"
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.WaitDelay = out, &k.says, patience/2
	err = drop(k.cmd, l.UID, l.GID)
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("no process of the account can be started: %w", err)
	}
	go func() { k.waited <- k.cmd.Wait() }()
	k.stop = context.AfterFunc(k.ctx, func() { k.out.SetReadDeadline(time.Now()) })
	return k, nil
}

// Read reads what the child sends, within its limits.
func (k *child) Read(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	k.out.SetReadDeadline(time.Now().Add(k.idle))
	switch {
	case k.ctx.Err() != nil: // it may have ended before the deadline was set
		k.err = k.ctx.Err()
		return 0, k.err
	case k.left == 0:
		k.err = errEnough
		return 0, k.err
	}
	n, err := k.out.Read(p[:min(int64(len(p)), k.left)])
	k.left -= int64(n)
	switch {
	case k.ctx.Err() != nil && err != nil:
		err = k.ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("nothing came for %v", k.idle)
	}
	k.err = err
	return n, err
}

// ended returns why there is nothing more to read; nil: the child has sent it all.
func (k *child) ended() error {
	if k.err != io.EOF {
		return k.err
	}
	select {
	case err := <-k.waited:
		k.waited <- err
		if err != nil && len(k.says.text) > 0 {
			err = errors.New(string(k.says.text))
		}
		return err
	case <-time.After(patience):
		return errors.New("it sends nothing more, and does not end")
	}
}

// end ends the child, and what it started.
func (k *child) end() {
	k.stop()
	k.out.Close()
	kill(k.cmd.Process)
	select {
	case <-k.waited:
	case <-time.After(patience):
	}
}

// An excerpt is the beginning of what is written into it.
type excerpt struct{ text []byte }

func (e *excerpt) Write(p []byte) (int, error) {
	const most = 1 << 10
	e.text = append(e.text, p[:min(len(p), most-len(e.text))]...)
	return len(p), nil
}
