package handlers

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"time"
)

// streams are the three pipes of a run.
type streams struct {
	in       *os.File
	out, err *collector
	child    []*os.File
	written  chan struct{}
}

// A collector reads one stream.
type collector struct {
	name  string
	file  *os.File
	data  []byte        // complete once done is closed
	first chan []byte   // the JSON object that it begins with, once that is there
	full  chan struct{} // closed when there is more than anybody reads
	done  chan struct{}
	over  bool
}

func newStreams(cmd *exec.Cmd) (*streams, error) {
	s := &streams{written: make(chan struct{})}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.in, s.child, cmd.Stdin = inW, []*os.File{inR}, inR
	for _, c := range []struct {
		name string
		into **collector
		give *io.Writer
	}{{"standard output", &s.out, &cmd.Stdout}, {"standard error", &s.err, &cmd.Stderr}} {
		r, w, err := os.Pipe()
		if err != nil {
			s.closeChildEnds()
			s.close()
			return nil, err
		}
		s.child = append(s.child, w)
		*c.give = w
		*c.into = &collector{name: c.name, file: r, first: make(chan []byte, 1), full: make(chan struct{}), done: make(chan struct{})}
	}
	return s, nil
}

func (s *streams) closeChildEnds() {
	for _, f := range s.child {
		f.Close()
	}
}

func (s *streams) close() {
	s.in.Close()
	for _, c := range []*collector{s.out, s.err} {
		if c != nil {
			c.file.Close()
		}
	}
}

// pump starts to write and read, all at once: a program may answer without
// reading, or before it has read everything.
func (s *streams) pump(stdin []byte) {
	go func() {
		defer close(s.written)
		s.in.Write(stdin) // a program need not read what it does not want
		s.in.Close()
	}()
	go s.out.collect()
	go s.err.collect()
}

func (c *collector) collect() {
	defer close(c.done)
	buf := make([]byte, 32<<10)
	begun := false
	for {
		n, err := c.file.Read(buf)
		c.data = append(c.data, buf[:n]...)
		if !begun {
			end, over := opening(c.data, false)
			if begun = over; end > 0 {
				c.first <- bytes.Clone(c.data[:end])
			}
		}
		if len(c.data) > maxOutput {
			c.data, c.over = c.data[:maxOutput], true
			close(c.full)
			return
		}
		if err != nil {
			return
		}
	}
}

// watch waits for what ends a run.
func (s *streams) watch(ctx context.Context, j *job, exited chan error, beyond <-chan excess, goOn func()) (r result) {
	limit := time.NewTimer(j.Limit)
	defer limit.Stop()
	cancelled, first := ctx.Done(), s.out.first
	if !j.Detaches {
		first = nil
	}
	detach := func(d time.Duration) {
		limit.Reset(d)
		cancelled, first = nil, nil
		goOn()
	}
	if j.Async != nil {
		detach(j.Async.Limit)
	}
	for {
		select {
		case <-exited:
			return r
		case <-s.out.full:
			r.TooMuch = s.out.name
			return r
		case <-s.err.full:
			r.TooMuch = s.err.name
			return r
		case x := <-beyond:
			r.Beyond = &x
			return r
		case object := <-first:
			first = nil
			if d, ok := asyncObject(object); ok {
				detach(d)
			}
		case <-cancelled:
			r.Overdue = true
			return r
		case <-limit.C:
			r.Overdue = true
			return r
		}
	}
}

// drain reads what is left in the pipes. Whatever still holds them was missed,
// and is looked for again; if it is not to be found, nobody waits for it.
func (s *streams) drain(t *tree) {
	late := time.Now().Add(drainTime)
	for _, c := range []*collector{s.out, s.err} {
		for pause := 5 * time.Millisecond; !closedWithin(c.done, pause) && time.Now().Before(late); pause *= 2 {
			t.end()
		}
	}
	s.close()
	<-s.out.done
	<-s.err.done
	<-s.written
}

func closedWithin(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

func (s *streams) tooMuch() string {
	for _, c := range []*collector{s.out, s.err} {
		if c.over {
			return c.name
		}
	}
	return ""
}
