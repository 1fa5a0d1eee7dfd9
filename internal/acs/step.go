package acs

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gate/internal/moment"
	"gate/internal/strictjson"
)

// step judges one step of a session.
func (g *Guardian) step(ctx context.Context, r *request) []byte {
	m, known := moment.FindStep(r.method)
	g.mu.Lock()
	s := g.sessions[r.session]
	g.mu.Unlock()
	if s == nil {
		return r.fail(refuse(CodeNotNegotiated, "the session has not said hello"))
	}
	entered, answer := g.enter(s, r, m, known)
	if answer != nil {
		return answer
	}
	result := g.judge(ctx, s, r, m, entered)
	if result["decision"] == "deny" || result["decision"] == "defer" {
		s.unlink(r)
	}
	result["chain_hash"] = entered.head
	g.trace(r, m, result)
	return r.result(r.decision(result))
}

// An entry is a step that has its place in the chain.
type entry struct {
	head     string
	guardian map[string]any
	outside  bool // of what the session's intent names
}

// enter takes a step into the chain, or returns what answers it without a place there.
func (g *Guardian) enter(s *session, r *request, m moment.Step, known bool) (*entry, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.keyID != r.key.ID:
		return nil, r.deny("key_not_bound", "the session was begun with another key")
	case s.agent != r.agent:
		return nil, r.deny("agent_id_not_bound", "the session is another agent's")
	case !r.key.admits(r.agent): // the keys have changed since
		return nil, r.deny("agent_id_not_bound", "the key is not for this agent")
	}
	if no := g.fresh(r); no != nil {
		return nil, r.fail(no)
	}
	if no := g.reserve(s, r); no != nil {
		return nil, r.fail(no)
	}
	if !known {
		return nil, r.fail(refuse(CodeNotNegotiated, "the method is none that gate judges"))
	}
	if s.sealed {
		return nil, r.fail(refuse(CodeSessionRefused, "the session has ended"))
	}
	if err := checkPayload(r.method, r.payload); err != nil {
		return nil, r.fail(refuse(CodeParams, "payload: "+err.Error()))
	}
	if err := s.negotiated(r.method); err != nil {
		return nil, r.fail(refuse(CodeNotNegotiated, err.Error()))
	}
	if answer := s.compare(r, m); answer != nil {
		return nil, answer
	}
	if s.pendingTwice(r) {
		return nil, r.deny("mcp_id_in_use", "a call under this id of MCP is still to be answered")
	}
	return g.append(s, r)
}

// compare holds the client's idea of the chain against the chain.
func (s *session) compare(r *request, m moment.Step) []byte {
	state, _ := r.metadata["session_state"].(map[string]any)
	claimed := textOf(state, "chain_hash")
	if r.method == sessionEnd && claimed == "" {
		claimed = textOf(r.payload, "final_chain_hash")
	}
	switch {
	case claimed == "" || claimed == s.head:
		return nil
	case m.Legal&moment.MayDeny == 0:
		return r.fail(refuse(CodeChain, "the client's head of the chain is not gate's"))
	}
	return r.deny(moment.ChainMismatch, "the client's head of the chain is not gate's")
}

// append writes the step's entry. It comes before the decision, whatever that is.
func (g *Guardian) append(s *session, r *request) (*entry, []byte) {
	hash, err := RequestHash(r.params)
	if err != nil {
		return nil, r.fail(refuse(CodeRequest, err.Error()))
	}
	doc := map[string]any{
		"entry_id": r.unique, "step_id": r.unique, "step_type": r.method, "request_hash": hash,
		"timestamp": g.o.Now().UTC().Format(time.RFC3339Nano),
	}
	if turn := r.turn(); turn != "" {
		doc["turn_id"] = turn
	}
	head, err := EntryHash(doc, s.head)
	if err != nil {
		return nil, r.deny("internal_error", "the chain cannot go on")
	}
	doc["entry_hash"], doc["previous_hash"] = head, nil
	if s.head != "" {
		doc["previous_hash"] = s.head
	}
	record := map[string]any{"kind": recordEntry, "entry": doc, "time": doc["timestamp"]}
	if intent, begins := intentOf(r); begins && !s.fixed {
		record["intent"] = intent
	}
	tool := toolOf(r)
	if tool != "" {
		record["tool"] = tool
	}
	if err := s.journal.add(record); err != nil {
		return nil, r.deny("store_failed", "the step cannot be kept")
	}
	s.head, s.entries = head, s.entries+1
	s.sealed = r.method == sessionEnd
	if intent, begins := record["intent"].(map[string]any); begins {
		s.fix(intent)
	}
	e := &entry{head: head, guardian: map[string]any{moment.GuardianTurn: s.count(r.turn(), tool)}}
	if r.key.Fixed {
		e.guardian[moment.GuardianFixed] = true
	}
	if s.intent != nil {
		e.guardian[moment.GuardianIntent] = s.intent
	}
	if r.method == "steps/toolCallRequest" || isCall(r) {
		e.outside = s.outside(calledAs(r))
	}
	s.link(r, e)
	return e, nil
}

// intentOf is the intent that a step may fix.
func intentOf(r *request) (map[string]any, bool) {
	if r.method != "steps/sessionStart" && r.method != "steps/agentTrigger" {
		return nil, false
	}
	intent, ok := r.payload["intent"].(map[string]any)
	return intent, ok
}

// toolOf is the tool that a step calls, "" if it calls none.
func toolOf(r *request) string {
	tool, _ := calledAs(r)["tool"].(map[string]any)
	name, _ := tool["name"].(string)
	if len(name) > maxName {
		name = name[:maxName]
	}
	return name
}

// isCall reports a wrapped call of a tool, on its way to the server.
func isCall(r *request) bool {
	mcp, wrapped := moment.WrappedMCP(r.method)
	return wrapped && mcp == "tools/call" && r.payload["method"] != nil
}

// calledAs is the payload of a call, for a wrapped one in the form of the other.
func calledAs(r *request) map[string]any {
	switch {
	case isCall(r):
		params, _ := r.payload["params"].(map[string]any)
		return map[string]any{"tool": map[string]any{"name": params["name"]}}
	case r.method == "steps/toolCallRequest":
		return r.payload
	}
	return nil
}

// mcpKey is what a call of MCP and its answer have in common. A number and the text of it
// are the same to some clients.
func mcpKey(r *request) (key string, wrapped bool) {
	mcp, wrapped := moment.WrappedMCP(r.method)
	if !wrapped {
		return "", false
	}
	switch id := r.payload["id"].(type) {
	case string:
		return "mcp " + mcp + " " + id, true
	case json.Number:
		return "mcp " + mcp + " " + id.String(), true
	}
	return "", false
}

// pendingTwice reports a call under an id whose answer is still to come.
func (s *session) pendingTwice(r *request) bool {
	key, wrapped := mcpKey(r)
	return wrapped && r.payload["method"] != nil && s.open[key].wait
}

// link keeps a call for its result, or gives a result its call.
func (s *session) link(r *request, e *entry) {
	if key, wrapped := mcpKey(r); wrapped {
		if r.payload["method"] == nil {
			s.give(key, e)
			s.forget(key)
			return
		}
		params, _ := r.payload["params"].(map[string]any)
		input, _ := params["arguments"].(map[string]any)
		s.keep(key, call{tool: toolOf(r), input: input, wait: true}, len(strictjson.Append(nil, params)))
		return
	}
	switch r.method {
	case "steps/toolCallRequest":
		input := map[string]any{}
		for name, arg := range r.payload["arguments"].(map[string]any) {
			input[name] = arg.(map[string]any)["value"]
		}
		s.keep("step "+r.unique, call{tool: toolOf(r), input: input}, len(strictjson.Append(nil, input)))
	case "steps/toolCallResult":
		s.give("step "+textOf(r.payload, "request_id_ref"), e)
	}
}

// unlink forgets a call that is not made.
func (s *session) unlink(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, wrapped := mcpKey(r)
	if !wrapped {
		key = "step " + r.unique
	}
	s.forget(key)
}

func (s *session) forget(key string) {
	delete(s.open, key)
	s.openOrder = slices.DeleteFunc(s.openOrder, func(k string) bool { return k == key })
}

func (s *session) give(key string, e *entry) {
	if c, kept := s.open[key]; kept {
		e.guardian[moment.GuardianTool] = c.tool
		if c.input != nil {
			e.guardian[moment.GuardianInput] = c.input
		}
	}
}

// judge has the step judged, and makes sure that the answer is one.
func (g *Guardian) judge(ctx context.Context, s *session, r *request, m moment.Step, e *entry) map[string]any {
	closed := func(code, why string) map[string]any { return closing(m, code, why) }
	if e.outside {
		doc := closed("outside_intent", "the session's intent is strict and does not name this call")
		doc["reason_codes"] = append(doc["reason_codes"].([]any), CodeName(CodeNotNegotiated))
		return doc
	}
	data, failed := g.decide(ctx, strictjson.Append(nil, map[string]any{
		"jsonrpc": "2.0", "id": r.id, "method": r.method, "params": r.params, moment.Guardian: e.guardian,
	}), r.key.Asks)
	if failed {
		return closed("internal_error", "gate failed")
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 4 * MaxBody})
	if err == nil {
		err = checkAnswer(doc, m.Legal)
	}
	if err != nil {
		return closed("internal_error", "gate's own answer is none: "+err.Error())
	}
	if doc["decision"] == "defer" && !g.mayDefer(s) {
		return closed(moment.NoApprover, "too many steps of this session wait for a person")
	}
	return doc
}

// decide asks for the answer, and survives it.
func (g *Guardian) decide(ctx context.Context, step []byte, attended bool) (answer []byte, failed bool) {
	defer func() {
		if recover() != nil {
			answer, failed = nil, true
		}
	}()
	return g.o.Decide(ctx, step, attended), false
}

// mayDefer counts the deferrals of a session.
func (g *Guardian) mayDefer(s *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deferrals >= maxDeferrals {
		return false
	}
	s.deferrals++
	return s.journal.add(map[string]any{"kind": recordDefer}) == nil
}

// closing is the decision where there is none: no, or what is nearest to it.
func closing(m moment.Step, code, why string) map[string]any {
	doc := map[string]any{
		"decision": "deny", "reasoning": why + " (gate)", "reason_codes": []any{code}, "policy_references": []any{},
		"metadata": map[string]any{"evaluator": "deterministic"},
	}
	if m.Legal&moment.MayDeny == 0 { // nothing else is an answer to this method
		doc["decision"] = "allow"
		delete(doc, "reasoning")
		doc["policy_data"] = map[string]any{"gate": map[string]any{"faults": []any{why}}}
	}
	return doc
}
