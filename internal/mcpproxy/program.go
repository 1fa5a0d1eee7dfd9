package mcpproxy

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// grace is how long a program may take to end when it is asked to.
const grace = 2 * time.Second

// A Program is a server that is a child process, with what it starts.
type Program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	done   chan struct{}
	err    error // how it ended; valid when done is closed
	ending sync.Once
}

// Start starts a program as a server. Its Stdin and Stdout must not be set; on
// Unix it gets a process group of its own, which Stop ends as a whole.
func Start(cmd *exec.Cmd) (*Program, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	cmd.WaitDelay = grace // where something it started holds its standard error
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	p := &Program{cmd: cmd, in: in, out: out, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Stream is the program's standard output and input.
func (p *Program) Stream() Stream { return Stream{In: p.out, Out: p.in} }

// CloseInput closes the program's standard input.
func (p *Program) CloseInput() { p.in.Close() }

// Done is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// Stop asks the program to end, if it has not, and ends it when it does not
// within seconds. Whatever it started and left in its group ends, too.
func (p *Program) Stop() error {
	var err error
	select {
	case <-p.done:
		err = p.err
	default:
		p.CloseInput()
		terminate(p.cmd.Process)
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-p.done:
		case <-t.C:
		}
	}
	p.ending.Do(func() {
		kill(p.cmd.Process)
		<-p.done
		// A process that left the group may still hold the other end.
		time.AfterFunc(grace, func() { p.out.Close() })
	})
	return err
}
