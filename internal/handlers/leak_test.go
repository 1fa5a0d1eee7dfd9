//go:build linux

package handlers

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/engine"
	"gate/engine/models"
	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/setting"
	"gate/scopes"
)

var runs = flag.Int("runs", 240, "how many hooks TestLeaks runs, of all kinds in turn")

// A misbehaviour is one thing that a hook does wrong, and how it is run the nth
// time. It returns what that means and what it should mean, "" for anything.
type misbehaviour struct {
	name string
	run  func(ctx context.Context, n int) (got string, a engine.Answer, want string)
}

// TestLeaks holds that hooks of every kind, many at once, with every
// misbehaviour of the tables, leave no goroutine, descriptor, file or process,
// dead ones included, and that each is answered.
func TestLeaks(t *testing.T) {
	tmp := t.TempDir()
	o := testOptions(t)
	o.Getenv = withTemp(tmp)
	mark := fmt.Sprintf("%d000", os.Getpid())
	kinds := [][]misbehaviour{commandLeaks(t, o, mark), webhookLeaks(t, o), mcpLeaks(t, o, mark), judgeLeaks(t, o)}
	var longest atomic.Int64
	one := func(n int) {
		kind := kinds[n%len(kinds)]
		n /= len(kinds)
		m := kind[n%len(kind)]
		start := time.Now()
		got, a, want := m.run(t.Context(), n/len(kind))
		took := int64(time.Since(start))
		for {
			if most := longest.Load(); took <= most || longest.CompareAndSwap(most, took) {
				break
			}
		}
		if late := a.Fault != nil && a.Fault.Kind == hook.FaultTimeout; want != "" && got != want && !late {
			t.Errorf("%s: got  %s\nwant %s, or that there was no time", m.name, got, want)
		}
	}
	for n := range kinds {
		one(n)
	}
	before, files := runtime.NumGoroutine(), descriptors(t)
	start := time.Now()
	todo := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range todo {
				one(n)
			}
		})
	}
	for n := range *runs {
		todo <- n
	}
	close(todo)
	wg.Wait()
	t.Logf("%d runs in %v, the longest %v", *runs, time.Since(start).Round(time.Millisecond), time.Duration(longest.Load()).Round(time.Millisecond))
	settled := func() bool { return runtime.NumGoroutine() <= before && descriptors(t) <= files }
	for range 1000 {
		if settled() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d goroutines, before %d; %d descriptors, before %d", runtime.NumGoroutine(), before, descriptors(t), files)
	if !settled() {
		stacks := make([]byte, 1<<20)
		t.Errorf("left over:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	nobody(t, "runs", mark)
	nobodyOfOurs(t)
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("temporary files: %v", left)
	}
}

func commandLeaks(t *testing.T, o Options, mark string) (list []misbehaviour) {
	h := New(o)
	for _, r := range readTable(t, "testdata/commands.txt").rows {
		c := commandOf(t, r)
		list = append(list, misbehaviour{r.name, func(ctx context.Context, n int) (string, engine.Answer, string) {
			each := c.each[n%len(c.each)]
			ev := testEvent(t, c.large)
			defer os.RemoveAll(ev.Dir())
			by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: 200 * time.Millisecond, Config: map[string]any{"command": c.line(mark, each)}}
			a := h.command(ctx, by, ev)
			return c.normal(describe(a), mark, each), a, r.means
		}})
	}
	return list
}

func webhookLeaks(t *testing.T, o Options) (list []misbehaviour) {
	_, cases := readWebhooks(t, "testdata/webhooks.txt")
	for _, c := range cases {
		address, roots := c.server(t)
		o := o
		o.Roots = roots
		h := New(o)
		h.resolver = noNames
		want := c.want
		if strings.HasPrefix(c.serve, "redirect") {
			want = "" // the server counts, and is the same for all runs
		}
		list = append(list, misbehaviour{c.name, func(ctx context.Context, _ int) (string, engine.Answer, string) {
			ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.limit, 5*time.Second))
			defer cancel()
			ev := testEvent(t, false)
			defer os.RemoveAll(ev.Dir())
			a := h.webhook(ctx, &hook.Hook{ID: "h", Kind: hook.Webhook, Dialect: c.dialect, Config: map[string]any{"url": address}}, ev)
			return ports.ReplaceAllString(describe(a), "$1:PORT"), a, want
		}})
	}
	return list
}

func mcpLeaks(t *testing.T, o Options, mark string) (list []misbehaviour) {
	exe := o.Supervisor[0]
	for _, r := range readTable(t, "testdata/mcp.txt").rows {
		c := map[string]string{"serve": "text", "tool": "check", "limit": "5s"}
		for _, f := range r.fields {
			c[f[0]] = f[1]
		}
		limit, err := time.ParseDuration(c["limit"])
		if err != nil {
			t.Fatal(err)
		}
		o := o
		o.MCPServers = map[string]setting.MCPServer{"scanner": {Command: exe, Args: []string{"mcpserver", c["serve"], c["text"], mark}}}
		h := New(o)
		list = append(list, misbehaviour{r.name, func(ctx context.Context, _ int) (string, engine.Answer, string) {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			ev := testEvent(t, false)
			defer os.RemoveAll(ev.Dir())
			a := h.mcpTool(ctx, &hook.Hook{ID: "h", Kind: hook.MCPTool, Config: map[string]any{"server": "scanner", "tool": c["tool"]}}, ev)
			return describe(a), a, r.means
		}})
	}
	return list
}

// judgeLeaks are models that answer, do not, or answer with something else.
func judgeLeaks(t *testing.T, o Options) (list []misbehaviour) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		say := func(text string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": %q}}]}`, text)
		}
		switch strings.Split(r.URL.Path, "/")[1] {
		case "yes":
			say(`{"ok": true}`)
		case "no":
			say(`{"ok": false, "reason": "no"}`)
		case "talks":
			say("It is fine.")
		case "silent":
			<-r.Context().Done()
		case "endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte{' '}, 1<<16)); err != nil {
					return
				}
			}
		case "breaks":
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	providers := map[string]setting.Provider{}
	names := []string{"yes", "no", "talks", "silent", "endless", "breaks", "500"}
	for _, name := range names {
		providers[name] = setting.Provider{Type: "openai", Model: "m", URL: s.URL + "/" + name}
	}
	settings, err := setting.Combine(scopes.Layer{Authority: hook.User, Providers: providers})
	if err != nil {
		t.Fatal(err)
	}
	o.Judge = judge.New(judge.Options{Models: models.Connect, Settings: settings})
	h := New(o)
	wants := map[string]string{"yes": "no opinion", "no": `deny "no"`}
	for _, name := range names {
		for _, kind := range []hook.Kind{hook.Prompt, hook.Agent} {
			list = append(list, misbehaviour{name, func(ctx context.Context, _ int) (string, engine.Answer, string) {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				ev := testEvent(t, false)
				defer os.RemoveAll(ev.Dir())
				a := h.runner(kind)(ctx, &hook.Hook{ID: "h", Kind: kind, Authority: hook.User, Config: map[string]any{"prompt": "May it?", "model": name}}, ev)
				if name != "yes" && name != "no" && a.Fault == nil {
					t.Errorf("%s: no fault", name)
				}
				return describe(a), a, wants[name]
			}})
		}
	}
	return list
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
