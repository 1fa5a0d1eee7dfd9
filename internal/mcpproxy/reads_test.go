package mcpproxy_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/mcpproxy"
)

// reads are a prompt and a resource that a client reads, and what the server gives back.
var reads = map[string]struct{ method, by, result, key string }{
	"prompt":   {"prompts/get", "name", `{"description":"d", "messages":[{"role":"user","content":{"type":"text","text":"blue"}}]}`, "messages"},
	"resource": {"resources/read", "uri", `{"contents":[{"uri":"x","text":"blue"}], "_meta":{"a":1.0}}`, "contents"},
}

// TestReads has reading a prompt or resource judged as a call and its result.
func TestReads(t *testing.T) {
	for name, c := range reads {
		t.Run(name, func(t *testing.T) {
			var answers hook.Decision
			r := newRig(t, mcpproxy.Options{Server: "my shop"}, func(ev hook.Event) hook.Decision {
				if ev.Name == hook.PreToolUse {
					return hook.Decision{}
				}
				return answers
			})
			request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1, "method":%q,"params":{"_meta":{"a":1.0}, %q:"x"}}`, c.method, c.by)
			result := `{"jsonrpc":"2.0","id":1, "result":` + c.result + `}`
			ask := func() string {
				t.Helper()
				r.clientSays(request)
				r.hears(r.toServer, request)
				r.serverSays(result)
				return r.next(r.toClient)
			}
			if got := ask(); got != result {
				t.Errorf("got %s", got)
			}
			before, after := r.events[0], r.events[1]
			tool := "mcp__my_shop__" + strings.ReplaceAll(c.method, "/", "_")
			if before.Tool() != tool || after.Tool() != tool || len(before.ToolInput()) != 1 || before.ToolInput()[c.by] != "x" || after.Name != hook.PostToolUse {
				t.Errorf("the events were %v and %v", before, after)
			}
			if said, _ := after.Fields["tool_response"].(map[string]any); said[c.key] == nil || said["_meta"] != nil {
				t.Errorf("the result was %v", after.Fields["tool_response"])
			}

			answers = deny("it speaks to the model")
			if got := ask(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"gate: it speaks to the model (gate abc123)"}}` {
				t.Errorf("a denied result: %s", got)
			}
			answers = hook.Decision{Output: map[string]any{c.key: []any{}}}
			if got := ask(); !strings.Contains(got, fmt.Sprintf("%q:[]", c.key)) || strings.Contains(got, "blue") || strings.Contains(got, `"content":`) {
				t.Errorf("another result: %s", got)
			}
			answers = hook.Decision{Output: "a text"}
			if got := ask(); !strings.Contains(got, `"error"`) || !strings.Contains(got, "no result of "+c.method) {
				t.Errorf("a result that cannot be: %s", got)
			}
			answers = hook.Decision{Context: []hook.Context{{Text: "take care"}}}
			if got := ask(); !strings.Contains(got, "blue") || !strings.Contains(got, "take care") {
				t.Errorf("a result with context: %s", got)
			}
			answers = hook.Decision{}
			r.clientSays(request)
			r.hears(r.toServer, request)
			r.serverSays(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`)
			r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`)
			if last := r.events[len(r.events)-1]; last.Name != hook.PostToolUseFailure || last.Fields["error"] != "no" {
				t.Errorf("the event was %v", last)
			}
		})
	}
}

// TestReadsRefused holds what keeps a request from the server.
func TestReadsRefused(t *testing.T) {
	for name, c := range reads {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
				switch input := ev.ToolInput(); input[c.by] {
				case "denied":
					return deny("no")
				case "other", "nameless":
					input = map[string]any{c.by: "y"}
					if ev.ToolInput()[c.by] == "nameless" {
						delete(input, c.by)
					}
					return hook.Decision{Effect: hook.Pass, Rewrite: input}
				}
				return hook.Decision{}
			})
			for params, want := range map[string]string{
				fmt.Sprintf(`{%q:"denied"}`, c.by):             "no (gate abc123)",
				fmt.Sprintf(`{%q:"nameless"}`, c.by):           "does not say what is to be read",
				fmt.Sprintf(`{%q:"a",%q:"b"}`, c.by, c.by):     "duplicate key",
				fmt.Sprintf(`{%q:"a"}`, strings.ToUpper(c.by)): "looks like",
				fmt.Sprintf(`{%q:1}`, c.by):                    "is missing",
				fmt.Sprintf(`{%q:"x","arguments":"a"}`, c.by):  "",
				`[]`: "object",
			} {
				request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, params)
				r.clientSays(request)
				if want == "" {
					r.hears(r.toServer, request)
					r.serverSays(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`)
					r.next(r.toClient)
				} else if got := r.next(r.toClient); !strings.Contains(got, `"code":-32000`) || !strings.Contains(got, want) {
					t.Errorf("%s: %s", params, got)
				}
			}
			r.clientSays(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{"_meta":{"progressToken":1}, %q:"other"}}`, c.method, c.by))
			r.hears(r.toServer, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{"_meta":{"progressToken":1},%q:"y"}}`, c.method, c.by))
		})
	}
}
