package acs

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"gate/internal/strictjson"
)

// A forgery is a request that is not to be decided about: a change of one that is.
type forgery struct {
	name   string
	change func(envelope, params, metadata map[string]any) // before it is signed
	after  func(envelope, params, metadata map[string]any) // and after
	text   func(body string) string                        // of the bytes that are sent
}

// forgeries are changes of a call that would be allowed.
func forgeries() []forgery {
	put := func(where string, name string, v any) forgery {
		return forgery{name: fmt.Sprintf("%s.%s is %.40v", where, name, v), change: func(envelope, params, metadata map[string]any) {
			doc := map[string]map[string]any{"envelope": envelope, "params": params, "metadata": metadata}[where]
			if doc[name] = v; v == nil {
				delete(doc, name)
			}
		}}
	}
	list := []forgery{
		put("envelope", "jsonrpc", "1.0"), put("envelope", "jsonrpc", nil), put("envelope", "method", 7), put("envelope", "method", "tools/call"),
		put("envelope", "method", "steps/"), put("envelope", "method", "steps/toolCallRequest\n"), put("envelope", "method", "steps/TOOLCALLREQUEST"), put("envelope", "method", "steps/nothing"),
		put("envelope", "method", nil), put("envelope", "id", nil), put("envelope", "id", []any{}), put("envelope", "id", true), put("envelope", "more", 1), put("envelope", "guardian", map[string]any{"fixed": false}),
		put("params", "acs_version", nil), put("params", "acs_version", "1.0.0"), put("params", "acs_version", "0.1"), put("params", "acs_version", "0.1.0-x"), put("params", "acs_version", 1),
		put("params", "request_id", nil), put("params", "request_id", "1"), put("params", "request_id", ""), put("params", "request_id", 1), put("params", "request_id", "{5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b30}"),
		put("params", "timestamp", nil), put("params", "timestamp", "yesterday"), put("params", "timestamp", 1789000000), put("params", "timestamp", "2026-09-09T12:00:00"),
		put("params", "timestamp", "2026-09-09T11:54:59Z"), put("params", "timestamp", "2026-09-09T12:05:01Z"), put("params", "timestamp", "2026-09-09T12:00:00+01:00"), put("params", "timestamp", "9999-12-31T23:59:59Z"), put("params", "timestamp", "0000-01-01T00:00:00Z"),
		put("params", "nonce", "short"), put("params", "nonce", strings.Repeat("n", 65)), put("params", "nonce", 5),
		put("params", "payload", nil), put("params", "payload", []any{}), put("params", "payload", map[string]any{}),
		put("params", "payload", map[string]any{"tool": map[string]any{"name": "x"}, "arguments": map[string]any{"a": "bare"}}),
		put("params", "payload", map[string]any{"tool": map[string]any{"name": ""}, "arguments": map[string]any{}}), put("params", "payload", map[string]any{"tool": "x", "arguments": map[string]any{}}),
		put("metadata", "agent_id", nil), put("metadata", "agent_id", ""), put("metadata", "agent_id", 7), put("metadata", "agent_id", strings.Repeat("a", 1000)), put("metadata", "agent_id", "claude-code:2"),
		put("metadata", "session_id", "another"), put("metadata", "session_id", "5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b39"), put("metadata", "session_id", 7),
		put("metadata", "turn_id", 7), put("metadata", "session_state", "x"), put("metadata", "session_state", map[string]any{"chain_hash": strings.Repeat("0", 64)}),
		{name: "no metadata", after: func(_, params, _ map[string]any) { delete(params, "metadata") }},
		{name: "no signature", after: func(_, params, _ map[string]any) { delete(params, "signature") }},
		{name: "an empty signature", after: func(_, params, _ map[string]any) { params["signature"] = map[string]any{} }},
		{name: "a member that is not covered", after: func(_, params, _ map[string]any) { params["tenant_id"] = "other" }},
		{name: "another payload", after: func(_, params, _ map[string]any) {
			params["payload"] = map[string]any{"tool": map[string]any{"name": "other"}, "arguments": map[string]any{}}
		}},
		{name: "another method", after: func(envelope, _, _ map[string]any) { envelope["method"] = "steps/turnEnd" }},
		{name: "another id", after: func(envelope, _, _ map[string]any) { envelope["id"] = "other" }},
		{name: "a batch", text: func(body string) string { return "[" + body + "]" }},
		{name: "two requests", text: func(body string) string { return body + body }},
		{name: "half of one", text: func(body string) string { return body[:len(body)/2] }},
		{name: "a member twice", text: func(body string) string { return `{"method":"steps/turnEnd",` + body[1:] }},
		{name: "a member in other letters", text: func(body string) string { return `{"Method":"steps/turnEnd",` + body[1:] }},
		{name: "no UTF-8", text: func(body string) string { return strings.Replace(body, "t-1", "t-\xff", 1) }},
		{name: "half a surrogate", text: func(body string) string { return strings.Replace(body, "t-1", `t-\ud800`, 1) }},
		{name: "deep", text: func(body string) string {
			return strings.Replace(body, `"params":{`, `"params":{"deep":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+",", 1)
		}},
		{name: "a number that is none", text: func(body string) string { return strings.Replace(body, `"params":{`, `"params":{"n":1e999,`, 1) }},
		{name: "large", text: func(body string) string { return body + strings.Repeat(" ", MaxBody) }},
		{name: "nothing", text: func(string) string { return "" }},
		{name: "no JSON", text: func(string) string { return "GET / HTTP/1.1" }},
		{name: "null", text: func(string) string { return "null" }},
	}
	for name, change := range map[string]any{
		"algorithm": []any{"none", "HMAC-SHA512", "ML-DSA-65", "hmac-sha256", 7}, "key_id": []any{"k2", "", "k1 ", 7}, "value": []any{"", "AAAA", "!!!!", strings.Repeat("A", 44), 7},
	} {
		for _, v := range change.([]any) {
			list = append(list, forgery{name: fmt.Sprintf("signature.%s is %v", name, v), after: func(_, params, _ map[string]any) {
				signature := maps.Clone(params["signature"].(map[string]any))
				signature[name] = v
				params["signature"] = signature
			}})
		}
	}
	return list
}

// body is a forgery as it is sent.
func (f forgery) body(d *desk) []byte {
	envelope := d.call("x")
	params := envelope["params"].(map[string]any)
	metadata := params["metadata"].(map[string]any)
	if f.change != nil {
		f.change(envelope, params, metadata)
	}
	signed(envelope, key1)
	if f.after != nil {
		f.after(envelope, params, metadata)
	}
	body := strictjson.Append(nil, envelope)
	if f.text != nil {
		body = []byte(f.text(string(body)))
	}
	return body
}

// TestForged holds that no forgery is decided about with anything but no, and that what is
// sent a second time is answered by an error.
func TestForged(t *testing.T) {
	list := forgeries()
	if len(list) < 60 {
		t.Errorf("%d forgeries", len(list))
	}
	for _, f := range list {
		d := newDesk(t, "")
		d.greet()
		body := f.body(d)
		for range 2 {
			result, code := d.raw(body)
			if code == 0 && textOf(result, "decision") != "deny" {
				t.Errorf("%s: %v", f.name, result)
			}
		}
		if d.last != nil {
			t.Errorf("%s: it was judged", f.name)
		}
		// The session goes on as if nothing had been.
		if result, code := d.ask(d.call("x")); code != 0 || result["decision"] != "allow" {
			t.Errorf("after %s: %v, error %d", f.name, result, code)
		}
	}
}

// TestReplayed sends each kind of request twice: the second is an error, also when it comes
// under another id of JSON-RPC or long after.
func TestReplayed(t *testing.T) {
	d := newDesk(t, "")
	greeting := signed(d.envelope(hello, helloPayload()), key1)
	content := map[string]any{"content": []any{map[string]any{"type": "text", "value": "x"}}}
	for _, envelope := range []map[string]any{
		greeting, d.envelope("steps/sessionStart", map[string]any{}), d.envelope("steps/userMessage", content), d.call("x"), d.envelope("steps/agentResponse", content),
		d.envelope("protocols/MCP/tools/list", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
	} {
		if _, code := d.ask(envelope); code != 0 {
			t.Fatalf("%v: error %d", envelope["method"], code)
		}
		result, code := d.ask(envelope)
		d.want("again", result, code, "", CodeReplay)
		again := maps.Clone(envelope)
		again["id"] = "another"
		again["params"] = maps.Clone(envelope["params"].(map[string]any))
		result, code = d.ask(again)
		d.want("under another id", result, code, "", CodeReplay)
		upper := again["params"].(map[string]any)
		upper["request_id"] = strings.ToUpper(textOf(upper, "request_id"))
		result, code = d.ask(again)
		d.want("in other letters", result, code, "", CodeReplay)
		d.now = d.now.Add(skewWindow + time.Second)
		result, code = d.raw(strictjson.Append(nil, signed(envelope, key1)))
		d.want("later", result, code, "", CodeSkew)
		d.now = d.now.Add(-skewWindow - time.Second)
	}
}
