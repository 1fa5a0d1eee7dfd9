package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// A conversation is a program that is talked to while it runs. in and out must
// be closed, and wait called, when everything is said.
type conversation struct {
	in   io.WriteCloser // its standard input; its end asks the program to end
	out  io.ReadCloser  // its standard output
	cut  func()         // ends it at once
	done chan result    // how it ended, when nothing of it is left
}

// wait returns how the program ended. Without long it does not wait for a
// supervisor, which ends the program by itself.
func (c *conversation) wait(long bool) *result {
	most := 2*grace + patience
	if !long {
		most = 0
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case r := <-c.done:
		return &r
	case <-timer.C:
		return nil
	}
}

// converse starts a job that is talked to: below a supervisor where there is
// one, else below this process.
func (h *Handlers) converse(j *job) (*conversation, error) {
	if len(h.Supervisor) > 0 {
		return supervisedTalk(h.Supervisor, j)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &conversation{in: inW, out: outR, cut: cancel, done: make(chan result, 1)}
	go func() {
		r := runTalk(ctx, j, false, inR, outW)
		cancel()
		inR.Close()
		c.done <- r
	}()
	return c, nil
}

// supervisedTalk starts a job that is talked to below a supervisor. The
// supervisor passes on what both say, and tells on its standard error how it
// went.
func supervisedTalk(argv []string, j *job) (*conversation, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Args[0] = "gate"
	cmd.Env = []string{}
	cmd.Dir = rootDir()
	apart(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	told, err := cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("its supervisor does not start: %w", err)
	}
	c := &conversation{in: in, out: out, cut: func() { in.Close() }, done: make(chan result, 1)}
	go func() {
		var r result
		if err := json.NewDecoder(io.LimitReader(told, 4*maxOutput)).Decode(&r); err != nil {
			r = result{Err: "its supervisor did not answer: " + err.Error()}
		}
		cmd.Wait()
		c.done <- r
	}()
	if err := json.NewEncoder(in).Encode(j); err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("its supervisor does not listen: %w", err)
	}
	return c, nil
}

// runTalk runs a job, hands on what comes from in and what it says to out, and
// ends all that it started: when in ends, the program had a moment to end by
// itself, when it ended, and when the job's time is over.
func runTalk(ctx context.Context, j *job, sole bool, in io.Reader, out io.WriteCloser) result {
	defer out.Close()
	p, err := launch(j, sole)
	if err != nil {
		return result{Err: err.Error()}
	}
	defer p.close()
	asked := p.relay(in, out)
	beyond, stop := p.tree.watchUse()
	r := p.attend(ctx, j, p.exited, asked, beyond)
	stop()
	p.end(&r)
	out.Close() // whoever does not listen any more must not hold the rest up
	p.drain(p.tree)
	r.Stderr = p.err.data
	return r
}

// relay hands on what both sides say. The end of in is the end of the program's
// input, and is told.
func (s *streams) relay(in io.Reader, out io.WriteCloser) (asked <-chan struct{}) {
	ended := make(chan struct{})
	close(s.written) // nobody waits for the rest of in
	go func() {
		io.Copy(s.in, in)
		s.in.Close()
		close(ended)
	}()
	go func() {
		defer close(s.out.done)
		io.Copy(out, s.out.file)
		out.Close()
	}()
	go s.err.collect()
	return ended
}

// attend waits for what ends a talk.
func (s *streams) attend(ctx context.Context, j *job, exited chan error, asked <-chan struct{}, beyond <-chan excess) (r result) {
	limit := time.NewTimer(j.Limit)
	defer limit.Stop()
	for {
		select {
		case err := <-exited:
			r.Ours = r.Ours && err == nil
			return r
		case <-asked:
			asked, r.Ours = nil, true
			limit.Reset(grace)
		case <-s.err.full:
			r.TooMuch = s.err.name
			return r
		case x := <-beyond:
			r.Beyond = &x
			return r
		case <-ctx.Done():
			r.Ours = true
			return r
		case <-limit.C:
			r.Overdue = !r.Ours
			return r
		}
	}
}
