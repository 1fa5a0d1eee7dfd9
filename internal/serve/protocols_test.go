package serve

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/interceptors"
)

// deciding answers as the adapter that is asked for, with a yes, and counts.
func deciding(n *atomic.Int32) func(context.Context, Question) Reply {
	return func(_ context.Context, q Question) Reply {
		n.Add(1)
		adapter, known := adapters.Lookup(q.Agent)
		if !known {
			adapter = adapters.Interceptor()
		}
		ev, err := adapter.Parse(q.Body, "")
		d := hook.Decision{ID: "abc123", Event: ev.Name, Effect: hook.Allow}
		if err != nil {
			d.Effect, d.Fault = hook.Deny, &hook.Fault{Kind: hook.FaultEvent, Err: err}
		}
		return Reply{Answer: adapter.Render(&ev, &d), Decision: &d, Document: func() map[string]any { return map[string]any{} }}
	}
}

const (
	intercept = `{"jsonrpc":"2.0","id":"1","method":"interceptor/invoke","params":{"name":"gate","event":"tools/call","phase":"request","payload":{"name":"x","arguments":{}},"context":{"sessionId":"s"}}}`
	evaluated = `{"subject":{"type":"agent","id":"a"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"x"}}`
)

// permissive reports an answer that lets something run.
func permissive(body string) bool {
	return strings.Contains(body, `"valid":true`) || strings.Contains(body, `"decision":true`) || strings.Contains(body, `"decision":"allow"`) || strings.Contains(body, `"modified"`)
}

// malformedBodies are bodies of each protocol that nobody may take for a question.
func malformedBodies(good string, swaps ...string) (list []string) {
	list = []string{
		"", " ", "null", "[]", "[" + good + "]", good + good, good[:len(good)-1], good + "x", "\xef\xbb\xbf" + good, "\x00" + good,
		strings.Replace(good, "{", `{"\ud800":1,`, 1), strings.Replace(good, "{", "{\"a\":\"\xff\",", 1),
		strings.Replace(good, "{", `{"a":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+",", 1),
	}
	for i := 0; i+1 < len(swaps); i += 2 {
		list = append(list, strings.Replace(good, swaps[i], swaps[i+1], 1))
	}
	return list
}

// TestMalformed sends what is no question in each of three protocols. Nothing is decided
// about, and no answer lets anything run.
func TestMalformed(t *testing.T) {
	var n atomic.Int32
	addr := start(t, Options{Decide: deciding(&n), Guardian: guarding(t, func() { n.Add(1) })})
	if status, body := say(t, addr, bare("/acs", acsRequest(1, "handshake/hello", "1", acsHello))); status != 200 {
		t.Fatalf("hello: %d %s", status, body)
	}
	step := acsRequest(1, "steps/toolCallRequest", "2", acsCall)
	json := func(path, body string) string { return post(path, body, "Content-Type: application/json") }
	tried := 0
	for path, bodies := range map[string][]string{
		"/mcp": malformedBodies(intercept, `"2.0"`, `"1.0"`, `"id":"1"`, `"id":null`, `"id":"1"`, `"id":{}`, `"id":"1"`, `"ID":"1"`, `interceptor/invoke`, `interceptor/Invoke`, `"params":{`, `"params":[{`,
			`"name":"gate"`, `"name":"other"`, `"name":"gate"`, `"name":7`, `"name":"gate"`, `"name":"gate","name":"gate"`, `"event":"tools/call"`, `"event":"Tools/Call"`,
			`"phase":"request"`, `"phase":"both"`, `"phase":"request"`, `"phase":"Request"`, `"payload":{"name":"x","arguments":{}}`, `"payload":7`,
			`"arguments":{}`, `"arguments":[]`, `"arguments":{}`, `"Arguments":{}`, `"name":"x"`, `"name":""`, `"name":"x"`, `"name":"x","task":{}`, `{"name":"x","arguments":{}}`, `{"method":"ping","params":{"name":"x"}}`,
			`"context":{`, `"timeoutMs":0,"context":{`, `"context":{"sessionId":"s"}`, `"context":7`, `"payload":{`, `"config":{"server":7},"payload":{`),
		"/access/v1/evaluation": malformedBodies(evaluated, `"subject"`, `"Subject"`, `"id":"a"`, `"id":7`, `"id":"x"`, `"id":""`, `{"subject"`, `{"context":[],"subject"`,
			`{"subject"`, `{"context":{"gate":{"event":{"hook_event_name":"Stop"}}},"subject"`, `{"subject"`, `{"action":{"name":"y"},"subject"`, `"id":"x"`, `"id":"x","properties":{"arguments":7}`),
		"/acs": append(malformedBodies(step, `"name":"x"`, `"name":"y"`, `"0.1.0"`, `"0.2.0"`, `steps/toolCallRequest`, `steps/turnEnd`, `"signature"`, `"Signature"`, `HMAC-SHA256`, `none`), acsRequest(2, "steps/toolCallRequest", "3", acsCall)),
	} {
		for i, body := range bodies {
			if path == "/mcp" && body == intercept || path == "/acs" && body == step || path != "/mcp" && body == evaluated {
				t.Errorf("%s %d is not malformed", path, i)
			}
			tried++
			if status, answer := say(t, addr, json(path, body)); permissive(answer) || status == 0 {
				t.Errorf("%s %.120q: %d %.200s", path, body, status, answer)
			}
		}
	}
	if n.Load() != 0 || tried < 60 {
		t.Errorf("%d of %d were decided about", n.Load(), tried)
	}
	if _, answer := say(t, addr, json("/acs", step)); !permissive(answer) {
		t.Errorf("the step itself: %s", answer)
	}
	if _, answer := say(t, addr, json("/acs", step)); permissive(answer) {
		t.Errorf("replayed: %s", answer)
	}
}

// TestStrangersOfProtocols has wrong hosts, pages, large and slow bodies at each address.
func TestStrangersOfProtocols(t *testing.T) {
	var n atomic.Int32
	addr := start(t, Options{Decide: deciding(&n)}, func(s *Server) { s.limits.read = 200 * time.Millisecond })
	for path, row := range map[string]struct {
		body string
		most int
	}{"/mcp": {intercept, interceptors.MaxBody}, "/access/v1/evaluation": {evaluated, 1 << 20}} {
		good := post(path, row.body, "Content-Type: application/json")
		large := `{"a":"` + strings.Repeat("x", row.most) + `",` + row.body[1:]
		for name, request := range map[string]string{
			"another host": strings.Replace(good, "Host: localhost", "Host: gate.example", 1),
			"a page":       strings.Replace(good, "Host: localhost", "Host: localhost\nOrigin: http://localhost", 1),
			"no token":     bare(path, row.body),
			"read":         strings.Replace(good, "POST", "GET", 1),
			"as text":      post(path, row.body, "Content-Type: text/plain"),
			"compressed":   post(path, row.body, "Content-Type: application/json", "Content-Encoding: gzip"),
			"large":        post(path, large, "Content-Type: application/json"),
			"chunked":      fmt.Sprintf("POST %s HTTP/1.1\nHost: localhost\nAuthorization: Bearer %s\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n%x\n%s\n0\n\n", path, token, len(large), large),
			"slow":         good[:len(good)-1],
		} {
			if status, body := say(t, addr, request); status == 200 || permissive(body) {
				t.Errorf("%s %s: %d %.200s", path, name, status, body)
			}
		}
		before := n.Load()
		if status, body := say(t, addr, good); before != 0 || status != 200 || !permissive(body) || n.Load() != 1 {
			t.Errorf("%s: %d were decided about, and then: %d %.200s", path, before, status, body)
		}
		n.Store(0)
	}
}

// TestConnectionsOfProtocols has 200 clients of two protocols, some of which never finish.
// Nothing is left of them.
func TestConnectionsOfProtocols(t *testing.T) {
	var n atomic.Int32
	goroutines, files := runtime.NumGoroutine(), openFiles()
	ctx, stop := context.WithCancel(t.Context())
	s := New(Options{Decide: deciding(&n), State: func() State { return State{} }, Token: token})
	list, err := Loopback(0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, list...) }()
	var all sync.WaitGroup
	for i := range 200 {
		path, body := "/mcp", intercept
		if i%2 == 1 {
			path, body = "/access/v1/evaluation", evaluated
		}
		all.Go(func() {
			c, err := net.Dial("tcp", list[0].Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			request := strings.ReplaceAll(post(path, body, "Content-Type: application/json"), "\n", "\r\n")
			if i%5 == 4 {
				fmt.Fprint(c, request[:len(request)-1])
				return
			}
			fmt.Fprint(c, request)
			if status, answer := hear(t, bufio.NewReader(c)); status != 200 || !permissive(answer) {
				t.Errorf("%d: %d %.200s", i, status, answer)
			}
		})
	}
	all.Wait()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range 100 { // what has been told to end needs a moment
		if runtime.NumGoroutine() <= goroutines && openFiles() <= files {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines and %d files before, %d and %d after", goroutines, files, runtime.NumGoroutine(), openFiles())
}
