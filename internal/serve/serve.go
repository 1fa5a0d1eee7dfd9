// Package serve answers events over HTTP, for agents and programs that would
// rather ask a gate that stays up than start one: on a unix socket that only
// the account itself can use, and on the loopback addresses behind a token.
//
// It speaks the protocols and bounds the cost of a stranger; its caller decides. It is
// not for other machines, and nothing needs it: gate hook answers without a server. A
// failure is answered in the agent's blocking form, because agents read an error of
// HTTP as "go on". Start with [New], get listeners from [Socket] and [Loopback], and
// give them to [Server.Serve].
//
// docs/architecture.md has the rules that it keeps: 2, 3, 4, 9 and 11.
package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/interceptors"
)

// A Question is one event that somebody waits for an answer to.
type Question struct {
	Agent    string        // the adapter's name
	Event    hook.Name     // what the address calls the event, "" if it does not
	Body     []byte        // the event as the agent sends it, not longer than adapters.MaxEvent
	Project  string        // where the agent says that it was started, "" if it does not
	Attended bool          // the agent says that a person sits there
	Trace    string        // the header traceparent, as it came
	Timeout  time.Duration // how long the agent waits; 0: as long as it does by default
}

// A Reply is the answer to a Question.
type Reply struct {
	Answer   adapters.Answer       // as the agent reads it
	Decision *hook.Decision        // what it stands for; nil counts as a fault
	Document func() map[string]any // the whole decision, for programs
}

// A State is what there is to say about the gate behind the server.
type State struct {
	Err      error    // why no call can be judged at the moment, nil if they can
	Policies int      // loaded, those of the library included
	Reloads  int      // how often something else was loaded than before
	Failures int      // how often loading failed
	Bundles  []Bundle // in force
}

// A Bundle is a signed bundle in force.
type Bundle struct {
	Name    string
	Version int64
	Synced  time.Time // when it was last found to be the newest; zero: never
}

// Options say what a Server does. Decide and State must be given.
type Options struct {
	// Decide answers one question, always and by the deadline of its own
	// making. It is called by many goroutines at once. A panic is answered by
	// the form that blocks.
	Decide func(context.Context, Question) Reply

	// State is asked for the metrics and the health. It must not take long.
	State func() State

	// Guardian answers at /acs, in the protocol of the Agent Control Standard, whose
	// requests bear signatures in the place of the token. It is called by many goroutines
	// at once. nil: there is nothing at that address.
	Guardian interface {
		Answer(ctx context.Context, body []byte) []byte
	}

	// Page answers at /ui and below, and says itself who may ask: Origin and Host are
	// those of browsers there. Invite returns an address that opens it once, for who may
	// ask questions. nil: there is nothing at these addresses.
	Page interface {
		http.Handler
		Invite() (address string)
	}

	// Token is what requests over the loopback addresses must bear, as
	// "Authorization: Bearer TOKEN". Without one, all of them are refused.
	Token string

	// Parallel is how many questions are decided about at once, and Waiting how
	// many more may wait for that, each at most five seconds. 0: 64 and 256.
	Parallel, Waiting int

	// Grace is how long answers under way may take once the server is told to
	// stop; then their contexts end. 0: ten seconds.
	Grace time.Duration
}

// limits bound how long a request may take, but for its decision.
type limits struct {
	header time.Duration
	read   time.Duration // all of it, the wait in the queue included
	queue  time.Duration
}

const (
	writeLimit = 90 * time.Second // more than any decision takes
	idleLimit  = 2 * time.Minute
	maxHeader  = 16 << 10
	maxUnknown = 256             // each may have acs.MaxBody in memory
	stopLimit  = 3 * time.Second // for answers whose contexts have ended
)

// A Server answers until it is told to stop. Make it with [New].
type Server struct {
	o        Options
	limits   limits
	token    [sha256.Size]byte
	metrics  *metrics
	slots    chan struct{} // held while a question is decided about
	waiting  atomic.Int64
	mcp      *interceptors.Host
	unknown  chan struct{} // held by a request of which nobody knows yet who sent it
	large    chan struct{} // held as long as a large event is in memory
	stopping atomic.Bool
}

// New returns a Server that listens nowhere yet.
func New(o Options) *Server {
	if o.Parallel <= 0 {
		o.Parallel = 64
	}
	if o.Waiting <= 0 {
		o.Waiting = 256
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	s := &Server{
		o: o, limits: limits{header: 5 * time.Second, read: 15 * time.Second, queue: 5 * time.Second}, token: sha256.Sum256([]byte(o.Token)), metrics: newMetrics(),
		unknown: make(chan struct{}, maxUnknown), slots: make(chan struct{}, o.Parallel), large: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
	}
	s.mcp = interceptors.New(interceptors.Gate(func(ctx context.Context, message []byte, limit time.Duration) []byte {
		return s.decide(ctx, Question{Agent: adapters.Interceptor().Name(), Body: message, Timeout: limit}).Answer.Stdout
	}))
	return s
}

// Serve answers on all listeners until ctx ends or one of them fails, and closes
// them. Answers under way are finished. It returns nil if it was told to stop.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	web := &http.Server{
		Handler: http.HandlerFunc(s.handle), BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: withPeer, ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.read, WriteTimeout: writeLimit,
		IdleTimeout: idleLimit, MaxHeaderBytes: maxHeader, DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0), // what strangers send is counted, not told
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- web.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.stopping.Store(true)
	grace, cancel := context.WithTimeout(base, s.o.Grace)
	defer cancel()
	if web.Shutdown(grace) != nil {
		stop() // what is still decided about closes
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		web.Shutdown(last)
	}
	web.Close()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
