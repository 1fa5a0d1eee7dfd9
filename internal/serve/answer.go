package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/authzen"
	"gate/internal/strictjson"
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
	nowhere    endpoint = iota
	forAgent            // /hook/AGENT/EVENT: the agent's own answer
	whole               // /v1/decide: the whole decision
	likeOPA             // /v1/data/gate/decision: the same in the form of OPA's server
	guardian            // /acs: a step of the Agent Control Standard
	single              // an evaluation of AuthZEN
	several             // evaluations of AuthZEN
	intercepts          // /mcp: MCP interceptors are listed and invoked
	wellKnown           // what AuthZEN's API says of itself
	health
	numbers
	page    // /ui and below: for a person's browser
	invites // /v1/ui: an address that opens the page once
)

// A request is one on its way to an answer.
type request struct {
	w    http.ResponseWriter
	r    *http.Request
	from time.Time // when it began
	to   endpoint
	q    Question
}

// find says what an address stands for.
func find(r *http.Request) (to endpoint, q Question) {
	q.Agent = "generic"
	switch path := r.URL.Path; path {
	case "/v1/decide":
		to = whole
	case "/v1/data/gate/decision":
		to = likeOPA
	case "/acs":
		return guardian, q
	case authzen.EvaluationPath:
		return single, q
	case authzen.EvaluationsPath:
		return several, q
	case "/mcp":
		return intercepts, q
	case authzen.MetadataPath:
		return wellKnown, q
	case "/health":
		return health, q
	case "/metrics":
		return numbers, q
	case "/v1/ui":
		return invites, q
	case "/ui":
		return page, q
	default:
		if strings.HasPrefix(path, "/ui/") {
			return page, q
		}
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
	in := request{w: w, r: r, from: time.Now()}
	in.to, in.q = find(r)
	defer func() {
		if recover() != nil {
			s.refuse(in, failed)
		}
	}()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if in.to == guardian && s.o.Guardian == nil || (in.to == page || in.to == invites) && s.o.Page == nil {
		in.to = nowhere
	}
	if in.to == page { // which browsers ask, and which admits them by rules of its own
		s.o.Page.ServeHTTP(w, r)
		return
	}
	if no := s.admit(r, in.to == health || in.to == guardian || in.to == wellKnown); no.status != 0 {
		s.refuse(in, no)
		return
	}
	switch in.to {
	case health, numbers, wellKnown:
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuse(in, wrongMethod)
			return
		}
		if in.to == health {
			s.health(w)
			return
		}
		if in.to == wellKnown {
			writeJSON(w, http.StatusOK, authzen.Metadata("http://"+r.Host))
			return
		}
		w.Header().Set("Content-Type", openMetrics)
		w.Write(s.metrics.text(s.o.State(), len(s.slots), int(s.waiting.Load()), time.Now()))
	case invites:
		if r.Method != http.MethodPost {
			s.refuse(in, wrongMethod)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"address": s.o.Page.Invite()})
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
	case in.to == guardian && in.r.Header.Get("Content-Encoding") == "":
		no = s.guard(in)
	case !known:
		no = wrongAgent
	case in.r.ContentLength > maxBody(in.to):
		no = tooLarge
	case in.r.Header.Get("Content-Encoding") != "":
		no = encoded
	case in.to == single || in.to == several:
		no = s.evaluate(in)
	case in.to == intercepts:
		no = s.intercept(in)
	default:
		no = s.ask(in)
	}
	if no.status != 0 {
		s.refuse(in, no)
	}
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
