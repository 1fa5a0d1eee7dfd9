package mcpproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gate/internal/strictjson"
)

// A Member is one of several servers behind one client. Its Options name it, and are those
// of a [Run] with it alone: each server is judged as if it were the only one.
type Member struct {
	Server Server
	Options
}

// Apart reports names of servers that the client could not tell apart in the names of
// tools, SERVER__TOOL.
func Apart(names []string) error {
	for i, one := range names {
		if plainName(one) == "" {
			return errors.New("a server has no name")
		}
		for _, other := range names[:i] {
			a, b := prefixOf(one), prefixOf(other)
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || strings.EqualFold(a, b) {
				return fmt.Errorf("the servers %s and %s cannot be told apart by the names of their tools, %sTOOL and %sTOOL: rename one",
					strictjson.Quoted(clip(other)), strictjson.Quoted(clip(one)), b, a)
			}
		}
	}
	return nil
}

// prefixOf stands before the names of what a server offers.
func prefixOf(name string) string { return plainName(name) + "__" }

// startTime is how long a client waits for servers to begin, and for their parts of a list.
// A server that is later is left out until it answers.
const startTime = 15 * time.Second

// RunAll is [Run] with several servers, which look like one to the client: it has one session
// with gate, and gate has one with each of them. Names of tools and prompts get the server's
// name before them, SERVER__TOOL; addresses of resources stay as they are. version is gate's
// own, and tell takes what the person should know.
//
// A server that ends takes with it what it offered, and the others go on. All of them having
// ended is an [ErrServerEnded].
func RunAll(ctx context.Context, client Stream, members []Member, version string, tell func(string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &hub{
		ctx: ctx, version: version, say: tell, client: &sender{out: client.Out}, gone: make(chan struct{}),
		open: map[string]*sent{}, own: map[string]chan []byte{}, asked: map[string]*wish{}, links: map[string]*peer{},
	}
	for _, o := range members {
		h.members = append(h.members, newPeer(h, o))
	}
	if err := Apart(h.names()); err != nil {
		return err
	}
	var running sync.WaitGroup
	for _, m := range h.members {
		running.Go(func() { m.run(ctx) })
	}
	left := make(chan error, 1)
	go func() { left <- lines(client.In, MaxMessage, h.fromClient) }()
	var err error
	select {
	case err = <-left:
		within(ctx, startTime+drain, h.work.Wait) // lists of ours may still have parts to come
	case <-h.gone:
		err = h.ended()
	case <-ctx.Done():
	}
	h.leaving.Store(true)
	for _, m := range h.members {
		m.queue.close()
	}
	within(ctx, 3*drain, running.Wait)
	cancel()
	running.Wait()
	return err
}

// A hub is several servers behind one client. To each it is the client of a proxy that has
// the server to itself.
type hub struct {
	ctx     context.Context
	version string
	say     func(string)
	client  *sender
	members []*peer // in the order in which they were named
	gone    chan struct{}
	work    sync.WaitGroup // what is done beside the reading of the client
	leaving atomic.Bool    // the client left
	counter atomic.Int64   // of ids of requests to the client

	// order is held while a message of the client is handled, so that those which came
	// while the servers were starting are handled before later ones.
	order sync.Mutex
	begin beginning

	mu    sync.Mutex
	open  map[string]*sent       // requests of the client, by the keys of their ids
	own   map[string]chan []byte // requests of the hub's own
	asked map[string]*wish       // requests of servers, by the keys of the ids that the client got
	resources
	links map[string]*peer // addresses in results, by who told them
}

// A sent is a request of the client that one server has.
type sent struct {
	to    *peer
	id    []byte
	token string // key of the token that its progress is told by, "" if it wants none
	links bool   // its result may name resources
}

// A wish is a request of a server that the client has.
type wish struct {
	of    *peer
	id    []byte // as the server wrote it
	token []byte // the same of the token of its progress; nil: it wants none
}

// A peer is one server of a hub.
type peer struct {
	*hub
	name, prefix string
	with         Member
	queue        *queue
	done         chan struct{} // closed when it has ended

	// What the hub's mu holds.
	joined bool   // it has begun
	out    string // why it takes no part, "" if it does or may yet
	offers map[string]any
	told   bool // that the client is ready
}

func newPeer(h *hub, with Member) *peer {
	return &peer{hub: h, name: with.Options.Server, prefix: prefixOf(with.Options.Server), with: with, queue: newQueue(), done: make(chan struct{})}
}

func (h *hub) names() (list []string) {
	for _, m := range h.members {
		list = append(list, m.name)
	}
	return list
}

// run stands before the one server until it ends or nothing more comes.
func (m *peer) run(ctx context.Context) {
	in, feed := io.Pipe()
	go m.queue.drain(feed)
	err := Run(ctx, Stream{In: in, Out: writer(m.heard)}, m.with.Server, m.with.Options)
	in.Close()
	m.queue.close()
	m.end(err)
}

// A writer is a function that takes each message whole.
type writer func(message []byte)

func (w writer) Write(message []byte) (int, error) {
	w(bytes.Clone(bytes.TrimSpace(message)))
	return len(message), nil
}

// end answers what the server did not, and says that what it offered is gone.
func (m *peer) end(err error) {
	h := m.hub
	h.mu.Lock()
	first := m.out == ""
	if first {
		m.out = fmt.Sprintf("the MCP server %s has ended", m.quoted())
	}
	var unanswered [][]byte
	for key, s := range h.open {
		if s.to == m {
			unanswered = append(unanswered, s.id)
			delete(h.open, key)
		}
	}
	for key, w := range h.asked {
		if w.of == m {
			delete(h.asked, key)
		}
	}
	h.fresh = false
	last := !slices.ContainsFunc(h.members, func(m *peer) bool { return m.out == "" })
	h.mu.Unlock()
	slices.SortFunc(unanswered, bytes.Compare)
	for _, id := range unanswered {
		h.client.send(failure(id, codeEnded, "the server ended before it answered"))
	}
	close(m.done)
	switch {
	case h.leaving.Load() || h.ctx.Err() != nil:
	case first:
		m.tellf("the server has ended (%v); its tools, prompts and resources are gone, and the other servers go on", err)
		h.changed(m)
	}
	if last {
		select {
		case <-h.gone:
		default:
			close(h.gone)
		}
	}
}

// ended is the error of a hub that has no server any more.
func (h *hub) ended() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	why := []error{ErrServerEnded}
	for _, m := range h.members {
		why = append(why, errors.New(m.out))
	}
	return errors.Join(why...)
}

func (m *peer) quoted() string { return strictjson.Quoted(clip(m.name)) }

// tellf tells the person something about one server.
func (m *peer) tellf(format string, args ...any) {
	m.hub.tell("the MCP server " + m.quoted() + ": " + fmt.Sprintf(format, args...))
}

func (h *hub) tell(text string) {
	if h.say != nil {
		h.say(text)
	}
}

// post hands a message to a server, in the order of the calls. It reports that the server
// takes none any more, or has left too many lying.
func (m *peer) post(raw []byte) error {
	switch m.queue.put(raw) {
	case errFull:
		return fmt.Errorf("the MCP server %s does not read what it is sent", m.quoted())
	case errClosed:
		return fmt.Errorf("the MCP server %s has ended", m.quoted())
	}
	return nil
}

// why is why a server takes no requests, "" if it does.
func (m *peer) why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.out == "" && !m.joined {
		return fmt.Sprintf("the MCP server %s has not started yet", m.quoted())
	}
	return m.out
}

// ready are the servers that have begun and not ended and, where capability is not "", have
// that.
func (h *hub) ready(capability string) (list []*peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.members {
		if m.joined && m.out == "" && (capability == "" || m.offers[capability] != nil) {
			list = append(list, m)
		}
	}
	return list
}

// A queue holds the messages to one server, so that one that does not read stops nobody
// else.
type queue struct {
	mu     sync.Mutex
	more   sync.Cond
	list   [][]byte
	bytes  int
	closed bool
}

var errFull, errClosed = errors.New("full"), errors.New("closed")

func newQueue() *queue {
	q := &queue{}
	q.more.L = &q.mu
	return q
}

func (q *queue) put(raw []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return errClosed
	case len(q.list) >= maxWaiting, len(q.list) > 0 && q.bytes+len(raw) > maxHeld:
		return errFull
	}
	q.list, q.bytes = append(q.list, append(bytes.Clone(raw), '\n')), q.bytes+len(raw)
	q.more.Signal()
	return nil
}

// close has the queue take nothing more. What it holds is still handed on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// drain hands on what is put, until the queue is closed and empty, and closes to.
func (q *queue) drain(to io.WriteCloser) {
	defer to.Close()
	for {
		q.mu.Lock()
		for len(q.list) == 0 && !q.closed {
			q.more.Wait()
		}
		if len(q.list) == 0 {
			q.mu.Unlock()
			return
		}
		raw := q.list[0]
		q.list[0], q.list, q.bytes = nil, q.list[1:], q.bytes-len(raw)+1
		q.mu.Unlock()
		if _, err := to.Write(raw); err != nil {
			return // the server has ended, which is said elsewhere
		}
	}
}
