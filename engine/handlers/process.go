package handlers

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	grace     = 500 * time.Millisecond // between asking a process to end and ending it
	patience  = 5 * time.Second        // for processes to be gone that were ended
	drainTime = time.Second            // for what is left in a pipe that nobody of the run can hold any more
)

// A job is one program to run. It is what a supervisor is asked for, too.
type job struct {
	Path     string
	Args     []string // with the program's name
	Dir      string
	Env      []string
	Stdin    []byte
	Mark     string        // of the processes of this run: an entry of Env
	Limit    time.Duration // for the whole run
	Limits   Limits        // all given
	Async    *asyncJob     // nil: whoever asks waits
	Detaches bool          // the first line may say that nobody need wait
	Talk     bool          // it is talked to while it runs; Stdin and Async do not count
	Late     lateAnswer    // where an answer goes that nobody waits for
}

// An asyncJob is one that the call does not wait for.
type asyncJob struct{ Limit time.Duration }

// A result is how a run ended.
type result struct {
	Stdout, Stderr []byte
	Status         int     // the exit status, if there is neither Signal nor Err
	Signal         string  // what ended the program
	TooMuch        string  // the stream that took more than maxOutput
	Overdue        bool    // it had to be ended
	Beyond         *excess // the limit that it went beyond
	Async          bool    // nobody needs to wait: the rest is empty
	Ours           bool    // it was asked to end
	Err            string  // why it could not be run
	Left           string  // what could not be ended
}

// run runs a job to its end, and ends all that it started. When the call need
// not wait any longer, goOn is told; from then on only the job's own limit
// counts. sole says that this process has no children but this job's.
func run(ctx context.Context, j *job, sole bool, goOn func()) result {
	goOn = sync.OnceFunc(goOn)
	t := &tree{mark: j.Mark, sole: sole, most: j.Limits}
	cmd := &exec.Cmd{Path: j.Path, Args: j.Args, Dir: j.Dir, Env: j.Env}
	s, err := newStreams(cmd)
	if err != nil {
		return result{Err: err.Error()}
	}
	defer s.close()
	t.prepare(cmd)
	err = cmd.Start()
	s.closeChildEnds()
	if err != nil {
		return result{Err: err.Error()}
	}
	exited := make(chan error, 1)
	if err := t.started(cmd.Process); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return result{Err: err.Error()}
	}
	if !sole {
		limitOther(cmd.Process.Pid, j)
	}
	go func() { exited <- cmd.Wait() }()
	s.pump(j.Stdin)
	beyond, stop := t.watchUse()
	r := s.watch(ctx, j, exited, beyond, goOn)
	stop()
	if err := t.end(); err != nil {
		r.Left = err.Error()
	}
	if r.Overdue || r.TooMuch != "" || r.Beyond != nil {
		select {
		case <-exited:
		case <-time.After(patience):
		}
	} else if state := cmd.ProcessState; state != nil {
		r.Status, r.Signal = statusOf(state)
	}
	s.drain(t)
	r.Stdout, r.Stderr = s.out.data, s.err.data
	if r.TooMuch == "" {
		r.TooMuch = s.tooMuch()
	}
	if j.Detaches && !r.Overdue && r.Beyond == nil && len(afterAsync(r.Stdout)) < len(r.Stdout) {
		goOn() // it was quick, and means the same as if it were not
	}
	return r
}

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
	first chan []byte   // the first line, once there is one
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
	line := false
	for {
		n, err := c.file.Read(buf)
		c.data = append(c.data, buf[:n]...)
		if i := bytes.IndexByte(c.data, '\n'); !line && i >= 0 {
			line = true
			c.first <- bytes.Clone(c.data[:i])
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
		case line := <-first:
			first = nil
			if d, ok := asyncLine(line); ok {
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

// variable cuts a text of an event to what an environment takes.
func variable(s string) string {
	const most = 8 << 10
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
