package collect

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// machineRoutes are those that machines ask.
func (s *Server) machineRoutes() {
	// Whoever has no key sends an enrolment as slowly as they like: not in the machines' room.
	s.mux.HandleFunc("POST "+fleet.EnrollPath, inRoom(s.lobby, s.enrol))
	s.mux.HandleFunc("POST "+fleet.LogsPath, inRoom(s.room, s.signed(fleet.LogsPath, s.limits.Plain, s.logs)))
	s.mux.HandleFunc("POST "+fleet.StatusPath, inRoom(s.room, s.signed(fleet.StatusPath, min(s.limits.Plain, fleet.MaxStatus), s.status)))
}

// inRoom answers as many requests at once as there is room for. The others come back, at
// times that differ.
func inRoom(room chan struct{}, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			next(w, r)
		default:
			later(w, http.StatusServiceUnavailable, 2*time.Second+rand.N(8*time.Second), "too many send at once")
		}
	}
}

// refuse says to a machine in one sentence why nothing was taken.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, why+"\n")
}

// maxEnrolment is the longest enrolment, in bytes.
const maxEnrolment = 64 << 10

func (s *Server) enrol(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r, maxEnrolment)
	if !ok {
		return
	}
	e, err := fleet.ParseEnrollment(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	err = s.store.Enrol(r.Context(), e)
	switch {
	case errors.Is(err, store.ErrToken):
		s.log.Warn("a machine was not enrolled", "machine", e.Machine, "from", r.RemoteAddr)
		refuse(w, http.StatusForbidden, err.Error())
	case errors.Is(err, store.ErrOtherKey):
		refuse(w, http.StatusConflict, err.Error())
	case err != nil:
		s.unwritten(w, r, err)
	default:
		s.log.Info("a machine is enrolled", "machine", e.Machine, "host", e.Host)
		answer(w, map[string]string{"machine": e.Machine})
	}
}

// A sent is a request whose signature is good.
type sent struct {
	machine string
	clock   time.Time // by the machine
	body    []byte    // unpacked
}

// signed reads a request of a machine, and checks who sent it before anything is
// unpacked. The key comes first: of nobody who has none a body is read.
func (s *Server) signed(path string, plain int64, next func(w http.ResponseWriter, r *http.Request, m sent)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		by, err := fleet.SignedBy(r.Header)
		if err != nil {
			refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		key, err := s.store.Key(r.Context(), by.Machine)
		if errors.Is(err, store.ErrUnknown) {
			s.suspect(r.Context(), store.Finding{Kind: store.Unknown, Log: by.Machine, Detail: "requests in its name came, and it is not enrolled"})
			refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		if err != nil {
			s.unwritten(w, r, err)
			return
		}
		if wait := s.quotas.wait(by.Machine, s.now()); wait > 0 {
			later(w, http.StatusTooManyRequests, wait, "the machine sends more than it may in a minute")
			return
		}
		body, ok := readBody(w, r, s.limits.Compressed)
		if !ok {
			return
		}
		if err := by.Check(ed25519.PublicKey(key), r.Method, path, body); err != nil {
			s.suspect(r.Context(), store.Finding{Kind: store.BadSignature, Machine: by.Machine, Detail: "a request in its name was not signed by its key"})
			refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		text, ok := unpack(w, body, plain)
		if !ok {
			return
		}
		next(w, r, sent{by.Machine, by.Time, text})
	}
}

// suspect opens a finding, once a minute at most: whoever has no key can bring it about.
func (s *Server) suspect(ctx context.Context, f store.Finding) {
	said := &s.strangers
	if f.Kind == store.BadSignature { // names that nobody has must not keep this quiet
		said = &s.forgers
	}
	if !said.may(f.Machine+f.Log, s.now()) {
		return
	}
	if err := s.store.Open(ctx, f); err != nil {
		s.log.Error("a finding could not be written", "kind", f.Kind, "error", err)
	}
}

func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("at most %d bytes are taken", most))
	case err != nil:
		refuse(w, http.StatusBadRequest, "the request did not arrive whole and in time")
	}
	return body, err == nil
}

// unpack unpacks gzip, of one member and nothing behind it.
func unpack(w http.ResponseWriter, body []byte, most int64) ([]byte, bool) {
	in := bytes.NewReader(body)
	z, err := gzip.NewReader(in)
	var text []byte
	if err == nil {
		z.Multistream(false)
		text, err = io.ReadAll(io.LimitReader(z, most+1))
	}
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body is not gzip")
	case int64(len(text)) > most:
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("at most %d bytes are unpacked", most))
	case in.Len() > 0:
		refuse(w, http.StatusBadRequest, "something stands behind the gzip")
	default:
		return text, true
	}
	return nil, false
}

func (s *Server) logs(w http.ResponseWriter, r *http.Request, m sent) {
	batch, err := s.batch(m.body)
	if err == errTooMany {
		refuse(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	logs := map[string]bool{}
	for _, r := range batch.Records {
		logs[r.Log] = true
	}
	if len(logs) > maxLogs {
		refuse(w, http.StatusRequestEntityTooLarge, errTooMany.Error())
		return
	}
	s.quotas.charge(m.machine, s.now(), len(batch.Records)+len(batch.Told)+chainCost*max(len(logs)-1, 0), len(m.body))
	batch.Machine, batch.Clock = m.machine, m.clock
	taken, err := s.store.Take(r.Context(), batch)
	switch {
	case errors.Is(err, store.ErrUnknown): // forgotten meanwhile
		refuse(w, http.StatusUnauthorized, err.Error())
	case errors.Is(err, store.ErrPieces):
		refuse(w, http.StatusBadRequest, err.Error())
	case err != nil:
		s.unwritten(w, r, err)
	default:
		s.trouble.Store(false)
		answer(w, map[string]int{"taken": taken.Taken, "again": taken.Again, "findings": taken.Findings})
	}
}

// A machine sends one log after the other. One that names a new log with each record has a
// chain kept for each, which costs what many records do.
const (
	maxLogs   = 100 // of a request
	chainCost = 50  // records
)

var errTooMany = errors.New("there are more records than are taken at once")

// batch reads an array of records.
func (s *Server) batch(body []byte) (store.Batch, error) {
	var b store.Batch
	in := json.NewDecoder(bytes.NewReader(body))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return b, errors.New("an array of records is wanted")
	}
	for n := 1; in.More(); n++ {
		if n > s.limits.Records {
			return b, errTooMany
		}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return b, fmt.Errorf("record %d is no JSON", n)
		}
		record, told, err := store.ReadRecord(raw)
		switch {
		case err != nil:
			return b, fmt.Errorf("record %d: %w", n, err)
		case record != nil:
			b.Records = append(b.Records, record)
		default:
			b.Told = append(b.Told, told)
		}
	}
	if t, err := in.Token(); err != nil || t != json.Delim(']') {
		return b, errors.New("the array of records has no end")
	}
	if _, err := in.Token(); err != io.EOF {
		return b, errors.New("something stands behind the array of records")
	}
	return b, nil
}

// maxStatusSeq is the highest number of a status that is taken.
const maxStatusSeq = 1 << 51

func (s *Server) status(w http.ResponseWriter, r *http.Request, m sent) {
	st, err := fleet.ParseStatus(m.body)
	if err == nil && st.Gate.Machine != m.machine {
		err = errors.New("gate.machine: it is another one than that which signed")
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if st.Gate.Seq > maxStatusSeq { // no later one could follow that the machine would believe
		refuse(w, http.StatusBadRequest, "gate.seq: it is larger than any number of statuses")
		return
	}
	s.quotas.charge(m.machine, s.now(), 1, len(m.body))
	var replayed store.ReplayedError
	err = s.store.TakeStatus(r.Context(), m.machine, m.clock, st, m.body)
	switch {
	case errors.As(err, &replayed):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, "{\"seq\":%d}\n", replayed.Last)
	case errors.Is(err, store.ErrUnknown):
		refuse(w, http.StatusUnauthorized, err.Error())
	case err != nil:
		s.unwritten(w, r, err)
	default:
		s.trouble.Store(false)
		answer(w, map[string]int64{"seq": st.Gate.Seq})
	}
}
