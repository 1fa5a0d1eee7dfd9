//go:build linux

package handlers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/setting"
)

// TestMCPRemote holds what is made of servers behind streamable HTTP.
func TestMCPRemote(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "scanner", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "check", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return called(ctx, req, "text", 0, `{"decision": "block", "reason": "no"}`)
	})
	real := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var strangers atomic.Int32
	for name, c := range map[string]struct {
		serve func(http.ResponseWriter, *http.Request)
		want  string
	}{
		"a server": {real.ServeHTTP, `deny "no"`},
		"it does not say goodbye": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
			}
			real.ServeHTTP(w, r)
		}, `deny "no"`},
		"out of order": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "fault eval: h: scanner answered with status 500"},
		"not for us":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "fault eval: h: scanner answered with status 401"},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "fault eval: h: nothing came from scanner: "},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/other") {
				strangers.Add(1)
			}
			http.Redirect(w, r, "http://localhost:1/other", http.StatusTemporaryRedirect)
		}, "fault eval: h: scanner answered with status 307"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "fault timeout: h did not answer in time: "},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for chunk := []byte(strings.Repeat(" ", 1<<16)); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "fault output: h: scanner said more than 4096 KiB"},
		"endless events": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, "event: message\ndata: "+strings.Repeat("x", 1<<16)+"\n\n"); err != nil {
					return
				}
			}
		}, "fault "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("User-Agent") != "gate/devel" {
					t.Errorf("headers: %v", r.Header)
				}
				c.serve(w, r)
			}))
			t.Cleanup(func() {
				s.CloseClientConnections()
				s.Close()
			})
			o := testOptions(t)
			o.Getenv = func(string) (string, bool) { return "s3cret", true }
			o.MCPServers = map[string]setting.MCPServer{"scanner": {
				URL: s.URL, Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, Env: []string{"TOKEN"},
			}}
			by := &hook.Hook{ID: "h", Kind: hook.MCPTool, Config: map[string]any{"server": "scanner", "tool": "check"}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if name == "silent" {
				ctx, cancel = context.WithTimeout(ctx, 500*time.Millisecond)
				defer cancel()
			}
			got := describe(New(o).Evaluator(hook.MCPTool).Evaluate(ctx, []*hook.Hook{by}, testEvent(t, false))[0])
			if !strings.HasPrefix(got, c.want) || strings.Contains(got, "s3cret") {
				t.Errorf("got %s, want %s", got, c.want)
			}
			t.Log(got)
		})
	}
	if strangers.Load() > 0 {
		t.Error("a stranger was asked")
	}
}

// TestMCPServers holds which servers and inputs a hook may have.
func TestMCPServers(t *testing.T) {
	o := testOptions(t)
	o.MCPServers = map[string]setting.MCPServer{
		"managed": {Command: "gate-test-no-such-program", Authority: hook.Managed},
		"user":    {URL: "http://acme.test", Authority: hook.User},
	}
	h := New(o)
	for _, c := range []struct {
		server string
		a      hook.Authority
		input  any
		want   string
	}{
		{"managed", hook.Managed, nil, "fault eval: h cannot ask managed: there is no program gate-test-no-such-program in PATH"},
		{"managed", hook.Project, nil, "fault eval: h cannot ask managed: there is no program gate-test-no-such-program in PATH"},
		{"user", hook.User, nil, "fault eval: h cannot ask user: its url must begin with https://, or with http:// and this machine's own name"},
		{"user", hook.Managed, nil, "fault load: h: mcpServers of managed settings name no user, but managed"},
		{"other", hook.User, nil, "fault load: h: mcpServers of managed or user settings name no other, but managed, user"},
		{"managed", hook.User, map[string]any{"x": "${tool_input.path}"}, "fault eval: h cannot ask managed: the event has no tool_input.path"},
	} {
		by := &hook.Hook{ID: "h", Kind: hook.MCPTool, Authority: c.a, Config: map[string]any{"server": c.server, "tool": "check"}}
		if c.input != nil {
			by.Config["input"] = c.input
		}
		if got := describe(h.mcpTool(t.Context(), by, testEvent(t, false))); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	by := &hook.Hook{Dialect: moment.Zeph, Config: map[string]any{"input": map[string]any{"x": "${y}"}}}
	if in, err := toolInput(by, testEvent(t, false)); err != nil || string(in) != `{"x":"${y}"}` {
		t.Errorf("zeph: %s, %v", in, err)
	}
}
