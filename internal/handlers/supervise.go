package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A supervisor is a process between gate and one command. It adopts whatever
// the command leaves behind, so that nothing gets away; it outlives a gate that
// goes on without the answer; and when gate is killed it ends the command.
//
// gate writes the job as one line of JSON to its standard input and keeps that
// open: its end means that nobody waits any more. The supervisor answers with a
// line for each result. To a program that is talked to it hands on what follows
// the job, and what that says to standard output; the result goes to standard
// error.

// supervised runs a job below a supervisor that is started with argv.
func supervised(ctx context.Context, argv []string, j *job) result {
	if err := ctx.Err(); err != nil {
		return result{Overdue: true}
	}
	// It keeps the limit itself, unless the command stopped it.
	ctx, cancel := context.WithTimeout(ctx, j.Limit+patience)
	defer cancel()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Args[0] = "gate"
	cmd.Env = []string{} // it needs none; nil would be this process's
	cmd.Dir = rootDir()
	apart(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return result{Err: err.Error()}
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result{Err: err.Error()}
	}
	if err := cmd.Start(); err != nil {
		return result{Err: fmt.Sprintf("its supervisor does not start: %v", err)}
	}
	answered := make(chan result, 1)
	go func() {
		defer cmd.Wait()
		defer in.Close()
		var r result
		if err := json.NewEncoder(in).Encode(j); err != nil {
			r.Err = "its supervisor does not listen: " + err.Error()
		} else if err := json.NewDecoder(io.LimitReader(out, 4*maxOutput)).Decode(&r); err != nil {
			r = result{Err: "its supervisor did not answer: " + err.Error()}
		}
		answered <- r
	}()
	select {
	case r := <-answered:
		return r
	case <-ctx.Done():
		in.Close()
		select { // it ends the command first; whoever waits for the answer has gone on
		case <-answered:
		case <-time.After(grace + patience):
			cmd.Process.Kill()
		}
		return result{Overdue: true}
	}
}

// Supervise is the whole work of a supervisor process, which [Options] say how
// to start: it runs the one command that it reads from in, and returns the exit
// status of the process when nothing of the command is left. told gets how it
// went where out belongs to the command. The end of in, or of ctx, ends the command. It makes the process the parent of orphans, so
// nothing else may run in it, and SIGPIPE must not end the process.
func Supervise(ctx context.Context, in io.Reader, out, told io.Writer) int {
	runtime.LockOSThread() // the command ends with the thread that started it
	closeForeign()
	lines := bufio.NewReaderSize(in, 64<<10)
	line, err := lines.ReadBytes('\n')
	var j job
	if err == nil {
		err = json.Unmarshal(line, &j)
	}
	j.Limits = j.Limits.orDefault()
	if err == nil {
		err = adoptOrphans()
	}
	if err == nil {
		err = limitSelf(&j)
	}
	answer := json.NewEncoder(out)
	if j.Talk {
		answer = json.NewEncoder(told)
	}
	if err != nil {
		answer.Encode(result{Err: err.Error()})
		return 1
	}
	if j.Talk {
		answer.Encode(runTalk(ctx, &j, true, lines, closing(out)))
		return 0
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, lines)
		cancel()
	}()
	var went sync.Once
	async := false
	r := run(ctx, &j, true, func() {
		went.Do(func() {
			async = true
			answer.Encode(result{Async: true})
			closing(out).Close()
		})
	})
	if async {
		j.Late.keep(&r, time.Now())
		return 0
	}
	if err := answer.Encode(r); err != nil {
		return 1
	}
	return 0
}

// closing returns a writer that is closed if it can be.
func closing(w io.Writer) io.WriteCloser {
	if c, ok := w.(io.WriteCloser); ok {
		return c
	}
	return struct {
		io.Writer
		io.Closer
	}{w, io.NopCloser(nil)}
}
