package mcpproxy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/mcpproxy"
)

// harmless is a call and what a server says to it.
const (
	harmless = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"at":"sky"},"_meta":{"progressToken":7}}}`
	seen     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"blue"}],"isError":false}}`
)

// TestUntouched hands on, byte for byte, all that is no call, whatever it is.
func TestUntouched(t *testing.T) {
	r := newRig(t, mcpproxy.Options{}, func(hook.Event) hook.Decision { return deny("never") })
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{ "method" : "no/such/method", "id" : "ä\u00e9", "jsonrpc" : "2.0", "unknown": {"a": 1, "a": 2} }`,
		`{"jsonrpc":"2.0","id":18446744073709551616,"method":"tools/list","params":[1,2,3]}`,
		`{"jsonrpc":"2.0","id":1.50,"method":"resources/subscribe","params":{"uri":"tools/call"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1e1}}`,
		`{"jsonrpc":"2.0","id":99,"result":{"roots":[]}}`,
		`{"jsonrpc":"2.0","id":99,"error":{"code":-1,"message":"no"}}`,
		`[{"jsonrpc":"2.0","id":21,"method":"ping"}, {"jsonrpc":"2.0","id":22,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]`,
	} {
		r.clientSays(line)
		r.hears(r.toServer, line)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7, "progress":1e1}}`,
		`{ "id":1, "jsonrpc":"2.0","method":"no/such/method","params":{"method":"tools/call", "a": 1, "a": 2}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
		`{"jsonrpc":"2.0","id":"ä\u00e9","error":{"code":-32601,"message":"method not found"},"extra":[]}`,
		`{"jsonrpc":"2.0","id":18446744073709551616,"result":{"tools":[], "x":1.0}}`,
		`[{"jsonrpc":"2.0","id":21,"result":{}},{"jsonrpc":"2.0","id":22,"result":{}}, {"jsonrpc":"2.0","method":"notifications/y"}]`,
	} {
		r.serverSays(line)
		r.hears(r.toClient, line)
	}
	if len(r.events) > 0 {
		t.Errorf("%d events", len(r.events))
	}
}

// TestCall has a call pass that nobody objects to: request and result come
// through as they are, and both are judged.
func TestCall(t *testing.T) {
	r := newRig(t, mcpproxy.Options{}, nil)
	r.begin()
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	r.serverSays(seen)
	r.hears(r.toClient, seen)
	if len(r.events) != 2 {
		t.Fatalf("%d events", len(r.events))
	}
	before, after := r.events[0], r.events[1]
	if before.Name != hook.PreToolUse || before.Tool() != "mcp__my_shop__look" || before.ToolInput()["at"] != "sky" ||
		before.Dir() != "/home/dev" || before.SessionID() != "s" || before.Text("tool_use_id") != "1" {
		t.Errorf("before: %v", before.Fields)
	}
	response, _ := after.Fields["tool_response"].([]any)
	if after.Name != hook.PostToolUse || after.Tool() != before.Tool() || len(response) != 1 {
		t.Errorf("after: %v", after.Fields)
	}
}

// TestReject answers a call itself.
func TestReject(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
		if ev.ToolInput()["at"] == "sky" {
			return deny("not\x1b[2J there")
		}
		return hook.Decision{Effect: hook.Ask, ID: "abc123", Reasons: []hook.Reason{{Effect: hook.Ask, Reason: "sure?", Hook: "p"}}}
	})
	r.clientSays(harmless)
	r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"not\\x1b[2J there (gate abc123)","type":"text"}],"isError":true}}`)
	r.clientSays(`{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"look"}}`)
	r.hears(r.toClient, `{"jsonrpc":"2.0","id":"é","result":{"content":[{"text":"a person has to agree first and cannot be asked here:\nsure? (gate abc123)","type":"text"}],"isError":true}}`)
	r.settled()
}

// TestRewrite changes arguments and nothing beside them.
func TestRewrite(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
		if ev.Name == hook.PreToolUse {
			return hook.Decision{Rewrite: map[string]any{"at": "sea"}}
		}
		if ev.ToolInput()["at"] != "sea" {
			return deny("the input is not the one it ran with")
		}
		return hook.Decision{}
	})
	r.clientSays(`{ "id":1, "params":{"_meta":{"progressToken":7.0}, "arguments":{"at":"sky"} ,"name":"look"},"method":"tools/call","x":1}`)
	r.hears(r.toServer, `{ "id":1, "params":{"_meta":{"progressToken":7.0}, "arguments":{"at":"sea"} ,"name":"look"},"method":"tools/call","x":1}`)
	r.serverSays(seen)
	r.hears(r.toClient, seen)
	r.clientSays(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look"}}`)
	r.hears(r.toServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look","arguments":{"at":"sea"}}}`)
}

// TestOutput changes results, adds context to them, and to errors.
func TestOutput(t *testing.T) {
	context := func(text string) []hook.Context { return []hook.Context{{Text: text}} }
	for _, c := range []struct {
		name, result, want string
		after              hook.Decision
	}{
		{"context", `{"content":[{"type":"text","text":"a"}],"n":1.0}`,
			`{"content":[{"text":"a","type":"text"},{"text":"before","type":"text"},{"text":"after","type":"text"}],"n":1.0}`,
			hook.Decision{Context: context("after")}},
		{"a text", `{"content":[{"type":"text","text":"KEY"}],"structuredContent":{"k":"KEY"},"isError":true,"_meta":{"m":1}}`,
			`{"_meta":{"m":1},"content":[{"text":"gone","type":"text"},{"text":"before","type":"text"}],"isError":true}`,
			hook.Decision{Output: "gone"}},
		{"a list", `{"content":[{"type":"text","text":"KEY"}]}`,
			`{"content":[{"text":"gone","type":"text"},{"text":"before","type":"text"}]}`,
			hook.Decision{Output: []any{map[string]any{"type": "text", "text": "gone"}}}},
		{"a list of something else", `{"content":[]}`,
			`{"content":[{"text":"[\"gone\"]","type":"text"},{"text":"before","type":"text"}]}`,
			hook.Decision{Output: []any{"gone"}}},
		{"an object", `{"content":[{"type":"text","text":"KEY"}],"structuredContent":{"k":"KEY"}}`,
			`{"content":[{"text":"before","type":"text"}],"structuredContent":{"k":"gone"}}`,
			hook.Decision{Output: map[string]any{"structuredContent": map[string]any{"k": "gone"}}}},
		{"withheld", `{"content":[{"type":"text","text":"KEY"}]}`,
			`{"content":[{"text":"no (gate abc123)\nbefore","type":"text"}],"isError":true}`, deny("no")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
				if ev.Name == hook.PreToolUse {
					return hook.Decision{Context: context("before")}
				}
				return c.after
			})
			r.clientSays(harmless)
			r.hears(r.toServer, harmless)
			r.serverSays(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`)
			r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"result":`+c.want+`}`)
		})
	}
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
		return hook.Decision{Context: context(string(ev.Name))}
	})
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	r.serverSays(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{}}}`)
	r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"data":{},"message":"no\nPreToolUse\nPostToolUseFailure"}}`)
}

// TestBatch takes an array apart that holds a call, and only then.
func TestBatch(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
		if ev.ToolInput()["at"] == "sea" {
			return deny("no")
		}
		return hook.Decision{}
	})
	const ping = `{"jsonrpc":"2.0","id":5,"method":"ping"}`
	r.clientSays(`[` + ping + `,` + strings.Replace(harmless, "sky", "sea", 1) + `]`)
	r.hears(r.toServer, ping)
	if got := r.next(r.toClient); !strings.Contains(got, `"id":1,`) || !strings.Contains(got, "no (gate abc123)") {
		t.Errorf("got %s", got)
	}
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	r.serverSays(`[{"jsonrpc":"2.0","id":5,"result":{}},` + seen + `]`)
	got := map[string]bool{r.next(r.toClient): true, r.next(r.toClient): true}
	if !got[`{"jsonrpc":"2.0","id":5,"result":{}}`] || !got[seen] {
		t.Errorf("got %v", got)
	}
}

// TestEnds ends the proxy in every way it can end.
func TestEnds(t *testing.T) {
	t.Run("the client leaves", func(t *testing.T) {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
		fmt.Fprint(r.client, harmless) // without the end of the line
		r.client.Close()
		r.hears(r.toServer, harmless)
		r.serverSays(seen) // it is still waited for
		r.hears(r.toClient, seen)
		<-r.inputEnded
		r.serverSays(`{"method":"last"}`)
		r.hears(r.toClient, `{"method":"last"}`)
		r.end()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	t.Run("the server dies", func(t *testing.T) {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
		r.clientSays(harmless, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		r.next(r.toServer)
		r.next(r.toServer)
		fmt.Fprint(r.server, `{"jsonrpc":"2.0","id":1,"resu`)
		go r.end()
		for _, id := range []string{"1", "2"} {
			r.hears(r.toClient, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32000,"message":"gate: the server ended before it answered"}}`)
		}
		if err := <-r.done; !errors.Is(err, mcpproxy.ErrServerEnded) {
			t.Error(err)
		}
	})
}
