package conformance

import (
	"encoding/json"
	"strings"
	"time"
)

// A plan is a vector in the words of the wire. The files are abstract: the suite's own
// methods, short names for sessions, and words for signatures.
type plan struct {
	requests []request
	before   []request // what the session has to have said before
	greets   bool      // the first of requests is a hello
	need     Need
	approve  bool     // a person approves the call after it was asked about
	lend     *request // whose call is approved, and not made, before those of requests
}

// A request is one envelope before it is signed.
type request struct {
	method  string
	version string // acs_version; "" is the suite's
	session string // the vector's name of the session
	agent   string
	id      string // the vector's name of the request id; "" is a fresh one
	turn    string
	state   any           // metadata.session_state
	away    time.Duration // of the timestamp from the Guardian's clock
	payload map[string]any
	nonce   string
	sign    string // VALID, INVALID, COVERS_SUBSET, ABSENT
}

// translate says a vector in the words of the wire, or why there is no request in it.
func translate(v Vector) (p *plan, why string) {
	switch {
	case v.Verdict == "unmeasurable":
		return nil, "nobody can measure it: " + firstSentence(v.Because)
	case v.Basis == "artifact":
		return nil, "it is about an artefact, and no request is sent"
	}
	for _, subject := range []string{"guardian_response", "observed_disposition", "hooks_fired", "record"} {
		if _, is := v.Payload[subject]; is {
			return nil, "it is about what an agent does or records (" + subject + ")"
		}
	}
	p = &plan{}
	for _, doc := range requestsOf(v.Payload) {
		r := requestOf(doc)
		if state := text(v.Payload, "signature_state"); state != "" {
			r.sign = state
		}
		if v.Family != "acs-f-2" { // the others repeat ids without being about that
			r.id = ""
		}
		r.away = awayFrom(text(doc, "timestamp"), text(v.Payload, "guardian_clock"))
		p.requests = append(p.requests, r)
	}
	if len(p.requests) == 0 {
		return nil, "there is no request in it"
	}
	p.greets = p.requests[0].method == hello
	p.policy(v)
	p.mandate(v)
	return p, ""
}

const hello = "handshake/hello"

func firstSentence(s string) string {
	first, _, _ := strings.Cut(s, ": ")
	return first
}

// requestsOf are the requests of a vector, one or several.
func requestsOf(payload map[string]any) (list []map[string]any) {
	if doc, ok := payload["request"].(map[string]any); ok {
		return []map[string]any{doc}
	}
	steps, _ := payload["steps"].([]any)
	for _, s := range steps {
		step, _ := s.(map[string]any)
		if doc, ok := step["request"].(map[string]any); ok {
			list = append(list, doc)
		}
	}
	return list
}

func requestOf(doc map[string]any) request {
	metadata, _ := doc["metadata"].(map[string]any)
	params, _ := doc["params"].(map[string]any)
	r := request{
		method: strings.Replace(text(doc, "method"), "hooks/", "steps/", 1), version: text(doc, "acs") + ".0",
		session: text(metadata, "session_id"), agent: text(metadata, "agent_id"), turn: text(metadata, "turn_id"), state: metadata["session_state"],
		id: text(doc, "request_id"), payload: params, sign: "VALID",
	}
	if _, signed := doc["signature"]; !signed {
		r.sign = "ABSENT"
	}
	if tool, ok := params["tool"].(map[string]any); ok {
		wrapped := map[string]any{}
		arguments, _ := tool["arguments"].(map[string]any)
		for name, value := range arguments {
			wrapped[name] = map[string]any{"value": value}
		}
		r.payload = map[string]any{"tool": map[string]any{"name": tool["name"]}, "arguments": wrapped}
	}
	return r
}

// awayFrom is how far a timestamp is from the clock of the Guardian in the vector.
func awayFrom(timestamp, clock string) time.Duration {
	at, err := time.Parse(time.RFC3339, timestamp)
	now, none := time.Parse(time.RFC3339, clock)
	if err != nil || none != nil {
		return 0
	}
	return at.Sub(now)
}

// policy finds what the Guardian has to be told to want.
func (p *plan) policy(v Vector) {
	tool := func() string {
		named, _ := p.requests[0].payload["tool"].(map[string]any)
		return text(named, "name")
	}
	if policy, ok := v.Payload["policy"].(map[string]any); ok {
		budget, _ := policy["budget"].(map[string]any)
		most, _ := budget["max_calls_per_turn"].(json.Number)
		p.need.Bound = text(budget, "tool")
		p.need.Most, _ = most.Int64()
	}
	_, escalates := v.Payload["policy_verdict_before_mapping"]
	_, answered := v.Payload["approver_response"] // which is a question again, so nobody said yes
	approval, approved := v.Payload["approval"].(map[string]any)
	if escalates || answered || approved {
		p.need.Ask = tool()
	}
	if !approved {
		return
	}
	issued, _ := approval["issued_for"].(map[string]any)
	if p.approve = true; text(issued, "agent_id") != p.requests[0].agent {
		// The other agent makes the call first, and its approval is there when this one comes.
		first := p.requests[0]
		first.agent, first.session = text(issued, "agent_id"), "another"
		p.lend = &first
		p.approve = false
	}
}

// mandate has the session begin with what it was granted, and with what it read since.
func (p *plan) mandate(v Vector) {
	if intent, ok := v.Payload["intent"].(map[string]any); ok {
		p.before = append(p.before, request{method: "steps/sessionStart", sign: "VALID", payload: map[string]any{"intent": intent}})
	}
	if content, ok := v.Payload["observed_content"].(map[string]any); ok {
		p.before = append(p.before, request{method: "steps/knowledgeRetrieval", sign: "VALID", payload: map[string]any{
			"query": map[string]any{"value": "customer c-1"},
			"results": []any{map[string]any{"value": content["text"], "source_id": content["source_id"], "provenance": map[string]any{
				"provenance_id": "p-1", "origin": content["origin"], "source_id": content["source_id"],
			}}},
		}})
	}
}
