package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
		t.Fatal(err)
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
	addr := start(t, Options{Decide: a.decide}, func(s *Server) {
		s.limits.header, s.limits.read = 20*time.Millisecond, 40*time.Millisecond
	})
	if status, body := say(t, addr, "POST /hook/claude/PreToolUse HTTP/1.1\nHost: localhost\n"); status != 0 && status < 400 {
		t.Errorf("header: %d %s", status, body)
	}
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
		case <-time.After(200 * time.Millisecond):
		}
		d := hook.Decision{ID: "x", Effect: hook.Pass}
		if ctx.Err() != nil {
			d.Effect = hook.Deny
		}
		return Reply{Decision: &d, Document: func() map[string]any { return map[string]any{"id": d.ID, "effect": d.Effect.String()} }}
	}}, func(s *Server) { s.limits.header, s.limits.read = 50*time.Millisecond, 50*time.Millisecond })
	if status, body := say(t, addr, post("/v1/decide", "{}")); status != 200 || !strings.Contains(body, `"pass"`) {
		t.Errorf("%d %s", status, body)
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

// TestSocket has only the account itself and root be answered, and no server
// take another one's place.
func TestSocket(t *testing.T) {
	if !knowsPeers {
		t.Skip("the system does not say who asks")
	}
	dir, err := os.MkdirTemp("", "s") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "serve", "gate.sock")
	l, err := Socket(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Socket(path); err == nil || !strings.Contains(err.Error(), "another gate serve") {
		t.Errorf("a second server: %v", err)
	}
	own := l.(*boundedListener).Listener.(*ownListener)
	var uid atomic.Int64
	own.peer = func(*net.UnixConn) (int, error) {
		if uid.Load() < 0 {
			return 0, errors.New("unknown")
		}
		return int(uid.Load()), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	s := New(Options{Decide: new(asks).decide, State: func() State { return State{} }})
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	request := strings.Replace(post("/v1/decide", event("PreToolUse", "ls")), "Authorization: Bearer "+token+"\n", "", 1)
	for id, want := range map[int64]int{int64(os.Geteuid()): 200, 0: 200, 4242: 0, -1: 0} {
		uid.Store(id)
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")) // the other side may be gone
		if status, body := hear(t, bufio.NewReader(c)); status != want {
			t.Errorf("account %d: %d %s", id, status, body)
		}
		c.Close()
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close() // as one that was killed leaves it
	if l, err = Socket(path); err != nil {
		t.Fatalf("in the place of one that is gone: %v", err)
	}
	l.Close()
	if err := os.Chmod(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := Socket(path); err == nil {
		t.Error("a directory that others may use was taken")
	}
}

// TestPort has nobody else hold the port of one of the addresses.
func TestPort(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("there is no ::1 here")
	}
	defer l.Close()
	if list, err := Loopback(l.Addr().(*net.TCPAddr).Port); err == nil {
		t.Errorf("listens on %v", list[0].Addr())
	}
}

// TestToken has the token made once, and be nobody else's.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve", "token")
	first, err := Token(path)
	if err != nil || len(first) < minToken {
		t.Fatalf("%q %v", first, err)
	}
	if again, err := Token(path); err != nil || again != first {
		t.Errorf("%q %v", again, err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(path); err == nil {
		t.Error("a short token was taken")
	}
	if os.PathSeparator == '\\' {
		return
	}
	for name, spoil := range map[string]func() error{
		"others may read it": func() error { return os.WriteFile(path, []byte(first), 0o644) },
		"a link":             func() error { return os.Symlink("other", path) },
	} {
		os.Remove(path)
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := Token(path); err == nil {
			t.Errorf("%s: %q", name, got)
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
