package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"gate/adapters"
	"gate/internal/strictjson"
)

// ask answers a question unless it returns a refusal.
func (s *Server) ask(in request) refusal {
	leave, no := s.enter(in.r.Context())
	if no.status != 0 {
		return no
	}
	defer leave()
	release, no := s.read(&in)
	if no.status != 0 {
		return no
	}
	defer release()
	in.q.Project = in.r.Header.Get(ProjectHeader)
	in.q.Attended = in.r.Header.Get(AttendedHeader) == "1"
	in.q.Trace = in.r.Header.Get("Traceparent")
	if given := in.r.URL.Query().Get("timeout"); given != "" {
		limit, err := time.ParseDuration(given)
		if err != nil || limit <= 0 {
			return malformed.because("timeout must be a duration such as 30s")
		}
		in.q.Timeout = limit
	}
	in.hurry()
	start := time.Now()
	reply := s.o.Decide(in.r.Context(), in.q)
	s.metrics.decided(reply.Decision, time.Since(start))
	switch in.to {
	case forAgent:
		answer(in.w, reply.Answer, http.StatusForbidden)
	case whole:
		writeJSON(in.w, http.StatusOK, reply.Document())
	case likeOPA:
		doc := reply.Document()
		writeJSON(in.w, http.StatusOK, map[string]any{"result": doc, "decision_id": doc["id"]})
	}
	return refusal{}
}

// hurry takes what has passed already from how long the agent waits, if that is
// known before the event is read.
func (in *request) hurry() {
	if adapter, known := adapters.Lookup(in.q.Agent); known && in.q.Timeout == 0 && in.q.Event != "" {
		in.q.Timeout = adapter.Deadline(in.q.Event)
	}
	if in.q.Timeout > 0 {
		in.q.Timeout = max(in.q.Timeout-time.Since(in.from), time.Millisecond)
	}
}

// enter waits for the turn of a question.
func (s *Server) enter(ctx context.Context) (leave func(), no refusal) {
	leave = func() { <-s.slots }
	select {
	case s.slots <- struct{}{}:
		return leave, no
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > int64(s.o.Waiting) {
		return nil, busy
	}
	limit := time.NewTimer(s.limits.queue)
	defer limit.Stop()
	select {
	case s.slots <- struct{}{}:
		return leave, no
	case <-limit.C:
		return nil, busy
	case <-ctx.Done():
		return nil, ending
	}
}

// smallBody is the largest body of which there may be as many in memory as
// questions are decided about at once.
const smallBody = 1 << 20

// maxBody is the largest body of a question. OPA's form wraps the event.
func maxBody(to endpoint) int64 {
	if to == likeOPA {
		return adapters.MaxEvent + smallBody
	}
	return adapters.MaxEvent
}

// read reads the event. Large ones, and those of which nobody says how large
// they are, wait for each other.
func (s *Server) read(in *request) (release func(), no refusal) {
	release = func() {}
	if in.r.ContentLength < 0 || in.r.ContentLength > smallBody {
		select {
		case s.large <- struct{}{}:
			release = func() { <-s.large }
		case <-in.r.Context().Done():
			return nil, ending
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(in.w, in.r.Body, maxBody(in.to)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		no = tooLarge
	case err != nil:
		no = unreadable
	case in.to == likeOPA:
		if body, err = inputOf(body); err != nil {
			no = malformed.because(err.Error())
		}
	}
	if no.status != 0 {
		release()
		return nil, no
	}
	// The deadline would end the wait for the answer, too.
	http.NewResponseController(in.w).SetReadDeadline(time.Time{})
	in.q.Body = body
	return release, no
}

// inputOf returns the input of a request in OPA's form, as it was sent.
func inputOf(body []byte) ([]byte, error) {
	if _, err := strictjson.Object(body, strictjson.Limits{Bytes: len(body), Depth: 65}); err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	input, ok := doc["input"]
	if !ok {
		return nil, errors.New(`the request has no "input"`)
	}
	return input, nil
}
