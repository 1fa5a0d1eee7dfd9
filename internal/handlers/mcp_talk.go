package handlers

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gate/hook"
	"gate/internal/handlers/mcptool"
	"gate/internal/outgoing"
	"gate/internal/setting"
)

// farewell is how long a run waits for a server's goodbye.
const farewell = 300 * time.Millisecond

// A talk is the way to one MCP server, for one run.
type talk struct {
	way     mcptool.Way
	close   func() error // ends the session; nil before there is one
	cut     func()       // ends everything that is under way
	program *conversation
	said    atomic.Int64
	tooMuch atomic.Bool
	status  atomic.Int32 // of the last answer over HTTP, zero without one
}

// errTooMuch ends a talk with a server that says more than anybody reads.
var errTooMuch = errors.New("the server says too much")

// reach prepares the way to a server, and starts its program if it is one.
func (h *Handlers) reach(ctx context.Context, server setting.MCPServer) (*talk, error) {
	t := &talk{way: mcptool.Way{Most: maxTalk, Version: h.Version}}
	if server.URL != "" {
		if err := outgoing.CheckAddress(server.URL); err != nil {
			return nil, fmt.Errorf("its url %w", err)
		}
		header, err := h.header(server.Headers, server.Env)
		if err != nil {
			return nil, err
		}
		header.Set("User-Agent", h.agent())
		base, cancel := context.WithCancel(context.Background())
		client := h.client(strings.HasPrefix(server.URL, "http:"))
		client.Transport = &sender{talk: t, header: header, base: base, next: client.Transport}
		t.cut = cancel
		t.way.URL, t.way.HTTP = server.URL, client
		return t, nil
	}
	j, err := h.serverJob(ctx, server)
	if err != nil {
		return nil, err
	}
	if t.program, err = h.converse(j); err != nil {
		return nil, err
	}
	t.cut = t.program.cut
	t.way.In = t.program.in
	t.way.Out = struct {
		io.Reader
		io.Closer
	}{readAhead(limited{t, t.program.out}), t.program.out}
	return t, nil
}

// serverJob is the program of a server. It runs outside the project, and what
// happened goes to it by MCP alone.
func (h *Handlers) serverJob(ctx context.Context, server setting.MCPServer) (*job, error) {
	j := &job{
		Path: server.Command, Args: append([]string{server.Command}, server.Args...), Dir: rootDir(),
		Mark: "GATE_RUN=" + rand.Text(), Limit: timeouts[hook.MCPTool], Limits: h.Limits, Talk: true,
	}
	if deadline, ok := ctx.Deadline(); ok {
		j.Limit = time.Until(deadline)
	}
	if !filepath.IsAbs(server.Command) {
		var err error
		if j.Path, err = h.search(server.Command); err != nil {
			return nil, err
		}
	}
	names := append(slices.Clone(inherited), server.Env...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if v, ok := h.lookup(name); ok && !slices.ContainsFunc(reserved, func(p string) bool { return strings.HasPrefix(name, p) }) {
			j.Env = append(j.Env, name+"="+v)
		}
	}
	j.Env = append(j.Env, j.Mark)
	return j, nil
}

// end ends the talk. With wait it returns how the server's program ended, if
// that becomes known soon; else the supervisor sees to its end.
func (t *talk) end(wait bool) *result {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if t.close != nil {
			t.close()
		}
		if t.program != nil {
			t.program.in.Close()
			t.program.out.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(farewell):
	}
	if t.program == nil {
		t.cut()
		return nil
	}
	return t.program.wait(wait)
}

// count adds to what the server said.
func (t *talk) count(n int, err error) (int, error) {
	if t.said.Add(int64(n)) > maxTalk {
		t.tooMuch.Store(true)
		return n, errTooMuch
	}
	return n, err
}

// limited reads what a server says, up to the limit of its talk.
type limited struct {
	talk *talk
	from io.Reader
}

func (l limited) Read(p []byte) (int, error) { return l.talk.count(l.from.Read(p)) }

// An ahead holds what a program said and the client has not read yet. It reads as fast as
// the program writes, so that a flood ends at the limit of its talk, and not after the
// client has understood each message before it.
type ahead struct {
	mu   sync.Mutex
	more sync.Cond
	text bytes.Buffer
	err  error // of the reader; nothing follows it
}

// readAhead reads until from ends, with an error or without. The talk closes from.
func readAhead(from io.Reader) *ahead {
	a := &ahead{}
	a.more.L = &a.mu
	go func() {
		piece := make([]byte, 32<<10)
		for err := error(nil); err == nil; {
			var n int
			n, err = from.Read(piece)
			a.add(piece[:n], err)
		}
	}()
	return a
}

func (a *ahead) add(piece []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text.Write(piece)
	a.err = err
	a.more.Signal()
}

// Read waits for something to read. A flood makes nothing before it worth reading.
func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.text.Len() == 0 && a.err == nil {
		a.more.Wait()
	}
	if a.text.Len() == 0 || errors.Is(a.err, errTooMuch) {
		return 0, a.err
	}
	return a.text.Read(p)
}

// A sender sends the requests of a talk, with the headers of the server.
type sender struct {
	talk   *talk
	header http.Header
	base   context.Context // ends with the talk
	next   http.RoundTripper
}

func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(s.base, cancel)
	req = req.Clone(ctx)
	for name, values := range s.header {
		req.Header[name] = values
	}
	resp, err := s.next.RoundTrip(req)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	if req.Method == http.MethodPost {
		s.talk.status.Store(int32(resp.StatusCode))
	}
	resp.Body = &body{limited{s.talk, resp.Body}, resp.Body, func() { stop(); cancel() }}
	return resp, nil
}

// A body is what comes back for one request.
type body struct {
	io.Reader
	closer io.Closer
	done   func()
}

func (b *body) Close() error {
	defer b.done()
	return b.closer.Close()
}
