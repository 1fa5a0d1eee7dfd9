// Package mcpproxy stands between an MCP client and an MCP server and has every
// tool call judged, for agents without hooks: before it reaches the server as a
// PreToolUse event, and its result as a PostToolUse event. What the server lists, says
// of itself and asks of the client is judged, too. Where nothing was decided, a message
// passes as it is, byte for byte.
//
// It decides nothing (that is [Options.Decide]), knows no policy, and starts no
// process by itself: [Run] takes the two sides, and [Start] and [Dial] make one of
// a program or an address. It is
// no MCP library: of the protocol it reads what it has to, strictly, and lets
// what it does not know pass. Start with [Run], or with [RunAll] for several servers.
package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gate/hook"
)

// MaxMessage is the largest message that passes, in bytes, in either direction.
const MaxMessage = 16 << 20

// judgedAtOnce bounds the messages that are being judged, in bytes. Reading goes
// on when there is room again.
const judgedAtOnce = 2 * MaxMessage

// Options say how calls are judged.
type Options struct {
	// Server names the server in the names of tools, mcp__SERVER__TOOL. Empty,
	// it is what the server calls itself; calls before it has are rejected.
	Server string

	// Session and Dir are session_id and cwd of every event.
	Session, Dir string

	// Decide decides about an event, by the deadline of its context. It is
	// called from several goroutines at once. What it gets wrong (nil, a panic)
	// is a Reject.
	Decide func(context.Context, hook.Event) hook.Decision

	// Book holds the server and what it lists against what they were at the first
	// use. nil: nothing is held against anything.
	Book *Book

	// Fits holds the arguments of a call against the tool's inputSchema. nil: nothing is
	// held against it.
	Fits func(schema any, input map[string]any) error

	// Servers are the names of the servers that a person used before the one of this name.
	// nil: none is known.
	Servers func(own string) []string

	// Tell takes what the person should know: one text, not yet made visible.
	// It is called from several goroutines; nil drops the texts.
	Tell func(string)
}

// A Stream is one side of the proxy: messages come from In and go to Out, one a
// line.
type Stream struct {
	In  io.Reader
	Out io.Writer
}

// A Server is a Stream with an end. [Start] makes one of a program, [Dial] of an
// address. Each message is one Write.
type Server interface {
	Stream() Stream
	// CloseInput tells the server that nothing more comes.
	CloseInput()
	// Done is closed when the server has ended.
	Done() <-chan struct{}
	// Stop ends the server, and returns when it has ended. The error says how
	// it had ended if that was before.
	Stop() error
}

// drain is how long a server may take to answer when the client says nothing
// more, and then to end.
const drain = 10 * time.Second

// ErrServerEnded reports that the server ended while the client was there.
var ErrServerEnded = errors.New("the server ended")

// Run hands messages on until the client's stream ends, the server ends or ctx
// does; it has stopped the server when it returns. Requests that have no answer
// by then get an error. A server that ends by itself is an [ErrServerEnded].
// After that a read of client.In may still be under way.
func Run(ctx context.Context, client Stream, server Server, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to := server.Stream()
	p := &proxy{
		Options: o, ctx: ctx, name: o.Server,
		client: &sender{out: client.Out}, server: &sender{out: to.Out},
		calls: newBudget(judgedAtOnce), answers: newBudget(judgedAtOnce),
	}
	p.waiting.init()
	left := p.read(client.In, p.fromClient)
	heard := p.read(to.In, p.fromServer)
	var err error
	select {
	case err = <-left:
		within(ctx, drain, func() { // it may still read, as a script does
			p.asking.Wait()
			p.waiting.empty()
		})
		server.CloseInput()
		within(ctx, drain, func() { <-server.Done() })
	case err = <-heard:
		err = endedWith(err)
		heard = nil
		within(ctx, time.Second, func() { <-server.Done() }) // it may say why
	case <-server.Done():
		err = ErrServerEnded
	case <-ctx.Done():
	}
	if ended := server.Stop(); ended != nil && errors.Is(err, ErrServerEnded) {
		err = endedWith(ended)
	}
	within(ctx, drain, func() { // what it had said before it ended
		if heard != nil {
			<-heard
		}
		p.answering.Wait()
	})
	cancel()
	within(context.Background(), time.Second, func() {
		for _, r := range p.waiting.all() {
			p.failRequest(r, codeEnded, "the server ended before it answered")
		}
	})
	return err
}

func endedWith(err error) error {
	if err == nil {
		return ErrServerEnded
	}
	return fmt.Errorf("%w: %w", ErrServerEnded, err)
}

// A proxy is one Run.
type proxy struct {
	Options
	ctx            context.Context
	client, server *sender
	waiting        waiting
	calls, answers *budget
	tools          tools
	catalogue      catalogue
	asked          asked // by the server

	// Only the goroutine that reads the client adds to asking, and only the one
	// that reads the server to answering.
	asking, answering sync.WaitGroup

	mu      sync.Mutex
	name    string // of the server
	refused string // why a policy lets nothing of the server pass, "" if it does
}

// read reads one side to its end.
func (p *proxy) read(in io.Reader, each func(line)) <-chan error {
	done := make(chan error, 1)
	go func() { done <- lines(in, MaxMessage, each) }()
	return done
}

// within waits for f, at most d and as long as ctx lasts.
func within(ctx context.Context, d time.Duration, f func()) {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	case <-ctx.Done():
	}
}

// judge runs f beside the reading, when there is room for a message of n bytes.
func judge(g *sync.WaitGroup, b *budget, n int, f func()) {
	giveBack := b.spend(n)
	g.Go(func() {
		defer giveBack()
		f()
	})
}

// decide asks about an event, whatever happens.
func (p *proxy) decide(ev *hook.Event) (d hook.Decision) {
	defer func() {
		if r := recover(); r != nil {
			d = hook.Decision{Effect: hook.Deny, Fault: hook.Faultf(hook.FaultInternal, "gate failed: %v", r)}
			p.tell(string(debug.Stack()))
		}
	}()
	return p.Decide(p.ctx, *ev)
}

func (p *proxy) tell(text string) {
	if p.Tell != nil && strings.TrimSpace(text) != "" {
		p.Tell(text)
	}
}

// serverName returns what the server is called in the names of tools.
func (p *proxy) serverName() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

// learn notes what the server calls itself, the first time.
func (p *proxy) learn(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == "" {
		p.name = name
	}
}

// A sender writes messages, each whole. Whether they arrive shows elsewhere:
// the other side's stream ends.
type sender struct {
	mu  sync.Mutex
	out io.Writer
}

// sendAll writes messages, of which there may be none.
func (s *sender) sendAll(messages [][]byte) {
	for _, m := range messages {
		s.send(m)
	}
}

// send writes one message and keeps none of it, but may write behind its end.
func (s *sender) send(message []byte) error {
	message = append(message, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(message)
	return err
}
