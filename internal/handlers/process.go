package handlers

import (
	"context"
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
	Detaches bool          // its output may begin by saying that nobody need wait
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
	p, err := launch(j, sole)
	if err != nil {
		return result{Err: err.Error()}
	}
	defer p.close()
	p.pump(j.Stdin)
	beyond, stop := p.tree.watchUse()
	r := p.watch(ctx, j, p.exited, beyond, goOn)
	stop()
	p.end(&r)
	p.drain(p.tree)
	r.Stdout, r.Stderr = p.out.data, p.err.data
	if r.TooMuch == "" {
		r.TooMuch = p.tooMuch()
	}
	if j.Detaches && !r.Overdue && r.Beyond == nil && len(afterAsync(r.Stdout)) < len(r.Stdout) {
		goOn() // it was quick, and means the same as if it were not
	}
	return r
}

// A program is what runs for a job. It must be closed.
type program struct {
	*streams
	cmd    *exec.Cmd
	tree   *tree
	exited chan error // how it ended, once
}

// launch starts a job's program.
func launch(j *job, sole bool) (*program, error) {
	p := &program{
		tree:   &tree{mark: j.Mark, sole: sole, most: j.Limits},
		cmd:    &exec.Cmd{Path: j.Path, Args: j.Args, Dir: j.Dir, Env: j.Env},
		exited: make(chan error, 1),
	}
	var err error
	if p.streams, err = newStreams(p.cmd); err != nil {
		return nil, err
	}
	p.tree.prepare(p.cmd)
	err = p.cmd.Start()
	p.closeChildEnds()
	if err != nil {
		p.close()
		return nil, err
	}
	if err := p.tree.started(p.cmd.Process); err != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		p.close()
		return nil, err
	}
	if !sole {
		limitOther(p.cmd.Process.Pid, j)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	return p, nil
}

// end ends all that the program started, and adds to r how that went.
func (p *program) end(r *result) {
	if err := p.tree.end(); err != nil {
		r.Left = err.Error()
	}
	if r.Overdue || r.TooMuch != "" || r.Beyond != nil {
		select {
		case <-p.exited:
		case <-time.After(patience):
		}
	} else if state := p.cmd.ProcessState; !r.Ours && state != nil {
		r.Status, r.Signal = statusOf(state)
	}
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
