package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/acs"
	"gate/internal/strictjson"
)

// A probe asks what no vector asks, of a session of its own.
type probe struct {
	id, about string
	run       func(ctx context.Context, c *client) error
}

// ACSProbes tries what the standard says on the wire and its vectors leave out.
func ACSProbes(ctx context.Context, t Target) []Finding {
	if t.Prepare != nil {
		t.Prepare(Need{}) // what a target cannot do shows in its answers
	}
	var list []Finding
	for _, p := range acsProbes() {
		f := Finding{ID: p.id, About: p.about, Outcome: Held}
		if err := p.run(ctx, t.client("")); err != nil {
			f.Outcome, f.Why = Differs, err.Error()
		}
		list = append(list, f)
	}
	return list
}

// lookup is a call that hurts nobody.
func lookup() request {
	return request{method: "steps/toolCallRequest", sign: "VALID", turn: "t-1", payload: map[string]any{
		"tool": map[string]any{"name": "records.lookup"}, "arguments": map[string]any{"id": map[string]any{"value": "c-1"}},
	}}
}

func acsProbes() []probe {
	var list []probe
	add := func(id, about string, run func(context.Context, *client) error) {
		list = append(list, probe{id, about, run})
	}
	for how, name := range map[string]string{"ABSENT": "unsigned", "INVALID": "inverted", "COVERS_SUBSET": "subset"} {
		add("signature-"+name, "a request whose signature does not hold is refused", after(func(ctx context.Context, c *client) error {
			r := lookup()
			r.sign = how
			return wantCode(c.send(ctx, r), acs.CodeSignature)
		}))
	}
	add("replay-id", "a request_id counts once", after(func(ctx context.Context, c *client) error {
		r := lookup()
		r.id = "once"
		return errors.Join(wantAnswer(c.send(ctx, r)), wantCode(c.send(ctx, r), acs.CodeReplay))
	}))
	add("replay-nonce", "a nonce counts once", after(func(ctx context.Context, c *client) error {
		r := lookup()
		r.nonce = newUUID()
		return errors.Join(wantAnswer(c.send(ctx, r)), wantCode(c.send(ctx, r), acs.CodeReplay))
	}))
	add("replay-hello", "the request_id of a hello counts once", func(ctx context.Context, c *client) error {
		r := request{method: hello, id: "hello", sign: "VALID", payload: clientHello()}
		return errors.Join(wantAnswer(c.send(ctx, r)), wantCode(c.send(ctx, r), acs.CodeReplay))
	})
	for name, away := range map[string]time.Duration{"past": -time.Hour, "future": time.Hour} {
		add("skew-"+name, "a request of another hour is refused", after(func(ctx context.Context, c *client) error {
			r := lookup()
			r.away = away
			return wantCode(c.send(ctx, r), acs.CodeSkew)
		}))
	}
	add("hello-again", "the same hello under a new request_id succeeds", after(func(ctx context.Context, c *client) error {
		return wantAnswer(c.greet(ctx))
	}))
	add("hello-version", "no version in common is said so", func(ctx context.Context, c *client) error {
		payload := clientHello()
		payload["acs_versions_supported"] = []any{"99.0.0"}
		return wantCode(c.send(ctx, request{method: hello, sign: "VALID", payload: payload}), acs.CodeVersion)
	})
	add("hello-profiles", "the profiles that are accepted are said, and none that was not offered", func(ctx context.Context, c *client) error {
		a := c.greet(ctx)
		accepted := strictjson.Texts(a.result["profiles_accepted"])
		offered := strictjson.Texts(clientHello()["profiles_supported"])
		if !slices.Contains(accepted, "acs-core") || slices.ContainsFunc(accepted, func(p string) bool { return !slices.Contains(offered, p) }) {
			return fmt.Errorf("accepted: %v (%s)", accepted, a)
		}
		return nil
	})
	add("hello-methods", "no method is evaluated that the client does not have", func(ctx context.Context, c *client) error {
		a := c.greet(ctx)
		evaluated, has := strictjson.Texts(a.result["methods_evaluated"]), strictjson.Texts(clientHello()["methods_implemented"])
		if !slices.Contains(evaluated, "steps/toolCallRequest") || slices.ContainsFunc(evaluated, func(m string) bool { return !slices.Contains(has, m) }) {
			return fmt.Errorf("evaluated: %v (%s)", evaluated, a)
		}
		return nil
	})
	add("no-hello", "a session that never said hello is refused", func(ctx context.Context, c *client) error {
		return wantCode(c.send(ctx, lookup()), acs.CodeNotNegotiated)
	})
	add("not-negotiated", "a method outside of what was negotiated is refused", after(func(ctx context.Context, c *client) error {
		r := request{method: "steps/preCompact", sign: "VALID", payload: map[string]any{"entries_to_compact": []any{map[string]any{"step_id": newUUID()}}, "triggered_by": "manual"}}
		return wantCode(c.send(ctx, r), acs.CodeNotNegotiated)
	}))
	add("chain-advances", "each step has a head of the chain of its own", after(chainAdvances))
	add("chain-claimed", "a head that the Guardian never published is refused", after(func(ctx context.Context, c *client) error {
		r := lookup()
		r.state = map[string]any{"chain_hash": strings.Repeat("f", 64)}
		a := c.send(ctx, r)
		if a.err == nil && (a.code == acs.CodeChain || a.result["decision"] == "deny" && slices.Contains(a.codes(), "chain_mismatch")) {
			return nil
		}
		return fmt.Errorf("it is %s", a)
	}))
	add("ping", "a ping is answered without a signature", func(ctx context.Context, c *client) error {
		a := c.send(ctx, request{method: "system/ping", sign: "ABSENT", payload: map[string]any{"echo": "here"}})
		payload, _ := a.result["payload"].(map[string]any)
		if !a.allows() || payload["status"] != "ok" || payload["echo"] != "here" {
			return fmt.Errorf("it is %s with %v", a, payload)
		}
		return nil
	})
	add("session", "the steps of a session are answered, and its end ends it", after(wholeSession))
	add("wrapped", "a wrapped call of MCP is judged", after(func(ctx context.Context, c *client) error {
		return wantAnswer(c.send(ctx, request{method: "protocols/MCP/tools/call", sign: "VALID", payload: map[string]any{
			"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": map[string]any{"name": "records_lookup", "arguments": map[string]any{"id": "c-1"}},
		}}))
	}))
	add("payload", "a payload without what its method needs is refused", after(func(ctx context.Context, c *client) error {
		return wantCode(c.send(ctx, request{method: "steps/toolCallRequest", sign: "VALID", payload: map[string]any{"tool": "records.lookup"}}), acs.CodeParams)
	}))
	for name, body := range map[string]string{"not-json": "{", "twice": `{"jsonrpc":"2.0","jsonrpc":"2.0"}`, "batch": "[]", "empty": ""} {
		add("shape-"+name, "what is no request is refused in the protocol's words", func(ctx context.Context, c *client) error {
			return malformed(ctx, c, body)
		})
	}
	slices.SortFunc(list, func(a, b probe) int { return strings.Compare(a.id, b.id) })
	return list
}

// after runs a probe in a session that has said hello.
func after(run func(context.Context, *client) error) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		if err := wantAnswer(c.greet(ctx)); err != nil {
			return fmt.Errorf("the hello before it: %w", err)
		}
		return run(ctx, c)
	}
}

func wantCode(a answer, code int) error {
	if a.err != nil || a.code != code {
		return fmt.Errorf("error %d (%s) is wanted, and it is: %s", code, acs.CodeName(code), a)
	}
	return nil
}

// wantAnswer takes every decision, whatever it is.
func wantAnswer(a answer) error {
	if a.err != nil || a.code != 0 {
		return fmt.Errorf("a signed answer is wanted, and it is: %s", a)
	}
	return nil
}

func chainAdvances(ctx context.Context, c *client) error {
	seen := map[string]bool{}
	for range 3 {
		r := lookup()
		if c.head != "" {
			r.state = map[string]any{"chain_hash": c.head}
		}
		a := c.send(ctx, r)
		head := text(a.result, "chain_hash")
		if a.err != nil || len(head) != 64 || seen[head] {
			return fmt.Errorf("head %q after %d others: %s", head, len(seen), a)
		}
		seen[head] = true
	}
	return nil
}

// wholeSession is a session from its first step to its last.
func wholeSession(ctx context.Context, c *client) error {
	content := map[string]any{"content": []any{map[string]any{"type": "text", "value": "good morning"}}}
	for _, r := range []request{
		{method: "steps/sessionStart", payload: map[string]any{}},
		{method: "steps/userMessage", payload: content},
		{method: "steps/agentResponse", payload: content},
		{method: "steps/sessionEnd", payload: map[string]any{"reason": "completed"}},
	} {
		r.sign = "VALID"
		if a := c.send(ctx, r); !a.allows() {
			return fmt.Errorf("%s is %s", r.method, a)
		}
	}
	if a := c.send(ctx, lookup()); !a.denies() {
		return fmt.Errorf("a call after the end is %s", a)
	}
	return nil
}

// malformed sends bytes that are no request.
func malformed(ctx context.Context, c *client, body string) error {
	data, err := c.t.Send(ctx, []byte(body))
	if err != nil {
		return err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return fmt.Errorf("the answer is no JSON object: %w", err)
	}
	failure, _ := doc["error"].(map[string]any)
	if id, given := doc["id"]; failure == nil || !given || id != nil || doc["result"] != nil {
		return fmt.Errorf("an error with the id null is wanted, and it is: %.200s", data)
	}
	return nil
}
