package serve

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
)

// TestRefuses sends what no agent and no honest program sends. Nothing is
// decided about, and who asked as an agent is told no.
func TestRefuses(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide})
	ls := event("PreToolUse", "ls")
	bare := func(path string, headers ...string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\n%sContent-Length: %d\n\n%s", path, lines(headers), len(ls), ls)
	}
	const host, bearer = "Host: localhost", "Authorization: Bearer " + token
	for name, test := range map[string]struct {
		headers []string
		status  int // on an address for programs
	}{
		"no token":        {[]string{host}, 401},
		"wrong token":     {[]string{host, "Authorization: Bearer " + strings.ToUpper(token)}, 401},
		"short token":     {[]string{host, "Authorization: Bearer " + token[:31]}, 401},
		"empty token":     {[]string{host, "Authorization: Bearer "}, 401},
		"other scheme":    {[]string{host, "Authorization: Basic " + token}, 401},
		"two tokens":      {[]string{host, "Authorization: Bearer x", bearer}, 401},
		"another host":    {[]string{"Host: gate.example", bearer}, 421},
		"with our port":   {[]string{"Host: evil.example:" + addr[strings.LastIndex(addr, ":")+1:], bearer}, 421},
		"looks local":     {[]string{"Host: localhost.evil.example", bearer}, 421},
		"odd port":        {[]string{"Host: localhost:80@evil.example", bearer}, 400},
		"no host":         {[]string{"Host:", bearer}, 421},
		"a web page":      {[]string{host, bearer, "Origin: http://localhost"}, 403},
		"a page of none":  {[]string{host, bearer, "Origin: null"}, 403},
		"a page's script": {[]string{host, bearer, "Sec-Fetch-Site: same-origin"}, 403},
		"compressed":      {[]string{host, bearer, "Content-Encoding: gzip"}, 415},
		"two lengths":     {[]string{host, bearer, "Content-Length: 1"}, 400},
		"blank in name":   {[]string{host, bearer, "Content-Length : 3"}, 400},
	} {
		if status, body := say(t, addr, bare("/v1/decide", test.headers...)); status != test.status {
			t.Errorf("%s: %d %s", name, status, body)
		}
		status, body := say(t, addr, bare("/hook/claude/PreToolUse", test.headers...))
		if status == 200 && !strings.Contains(body, `"permissionDecision":"deny"`) || status != 200 && status != 400 {
			t.Errorf("%s, as an agent: %d %s", name, status, body)
		}
	}
	for name, request := range map[string]string{
		"reads":          "GET /v1/decide HTTP/1.1\nHost: localhost\nAuthorization: Bearer " + token + "\n\n",
		"nothing":        post("/", ls),
		"deeper":         post("/hook/claude/PreToolUse/x", ls),
		"dots":           post("/hook/../v1/decide", ls),
		"agent":          post("/v1/decide?agent=nobody", ls),
		"hook agent":     post("/hook/nobody/PreToolUse", ls),
		"time-out":       post("/v1/decide?timeout=-1s", ls),
		"whole address":  post("http://evil.example/v1/decide", ls),
		"metrics":        "GET /metrics HTTP/1.1\nHost: localhost\n\n",
		"post health":    post("/health", ""),
		"options":        "OPTIONS * HTTP/1.1\nHost: localhost\n\n",
		"huge header":    post("/v1/decide", ls, "X: "+strings.Repeat("x", 64<<10)),
		"other protocol": "PRI * HTTP/2.0\n\nSM\n\n",
	} {
		if status, body := say(t, addr, request); status < 400 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := a.n.Load(); n != 0 {
		t.Errorf("%d questions were decided about", n)
	}
}

// TestSmuggles sends one request inside another. Whatever is made of it, a
// request without the token is refused.
func TestSmuggles(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide})
	inner := fmt.Sprintf("POST /hook/claude/PreToolUse HTTP/1.1\nHost: localhost\nContent-Length: %d\n\n%s", len(event("PreToolUse", "ls")), event("PreToolUse", "ls"))
	for name, first := range map[string]string{
		"both lengths": "POST /v1/decide HTTP/1.1\nHost: localhost\nAuthorization: Bearer " + token + "\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\n\n" + inner,
		"pipelined":    post("/v1/decide", event("PreToolUse", "ls")) + inner,
	} {
		a.n.Store(0)
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		talk(t, c, in, first)
		if status, body := hear(t, in); status == 200 && !strings.Contains(body, `"permissionDecision":"deny"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if n := a.n.Load(); n > 1 {
			t.Errorf("%s: %d questions were decided about", name, n)
		}
		c.Close()
	}
}

// TestLarge sends more than an event may have, as an agent. It is told no.
func TestLarge(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide})
	body := `{"x":"` + strings.Repeat("x", adapters.MaxEvent) + `"}`
	chunk := fmt.Sprintf("POST /hook/claude/PreToolUse HTTP/1.1\nHost: localhost\nAuthorization: Bearer %s\nTransfer-Encoding: chunked\n\n%x\n%s\n0\n\n", token, len(body), body)
	for _, request := range []string{post("/hook/claude/PreToolUse", body), chunk} {
		if status, answer := say(t, addr, request); status != 200 || !strings.Contains(answer, `"permissionDecision":"deny"`) {
			t.Errorf("%d %.200s", status, answer)
		}
	}
	if n := a.n.Load(); n != 0 {
		t.Errorf("%d questions were decided about", n)
	}
}

// TestSlow has somebody who never finishes: the header, or the event. Neither
// keeps the server from ending the connection.
func TestSlow(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide}, func(s *Server) { s.limits.header = 20 * time.Millisecond })
	if status, body := say(t, addr, "POST /hook/claude/PreToolUse HTTP/1.1\nHost: localhost\n"); status != 0 && status < 400 {
		t.Errorf("header: %d %s", status, body)
	}
	addr = start(t, Options{Decide: a.decide}, func(s *Server) { s.limits.read = 40 * time.Millisecond })
	unfinished := strings.TrimSuffix(post("/hook/claude/PreToolUse", event("PreToolUse", "ls")), "}")
	if status, body := say(t, addr, unfinished); status != 200 || !strings.Contains(body, `"permissionDecision":"deny"`) {
		t.Errorf("event: %d %s", status, body)
	}
	if n := a.n.Load(); n != 0 {
		t.Errorf("%d questions were decided about", n)
	}
}

// TestReadLimit has a decision take longer than a request may: its context
// lives on.
func TestReadLimit(t *testing.T) {
	addr := start(t, Options{Decide: func(ctx context.Context, q Question) Reply {
		select {
		case <-ctx.Done():
		case <-time.After(1500 * time.Millisecond):
		}
		d := hook.Decision{ID: "x", Effect: hook.Pass}
		if ctx.Err() != nil {
			d.Effect = hook.Deny
		}
		return Reply{Decision: &d, Document: func() map[string]any { return map[string]any{"id": d.ID, "effect": d.Effect.String()} }}
	}}, func(s *Server) { s.limits.header, s.limits.read = time.Second, time.Second })
	if status, body := say(t, addr, post("/v1/decide", "{}")); status != 200 || !strings.Contains(body, `"pass"`) {
		t.Errorf("%d %s", status, body)
	}
}
