package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"gate/internal/acs"
	"gate/internal/strictjson"
)

// A client is an agent in one session.
type client struct {
	t       Target
	agent   string
	session string
	ids     map[string]string // of requests, by the vector's names
	head    string            // that the Guardian published last
}

func (t Target) client(agent string) *client {
	if agent == "" {
		agent = "conformance"
	}
	return &client{t: t, agent: agent, session: newUUID(), ids: map[string]string{}}
}

// newUUID is a random UUID.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// clientHello is what a vector's session says hello with.
func clientHello() map[string]any {
	return map[string]any{
		"acs_versions_supported": []any{"0.1.0"}, "transports_supported": []any{"http"}, "provenance_producer": "none",
		"methods_implemented": []any{
			"steps/sessionStart", "steps/userMessage", "steps/agentResponse", "steps/knowledgeRetrieval", "steps/toolCallRequest",
			"steps/toolCallResult", "steps/sessionEnd", "protocols/MCP/tools/call", "system/ping",
		},
		"profiles_supported": []any{"acs-core", "acs-audit"},
	}
}

func (c *client) greet(ctx context.Context) answer {
	return c.send(ctx, request{method: hello, sign: "VALID", payload: clientHello()})
}

// envelope writes a request as it is sent.
func (c *client) envelope(r request) map[string]any {
	now := time.Now
	if c.t.Now != nil {
		now = c.t.Now
	}
	metadata := map[string]any{"agent_id": c.agent, "session_id": c.session}
	if c.t.Dir != "" {
		metadata["cwd"] = c.t.Dir
	}
	if r.turn != "" {
		metadata["turn_id"] = r.turn
	}
	if r.state != nil {
		metadata["session_state"] = r.state
	}
	id := c.ids[r.id]
	if id == "" {
		id = newUUID()
	}
	if r.id != "" {
		c.ids[r.id] = id
	}
	version := r.version
	if version == "" {
		version = "0.1.0"
	}
	params := map[string]any{
		"acs_version": version, "request_id": id, "timestamp": now().Add(r.away).UTC().Format(time.RFC3339Nano), "metadata": metadata,
		"payload": r.payload,
	}
	if r.payload == nil {
		params["payload"] = map[string]any{}
	}
	if r.nonce != "" {
		params["nonce"] = r.nonce
	}
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": r.method, "params": params}
}

// sign signs an envelope in the way that a vector says.
func (c *client) sign(envelope map[string]any, how string) error {
	key, err := acs.SessionKey(c.t.Key.Secret, c.session)
	if err != nil || how == "ABSENT" {
		return err
	}
	params := envelope["params"].(map[string]any)
	if how == "COVERS_SUBSET" {
		part := maps.Clone(params)
		metadata := maps.Clone(params["metadata"].(map[string]any))
		delete(metadata, "session_id")
		part["metadata"] = metadata
		whole := maps.Clone(envelope)
		whole["params"] = part
		value, err := acs.MAC(key, whole, acs.Params)
		params["signature"] = map[string]any{"algorithm": acs.Algorithm, "key_id": c.t.Key.ID, "value": value}
		return err
	}
	if err := acs.Sign(key, c.t.Key.ID, envelope, acs.Params); err != nil || how != "INVALID" {
		return err
	}
	signature := params["signature"].(map[string]any)
	value, err := base64.StdEncoding.DecodeString(text(signature, "value"))
	if err != nil {
		return err
	}
	for i := range value {
		value[i] = ^value[i]
	}
	signature["value"] = base64.StdEncoding.EncodeToString(value)
	return nil
}

// send sends one request and reads the answer as an agent has to.
func (c *client) send(ctx context.Context, r request) answer {
	envelope := c.envelope(r)
	if err := c.sign(envelope, r.sign); err != nil {
		return answer{err: err}
	}
	data, err := c.t.Send(ctx, strictjson.Append(nil, envelope))
	if err != nil {
		return answer{err: err}
	}
	a := c.read(data, envelope, r)
	if head := text(a.result, "chain_hash"); head != "" {
		c.head = head
	}
	return a
}

// An answer is what came back, as far as it counts.
type answer struct {
	result map[string]any
	code   int // of an error
	reason string
	err    error // it is none that an agent may believe
}

// read holds an answer against the request that it answers: who signed it, and what for.
func (c *client) read(data []byte, envelope map[string]any, r request) answer {
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return answer{err: fmt.Errorf("the answer is no JSON object: %w", err)}
	}
	if doc["jsonrpc"] != "2.0" {
		return answer{err: errors.New("the answer is none of JSON-RPC 2.0")}
	}
	if doc["id"] != envelope["id"] {
		return answer{err: errors.New("the answer has another id than the request")}
	}
	failure, failed := doc["error"].(map[string]any)
	result, ok := doc["result"].(map[string]any)
	if failed == ok {
		return answer{err: errors.New("the answer has neither or both of a result and an error")}
	}
	if failed {
		number, _ := failure["code"].(json.Number)
		code, err := number.Int64()
		if err != nil {
			return answer{err: errors.New("the error has no code")}
		}
		if r.sign == "VALID" {
			err = c.verify(doc, acs.Error)
		}
		return answer{code: int(code), reason: text(failure, "message"), err: err}
	}
	a := answer{result: result}
	if r.sign != "ABSENT" || r.method != "system/ping" {
		a.err = c.verify(doc, acs.Result)
	}
	if a.err == nil && r.method != hello {
		a.err = c.bound(result, envelope)
	}
	return a
}

// verify holds a signature of the Guardian's.
func (c *client) verify(doc map[string]any, part acs.Part) error {
	key, err := acs.SessionKey(c.t.Key.Secret, c.session)
	if err != nil {
		return err
	}
	inner, _ := doc[string(part)].(map[string]any)
	signature, _ := inner["signature"].(map[string]any)
	if id := text(signature, "key_id"); signature != nil && id != c.t.Key.ID {
		return fmt.Errorf("the answer is signed with another key than the request")
	}
	if err := acs.Verify(key, doc, part); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return nil
}

// bound holds a decision against its request.
func (c *client) bound(result, envelope map[string]any) error {
	params := envelope["params"].(map[string]any)
	decision := text(result, "decision")
	switch {
	case result["type"] != "final":
		return errors.New(`the result's type is not "final"`)
	case result["request_id"] != params["request_id"]:
		return errors.New("the decision is about another request")
	case decision == "":
		return errors.New("there is no decision in the result")
	case decision != "allow" && text(result, "reasoning") == "":
		return errors.New("the decision has no reasoning")
	}
	if _, known := map[string]bool{"allow": true, "deny": true, "modify": true, "ask": true, "defer": true}[decision]; !known {
		return fmt.Errorf("%s is no decision", strictjson.Quoted(decision))
	}
	for member, of := range map[string]string{"modifications": "modify", "ask_details": "ask", "defer_details": "defer"} {
		if _, there := result[member].(map[string]any); there != (decision == of) {
			return fmt.Errorf("%s does not go with %s", member, decision)
		}
	}
	return nil
}

func (a answer) allows() bool {
	return a.err == nil && a.code == 0 && (a.result["decision"] == "allow" || a.result["negotiated_version"] != nil)
}

func (a answer) denies() bool {
	return a.err == nil && (a.code != 0 || a.result["decision"] == "deny" || a.result["decision"] == "defer")
}

func (a answer) codes() []string { return strictjson.Texts(a.result["reason_codes"]) }

func (a answer) String() string {
	switch {
	case a.err != nil:
		return a.err.Error()
	case a.code != 0:
		return fmt.Sprintf("error %d (%s)", a.code, a.reason)
	case a.result["negotiated_version"] != nil:
		return "hello"
	}
	var b bytes.Buffer
	b.WriteString(text(a.result, "decision"))
	if codes := a.codes(); len(codes) > 0 {
		fmt.Fprintf(&b, " %v", codes)
	}
	return b.String()
}
