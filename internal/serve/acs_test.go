package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/acs"
	"gate/internal/strictjson"
)

var acsKey = acs.Key{ID: "k1", Secret: bytes.Repeat([]byte("1"), 32)}

// guarding is a Guardian that allows every step. decide is asked first, if there is one.
func guarding(t *testing.T, decide func()) *acs.Guardian {
	t.Helper()
	g, err := acs.Open(t.Context(), acs.Options{Keys: []acs.Key{acsKey}, Decide: func(context.Context, []byte, bool) []byte {
		if decide != nil {
			decide()
		}
		return []byte(`{"decision":"allow"}`)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// acsRequest is a signed request of session n.
func acsRequest(n int, method, id, payload string) string {
	doc, err := strictjson.Object(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"1","method":%q,"params":{"acs_version":"0.1.0","request_id":"00000000-0000-4000-8000-%012s",
		"timestamp":%q,"metadata":{"agent_id":"a","session_id":"5c3f1b8e-9a0d-4c2e-8f4b-%012d"},"payload":%s}}`,
		method, id, time.Now().UTC().Format(time.RFC3339), n, payload), strictjson.Limits{})
	if err == nil {
		secret, _ := acs.SessionKey(acsKey.Secret, fmt.Sprintf("5c3f1b8e-9a0d-4c2e-8f4b-%012d", n))
		err = acs.Sign(secret, acsKey.ID, doc, acs.Params)
	}
	if err != nil {
		panic(err)
	}
	return string(strictjson.Append(nil, doc))
}

const (
	acsHello = `{"acs_versions_supported":["0.1.0"],"methods_implemented":["steps/toolCallRequest"],"transports_supported":["http"],"provenance_producer":"none"}`
	acsCall  = `{"tool":{"name":"x"},"arguments":{}}`
)

// bare is a request without a token.
func bare(path, body string, headers ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\nHost: localhost\nContent-Type: application/json\n%sContent-Length: %d\n\n%s", path, lines(headers), len(body), body)
}

// TestGuards answers the standard's requests without a token, and refuses what is sent by
// pages, to other hosts, too slowly, or at the wrong address.
func TestGuards(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide, Guardian: guarding(t, nil)}, func(s *Server) { s.limits.read = 200 * time.Millisecond })
	if status, body := say(t, addr, bare("/acs", acsRequest(1, "handshake/hello", "1", acsHello))); status != 200 || !strings.Contains(body, `"negotiated_version"`) {
		t.Fatalf("hello: %d %s", status, body)
	}
	call := acsRequest(1, "steps/toolCallRequest", "2", acsCall)
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"another host":   {strings.Replace(bare("/acs", call), "Host: localhost", "Host: gate.example", 1), 421},
		"looks local":    {strings.Replace(bare("/acs", call), "Host: localhost", "Host: localhost.evil.example", 1), 421},
		"a web page":     {bare("/acs", call, "Origin: http://localhost"), 403},
		"a page of none": {bare("/acs", call, "Origin: null"), 403},
		"a script":       {bare("/acs", call, "Sec-Fetch-Site: cross-site"), 403},
		"compressed":     {bare("/acs", call, "Content-Encoding: gzip"), 415},
		"reads":          {"GET /acs HTTP/1.1\nHost: localhost\n\n", 405},
		"deeper":         {post("/acs/x", call), 404},
		"half":           {strings.TrimSuffix(bare("/acs", call), "}"), 400},
		"no token":       {bare("/access/v1/evaluation", "{}"), 401},
		"page of theirs": {bare("/.well-known/authzen-configuration", "", "Origin: null"), 403},
	} {
		if status, body := say(t, addr, test.request); status != test.status || strings.Contains(body, `"allow"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	large := `{"x":"` + strings.Repeat("x", 2*acs.MaxBody) + `"}`
	for _, request := range []string{
		bare("/acs", large), fmt.Sprintf("POST /acs HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n%x\n%s\n0\n\n", len(large), large),
	} {
		if status, body := say(t, addr, request); status != 0 && (status != 200 || !strings.Contains(body, "-32600")) {
			t.Errorf("large: %d %.200s", status, body)
		}
	}
	if status, body := say(t, addr, bare("/acs", call)); status != 200 || !strings.Contains(body, `"allow"`) {
		t.Errorf("the call itself: %d %s", status, body)
	}
	other := start(t, Options{Decide: a.decide})
	if status, body := say(t, other, post("/acs", call)); status != 404 {
		t.Errorf("without keys: %d %s", status, body)
	}
}

// TestStrangers holds that requests of which nobody knows who sent them take no place from
// questions of agents.
func TestStrangers(t *testing.T) {
	var a asks
	addr := start(t, Options{Decide: a.decide, Guardian: guarding(t, nil), Parallel: 1, Waiting: 1})
	for range 20 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, strings.ReplaceAll("POST /acs HTTP/1.1\nHost: localhost\nContent-Length: 1000\n\n{", "\n", "\r\n"))
	}
	if status, body := say(t, addr, post("/v1/decide", event("PreToolUse", "ls"))); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// TestBusyGuardian has no turn come: the answer is still one that denies.
func TestBusyGuardian(t *testing.T) {
	s := New(Options{Decide: func(context.Context, Question) Reply { panic("it is asked") }, Parallel: 1, Waiting: 1})
	s.limits.queue = 10 * time.Millisecond
	s.slots <- struct{}{}
	reply := s.Ask(t.Context(), Question{Agent: "acs"})
	if got := string(reply.Answer.Stdout); !strings.Contains(got, `"decision":"deny"`) || !strings.Contains(got, "too many questions") {
		t.Errorf("%s", got)
	}
}

// TestManyConnections has 200 clients at once, honest and not. Each gets its answer, and
// nothing is left of them.
func TestManyConnections(t *testing.T) {
	var a asks
	goroutines := runtime.NumGoroutine()
	files := openFiles()
	ctx, stop := context.WithCancel(t.Context())
	s := New(Options{Decide: a.decide, State: func() State { return State{} }, Token: token, Guardian: guarding(t, nil)})
	list, err := Loopback(0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, list...) }()
	addr := list[0].Addr().String()
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			in := bufio.NewReader(c)
			if n%4 == 3 { // never finishes
				fmt.Fprintf(c, "POST /acs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
				return
			}
			if status, body := talk(t, c, in, bare("/acs", acsRequest(n, "handshake/hello", "1", acsHello))); status != 200 || !strings.Contains(body, "negotiated_version") {
				t.Errorf("hello %d: %d %.200s", n, status, body)
			}
			call := acsRequest(n, "steps/toolCallRequest", "2", acsCall)
			want := `"decision":"allow"`
			if n%4 == 2 {
				call, want = strings.Replace(call, `"name":"x"`, `"name":"y"`, 1), "-32004"
			}
			if status, body := talk(t, c, in, bare("/acs", call)); status != 200 || !strings.Contains(body, want) {
				t.Errorf("call %d: %d %.200s", n, status, body)
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

// openFiles counts the descriptors of this process, where the system lists them.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
