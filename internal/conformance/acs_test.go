package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gate/internal/acs"
	"gate/internal/conformance"
	"gate/internal/strictjson"
)

var key = acs.Key{ID: "k1", Secret: []byte("0123456789abcdef0123456789abcdef")}

// right is a Guardian that allows whatever the protocol lets through.
func right(t *testing.T) conformance.Target {
	t.Helper()
	guardian, err := acs.Open(t.Context(), acs.Options{Keys: []acs.Key{key}, Decide: func(context.Context, []byte, bool) []byte {
		return []byte(`{"decision":"allow"}`)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Target{Key: key, Send: func(ctx context.Context, body []byte) ([]byte, error) { return guardian.Answer(ctx, body), nil }}
}

// TestProbes has a Guardian hold all probes, and the vectors that need nothing but requests.
func TestProbes(t *testing.T) {
	target := right(t)
	list, err := conformance.ACS(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	count := map[conformance.Outcome]int{}
	for _, f := range list {
		count[f.Outcome]++
		if f.Outcome == conformance.Differs {
			t.Errorf("%s %s: %s", f.ID, f.About, f.Why)
		}
	}
	if count[conformance.Held] != 15 || count[conformance.NotDriven] != 7 || count[conformance.NotApplicable] != 21 {
		t.Errorf("%v", count)
	}
	probes := conformance.ACSProbes(t.Context(), target)
	for _, f := range probes {
		if f.Outcome != conformance.Held {
			t.Errorf("%s: %s", f.ID, f.Why)
		}
	}
	if len(probes) < 20 {
		t.Errorf("%d probes", len(probes))
	}
}

// A fault is what a Guardian does wrong: what it makes of requests before it looks at
// them, and of its answers before they leave.
type fault struct {
	name  string
	in    func(envelope map[string]any)
	out   func(envelope, answer map[string]any)
	raw   func(answer []byte) []byte
	shows string // a vector or probe that must differ
}

func faults() []fault {
	resigned := func(change func(envelope, result map[string]any)) func(map[string]any, map[string]any) {
		return func(envelope, answer map[string]any) {
			if result, ok := answer["result"].(map[string]any); ok {
				change(envelope, result)
				signAnswer(envelope, answer)
			}
		}
	}
	return []fault{
		{name: "answers are not signed", shows: "hello-again", out: func(_, answer map[string]any) {
			for _, part := range []string{"result", "error"} {
				if inner, ok := answer[part].(map[string]any); ok {
					delete(inner, "signature")
				}
			}
		}},
		{name: "answers are changed after they were signed", shows: "v0577dc8ccd4d7e47", out: func(_, answer map[string]any) {
			if result, ok := answer["result"].(map[string]any); ok {
				result["note"] = "added by somebody"
			}
		}},
		{name: "answers have another id", shows: "ping", out: func(_, answer map[string]any) { answer["id"] = "other" }},
		{name: "decisions are about another request", shows: "v0577dc8ccd4d7e47", out: resigned(func(_, result map[string]any) {
			result["request_id"] = "00000000-0000-4000-8000-000000000000"
		})},
		{name: "denials give no reason", shows: "v661266c5c87cb206", out: resigned(func(_, result map[string]any) { delete(result, "reasoning") })},
		{name: "the decision has no word of the standard", shows: "v0577dc8ccd4d7e47", out: resigned(func(_, result map[string]any) {
			if result["decision"] == "allow" {
				result["decision"], result["reasoning"] = "ALLOW", "it may"
			}
		})},
		{name: "every call is denied", shows: "v0577dc8ccd4d7e47", out: resigned(func(_, result map[string]any) {
			if result["decision"] == "allow" {
				result["decision"], result["reasoning"] = "deny", "never"
			}
		})},
		{name: "every call is allowed", shows: "v661266c5c87cb206", out: resigned(func(_, result map[string]any) {
			if result["decision"] == "deny" {
				result["decision"] = "allow"
				delete(result, "reason_codes")
			}
		})},
		{name: "signatures are not looked at", shows: "vb87b86b4930665ca", in: func(envelope map[string]any) { signRequest(envelope) }},
		{name: "replays are not seen", shows: "vef655ce2a45f618b", in: func(envelope map[string]any) {
			params := envelope["params"].(map[string]any)
			params["request_id"] = "00000000-0000-4000-8000-" + fresh()
			delete(params, "nonce")
			signRequest(envelope)
		}, out: resigned(func(envelope, result map[string]any) {
			if _, has := result["request_id"]; has {
				result["request_id"] = envelope["params"].(map[string]any)["request_id"]
			}
		})},
		{name: "the clock is not looked at", shows: "vb10df32610db1173", in: func(envelope map[string]any) {
			envelope["params"].(map[string]any)["timestamp"] = time.Now().UTC().Format(time.RFC3339)
			signRequest(envelope)
		}},
		{name: "the head of the chain stands still", shows: "chain-advances", out: resigned(func(_, result map[string]any) {
			if result["chain_hash"] != nil {
				result["chain_hash"] = strings.Repeat("a", 64)
			}
		})},
		{name: "the client's head is believed", shows: "chain-claimed", in: func(envelope map[string]any) {
			if metadata, ok := envelope["params"].(map[string]any)["metadata"].(map[string]any); ok {
				delete(metadata, "session_state")
				signRequest(envelope)
			}
		}},
		{name: "every version is spoken", shows: "v412653087b92cb07", in: func(envelope map[string]any) {
			payload, _ := envelope["params"].(map[string]any)["payload"].(map[string]any)
			if envelope["method"] == "handshake/hello" {
				payload["acs_versions_supported"] = []any{"0.1.0"}
				signRequest(envelope)
			}
		}},
		{name: "profiles are accepted that nobody offered", shows: "hello-profiles", out: resigned(func(_, result map[string]any) {
			if result["profiles_accepted"] != nil {
				result["profiles_accepted"] = []any{"acs-core", "acs-crypto"}
			}
		})},
		{name: "a proxy answers", shows: "v0577dc8ccd4d7e47", raw: func([]byte) []byte { return []byte("<html>504 Gateway Time-out</html>") }},
		{name: "errors have no code", shows: "no-hello", out: func(_, answer map[string]any) {
			if failure, ok := answer["error"].(map[string]any); ok {
				delete(failure, "code")
			}
		}},
	}
}

// fresh are the last digits of a request id that was never used.
func fresh() string { return fmt.Sprintf("%012x", rand.Uint64()>>16) }

// signAnswer signs an answer again, for the session of its request.
func signAnswer(envelope, answer map[string]any) {
	inner := answer["result"].(map[string]any)
	delete(inner, "signature")
	secret, _ := acs.SessionKey(key.Secret, session(envelope))
	acs.Sign(secret, key.ID, answer, acs.Result)
}

// signRequest signs a request, whoever sent it.
func signRequest(envelope map[string]any) {
	params := envelope["params"].(map[string]any)
	delete(params, "signature")
	secret, _ := acs.SessionKey(key.Secret, session(envelope))
	acs.Sign(secret, key.ID, envelope, acs.Params)
}

func session(envelope map[string]any) string {
	metadata, _ := envelope["params"].(map[string]any)["metadata"].(map[string]any)
	id, _ := metadata["session_id"].(string)
	return id
}

// wrong is a Guardian with a fault.
func wrong(t *testing.T, f fault) conformance.Target {
	target := right(t)
	honest := target.Send
	target.Send = func(ctx context.Context, body []byte) ([]byte, error) {
		envelope, err := strictjson.Object(body, strictjson.Limits{})
		if err == nil && f.in != nil {
			was := maps.Clone(envelope)
			was["params"] = maps.Clone(envelope["params"].(map[string]any))
			f.in(envelope)
			body = strictjson.Append(nil, envelope)
			envelope = was
		}
		data, err := honest(ctx, body)
		if err != nil {
			return nil, err
		}
		if f.raw != nil {
			return f.raw(data), nil
		}
		if answer, err := strictjson.Object(bytes.TrimSpace(data), strictjson.Limits{}); err == nil && f.out != nil {
			f.out(envelope, answer)
			data = strictjson.Append(nil, answer)
		}
		return data, nil
	}
	return target
}

// TestWrongServers has the kit show each fault of Guardians that are deliberately wrong.
func TestWrongServers(t *testing.T) {
	for _, f := range faults() {
		target := wrong(t, f)
		list, err := conformance.ACS(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		for _, finding := range append(list, conformance.ACSProbes(t.Context(), target)...) {
			if finding.ID == f.shows {
				shown = string(finding.Outcome) + ": " + finding.Why
			}
		}
		if !strings.HasPrefix(shown, string(conformance.Differs)) {
			t.Errorf("%s: %s is %s", f.name, f.shows, shown)
		}
	}
}
