package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/acs"
	"gate/internal/authzen"
	"gate/internal/interceptors"
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
	reply := s.decide(in.r.Context(), in.q)
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

// Ask has a step of the Agent Control Standard decided about, as soon as it is its turn. It
// is for the Guardian, which asks once it knows who sent the step. Where the turn does not
// come, the reply is a denial.
func (s *Server) Ask(ctx context.Context, q Question) Reply {
	leave, no := s.enter(ctx)
	if no.status != 0 {
		s.metrics.refused(no.word)
		d := hook.Decision{Effect: hook.Deny, Fault: hook.Faultf(hook.FaultInternal, "gate serve: %s", no.why)}
		return Reply{Decision: &d, Answer: adapters.ACS().Render(&hook.Event{Agent: adapters.ACS().Name()}, &d)}
	}
	defer leave()
	return s.decide(ctx, q)
}

// decide has a question decided about, and counts the decision.
func (s *Server) decide(ctx context.Context, q Question) Reply {
	start := time.Now()
	reply := s.o.Decide(ctx, q)
	s.metrics.decided(reply.Decision, time.Since(start))
	return reply
}

// guard has a request of the Agent Control Standard answered. Clients take every status
// but 200 for a refusal, and deny. Whoever has no token can send one, so none has a place
// among the questions before its signature is verified.
func (s *Server) guard(in request) refusal {
	select {
	case s.unknown <- struct{}{}:
		defer func() { <-s.unknown }()
	default:
		return busy
	}
	// A body that is larger by a byte is refused in the protocol's own words.
	body, err := io.ReadAll(io.LimitReader(in.r.Body, acs.MaxBody+1))
	if err != nil {
		return unreadable
	}
	if len(body) > acs.MaxBody {
		in.w.Header().Set("Connection", "close")
	} else {
		http.NewResponseController(in.w).SetReadDeadline(time.Time{})
	}
	answer := s.o.Guardian.Answer(in.r.Context(), body)
	in.w.Header().Set("Content-Type", "application/json")
	in.w.Write(answer)
	return refusal{}
}

// evaluate answers evaluations of AuthZEN. The standard wants the text of an error, and the
// caller's name of the request back.
func (s *Server) evaluate(in request) refusal {
	leave, no := s.enter(in.r.Context())
	if no.status != 0 {
		return no
	}
	defer leave()
	if id := in.r.Header.Get("X-Request-ID"); id != "" && len(id) <= 256 {
		in.w.Header().Set("X-Request-ID", id)
	}
	release, no := s.read(&in)
	if no.status != 0 {
		return no
	}
	defer release()
	if no := wantJSON(in.r); no.status != 0 {
		return no
	}
	point := authzen.Point{Decide: func(ctx context.Context, event []byte) *hook.Decision {
		return s.decide(ctx, Question{Agent: "generic", Body: event}).Decision
	}}
	answer := point.Evaluation
	if in.to == several {
		answer = point.Evaluations
	}
	doc, err := answer(in.r.Context(), in.q.Body)
	if err != nil {
		return malformed.because(err.Error())
	}
	writeJSON(in.w, http.StatusOK, doc)
	return refusal{}
}

// intercept answers an invoker of MCP interceptors. A notification has no answer.
func (s *Server) intercept(in request) refusal {
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
	if no := wantJSON(in.r); no.status != 0 {
		return no
	}
	answer := s.mcp.Answer(in.r.Context(), in.q.Body)
	if answer == nil {
		in.w.WriteHeader(http.StatusAccepted)
		return refusal{}
	}
	in.w.Header().Set("Content-Type", "application/json")
	in.w.Write(answer)
	return refusal{}
}

// wantJSON refuses bodies that do not say that they are JSON.
func wantJSON(r *http.Request) refusal {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return malformed.because("the content type must be application/json")
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
	switch to {
	case likeOPA:
		return adapters.MaxEvent + smallBody
	case single, several:
		return authzen.MaxBody
	case intercepts:
		return interceptors.MaxBody
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
