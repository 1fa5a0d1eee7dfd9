// Package acs is a Guardian of OWASP's Agent Control Standard, version 0.1.0. It checks the
// envelope of each step of an agent and has gate judge the step. It answers with a signed
// decision in a chain of its session's steps.
//
// It knows no transport and no policy. Package adapters says what a step means, and the
// maker of the Guardian what follows from it. The standard leaves much open;
// docs/standards.md says what was chosen. Start with [Open].
//
// docs/architecture.md has the rules that it keeps: 2, 3, 9 and 11.
package acs

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"gate/internal/strictjson"
)

// Options say what a Guardian is made of. Keys and Decide must be given.
type Options struct {
	// Keys are what clients sign with.
	Keys []Key

	// Decide judges a step, in the form that [adapters.ACS] reads, and returns that
	// adapter's answer. attended says that the client can put a question to a person.
	// It is called by many goroutines at once.
	Decide func(ctx context.Context, step []byte, attended bool) []byte

	// Dir is where sessions are kept over a restart, and must belong to this Guardian
	// alone. "": nowhere.
	Dir string

	// Trace is told of steps and decisions; nil: nobody is, and acs-trace is no profile.
	Trace *Tracer

	// Now tells the time; nil: the clock.
	Now func() time.Time
}

// A Guardian answers requests. It is safe for concurrent use. Make it with [Open].
type Guardian struct {
	o     Options
	store *store // nil: sessions are not kept

	mu       sync.Mutex // comes before that of a session
	sessions map[string]*session

	remembered atomic.Int64 // request ids of all sessions
}

// Open returns a Guardian that knows the sessions kept in the options' directory.
func Open(ctx context.Context, o Options) (*Guardian, error) {
	if err := checkKeys(o.Keys); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Guardian{o: o, sessions: map[string]*session{}}
	if o.Dir == "" {
		return g, nil
	}
	var err error
	if g.store, err = openStore(ctx, o.Dir); err != nil {
		return nil, err
	}
	list, err := g.store.load(o.Now())
	if err != nil {
		g.store.close()
		return nil, fmt.Errorf("sessions: %w", err)
	}
	for _, s := range list {
		g.sessions[s.id] = s
		g.remembered.Add(int64(len(s.seen)))
	}
	return g, nil
}

// Close lets go of the files. Requests that come later are denied.
func (g *Guardian) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		s.mu.Lock()
		s.journal.close()
		s.mu.Unlock()
	}
	if g.store == nil {
		return nil
	}
	return g.store.close()
}

// Answer answers one request, always. A request that cannot be judged is denied.
func (g *Guardian) Answer(ctx context.Context, body []byte) []byte {
	r, no := readRequest(body)
	if no != nil {
		return r.fail(no)
	}
	if r.method == ping {
		return g.pong(r)
	}
	return g.answer(ctx, r)
}

// answer answers what has to be authentic. A mistake of gate's own is a denial.
func (g *Guardian) answer(ctx context.Context, r *request) (answer []byte) {
	defer func() {
		if recover() != nil {
			answer = r.deny("internal_error", "gate failed")
		}
	}()
	if no := g.authenticate(r); no != nil {
		return r.fail(no)
	}
	if no := r.check(); no != nil {
		return r.fail(no)
	}
	if r.method == hello {
		if no := g.fresh(r); no != nil {
			return r.fail(no)
		}
		result, no := g.greet(r)
		if no != nil {
			return r.fail(no)
		}
		result["payload"] = maps.Clone(result) // where clients of an older text look
		return r.result(result)
	}
	return g.step(ctx, r)
}

// authenticate verifies the signature under the key that it names, and no other.
func (g *Guardian) authenticate(r *request) *refusal {
	signature, _ := r.params["signature"].(map[string]any)
	id, _ := signature["key_id"].(string)
	key := find(g.o.Keys, id)
	if key == nil || r.session == "" {
		return refuse(CodeSignature, "there is no signature under a key that is known here")
	}
	secret, err := SessionKey(key.Secret, r.session)
	if err == nil {
		err = Verify(secret, r.doc, Params)
	}
	if err != nil {
		return refuse(CodeSignature, err.Error())
	}
	r.key, r.secret = key, secret
	return nil
}

// fresh reports a request of another time.
func (g *Guardian) fresh(r *request) *refusal {
	if away := g.o.Now().Sub(r.time).Abs(); away > skewWindow {
		return &refusal{code: CodeSkew, why: "the timestamp is too far from this machine's clock",
			data: map[string]any{"skew_window_ms": skewWindow.Milliseconds()}}
	}
	return nil
}

// admit finds the session of a hello, or makes a new one where there is room. The session
// is locked.
func (g *Guardian) admit(r *request) (s *session, fresh bool, no *refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	if s, known := g.sessions[r.session]; known {
		s.mu.Lock()
		return s, false, nil
	}
	if len(g.sessions) >= maxSessions || g.remembered.Load() >= maxRemembered {
		return nil, false, refuse(CodeSessionRefused, "as many sessions are open as gate keeps")
	}
	s = newSession(r)
	s.last = g.o.Now()
	s.mu.Lock()
	g.sessions[r.session] = s
	return s, true, nil
}

// forget drops sessions whose requests could not be fresh any more.
func (g *Guardian) forget() {
	now := g.o.Now()
	for _, s := range g.sessions {
		if !s.mu.TryLock() {
			continue
		}
		if s.dead(now) {
			g.leave(s)
		}
		s.mu.Unlock()
	}
}

// begin begins to keep a session that is new.
func (g *Guardian) begin(s *session) error {
	if g.store == nil {
		return nil
	}
	var err error
	if s.journal, err = g.store.create(s.id); err != nil {
		return err
	}
	return s.journal.add(s.helloRecord())
}

// drop forgets a session that could not begin.
func (g *Guardian) drop(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	g.leave(s)
}

// leave forgets a session. Both locks are held.
func (g *Guardian) leave(s *session) {
	delete(g.sessions, s.id)
	g.remembered.Add(-int64(len(s.seen)))
	s.sealed = true
	s.journal.close()
	if g.store != nil && s.journal != nil {
		g.store.remove(s.id)
	}
}

// reserve takes a request's id and nonce, in the session, which is locked, and in its file.
func (g *Guardian) reserve(s *session, r *request) *refusal {
	if len(s.seen) >= maxSteps {
		return refuse(CodeSessionRefused, "the session has had as many requests as gate keeps")
	}
	if no := s.reserve(r); no != nil {
		return no
	}
	now := g.o.Now()
	s.last = now
	g.remembered.Add(1)
	if err := s.journal.add(map[string]any{
		"kind": recordID, "id": r.unique, "nonce": r.nonce, "time": now.UTC().Format(time.RFC3339Nano),
	}); err != nil {
		return refuse(CodeSessionRefused, "the request cannot be kept: "+err.Error())
	}
	return nil
}

// pong says that gate is there, to anybody.
func (g *Guardian) pong(r *request) []byte {
	doc := map[string]any{
		"type": "final", "acs_version": Version, "request_id": r.unique, "decision": "allow",
		"payload": map[string]any{"status": "ok", "server_timestamp": g.o.Now().UTC().Format(time.RFC3339Nano)},
	}
	if echo, given := r.payload["echo"]; given {
		doc["payload"].(map[string]any)["echo"] = echo
	}
	if g.authenticate(r) != nil {
		r.key = nil
	}
	return r.result(doc)
}

// result writes an answer with a result, signed if the request was authentic.
func (r *request) result(result map[string]any) []byte { return r.sign(Result, result) }

// fail writes an answer with an error.
func (r *request) fail(no *refusal) []byte {
	data := map[string]any{"reason": CodeName(no.code), "message": no.why}
	maps.Copy(data, no.data)
	if r.method != "" && no.code == CodeNotNegotiated {
		data["method"] = r.method
	}
	return r.sign(Error, map[string]any{"code": no.code, "message": no.why, "data": data})
}

// deny writes a decision of gate's own, without an entry in the chain.
func (r *request) deny(code, why string) []byte {
	return r.result(r.decision(map[string]any{
		"decision": "deny", "reasoning": why + " (gate)", "reason_codes": []any{code}, "policy_references": []any{},
		"metadata": map[string]any{"evaluator": "deterministic"},
	}))
}

// decision adds what every answer to a step has.
func (r *request) decision(doc map[string]any) map[string]any {
	doc["type"], doc["acs_version"], doc["request_id"] = "final", Version, r.params["request_id"]
	return doc
}

func (r *request) sign(part Part, inner map[string]any) []byte {
	envelope := map[string]any{"jsonrpc": "2.0", "id": r.id, string(part): inner}
	if r.key != nil {
		if err := Sign(r.secret, r.key.ID, envelope, part); err != nil {
			// Without a signature no client takes it for a decision.
			envelope = map[string]any{"jsonrpc": "2.0", "id": r.id, "error": map[string]any{"code": CodeInternal, "message": "the answer cannot be signed"}}
		}
	}
	return append(strictjson.Append(nil, envelope), '\n')
}
