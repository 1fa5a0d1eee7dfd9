// Package collect is the server that a fleet's machines send records and statuses to, and
// that answers an administrator's questions about them in JSON. It admits, bounds and
// checks what comes; what is kept and what is wrong is package store's to say. Nothing
// that it answers changes a machine.
//
// Start with [New], which takes a [store.Store], and serve the [Server] by HTTP. [Server.Run]
// does what time brings. [Serve] does all of it, with listeners and certificates.
package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gate/internal/collect/store"
)

// Options say what a collector does. A zero field is its default.
type Options struct {
	Store *store.Store
	Gate  *Gatekeeper // who may look; nil: nobody

	// Channel returns the channel that machines are to follow, to tell how far its
	// releases are rolled out; nil: nobody says.
	Channel func() ([]byte, error)

	Limits Limits
	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // default: nothing is logged
}

// Limits bound what machines may bring. A zero field is its default.
type Limits struct {
	AtOnce     int   // requests of machines that are read at once, default 16; others get 503
	Compressed int64 // bytes of a request as sent, default 4 MiB
	Plain      int64 // bytes of a request when it is unpacked, default 8 MiB
	Records    int   // records of a request, default 10 000

	// Of one machine in a minute; a batch that goes beyond is taken, and the next ones
	// wait. Others get 429.
	RecordsAMinute int   // default 60 000
	BytesAMinute   int64 // unpacked, default 64 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		cmp.Or(l.AtOnce, 16), cmp.Or(l.Compressed, 4<<20), cmp.Or(l.Plain, 8<<20), cmp.Or(l.Records, 10_000),
		cmp.Or(l.RecordsAMinute, 60_000), cmp.Or(l.BytesAMinute, 64<<20),
	}
}

// A Server is the handler of all requests.
type Server struct {
	store   *store.Store
	gate    *Gatekeeper
	channel func() ([]byte, error)
	limits  Limits
	now     func() time.Time
	log     *slog.Logger

	mux    *http.ServeMux
	room   chan struct{} // a place for each request of a machine that is read
	lobby  chan struct{} // the same for enrolments
	quotas quotas

	strangers, forgers rare // findings about machines that are not enrolled, and about signatures

	trouble atomic.Bool // the last thing that the store was to write was not written

	healthMu sync.Mutex
	healthAt time.Time
	health   error
}

// New returns a server. More can be served by it with [Server.Handle].
func New(o Options) *Server {
	s := &Server{store: o.Store, gate: o.Gate, channel: o.Channel, limits: o.Limits.withDefaults(), now: o.Now, log: o.Log, mux: http.NewServeMux()}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.gate == nil {
		s.gate = &Gatekeeper{}
	}
	s.room, s.lobby = make(chan struct{}, s.limits.AtOnce), make(chan struct{}, s.limits.AtOnce)
	s.quotas = quotas{records: float64(s.limits.RecordsAMinute), bytes: float64(s.limits.BytesAMinute), all: map[string]*quota{}}
	s.strangers, s.forgers = rare{said: map[string]time.Time{}}, rare{said: map[string]time.Time{}}
	s.machineRoutes()
	s.personRoutes()
	s.mux.HandleFunc("GET /health", s.healthy)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is nothing at this address")
	})
	return s
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	s.mux.ServeHTTP(w, r)
}

// Handle serves a pattern of [http.ServeMux] for people who have a role, with a note of
// each look. Its handler sets its own Content-Security-Policy. [PersonOf] says who asks.
func (s *Server) Handle(pattern string, role Role, h http.Handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if r, ok := s.admit(w, r, role); ok {
			h.ServeHTTP(w, r)
		}
	})
}

// HandleOpen serves a pattern for everybody, such as the files of a page without data.
func (s *Server) HandleOpen(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Run does what time brings, until ctx ends: findings about who is silent, and at once
// and every hour what is too old.
func (s *Server) Run(ctx context.Context) {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for n := 0; ; n++ {
		if err := s.store.Check(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("findings could not be looked for", "error", err)
		}
		if n%60 == 0 {
			dropped, err := s.store.Expire(ctx)
			for _, d := range dropped {
				s.log.Info("records that are too old were dropped", "day", d.Day, "level", d.Level, "records", d.Records)
			}
			if err != nil && ctx.Err() == nil {
				s.log.Error("what is too old could not be dropped", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-minute.C:
			s.quotas.forget(s.now())
			s.strangers.forget(s.now())
			s.forgers.forget(s.now())
		}
	}
}

// healthy answers whoever watches the collector. It asks the database at most every two
// seconds.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) {
	s.healthMu.Lock()
	defer s.healthMu.Unlock()
	if now := s.now(); now.Sub(s.healthAt).Abs() > 2*time.Second {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
		defer cancel()
		s.health, s.healthAt = s.store.Health(ctx), now
	}
	switch {
	case s.health != nil:
		fail(w, http.StatusServiceUnavailable, "the database does not answer")
		return
	case s.trouble.Load():
		fail(w, http.StatusServiceUnavailable, "what came last could not be written")
		return
	}
	answer(w, map[string]string{"status": "ok", "store": s.store.Kind()})
}

// answer writes a document.
func answer(w http.ResponseWriter, doc any) {
	data, err := json.Marshal(doc)
	if err != nil {
		fail(w, http.StatusInternalServerError, "the answer could not be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
	w.Write(append(data, '\n')) // whoever went away does not read it
}

// fail writes why there is no answer.
func fail(w http.ResponseWriter, status int, why string) {
	data, _ := json.Marshal(map[string]string{"error": why})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

// later says that the request may be sent again after a while.
func later(w http.ResponseWriter, status int, after time.Duration, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int((after+time.Second-1)/time.Second))))
	fail(w, status, why)
}

// unwritten is broken, of what a machine sent: whoever watches the collector sees it until
// something is written again. What people ask for is no sign of that.
func (s *Server) unwritten(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, store.ErrBusy) && r.Context().Err() == nil {
		s.trouble.Store(true)
	}
	s.broken(w, r, err)
}

// broken says that the store could not do it, and why, to the log.
func (s *Server) broken(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		fail(w, http.StatusNotFound, store.ErrNotFound.Error())
	case errors.Is(err, store.ErrBusy):
		later(w, http.StatusServiceUnavailable, 5*time.Second, "too much waits to be written")
	case r.Context().Err() != nil:
		later(w, http.StatusServiceUnavailable, time.Second, "it took too long")
	default:
		s.log.Error("the store could not do it", "path", r.URL.Path, "error", err)
		later(w, http.StatusServiceUnavailable, 30*time.Second, "the store could not do it")
	}
}
