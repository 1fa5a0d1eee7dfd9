package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
)

const token = "0123456789abcdef0123456789abcdef"

// asks counts questions and answers "no" to those whose event says so.
type asks struct{ n atomic.Int32 }

func (a *asks) decide(_ context.Context, q Question) Reply {
	a.n.Add(1)
	adapter, _ := adapters.Lookup(q.Agent)
	ev, err := adapter.Parse(q.Body, "")
	d := hook.Decision{ID: "abc123", Event: ev.Name, Tool: ev.Tool()}
	switch line, _ := ev.ToolInput()["command"].(string); {
	case err != nil:
		ev.Name = q.Event
		d.Effect, d.Fault = hook.Deny, &hook.Fault{Kind: hook.FaultEvent, Err: err}
	case line == "panic":
		panic("a mistake")
	case line == "no":
		d.Effect, d.Reasons = hook.Deny, []hook.Reason{{ID: "a.b", Effect: hook.Deny, Reason: "it says no"}}
	}
	return Reply{Answer: adapter.Render(&ev, &d), Decision: &d, Document: func() map[string]any {
		return map[string]any{"id": d.ID, "effect": d.Effect.String()}
	}}
}

// start has a server answer on a free port of 127.0.0.1, and returns its
// address. It is stopped at the end of the test.
func start(t *testing.T, o Options, change ...func(*Server)) string {
	t.Helper()
	if o.State == nil {
		o.State = func() State { return State{} }
	}
	o.Token = token
	s := New(o)
	for _, c := range change {
		c(s)
	}
	list, err := Loopback(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, list...) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return list[0].Addr().String()
}

// say sends bytes and returns the first answer.
func say(t *testing.T, addr, request string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return talk(t, c, bufio.NewReader(c), request)
}

func talk(t *testing.T, c net.Conn, in *bufio.Reader, request string) (status int, body string) {
	t.Helper()
	if _, err := io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		t.Log(err) // a server that refuses may hang up before it has all of it
	}
	return hear(t, in)
}

func hear(t *testing.T, in *bufio.Reader) (status int, body string) {
	t.Helper()
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body) // a server that refuses does not wait until all was read
	return res.StatusCode, string(data)
}

// post is a request for the given path with the token.
func post(path, body string, headers ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\nHost: localhost\nAuthorization: Bearer %s\n%sContent-Length: %d\n\n%s",
		path, token, lines(headers), len(body), body)
}

func lines(headers []string) (text string) {
	for _, h := range headers {
		text += h + "\n"
	}
	return text
}

func event(name, line string) string {
	return fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","transcript_path":"/t","cwd":"/home/dev","tool_name":"Bash","tool_use_id":"u","tool_input":{"command":%q}}`, name, line)
}

// TestAnswers has agents and programs get what they understand: an agent that
// is told no reads it in the JSON of a good status, or in a bad one.
func TestAnswers(t *testing.T) {
	addr := start(t, Options{Decide: new(asks).decide})
	for name, test := range map[string]struct {
		request string
		status  int
		want    string // in the body
	}{
		"yes":              {post("/hook/claude/PreToolUse", event("PreToolUse", "ls")), 200, "{}"},
		"no":               {post("/hook/claude/PreToolUse", event("PreToolUse", "no")), 200, `"permissionDecision":"deny"`},
		"no event in path": {post("/hook/claude", event("PreToolUse", "no")), 200, `"permissionDecision":"deny"`},
		"panic":            {post("/hook/claude/PreToolUse", event("PreToolUse", "panic")), 200, `"permissionDecision":"deny"`},
		"unreadable":       {post("/hook/claude/PreToolUse", `{"a":1,"a":2}`), 200, `"permissionDecision":"deny"`},
		"empty":            {post("/hook/claude/PreToolUse", ""), 200, `"permissionDecision":"deny"`},
		"no such form":     {post("/hook/claude", ""), 403, "gate"},
		"worktree":         {post("/hook/claude/WorktreeCreate", ""), 403, "gate"},
		"generic":          {post("/hook/generic", event("PreToolUse", "no")), 200, `"result":"reject"`},
		"decide":           {post("/v1/decide", event("PreToolUse", "no")), 200, `"effect":"deny"`},
		"decide as claude": {post("/v1/decide?agent=claude&timeout=3s", event("PreToolUse", "ls")), 200, `"effect":"pass"`},
		"decide panic":     {post("/v1/decide", event("PreToolUse", "panic")), 500, `"code":"internal_error"`},
		"opa":              {post("/v1/data/gate/decision?pretty=true&metrics", `{"input":`+event("PreToolUse", "no")+`}`), 200, `{"decision_id":"abc123","result":{"effect":"deny"`},
		"opa without":      {post("/v1/data/gate/decision", `{}`), 400, `"code":"invalid_parameter"`},
		"opa twice":        {post("/v1/data/gate/decision", `{"input":1,"input":2}`), 400, `"code":"invalid_parameter"`},
		"opa other case":   {post("/v1/data/gate/decision", `{"Input":`+event("PreToolUse", "ls")+`}`), 400, `"code":"invalid_parameter"`},
		"opa null":         {post("/v1/data/gate/decision", `{"input":null}`), 200, `"effect":"deny"`},
		"chunks": {"POST /hook/claude/PreToolUse HTTP/1.1\nHost: [::1]:80\nAuthorization: bearer " + token + "\nTransfer-Encoding: chunked\n\n" +
			fmt.Sprintf("%x\n%s\n0\n\n", len(event("PreToolUse", "no")), event("PreToolUse", "no")), 200, `"permissionDecision":"deny"`},
		"health":  {"GET /health HTTP/1.1\nHost: 127.0.0.1\n\n", 200, `"ok"`},
		"metrics": {"GET /metrics HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer " + token + "\n\n", 200, "# EOF"},
	} {
		if status, body := say(t, addr, test.request); status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestDeadline has the time that a question was under way not be given twice.
func TestDeadline(t *testing.T) {
	var got Question
	addr := start(t, Options{Decide: func(ctx context.Context, q Question) Reply {
		got = q
		return new(asks).decide(ctx, q)
	}})
	for path, most := range map[string]time.Duration{
		"/hook/claude/SessionEnd": 1500 * time.Millisecond, "/hook/claude/SessionEnd?timeout=9s": 9 * time.Second, "/v1/decide?timeout=2m": 2 * time.Minute,
	} {
		say(t, addr, post(path, event("SessionEnd", "ls")))
		if got.Timeout <= 0 || got.Timeout > most {
			t.Errorf("%s: %v", path, got.Timeout)
		}
	}
	if say(t, addr, post("/hook/claude", event("SessionEnd", "ls"))); got.Timeout != 0 {
		t.Errorf("an event that is not known yet: %v", got.Timeout)
	}
}

// TestBusy fills the server: one question is decided about, one waits, and the
// third is told no at once.
func TestBusy(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	var s *Server
	addr := start(t, Options{Parallel: 1, Waiting: 1, Decide: func(ctx context.Context, q Question) Reply {
		entered <- true
		<-leave
		return new(asks).decide(ctx, q)
	}}, func(made *Server) { s = made })
	answers := make(chan string, 2)
	ask := func() {
		_, body := say(t, addr, post("/hook/claude/PreToolUse", event("PreToolUse", "ls")))
		answers <- body
	}
	go ask()
	<-entered
	go ask()
	for s.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if status, body := say(t, addr, post("/hook/claude/PreToolUse", event("PreToolUse", "ls"))); status != 200 || !strings.Contains(body, `"permissionDecision":"deny"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := say(t, addr, post("/v1/decide", "{}")); status != 503 || !strings.Contains(body, `"busy"`) {
		t.Errorf("%d %s", status, body)
	}
	leave <- true
	<-entered
	leave <- true
	for range 2 {
		if body := <-answers; body != "{}\n" {
			t.Errorf("one that waited: %s", body)
		}
	}
}

// TestStop has an answer under way finished after the server was told to stop,
// and one that takes too long end by its context.
func TestStop(t *testing.T) {
	for name, grace := range map[string]time.Duration{"finishes": time.Minute, "is ended": time.Millisecond} {
		entered, leave := make(chan bool), make(chan bool)
		s := New(Options{Token: token, Grace: grace, State: func() State { return State{} }, Decide: func(ctx context.Context, q Question) Reply {
			entered <- true
			select {
			case <-leave:
			case <-ctx.Done():
			}
			d := hook.Decision{ID: "x", Effect: hook.Deny}
			return Reply{Decision: &d, Document: func() map[string]any { return map[string]any{"id": "x", "ended": ctx.Err() != nil} }}
		}})
		list, err := Loopback(0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served, answer := make(chan error, 1), make(chan string, 1)
		go func() { served <- s.Serve(ctx, list...) }()
		go func() {
			_, body := say(t, list[0].Addr().String(), post("/v1/decide", "{}"))
			answer <- body
		}()
		<-entered
		stop()
		if grace == time.Minute {
			close(leave)
		}
		if err := <-served; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if body := <-answer; !strings.Contains(body, fmt.Sprintf(`"ended":%v`, name == "is ended")) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// FuzzInput holds what is taken out of OPA's form against what the form says.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{`{"input": {"a": [1]}}`, `{"input":null}`, `{"input":1,"input":2}`, `{"Input":{}}`, `[]`, "{\"input\":\"\xff\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		input, err := inputOf(data)
		if err == nil && !strings.Contains(string(data), string(input)) {
			t.Errorf("%q is not in %q", input, data)
		}
	})
}
