package acs

import (
	"bytes"
	"maps"
	"sync"
	"time"

	"gate/internal/strictjson"
)

// Bounds on what clients may have remembered.
const (
	maxSessions    = 1024
	maxSteps       = 1 << 16 // of one session
	maxRemembered  = 1 << 18 // request ids, of all sessions
	maxDeferrals   = 32      // of one session
	maxTurns       = 64      // whose calls are counted
	maxTools       = 256     // of one turn
	maxOpen        = 64      // calls whose result may come
	maxOpenBytes   = 64 << 10
	idleLife       = 24 * time.Hour
	skewWindow     = 5 * time.Minute
	sealedLife     = 2 * skewWindow
	overflowedTool = "(others)"
)

// A session is what is known of one client's session since its hello.
type session struct {
	mu sync.Mutex

	id, keyID, agent string
	clientHello      []byte // canonical
	serverHello      map[string]any
	methods          []string // negotiated
	wraps            []string // versions of MCP that the client said it wraps
	seen             map[string]bool
	nonces           map[string]bool
	head             string
	entries          int
	sealed           bool
	deferrals        int
	last             time.Time
	intent           map[string]any
	fixed            bool // the intent is
	turns            map[string]map[string]int
	turnOrder        []string
	open             map[string]call
	openOrder        []string
	journal          *journal
}

// A call is one whose result may come.
type call struct {
	tool  string
	input map[string]any
	wait  bool // of MCP: an answer under the same id is still to come
}

func newSession(r *request) *session {
	return &session{
		id: r.session, keyID: r.key.ID, agent: r.agent, seen: map[string]bool{}, nonces: map[string]bool{},
		turns: map[string]map[string]int{}, open: map[string]call{}, last: r.time,
	}
}

// reserve takes a request's id and nonce, each of which counts once.
func (s *session) reserve(r *request) *refusal {
	if s.seen[r.unique] {
		return refuse(CodeReplay, "the request_id was used before in this session")
	}
	if r.nonce != "" && s.nonces[r.nonce] {
		return refuse(CodeReplay, "the nonce was used before in this session")
	}
	s.seen[r.unique] = true
	if r.nonce != "" {
		s.nonces[r.nonce] = true
	}
	return nil
}

// count counts a call of a tool in its turn, and returns the counts of that turn. Tools whose
// names look alike are counted as one, by the name that came first: no event has both.
func (s *session) count(turn, tool string) map[string]any {
	calls, known := s.turns[turn]
	if !known {
		if len(s.turnOrder) == maxTurns {
			delete(s.turns, s.turnOrder[0])
			s.turnOrder = s.turnOrder[1:]
		}
		calls = map[string]int{}
		s.turns[turn] = calls
		s.turnOrder = append(s.turnOrder, turn)
	}
	if tool != "" {
		for name := range calls {
			if strictjson.Fold(name) == strictjson.Fold(tool) {
				tool = name
			}
		}
		if _, known := calls[tool]; !known && len(calls) >= maxTools {
			tool = overflowedTool
		}
		calls[tool]++
	}
	doc := make(map[string]any, len(calls))
	for name, n := range calls {
		doc[name] = n
	}
	return map[string]any{"id": turn, "calls": doc}
}

// keep remembers a call for its result.
func (s *session) keep(key string, c call, size int) {
	if size > maxOpenBytes {
		c.input = nil
	}
	if _, again := s.open[key]; !again {
		if len(s.openOrder) == maxOpen {
			delete(s.open, s.openOrder[0])
			s.openOrder = s.openOrder[1:]
		}
		s.openOrder = append(s.openOrder, key)
	}
	s.open[key] = c
}

// sameHello reports a client that says again what it said before.
func (s *session) sameHello(r *request, canonical []byte) bool {
	return s.keyID == r.key.ID && s.agent == r.agent && bytes.Equal(s.clientHello, canonical)
}

// dead reports a session that may be forgotten: no request of it would be taken for fresh.
func (s *session) dead(now time.Time) bool {
	age := now.Sub(s.last)
	return age > idleLife || s.sealed && age > sealedLife
}

// fix takes the intent of a session, once.
func (s *session) fix(intent map[string]any) {
	if !s.fixed {
		s.intent, s.fixed = maps.Clone(intent), true
	}
}

// outside reports a call that a strict intent does not name. An intent only ever takes away:
// nothing that anybody says later grants more.
func (s *session) outside(payload map[string]any) bool {
	if s.intent["scope_mode"] != "strict" {
		return false
	}
	tool, _ := payload["tool"].(map[string]any)
	parsed, _ := s.intent["parsed"].([]any)
	for _, p := range parsed {
		if named(p, tool["name"], payload) {
			return false
		}
	}
	return true
}

// named reports that one element of an intent names a call. A text names its tool or
// its capability; of an object, all that it says must hold.
func named(p, tool any, payload map[string]any) bool {
	switch p := p.(type) {
	case string:
		return p != "" && (p == tool || p == payload["capability"])
	case map[string]any:
		if p["tool"] == nil || p["tool"] != tool {
			return false
		}
		for name, v := range p {
			if text, ok := v.(string); name != "tool" && (!ok || payload[name] != text) {
				return false
			}
		}
		return true
	}
	return false
}
