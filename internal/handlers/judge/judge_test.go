package judge_test

import (
	"bytes"
	"compress/gzip"
	"context"

	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/engine/models"
	"gate/facts"
	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/setting"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write what is made of each answer into testdata")

const key = "test-key-0123456789"

func getenv(name string) (string, bool) { return key, name == "JUDGE_KEY" }

// settings name one provider, as the user's do.
func settings(t testing.TB, providers map[string]setting.Provider, j setting.Judges) scopes.Settings {
	t.Helper()
	s, err := setting.Combine(scopes.Layer{Authority: hook.User, File: "settings.json", Providers: providers, Judges: &j})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asking is a judge that asks one server.
func asking(t testing.TB, s *server, api string) *judge.Judge {
	return judge.New(judge.Options{
		Models:   models.Connect,
		Settings: settings(t, map[string]setting.Provider{"p": s.provider(api)}, setting.Judges{}), Getenv: getenv, Secret: hidden,
	})
}

// hidden reports the files that facts say hold secrets.
func hidden(path string) bool { return facts.New(facts.World{OS: "linux"}).Secret(path) != "" }

func bash(line string) *hook.Event {
	return &hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_use_id": "toolu_1", "cwd": "/home/dev/project", "tool_name": "Bash",
		"tool_input": map[string]any{"command": line},
	}}
}

var apis = []string{"anthropic", "openai"}

// TestAnswers holds what is made of everything that a provider can do wrong.
// Each case says what both APIs make of it.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("a long reason ", 1000)
	cases := []struct {
		name string
		a    answer
	}{
		{"ok", answer{text: `{"ok": true}`}},
		{"ok with blanks", answer{text: "\n {\"ok\" : true}\n\n"}},
		{"not ok", answer{text: `{"ok": false, "reason": "it deletes the database"}`}},
		{"not ok, control characters", answer{text: `{"ok": false, "reason": "a\u001b[31mb\u202ec\nd"}`}},
		{"not ok, a long reason", answer{text: `{"ok": false, "reason": "` + long + `"}`}},
		{"not ok without a reason", answer{text: `{"ok": false}`}},
		{"not ok, an empty reason", answer{text: `{"ok": false, "reason": " "}`}},
		{"not ok, the reason a number", answer{text: `{"ok": false, "reason": 7}`}},
		{"not ok, something else", answer{text: `{"ok": false, "reason": "no", "confidence": 0.9}`}},
		{"ok with a reason", answer{text: `{"ok": true, "reason": "harmless"}`}},
		{"ok as text", answer{text: `{"ok": "true"}`}},
		{"ok as number", answer{text: `{"ok": 1}`}},
		{"ok as null", answer{text: `{"ok": null}`}},
		{"OK in capitals", answer{text: `{"OK": true}`}},
		{"nothing of ok", answer{text: `{"decision": "approve"}`}},
		{"text before", answer{text: `Sure! {"ok": true}`}},
		{"text after", answer{text: `{"ok": true} I hope this helps.`}},
		{"in a code fence", answer{text: "```json\n{\"ok\": true}\n```"}},
		{"two documents", answer{text: `{"ok": true}{"ok": false, "reason": "no"}`}},
		{"duplicate keys", answer{text: `{"ok": false, "reason": "no", "ok": true}`}},
		{"keys that look alike", answer{text: `{"ok": true, "оk": false}`}},
		{"a list", answer{text: `[{"ok": true}]`}},
		{"true alone", answer{text: `true`}},
		{"no JSON", answer{text: `The call looks fine to me.`}},
		{"empty", answer{text: ``}},
		{"half of it", answer{text: `{"ok": tr`}},
		{"cut off", answer{text: `{"ok": false, "reason": "it`, stop: "max_tokens"}},
		{"whole, and cut off", answer{text: `{"ok": true}`, stop: "max_tokens"}},
		{"invalid UTF-8", raw("application/json", "{\"content\": [{\"type\": \"text\", \"text\": \"{\\\"ok\\\": \xff}\"}]}")},
		{"a tool that nobody offered", answer{uses: []use{{"Bash", `{"command": "true"}`}}}},
		{"megabytes", answer{text: `{"ok": true` + strings.Repeat(" ", 3<<20) + `}`}},
		{"megabytes, packed", raw("application/json", "")},
		{"a body without an end", answer{write: endless}},
		{"a drip", answer{write: drip}},
		{"no answer", answer{write: silent}},
		{"the line breaks", answer{write: hangUp}},
		{"HTML", raw("text/html", "<html>It works!</html>")},
		{"JSON of another kind", raw("application/json", `{"hello": "world"}`)},
		{"no JSON in the body", raw("application/json", `{"content": [`)},
		{"an empty body", raw("application/json", ``)},
		{"400", answer{status: 400, body: `{"error": {"type": "invalid_request_error", "message": "no such model"}}`}},
		{"401 with the key in it", answer{status: 401, body: `{"error": {"type": "authentication_error", "message": "invalid key ` + key + `"}}`}},
		{"404", answer{status: 404, body: `not found`}},
		{"429", answer{status: 429, body: `{"error": {"message": "slow down"}}`, header: map[string]string{"Retry-After-Ms": "1"}}},
		{"429, come back in an hour", answer{status: 429, body: `{}`, header: map[string]string{"Retry-After": "3600"}}},
		{"500", answer{status: 500, body: `{"error": {"message": "overloaded"}}`, header: map[string]string{"Retry-After-Ms": "1"}}},
		{"500 with megabytes", answer{status: 500, body: strings.Repeat("x", 3<<20), header: map[string]string{"Retry-After-Ms": "1"}}},
		{"500 with control characters", answer{status: 502, body: "a\x1b[2Jb\nc", header: map[string]string{"Retry-After-Ms": "1"}}},
		{"redirect to another host", answer{status: 307, header: map[string]string{"Location": "ELSEWHERE"}}},
		{"redirect in a circle", answer{status: 307, header: map[string]string{"Location": "?again"}}},
		{"204", answer{write: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }}},
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a request went to another host: %s", r.URL)
	}))
	defer elsewhere.Close()
	var got strings.Builder
	for _, c := range cases {
		for _, api := range apis {
			a := c.a
			if c.name == "megabytes, packed" {
				a.write = packed
			}
			if a.header["Location"] == "ELSEWHERE" {
				a.header = map[string]string{"Location": elsewhere.URL}
			}
			s := newServer(t, func(*turn) answer { return a })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			if c.name == "a drip" || c.name == "no answer" || c.name == "429, come back in an hour" {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			r, fault := asking(t, s, api).Ask(ctx, judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls")})
			cancel()
			s.CloseClientConnections()
			line := describe(r, fault)
			line = strings.NewReplacer(s.URL, "URL", elsewhere.URL, "ELSEWHERE", strings.TrimPrefix(s.URL, "http://"), "HOST").Replace(line)
			fmt.Fprintf(&got, "%-30s %-9s  %s\n", c.name, api, line)
			if strings.Contains(line, key) {
				t.Errorf("%s: the key is told: %s", c.name, line)
			}
			if r.OK != (fault == nil && r.Reason == "") {
				t.Errorf("%s: %+v with fault %v", c.name, r, fault)
			}
		}
	}
	golden(t, "testdata/answers.txt", got.String())
}

// describe is a ruling on one line.
func describe(r judge.Ruling, fault *hook.Fault) string {
	text := "ok"
	switch {
	case r.Reason != "":
		text = fmt.Sprintf("not ok: %.60q", r.Reason)
	case fault != nil:
		text = "nothing"
	}
	if fault != nil {
		text += fmt.Sprintf(", fault %s: %s", fault.Kind, fault)
	}
	return text
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v\n--- got ---\n%s\n--- want ---\n%s", err, got, want)
	}
}

func raw(kind, body string) answer {
	return answer{write: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	}}
}

func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
			return
		}
	}
}

func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		io.WriteString(w, " ")
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Millisecond)
	}
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// TestDown asks a provider that is not there.
func TestDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, api := range apis {
		j := judge.New(judge.Options{Models: models.Connect, Settings: settings(t, map[string]setting.Provider{"p": {Type: api, URL: "http://" + address, Model: "m"}}, setting.Judges{})})
		r, fault := j.Ask(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls")})
		if fault == nil || r.OK || fault.Kind != hook.FaultEval || !strings.Contains(fault.Error(), "p/m cannot be asked: ") || !strings.Contains(fault.Error(), "refused") {
			t.Errorf("%s: %+v, fault %v", api, r, fault)
		}
	}
}

// TestProviders finds who is asked, or says in one sentence why nobody is.
func TestProviders(t *testing.T) {
	s := newServer(t, func(*turn) answer { return answer{text: `{"ok": true}`} })
	p := s.provider("openai")
	none := setting.Provider{Type: "openai", Model: "m", KeyEnv: "OTHER_KEY"}
	for _, row := range []struct {
		providers map[string]setting.Provider
		judges    setting.Judges
		model     string
		authority hook.Authority
		want      string // the model asked, else the fault
	}{
		{nil, setting.Judges{}, "", hook.User, "settings name none; see providers"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "", hook.User, "m"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "a", hook.Project, "m"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "a/big", hook.User, "big"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "a/meta/big", hook.User, "meta/big"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "big", hook.User, "big"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "b/big", hook.User, "there is no provider b: settings name a"},
		{map[string]setting.Provider{"a": p, "b": p}, setting.Judges{}, "", hook.User, "no provider is named to judge: settings name a, b; name one as provider in judges"},
		{map[string]setting.Provider{"a": p, "b": p}, setting.Judges{Provider: "b"}, "", hook.User, "m"},
		{map[string]setting.Provider{"a": p}, setting.Judges{Provider: "c"}, "", hook.User, "there is no provider c: settings name a"},
		{map[string]setting.Provider{"a": none}, setting.Judges{}, "", hook.User, "the environment variable OTHER_KEY is not set"},
		{map[string]setting.Provider{"a": p}, setting.Judges{}, "", hook.Managed, "managed settings name none"},
	} {
		j := judge.New(judge.Options{Models: models.Connect, Settings: settings(t, row.providers, row.judges), Getenv: getenv})
		before := len(s.asked())
		r, fault := j.Ask(t.Context(), judge.Question{Prompt: "Safe?", Model: row.model, Authority: row.authority, Event: bash("ls")})
		turns := s.asked()
		switch {
		case fault != nil:
			if !strings.Contains(fault.Error(), row.want) || len(turns) != before || fault.Kind != hook.FaultLoad {
				t.Errorf("%q: %v, want %q", row.model, fault, row.want)
			}
		case turns[len(turns)-1].model != row.want || r.Usage.Model != row.want:
			t.Errorf("%q: asked %q, want %q", row.model, turns[len(turns)-1].model, row.want)
		}
	}
}

// TestBegunAnswers holds how models are helped to answer in form, and that one
// which refuses the help is asked without it.
func TestBegunAnswers(t *testing.T) {
	for _, api := range apis {
		picky := false
		s := newServer(t, func(tn *turn) answer {
			if picky && tn.aided {
				return answer{status: 400, body: `{"error": {"type": "invalid_request_error", "message": "prefill is not supported"}}`}
			}
			return answer{text: `{"ok": true}`}
		})
		for _, picky = range []bool{false, true} {
			before := len(s.asked())
			r, fault := asking(t, s, api).Ask(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls")})
			turns := s.asked()[before:]
			if fault != nil || !r.OK || !turns[0].aided || len(turns) != map[bool]int{false: 1, true: 2}[picky] {
				t.Errorf("%s, picky %v: %v in %d turns", api, picky, fault, len(turns))
			}
		}
	}
}

// TestUsage tells what a judge cost, and that the key goes where it belongs.
func TestUsage(t *testing.T) {
	for _, api := range apis {
		s := newServer(t, func(*turn) answer { return answer{text: `{"ok": false, "reason": "no"}`} })
		r, fault := asking(t, s, api).Ask(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls")})
		want := hook.Usage{Provider: "p", Model: "m", InputTokens: 100, OutputTokens: 10, Turns: 1}
		if fault != nil || r.Usage != want {
			t.Errorf("%s: %+v, %v", api, r.Usage, fault)
		}
		h := s.asked()[0].header
		if h.Get("X-Api-Key") != map[string]string{"anthropic": key}[api] || h.Get("Authorization") != map[string]string{"openai": "Bearer " + key}[api] {
			t.Errorf("%s: the key is not where it belongs: %v", api, h)
		}
	}
}

// TestEventTooLarge closes rather than show half of a call.
func TestEventTooLarge(t *testing.T) {
	s := newServer(t, func(*turn) answer { return answer{text: `{"ok": true}`} })
	_, fault := asking(t, s, "openai").Ask(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash(strings.Repeat("a ", 200<<10))})
	if fault == nil || !strings.Contains(fault.Error(), "at most 256 KiB") || len(s.asked()) != 0 {
		t.Errorf("%v", fault)
	}
}

// TestCancelled tells a call that was given up from one that took too long.
func TestCancelled(t *testing.T) {
	s := newServer(t, func(*turn) answer { return answer{write: silent} })
	ctx, cancel := context.WithCancel(t.Context())
	s.think = func(*turn) answer { cancel(); return answer{write: silent} }
	_, fault := asking(t, s, "anthropic").Ask(ctx, judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls")})
	if fault == nil || fault.Kind != hook.FaultTimeout || !errors.Is(fault, context.Canceled) {
		t.Errorf("%v", fault)
	}
}

// packed sends little that becomes much.
func packed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	w.Write(gzipped(strings.Repeat(" ", 64<<20)))
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}
