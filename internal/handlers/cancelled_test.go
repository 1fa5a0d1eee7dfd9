//go:build linux

package handlers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/moment"
	"gate/internal/setting"
)

// TestStopped holds that a hook of each kind and dialect which is stopped, by its
// time or by whoever waits for it, was cancelled, and that progress tells of its
// start and of its end.
func TestStopped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	o := testOptions(t)
	o.MCPServers = map[string]setting.MCPServer{"s": {URL: server.URL, Authority: hook.User}}
	o.MCP = func(ctx context.Context, _ mcptool.Way) (mcptool.Session, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	o.Inline = map[string]Inline{"h": func(ctx context.Context, _ *hook.Event) (hook.Verdict, error) {
		<-ctx.Done()
		return hook.Verdict{}, ctx.Err()
	}}
	o.Judge = judge.New(judge.Options{
		Settings: must(setting.Combine(setting.Layer{
			File: "user", Authority: hook.User,
			Providers: map[string]setting.Provider{"p": {Type: "openai", URL: server.URL, Model: "m"}},
		})),
		Models: func(setting.Provider, string) (judge.Model, error) {
			return func(ctx context.Context, _ string, _ []judge.Message, _ *judge.Toolbox) (judge.Reply, error) {
				<-ctx.Done()
				return judge.Reply{}, ctx.Err()
			}, nil
		},
	})
	run := map[string]any{"command": "sleep 60"}
	ask := map[string]any{"prompt": "Safe?"}
	post := map[string]any{"url": server.URL}
	call := map[string]any{"server": "s", "tool": "scan"}
	for _, row := range []struct {
		kind    hook.Kind
		dialect hook.Dialect
		config  map[string]any
	}{
		{hook.Command, "", run}, {hook.Command, moment.Claude, run}, {hook.Command, moment.Cocode, run},
		{hook.Command, moment.Zeph, run}, {hook.Command, moment.MassGen, run}, {hook.Command, moment.CodeWhale, run},
		{hook.Webhook, "", post}, {hook.Webhook, moment.Cocode, post}, {hook.MCPTool, "", call}, {hook.MCPTool, moment.Zeph, call},
		{hook.Prompt, "", ask}, {hook.Prompt, moment.Cocode, ask}, {hook.Agent, "", ask}, {hook.Agent, moment.Cocode, ask},
		{hook.Inline, "", nil},
	} {
		by := &hook.Hook{ID: "h", Kind: row.kind, Dialect: row.dialect, Authority: hook.User, Config: row.config}
		for _, way := range []string{"late", "stopped"} {
			t.Run(fmt.Sprint(row.kind, " ", nameOf(row.dialect), " ", way), func(t *testing.T) {
				t.Parallel()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if way == "late" {
					ctx, stop = context.WithTimeout(ctx, 100*time.Millisecond)
					defer stop()
				}
				h := New(o)
				var seen []hook.Outcome
				for p := range Watch(ctx, func(ctx context.Context) {
					h.Evaluator(row.kind).Evaluate(ctx, []*hook.Hook{by}, testEvent(t, false))
				}) {
					if seen = append(seen, p.Outcome); way == "stopped" {
						stop()
					}
				}
				if want := []hook.Outcome{"", hook.Cancelled}; !slices.Equal(seen, want) {
					t.Errorf("%q", seen)
				}
			})
		}
	}
}
