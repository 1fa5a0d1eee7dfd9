package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/strictjson"
)

// Headers of questions that say what an agent tells its hooks in variables of
// the environment. They are claims, and loosen nothing.
const (
	// ProjectHeader is the directory that the agent was started in.
	ProjectHeader = "Gate-Project-Dir"
	// AttendedHeader is 1 where a person sits at the session and can be asked.
	AttendedHeader = "Gate-Attended"
)

// An endpoint is what an address stands for.
type endpoint uint8

const (
	nowhere  endpoint = iota
	forAgent          // /hook/AGENT/EVENT: the agent's own answer
	whole             // /v1/decide: the whole decision
	likeOPA           // /v1/data/gate/decision: the same in the form of OPA's server
	health
	numbers
)

// A request is one on its way to an answer.
type request struct {
	w  http.ResponseWriter
	r  *http.Request
	to endpoint
	q  Question
}

// find says what an address stands for.
func find(r *http.Request) (to endpoint, q Question) {
	q.Agent = "generic"
	switch path := r.URL.Path; path {
	case "/v1/decide":
		to = whole
	case "/v1/data/gate/decision":
		to = likeOPA
	case "/health":
		return health, q
	case "/metrics":
		return numbers, q
	default:
		rest, ok := strings.CutPrefix(path, "/hook/")
		agent, event, _ := strings.Cut(rest, "/")
		if !ok || agent == "" || strings.Contains(event, "/") {
			return nowhere, q
		}
		return forAgent, Question{Agent: agent, Event: hook.Name(event)}
	}
	if agent := r.URL.Query().Get("agent"); agent != "" {
		q.Agent = agent
	}
	return to, q
}

// handle answers one request, also when something panics on the way.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	in := request{w: w, r: r}
	in.to, in.q = find(r)
	defer func() {
		if recover() != nil {
			s.refuse(in, failed)
		}
	}()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if no := s.admit(r, in.to == health); no.status != 0 {
		s.refuse(in, no)
		return
	}
	switch in.to {
	case health, numbers:
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuse(in, wrongMethod)
			return
		}
		if in.to == health {
			s.health(w)
			return
		}
		w.Header().Set("Content-Type", openMetrics)
		w.Write(s.metrics.text(s.o.State(), len(s.slots), int(s.waiting.Load()), time.Now()))
	default:
		s.question(in)
	}
}

// health says whether calls can be judged.
func (s *Server) health(w http.ResponseWriter) {
	status, doc := http.StatusOK, map[string]any{"status": "ok"}
	switch err := s.o.State().Err; {
	case s.stopping.Load():
		status, doc["status"] = http.StatusServiceUnavailable, "stopping"
	case err != nil: // what is wrong may name places, which strangers need not know
		status, doc["status"] = http.StatusInternalServerError, "broken"
	}
	writeJSON(w, status, doc)
}

// question has a question decided about, as soon as it is its turn.
func (s *Server) question(in request) {
	no := refusal{}
	switch _, known := adapters.Lookup(in.q.Agent); {
	case in.to == nowhere:
		no = wrongPath
	case in.r.Method != http.MethodPost:
		no = wrongMethod
	case !known:
		no = wrongAgent
	case in.r.ContentLength > maxBody(in.to):
		no = tooLarge
	case in.r.Header.Get("Content-Encoding") != "":
		no = encoded
	default:
		no = s.ask(in)
	}
	if no.status != 0 {
		s.refuse(in, no)
	}
}

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
	if given := in.r.URL.Query().Get("timeout"); given != "" {
		limit, err := time.ParseDuration(given)
		if err != nil || limit <= 0 {
			return malformed.because("timeout must be a duration such as 30s")
		}
		in.q.Timeout = limit
	}
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

func (r refusal) because(why string) refusal {
	r.why = why
	return r
}

// maxIgnored is how much is read of what nobody looks at.
const maxIgnored = 4 * adapters.MaxEvent

// refuse answers a request that is not decided about. An agent gets what it
// takes for no.
func (s *Server) refuse(in request, no refusal) {
	s.metrics.refused(no.word)
	if in.to == forAgent && in.r.Header.Get("Expect") == "" {
		// Who is still sending when the connection is closed never sees the answer.
		io.CopyN(io.Discard, in.r.Body, maxIgnored)
	}
	in.w.Header().Set("Connection", "close") // what else comes this way is not understood
	if no.status == http.StatusUnauthorized {
		in.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if adapter, known := adapters.Lookup(in.q.Agent); known && in.to == forAgent {
		ev := hook.Event{Agent: in.q.Agent, Name: in.q.Event}
		d := hook.Decision{
			Event: ev.Name, Effect: hook.Deny, Fault: hook.Faultf(hook.FaultInternal, "gate serve: %s", no.why),
		}
		answer(in.w, adapter.Render(&ev, &d), no.status)
		return
	}
	writeJSON(in.w, no.status, map[string]any{"code": no.word, "message": no.why})
}

// answer writes an agent's answer. Agents believe the JSON of a good status and
// nothing else; what has no form in JSON is an error to them, with the status
// that is given.
func answer(w http.ResponseWriter, a adapters.Answer, otherwise int) {
	switch {
	case len(a.Stdout) > 0:
		w.Header().Set("Content-Type", "application/json")
		w.Write(a.Stdout)
	case a.Status == 0:
		writeJSON(w, http.StatusOK, map[string]any{})
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(otherwise)
		fmt.Fprintf(w, "%s", a.Stderr)
	}
}

func writeJSON(w http.ResponseWriter, status int, doc map[string]any) {
	data := append(strictjson.Append(nil, doc), '\n')
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(data)
}
