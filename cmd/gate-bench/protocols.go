package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"gate/internal/acs"
)

// The same harmless line of a shell is put to gate in each protocol that it speaks, over
// connections that stay open, by a gate that has answered before.

// connections are how many ask at once.
var connections = []int{1, 64}

// callsOf is how many calls a protocol gets for each of the lab's rounds.
const callsOf = 50

// line is what every protocol asks about.
const line = "go test ./... | tail -n 20"

// A protocol is one way to ask gate.
type protocol struct {
	name string

	// connect opens the i-th connection, and returns what asks once over it, and holds the
	// answer against what is right.
	connect func(ctx context.Context, i int) (ask func(ctx context.Context) error, hangUp func(), err error)
}

// protocols measures one decision in each protocol.
func (l *lab) protocols(ctx context.Context, out io.Writer) error {
	if err := errors.Join(l.compile(ctx, l.programs()...), l.events()); err != nil {
		return err
	}
	machine := l.file("protocols")
	key := acs.Key{ID: "default", Secret: []byte(strings.ToLower(rand.Text() + rand.Text()))}
	err := files(machine, map[string]string{"user/policies/busy.rego": ruled, "keys.json": `{"keys": [{"id": "default", "secretFile": "secret", "encoding": "text"}]}`, "secret": string(key.Secret)})
	for _, name := range []string{"keys.json", "secret"} {
		err = errors.Join(err, os.Chmod(filepath.Join(machine, name), 0o600))
	}
	if err != nil {
		return err
	}
	if text, err := exec.CommandContext(ctx, l.tool("gate"), append([]string{"build"}, directories(machine)...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("gate build: %w\n%s", err, text)
	}
	s, err := l.serve(ctx, machine)
	if err != nil {
		return err
	}
	defer s.stop()
	list := []protocol{
		{"a process that starts and ends", l.process(candidate{name: helloName, args: []string{l.tool("hello")}, stdin: l.file("harmless.json")})},
		{"`gate-hook`, a process for each call", l.process(candidate{name: plainName, args: append([]string{l.tool("gate-hook"), "--agent", "claude", "--event", "PreToolUse"}, directories(machine)...), stdin: l.file("harmless.json")})},
		{"`gate serve`, `POST /v1/decide`", s.plain("/v1/decide?agent=claude", `"result":"continue"`, func(i int) string {
			return l.here(strings.ReplaceAll(before, "SESSION", fmt.Sprintf("connection-%d", i)))
		})},
		{"… `POST /acs`", s.acs(key, l.dir)},
		{"… `POST /access/v1/evaluation`", s.plain("/access/v1/evaluation", `"decision":true`, func(i int) string {
			return fmt.Sprintf(`{"subject":{"type":"agent","id":"a"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"Bash","properties":{"arguments":{"command":%q}}},"context":{"cwd":%q,"session_id":"evaluation-%d"}}`, line, l.dir, i)
		})},
		{"… `POST /mcp`, `interceptor/invoke`", s.plain("/mcp", `"valid":true`, func(i int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"interceptor/invoke","params":{"name":"gate","event":"tools/call","phase":"request","payload":{"name":"run","arguments":{"command":%q}},"context":{"sessionId":"interceptor-%d"}}}`, line, i)
		})},
	}
	for _, n := range connections {
		fmt.Fprintf(out, "\n**%d at once** (%d calls)\n\n| protocol | p50 ms | p99 ms | decisions a second |\n|---|---|---|---|\n", n, l.rounds*callsOf)
		stdio, hangUp, err := l.mcp(ctx, machine)
		if err != nil {
			return err
		}
		for _, p := range append(list, stdio) {
			if len(l.only) > 0 && !l.wanted(candidate{name: p.name}) {
				continue
			}
			if err := p.load(ctx, out, n, l.rounds*callsOf); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		hangUp()
	}
	return nil
}

// load asks by n connections, as fast as answers come, and writes a row.
func (p *protocol) load(ctx context.Context, out io.Writer, n, calls int) error {
	asks := make([]func(context.Context) error, n)
	for i := range asks {
		ask, hangUp, err := p.connect(ctx, i)
		if err != nil {
			return err
		}
		defer hangUp()
		asks[i] = ask
		for range 3 { // what is measured is warm, and right
			if err := ask(ctx); err != nil {
				return err
			}
		}
	}
	var mu sync.Mutex
	var took []measure
	var wrong error
	var group sync.WaitGroup
	begun := time.Now()
	for _, ask := range asks {
		group.Go(func() {
			for range max(1, calls/n) {
				start := time.Now()
				err := ask(ctx)
				mu.Lock()
				took, wrong = append(took, measure{wall: time.Since(start)}), earlier(wrong, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	whole := time.Since(begun)
	if wrong != nil {
		return wrong
	}
	fmt.Fprintf(out, "| %s | %.2f | %.2f | %.0f |\n", p.name, milliseconds(quantile(took, 0.5)), milliseconds(quantile(took, 0.99)), float64(len(took))/whole.Seconds())
	return nil
}

// earlier keeps the first of many errors.
func earlier(first, next error) error {
	if first != nil {
		return first
	}
	return next
}

// process starts a program for each call.
func (l *lab) process(c candidate) func(context.Context, int) (func(context.Context) error, func(), error) {
	return func(context.Context, int) (func(context.Context) error, func(), error) {
		return func(ctx context.Context) error {
			_, err := c.once(ctx)
			return err
		}, func() {}, nil
	}
}

// A server is a gate serve that runs.
type server struct {
	url, token string
	stop       func()
}

// serve starts gate serve, which ends with stop.
func (l *lab) serve(ctx context.Context, machine string) (*server, error) {
	args := append([]string{"serve", "--no-socket", "--port=0", "--acs", filepath.Join(machine, "keys.json")}, directories(machine)...)
	cmd := exec.CommandContext(ctx, l.tool("gate"), args...)
	cmd.Stderr = l.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() }
	said, err := bufio.NewReader(out).ReadString('\n')
	s := &server{url: regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(said), stop: stop}
	if err != nil || s.url == "" {
		stop()
		return nil, fmt.Errorf("gate serve said %q: %w", said, err)
	}
	token, err := os.ReadFile(filepath.Join(machine, "state", "serve", "token"))
	if err != nil {
		stop()
	}
	s.token = strings.TrimSpace(string(token))
	return s, err
}

// post sends bodies over one connection.
func (s *server) post(path string) (func(ctx context.Context, body []byte) ([]byte, error), func()) {
	wire := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1}
	web := &http.Client{Transport: wire}
	return func(ctx context.Context, body []byte) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+s.token)
		said, err := web.Do(req)
		if err != nil {
			return nil, err
		}
		defer said.Body.Close()
		data, err := io.ReadAll(said.Body)
		if err == nil && said.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d: %.200s", said.StatusCode, data)
		}
		return data, err
	}, wire.CloseIdleConnections
}

// spaces are what JSON may have between a name and its value.
var spaces = strings.NewReplacer(": ", ":", "\n", "")

// plain asks with the same body again and again.
func (s *server) plain(path, right string, body func(i int) string) func(context.Context, int) (func(context.Context) error, func(), error) {
	return func(_ context.Context, i int) (func(context.Context) error, func(), error) {
		post, hangUp := s.post(path)
		text := []byte(body(i))
		return func(ctx context.Context) error {
			said, err := post(ctx, text)
			if err == nil && !strings.Contains(spaces.Replace(string(said)), right) {
				err = fmt.Errorf("no %s in %.300s", right, said)
			}
			return err
		}, hangUp, nil
	}
}

// acs signs each request, in a session for each connection.
func (s *server) acs(key acs.Key, dir string) func(context.Context, int) (func(context.Context) error, func(), error) {
	return func(ctx context.Context, _ int) (func(context.Context) error, func(), error) {
		post, hangUp := s.post("/acs")
		session := uuid()
		signs, err := acs.SessionKey(key.Secret, session)
		if err != nil {
			return nil, nil, err
		}
		send := func(ctx context.Context, method string, payload map[string]any, right string) error {
			id := uuid()
			envelope := map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": map[string]any{
				"acs_version": acs.Version, "request_id": id, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "payload": payload,
				"metadata": map[string]any{"agent_id": "bench", "session_id": session, "cwd": dir},
			}}
			if err := acs.Sign(signs, key.ID, envelope, acs.Params); err != nil {
				return err
			}
			body, err := json.Marshal(envelope)
			if err != nil {
				return err
			}
			said, err := post(ctx, body)
			if err == nil && !strings.Contains(string(said), right) {
				err = fmt.Errorf("no %s in %.300s", right, said)
			}
			return err
		}
		err = send(ctx, "handshake/hello", map[string]any{
			"acs_versions_supported": []any{acs.Version}, "transports_supported": []any{"http"}, "provenance_producer": "none",
			"methods_implemented": []any{"steps/toolCallRequest", "system/ping"}, "profiles_supported": []any{"acs-core", "acs-audit"},
		}, `"negotiated_version"`)
		return func(ctx context.Context) error {
			return send(ctx, "steps/toolCallRequest", map[string]any{"tool": map[string]any{"name": "Bash"}, "arguments": map[string]any{"command": map[string]any{"value": line}}}, `"decision":"allow"`)
		}, hangUp, err
	}
}

// uuid is a random one.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
