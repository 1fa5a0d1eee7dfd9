package mcpproxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/mcpproxy"
)

// TestHostileClient sends what two readers could understand differently. None of
// it reaches the server, and all of it is answered.
func TestHostileClient(t *testing.T) {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	for _, line := range []string{
		// another message for a reader that takes the first key, the last, or any case
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"TOOLS/CALL","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":" tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call/","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"/tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools//call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools / call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\\call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools%2Fcall","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools%2fCall","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/\u00a0call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\u2215call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"\u200btools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call\n","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\/ call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"toolscall","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"ID":2,"method":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"},"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"look"}}`,
		// more than one message for a reader of a stream, or of other lines
		`{"jsonrpc":"2.0","method":"x"} ` + call(`{"name":"look"}`),
		`{"jsonrpc":"2.0","method":"x"},` + call(`{"name":"look"}`),
		"{\"jsonrpc\":\"2.0\",\"x\":\u2028" + call(`{"name":"look"}`) + `}`,
		`[[` + call(`{"name":"look"}`) + `]]`,
		`[]`, `null`, `"tools/call"`, `{}`, `{`, "\xff\xfe{}", "\xef\xbb\xbf" + call(`{"name":"look"}`),
		// a call that is not to be understood in one way
		call(`{"name":"look","name":"touch"}`), call(`{"name":"look","Name":"touch"}`), call(`{"Name":"touch"}`),
		call(`{"name":"look","arguments":{"at":"sky"},"Arguments":{"at":"sea"}}`),
		call(`{"name":"look","Arguments":{"at":"sea"}}`), call(`{"name":"look","arguments":{"at":"sky","at":"sea"}}`),
		call(`{"name":"look","arguments":"{}"}`), call(`{"name":"look","arguments":[]}`), call(`{"name":["look"]}`), call(`{"name":""}`),
		call(`[]`), call(`"look"`), call("{\"name\":\"look\xff\"}"), call(`{"name":"look","task":{}}`),
		call(`{"name":"look","arguments":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		// ids that nobody can answer to
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`,
		// too much
		`{"jsonrpc":"2.0","id":1,"method":"x","params":"` + strings.Repeat("x", mcpproxy.MaxMessage) + `"}`,
		`[` + strings.Repeat(`{"method":"x"},`, 1001) + `{"method":"x"}]`,
		`{"method":"x"` + strings.Repeat(`,"a":1`, 300) + `}`,
	} {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
		go fmt.Fprintln(r.client, line)
		got := r.next(r.toClient)
		if !strings.Contains(got, `"error":{"code":-32600,"message":"gate: `) && !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s\nanswered with %s", brief(line), brief(got))
		}
		r.settled()
		if len(r.events) > 0 {
			t.Errorf("%s\nwas judged: %v", brief(line), r.events[0].Fields)
		}
	}
}

// TestNoAnswer drops a call that wants no answer.
func TestNoAnswer(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"look"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"look"}}`,
	} {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
		r.clientSays(line)
		r.settled()
		if len(r.told) != 1 || !strings.Contains(r.told[0], "without an id") {
			t.Errorf("told %q", r.told)
		}
	}
}

// TestNoName rejects calls of a server that has no name yet: policies go by it.
func TestNoName(t *testing.T) {
	r := newRig(t, mcpproxy.Options{}, nil)
	r.clientSays(harmless)
	if got := r.next(r.toClient); !strings.Contains(got, "--name") {
		t.Errorf("got %s", got)
	}
	r.begin()
	r.clientSays(`{"jsonrpc":"2.0","id":3,"method":"initialize"}`)
	r.next(r.toServer)
	r.serverSays(`{"jsonrpc":"2.0","id":3,"result":{"serverInfo":{"name":"github"}}}`)
	r.next(r.toClient)
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	if got := r.events[0].Tool(); got != "mcp__my_shop__look" {
		t.Errorf("the server changed its name: %s", got)
	}
}

// TestHostileServer has the server answer a call in ways that some client may
// take for the result. None gets past what judges results.
func TestHostileServer(t *testing.T) {
	const secret = `{"content":[{"type":"text","text":"SECRET"}]}`
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":"1","result":` + secret + `}`, `{"jsonrpc":"2.0","id":1.0,"result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":"0x1","result":` + secret + `}`, `{"jsonrpc":"2.0","id":[1],"result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":2,"id":1,"result":` + secret + `}`, `{"jsonrpc":"2.0","ID":1,"result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":1,"Result":` + secret + `}`, `{"jsonrpc":"2.0","id":null,"result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"},"result":` + secret + `}`,
		`{"jsonrpc":"2.0","id":1,"error":"SECRET"}`,
		`{"jsonrpc":"2.0","id":1,"result":` + strings.Replace(secret, `"content"`, `"content":[],"content"`, 1) + `}`,
		`{"jsonrpc":"2.0","id":1,"result":"SECRET"}`, `{"jsonrpc":"2.0","id":1,"result":[` + secret + `]}`,
		`{"jsonrpc":"2.0","method":"x"} {"jsonrpc":"2.0","id":1,"result":` + secret + `}`,
		"{\"jsonrpc\":\"2.0\",\r{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + secret + "}\r}",
		`[{"jsonrpc":"2.0","id":1,"result":` + secret + `},{"jsonrpc":"2.0","id":1,"result":` + secret + `}]`,
		`[{"jsonrpc":"2.0","method":"x","params":{}},{"jsonrpc":"2.0","id":1,"result":` + secret + `}]`,
		`SECRET`, `{"jsonrpc":"2.0","id":1,"result":"SECRET` + strings.Repeat("x", mcpproxy.MaxMessage) + `"}`,
		`{"result":"SECRET` + strings.Repeat("x", mcpproxy.MaxMessage) + `","id":1}`,
	} {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, func(ev hook.Event) hook.Decision {
			if ev.Name == hook.PostToolUse && strings.Contains(fmt.Sprint(ev.Fields["tool_response"]), "SECRET") {
				return deny("secret")
			}
			return hook.Decision{}
		})
		r.clientSays(harmless)
		r.hears(r.toServer, harmless)
		go fmt.Fprintln(r.server, line)
		go fmt.Fprintln(r.server, `{"jsonrpc":"2.0","method":"last"}`)
		go fmt.Fprintln(r.server, `{"jsonrpc":"2.0","method":"last"}`)
		for last := 0; last < 2; {
			got := r.next(r.toClient)
			if strings.Contains(got, "SECRET") {
				t.Errorf("%s\nlet through %s", brief(line), brief(got))
			}
			if strings.Contains(got, "last") {
				last++
			}
		}
	}
}

// TestTooLongAnswer says of which call the answer was.
func TestTooLongAnswer(t *testing.T) {
	long := strings.Repeat("x", mcpproxy.MaxMessage)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":"` + long + `"}`, `{"result":"` + long + `","jsonrpc":"2.0","id":1}`,
	} {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
		r.clientSays(harmless)
		r.hears(r.toServer, harmless)
		go fmt.Fprintln(r.server, line)
		r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"gate: the server's answer is longer than 16777216 bytes"}}`)
	}
}

// TestIDs has each request answered once.
func TestIDs(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	for _, twice := range []string{harmless, strings.Replace(harmless, `"id":1`, `"id":"1"`, 1), `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`} {
		r.clientSays(twice)
		if got := r.next(r.toClient); !strings.Contains(got, `"id":null,"error"`) || !strings.Contains(got, "is in use") {
			t.Errorf("%s: %s", twice, got)
		}
	}
	r.serverSays(seen)
	r.hears(r.toClient, seen)
	r.serverSays(seen)
	r.settled()
	r.clientSays(harmless) // the id is free again
	r.hears(r.toServer, harmless)
}

// TestCancel drops the late answer to a call that nobody waits for, and a call
// that is cancelled while it is judged never gets to the server.
func TestCancel(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	decided := make(chan struct{})
	first := true
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(hook.Event) hook.Decision {
		if !first {
			<-decided
		}
		first = false
		return hook.Decision{}
	})
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	r.clientSays(cancelled)
	r.hears(r.toServer, cancelled)
	r.serverSays(seen)
	r.settled()

	r.clientSays(harmless, cancelled)
	r.hears(r.toServer, cancelled)
	close(decided)
	r.settled()
	r.client.Close()
	<-r.inputEnded
	if line, more := <-r.toServer; more {
		t.Errorf("the server got %s", line)
	}
}

// TestManyCalls refuses calls that the server does not answer, at some point.
func TestManyCalls(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
	go func() {
		for range r.toServer {
		}
	}()
	big := strings.Repeat("x", 8<<20)
	for i := range 8 {
		r.clientSays(fmt.Sprintf(`{"id":%d,"method":"tools/call","params":{"name":"look","arguments":{"at":%q}}}`, i, big))
	}
	if got := r.next(r.toClient); !strings.Contains(got, "are waiting for an answer already") {
		t.Errorf("got %s", brief(got))
	}
	r = newRig(t, mcpproxy.Options{Server: "shop"}, nil)
	go func() {
		for range r.toServer {
		}
	}()
	for i := range 4097 {
		r.clientSays(fmt.Sprintf(`{"id":%d,"method":"ping"}`, i))
	}
	if got := r.next(r.toClient); !strings.Contains(got, "4096 requests are waiting for an answer already") {
		t.Errorf("got %s", got)
	}
}

// TestSlowClient has the server say more than the client reads: the server has
// to wait, and little is held for the client.
func TestSlowClient(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, nil)
	r.serverSays(`{"method":"first"}`)
	taken := make(chan int, 1)
	go func() {
		message := `{"method":"x","params":"` + strings.Repeat("x", 1<<20) + `"}` + "\n"
		n := 0
		for range 64 {
			m, err := io.WriteString(r.server, message)
			n += m
			if err != nil {
				break
			}
		}
		taken <- n
	}()
	r.hears(r.toClient, `{"method":"first"}`)
	r.end()
	if n := <-taken; n > 16<<20 {
		t.Errorf("%d bytes were taken in with nobody to read them", n)
	}
}

// TestPanic rejects a call that cannot be decided about.
func TestPanic(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, func(hook.Event) hook.Decision { panic("oh") })
	r.clientSays(harmless)
	if got := r.next(r.toClient); !strings.Contains(got, "gate could not decide: gate failed: oh") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
}
