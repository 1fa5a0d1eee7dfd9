package mcpproxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gate/hook"
	"gate/internal/mcpproxy"
)

type place struct {
	At string `json:"at"`
}

// TestRemote has the SDK's client talk through the proxy to the SDK's server
// behind streamable HTTP, in all the ways that the server has to answer.
func TestRemote(t *testing.T) {
	for name, o := range map[string]mcp.StreamableHTTPOptions{
		"events": {}, "JSON": {JSONResponse: true}, "no session": {Stateless: true},
	} {
		for _, version := range mcp.SupportedProtocolVersions() {
			t.Run(name+" "+version, func(t *testing.T) { remote(t, o, version) })
		}
	}
}

func remote(t *testing.T, o mcp.StreamableHTTPOptions, version string) {
	var ran atomic.Int32
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "look"}, func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
		ran.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "blue\r\n\u2028" + in.At}}}, nil, nil
	})
	var bare atomic.Int32 // requests without the header
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &o)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Token") != "secret" {
			bare.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	defer h.Close()
	server, err := mcpproxy.Dial(h.URL, http.Header{"X-Token": {"secret"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	clientIn, clientSays := io.Pipe()
	clientHears, clientOut := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcpproxy.Run(t.Context(), mcpproxy.Stream{In: clientIn, Out: clientOut}, server, mcpproxy.Options{
			Decide: func(_ context.Context, ev hook.Event) hook.Decision {
				if ev.Tool() != "" && ev.Tool() != "mcp__shop__look" || ev.ToolInput()["at"] == "sea" {
					return deny("no")
				}
				return hook.Decision{}
			},
		})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientHears, Writer: clientSays}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{"sky": "blue\r\n\u2028sky", "sea": "no (gate abc123)"} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "look", Arguments: place{At: at}})
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*mcp.TextContent).Text; text != want || result.IsError != (at == "sea") {
			t.Errorf("%s: %q", at, text)
		}
	}
	if n := ran.Load(); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
	session.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := bare.Load(); n > 0 {
		t.Errorf("%d requests lack the header", n)
	}
}

// TestRemoteFails has servers that do not answer as they should. Each request
// gets an error that says why.
func TestRemoteFails(t *testing.T) {
	events := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
	}
	long := strings.Repeat("x", mcpproxy.MaxMessage+1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	for _, c := range []struct {
		name, want string
		handle     http.HandlerFunc
	}{
		{"status", "status 500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
		{"an answer beside a status", `"code":-1`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(400)
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}`)
		}},
		{"redirect", "gate does not follow", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}},
		{"a page", "ends before the result", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }},
		{"nothing", "ends before the result", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }},
		{"no events", "ends before the result", func(w http.ResponseWriter, _ *http.Request) { events(w, ": hello\n\ndata: {}\n\n") }},
		{"half an event", "ends before the result", func(w http.ResponseWriter, _ *http.Request) { events(w, `data: {"jsonrpc":"2.0","id":1,"result":{}}`) }},
		{"another's answer", "ends before the result", func(w http.ResponseWriter, _ *http.Request) {
			events(w, `data: {"jsonrpc":"2.0","id":2,"result":{}}`+"\n\n")
		}},
		{"a long event", "longer than", func(w http.ResponseWriter, _ *http.Request) { events(w, "data: "+long+"\n\n") }},
		{"a long line", "longer than", func(w http.ResponseWriter, _ *http.Request) { events(w, long+long[:4<<10]) }},
		{"a long event of short lines", "longer than", func(w http.ResponseWriter, _ *http.Request) {
			events(w, strings.Repeat("data: "+long[:1<<20]+"\n", 18))
		}},
		{"a long answer", "longer than", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, long)
		}},
		{"a broken connection", "EOF", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := httptest.NewServer(c.handle)
			defer h.Close()
			if got := ask(t, h.URL); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":`) || !strings.Contains(got, c.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// ask sends a request and returns what comes back.
func ask(t *testing.T, url string) string {
	t.Helper()
	s, err := mcpproxy.Dial(url, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	heard := lineChan(s.Stream().In)
	fmt.Fprintln(s.Stream().Out, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	for got := range heard {
		if strings.Contains(got, `"id":1,`) {
			return got
		}
	}
	return ""
}

// TestRemoteBusy refuses requests beyond those that may be under way, and the
// address, which may hold a secret, is in no error.
func TestRemoteBusy(t *testing.T) {
	release := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-release
		panic(http.ErrAbortHandler)
	}))
	defer h.Close()
	s, err := mcpproxy.Dial(h.URL+"?key=SECRET", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	heard := lineChan(s.Stream().In)
	for i := range 33 {
		fmt.Fprintf(s.Stream().Out, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
	}
	if got := <-heard; !strings.Contains(got, `"id":32,`) || !strings.Contains(got, "32 requests are under way already") {
		t.Errorf("got %s", got)
	}
	close(release)
	for range 32 {
		if got := <-heard; !strings.Contains(got, "EOF") || strings.Contains(got, "SECRET") {
			t.Errorf("got %s", got)
		}
	}
}

// TestRemoteResumes takes an event stream up again that ended before its answer.
func TestRemoteResumes(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			io.WriteString(w, "id: seven\nretry: 0\ndata: {\"method\":\"x\"}\n\n")
			return
		}
		if got := r.Header.Get("Last-Event-Id"); got != "seven" {
			t.Errorf("last event %q", got)
		}
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1, \"result\":{}}\n\n")
	}))
	defer h.Close()
	if got := ask(t, h.URL); got != `{"jsonrpc":"2.0", "id":1, "result":{}}` {
		t.Errorf("got %s", got)
	}
}

// TestDial refuses addresses that would send what should stay here.
func TestDial(t *testing.T) {
	good := []string{"https://example.com/mcp?a=b", "http://localhost:80/mcp", "http://127.0.0.1/", "http://[::1]:8080"}
	for _, address := range append(good, "http://example.com", "ftp://example.com", "https://", "https://me:secret@example.com",
		"https://example.com/#x", "//example.com", "", "http://localhost.example.com", "http://10.0.0.1", ":") {
		s, err := mcpproxy.Dial(address, nil, nil)
		if (err == nil) != slices.Contains(good, address) {
			t.Errorf("%q: %v", address, err)
		}
		if err == nil {
			s.Stop()
		}
	}
}
