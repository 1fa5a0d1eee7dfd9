package interceptors

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"gate/adapters"
	"gate/internal/strictjson"
)

// Decide judges a message in the form that [adapters.Interceptor] reads, and returns that
// adapter's answer. limit is how long the invoker waits. It is called by many goroutines at
// once.
type Decide func(ctx context.Context, message []byte, limit time.Duration) []byte

// Bounds of what is remembered. What is forgotten only makes answers stricter.
const (
	maxSessions = 1024
	maxOpen     = 64              // requests of a session without a response
	maxShared   = 16              // verdicts of a session that the other interceptor has not asked for
	callLife    = 5 * time.Minute // of a request that waits for its response
	sharedLife  = 30 * time.Second
)

// unknown is the server of a response that may belong to several.
const unknown = "unknown"

// A Judge decides about messages, and knows the requests that responses belong to. Make it
// with [NewJudge].
type Judge struct {
	decide   Decide
	mu       sync.Mutex
	sessions map[string]*session
}

// NewJudge returns a judge without sessions.
func NewJudge(decide Decide) *Judge { return &Judge{decide: decide, sessions: map[string]*session{}} }

// A session is what is remembered of one.
type session struct {
	used    time.Time
	open    []sent
	shared  []shared
	mutates bool // its invoker runs the mutator
}

// sent is a request that was let through and has no response yet.
type sent struct {
	event, span, server, tool string
	input                     map[string]any
	at                        time.Time
}

// shared is a verdict that the other interceptor of a pair may ask for, once.
type shared struct {
	of      [sha256.Size]byte
	mutator bool // it is the one who asked
	verdict map[string]any
	at      time.Time
}

// A message is what an invoker hands over.
type message struct {
	event, phase, session, span, server string
	payload                             any
	context                             map[string]any
	limit                               time.Duration
}

// readMessage holds params against what every invocation has.
func readMessage(params map[string]any) (*message, error) {
	m := &message{}
	var err error
	take := func(doc map[string]any, name string, needed bool) string {
		s, wrong := optionalText(doc, name)
		if err == nil && (wrong != nil || needed && s == "") {
			err = invalid("%s: a short text is wanted", name)
		}
		return s
	}
	take(params, "name", true)
	m.event, m.phase = take(params, "event", true), take(params, "phase", true)
	for _, name := range []string{"config", "context"} {
		if v := params[name]; v != nil && err == nil && strictjson.TypeName(v) != "an object" {
			err = invalid("%s: %s where an object is wanted", name, strictjson.TypeName(v))
		}
	}
	m.context, _ = params["context"].(map[string]any)
	config, _ := params["config"].(map[string]any)
	m.server, m.span = take(config, "server", false), take(m.context, "spanId", false)
	if m.session = take(m.context, "sessionId", false); m.session == "" {
		m.session = take(m.context, "traceId", false)
	}
	var given bool
	if m.payload, given = params["payload"]; !given && err == nil {
		err = invalid("payload is missing")
	}
	if err == nil && m.phase != "request" && m.phase != "response" {
		err = invalid("phase: one of request and response is wanted")
	}
	if known := meant(m.event); err == nil && known != m.event {
		err = invalid("event: %s looks like %s", strictjson.Quoted(m.event), known)
	}
	if v, given := params["timeoutMs"]; given && err == nil {
		number, _ := v.(json.Number)
		n, wrong := number.Int64()
		if wrong != nil || n <= 0 {
			return nil, invalid("timeoutMs: a whole number above 0 is wanted")
		}
		m.limit = time.Duration(min(n, maxLimit.Milliseconds())) * time.Millisecond
	}
	return m, err
}

// judged are the events that gate has something to say about by more than their names.
var judged = [...]string{
	"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/subscribe",
	"sampling/createMessage", "elicitation/create", "roots/list", "llm/completion",
}

// meant is the standard's event that a name looks like, otherwise the name.
func meant(event string) string {
	for _, known := range judged {
		if strictjson.Fold(event) == strictjson.Fold(known) {
			return known
		}
	}
	return event
}

// judge has a message decided about. mutator says who asks.
func (j *Judge) judge(ctx context.Context, m *message, mutator bool) (map[string]any, error) {
	now := time.Now()
	digest := sha256.Sum256(strictjson.Append(nil, []any{m.event, m.phase, m.server, m.span, m.payload, m.context["principal"]}))
	verdict := j.shared(m, digest, mutator, now)
	var call sent
	if verdict == nil {
		host := j.host(m, now)
		doc := map[string]any{"event": m.event, "phase": m.phase, "payload": m.payload, "host": host, "context": j.about(m)}
		body := strictjson.Append(nil, doc)
		ev, err := adapters.Interceptor().Parse(body, "")
		if err != nil {
			return nil, invalid("%s", err.Error())
		}
		limit := m.limit
		if limit == 0 {
			limit = adapters.Interceptor().Deadline("")
		}
		verdict, err = strictjson.Object(j.decide(ctx, body, limit), strictjson.Limits{Bytes: 4 * MaxBody})
		if err != nil {
			return nil, &rpcError{code: crashed, message: "gate could not decide"}
		}
		call = sent{event: m.event, span: m.span, tool: ev.Tool(), input: ev.ToolInput(), at: now}
		call.server, _ = host["server"].(string)
		verdict["call"] = &call
	} else {
		call = *verdict["call"].(*sent)
	}
	own := maps.Clone(verdict)
	j.remember(m, digest, mutator, now, own)
	if !mutator {
		j.settle(m, verdict)
	}
	delete(verdict, "call")
	return verdict, nil
}

// about is the context, with the session that the message belongs to.
func (j *Judge) about(m *message) map[string]any {
	doc := map[string]any{"principal": m.context["principal"]}
	if m.session != "" {
		doc["sessionId"] = m.session
	}
	return doc
}

// settle says as a validator what only a mutator can carry out. In the request phase the
// mutator has been before, and nothing changes any more. Results are changed later, if the
// invoker runs mutators.
func (j *Judge) settle(m *message, verdict map[string]any) {
	if verdict["modified"] != true || verdict["valid"] != true || verdict["applied"] == true {
		return
	}
	text := "a policy wants this changed: invoke gate/rewrite before gate, or send what it suggests"
	if m.phase == "response" {
		if j.mutates(m.session) {
			verdict["severity"] = "warn"
			verdict["messages"] = []any{map[string]any{"message": "gate/rewrite changes this result", "severity": "warn"}}
			return
		}
		text = "a policy wants this result changed, and the invoker has not run gate/rewrite in this session"
	}
	verdict["valid"], verdict["severity"] = false, "error"
	verdict["messages"] = []any{map[string]any{"message": text, "severity": "error"}}
	verdict["suggestions"] = []any{map[string]any{"path": "$", "value": verdict["payload"]}}
}

func (j *Judge) mutates(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.sessions[id]
	return id != "" && s != nil && s.mutates
}

// of is the session of a message, nil if it names none. The lock is held.
func (j *Judge) of(m *message, now time.Time) *session {
	if m.session == "" {
		return nil
	}
	s := j.sessions[m.session]
	if s == nil {
		if len(j.sessions) >= maxSessions {
			oldest := ""
			for id, s := range j.sessions {
				if oldest == "" || s.used.Before(j.sessions[oldest].used) {
					oldest = id
				}
			}
			delete(j.sessions, oldest)
		}
		s = &session{}
		j.sessions[m.session] = s
	}
	s.used = now
	s.open = slices.DeleteFunc(s.open, func(c sent) bool { return now.Sub(c.at) > callLife })
	s.shared = slices.DeleteFunc(s.shared, func(v shared) bool { return now.Sub(v.at) > sharedLife })
	return s
}

// shared takes out the verdict that the other one of a pair was given about the same message.
func (j *Judge) shared(m *message, digest [sha256.Size]byte, mutator bool, now time.Time) map[string]any {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.of(m, now)
	if s == nil {
		return nil
	}
	s.mutates = s.mutates || mutator
	i := slices.IndexFunc(s.shared, func(v shared) bool { return v.of == digest && v.mutator != mutator })
	if i < 0 {
		return nil
	}
	verdict := maps.Clone(s.shared[i].verdict)
	s.shared = slices.Delete(s.shared, i, i+1)
	verdict["again"] = true
	return verdict
}

// remember keeps a new verdict for the other one of the pair, and a request for its response.
func (j *Judge) remember(m *message, digest [sha256.Size]byte, mutator bool, now time.Time, verdict map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.of(m, now)
	if s == nil || verdict["fault"] != nil {
		return
	}
	again := verdict["again"] == true
	if call := verdict["call"].(*sent); m.phase == "request" && !again && verdict["denied"] != true {
		s.open = append(s.open, *call)
		s.open = s.open[max(0, len(s.open)-maxOpen):]
	}
	if again {
		return
	}
	if mutator && m.phase == "request" && verdict["modified"] == true {
		verdict["applied"] = true
		digest = sha256.Sum256(strictjson.Append(nil, []any{m.event, m.phase, m.server, m.span, verdict["payload"]}))
	}
	s.shared = append(s.shared, shared{digest, mutator, verdict, now})
	s.shared = s.shared[max(0, len(s.shared)-maxShared):]
}

// host is what the server knows about a message: whose it is, and the call that a result
// belongs to. That is the one with the same span, otherwise the last one, unless requests
// to several servers are open.
func (j *Judge) host(m *message, now time.Time) map[string]any {
	host := map[string]any{"server": "interceptors"}
	if m.server != "" {
		host["server"] = m.server
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.of(m, now)
	if s == nil || m.phase != "response" {
		return host
	}
	found, several := -1, false
	for i, c := range s.open {
		switch {
		case c.event != m.event, m.server != "" && c.server != m.server:
		case m.span != "" && c.span == m.span:
			host["server"], host["tool"], host["input"] = c.server, c.tool, c.input
			s.open = slices.Delete(s.open, i, i+1)
			return host
		default:
			several = several || found >= 0 && s.open[found].server != c.server
			found = i
		}
	}
	switch {
	case found < 0:
	case several:
		host["server"] = unknown
		s.open = slices.Delete(s.open, 0, 1)
	default:
		host["server"], host["tool"], host["input"] = s.open[found].server, s.open[found].tool, s.open[found].input
		s.open = slices.Delete(s.open, found, found+1)
	}
	return host
}
