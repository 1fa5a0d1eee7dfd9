//go:build linux

package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gate/hook"
)

// A webhookCase is one case of testdata/webhooks.txt.
type webhookCase struct {
	name, text, serve, kind, header, want string
	dialect                               hook.Dialect
	status                                int
	body                                  []byte
	limit                                 time.Duration
}

// TestWebhooks holds what is made of each thing that a webhook's server may do,
// with real servers on this machine.
func TestWebhooks(t *testing.T) {
	const file = "testdata/webhooks.txt"
	head, cases := readWebhooks(t, file)
	got := make([]string, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				if got[i] = c.run(t); got[i] != c.want && !*update {
					t.Errorf("got  %s\nwant %s", got[i], c.want)
				}
			})
		}
	})
	var out strings.Builder
	out.WriteString(head)
	for i, c := range cases {
		fmt.Fprintf(&out, "== %s\n%smeans: %s\n", c.name, c.text, got[i])
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(cases) < 50 {
		t.Errorf("only %d cases", len(cases))
	}
}

var ports = regexp.MustCompile(`(127\.0\.0\.1|localhost|acme\.test|\[::1\]):\d+`)

// noNames is a resolver that asks nobody.
var noNames = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no network in tests")
}}

// run asks a server that behaves as the case says.
func (c webhookCase) run(t *testing.T) string {
	o := testOptions(t)
	address, roots := c.server(t)
	o.Roots = roots
	h := New(o)
	h.resolver = noNames
	ctx := t.Context()
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.limit)
		defer cancel()
	}
	by := &hook.Hook{ID: "h", Kind: hook.Webhook, Dialect: c.dialect, Config: map[string]any{"url": address}}
	a := h.Evaluator(hook.Webhook).Evaluate(ctx, []*hook.Hook{by}, testEvent(t, false))[0]
	return ports.ReplaceAllString(describe(a), "$1:PORT")
}

// server starts the server of a case and returns where it is and which
// certificates vouch for it.
func (c webhookCase) server(t *testing.T) (address string, roots *x509.CertPool) {
	what, rest, _ := strings.Cut(c.serve, " ")
	switch c.serve {
	case "unknown certificate", "another name", "certificate", "old TLS":
		return c.secure(t)
	case "refused":
		s := httptest.NewServer(nil)
		s.Close()
		return s.URL, nil
	case "no name":
		return "https://acme.test", nil
	case "link-local":
		return "https://169.254.169.254/latest/meta-data", nil
	case "garbage", "interim", "hang up":
		return raw(t, c.serve), nil
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the other server was asked")
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(other.Close)
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte(`"tool_name":"Bash"`)) || r.Method != http.MethodPost {
			t.Errorf("request %d: %s %q", n, r.Method, body)
		}
		switch what {
		case "redirect":
			code, most, _ := strings.Cut(rest, " ")
			if times, _ := strconv.Atoi(most); n <= times {
				status, _ := strconv.Atoi(code)
				w.Header().Set("Location", "/again")
				w.WriteHeader(status)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"decision": "block", "reason": "no"}`)
		case "other", "scheme":
			status, _ := strconv.Atoi(rest)
			to := other.URL
			if what == "scheme" {
				to = "https://" + r.Host
			}
			w.Header().Set("Location", to)
			w.WriteHeader(status)
		default:
			c.answer(w, r)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL, nil
}

// answer is what a server says to the first request.
func (c webhookCase) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	flush := func() { w.(http.Flusher).Flush() }
	ended := r.Context().Done()
	what, rest, _ := strings.Cut(c.serve, " ")
	switch what {
	case "gzip", "bomb", "broken":
		h.Set("Content-Encoding", "gzip")
		if what == "broken" {
			io.WriteString(w, "\x1f\x8b\x08no")
			return
		}
		z := gzip.NewWriter(w)
		defer z.Close()
		for range 64 {
			if what == "bomb" {
				z.Write(bytes.Repeat([]byte{' '}, 1<<20))
			}
		}
		z.Write(c.body)
	case "spaces":
		n, _ := strconv.Atoi(rest)
		w.Write(bytes.Repeat([]byte{' '}, n))
	case "endless":
		for chunk := bytes.Repeat([]byte{' '}, 1<<16); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case "drip":
		for {
			io.WriteString(w, " ")
			flush()
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	case "silence":
		<-ended
	case "stall":
		io.WriteString(w, "{")
		flush()
		<-ended
	case "headers":
		for i := range 100 {
			h.Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1<<10))
		}
	case "truncate":
		h.Set("Content-Length", "100")
		io.WriteString(w, `{"decision": "block"`)
	default:
		if h.Set("Content-Type", c.kind); c.kind == "none" {
			h["Content-Type"] = nil
		} else if c.kind == "" {
			h.Del("Content-Type")
		}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			h.Set(name, value)
		}
		w.WriteHeader(c.status)
		w.Write(c.body)
	}
}

// secure starts a server behind TLS.
func (c webhookCase) secure(t *testing.T) (address string, roots *x509.CertPool) {
	c.status, c.kind = http.StatusOK, "application/json"
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := c
		plain.serve = ""
		plain.answer(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{}
	if c.serve == "old TLS" {
		s.TLS.MaxVersion = tls.VersionTLS11
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	if c.serve != "unknown certificate" {
		roots.AddCert(s.Certificate())
	}
	if c.serve == "another name" {
		u, _ := url.Parse(s.URL)
		return "https://localhost:" + u.Port(), roots
	}
	return s.URL, roots
}

// raw starts a server that speaks no HTTP, or too much of it.
func raw(t *testing.T, serve string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(time.Minute))
				conn.Read(make([]byte, 64<<10))
				switch serve {
				case "garbage":
					io.WriteString(conn, "SSH-2.0-OpenSSH_9.9\r\n")
				case "interim":
					for err == nil {
						_, err = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func readWebhooks(t *testing.T, file string) (head string, cases []webhookCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "== ")
	for block := range strings.SplitSeq("\n== "+rest, "\n== ") {
		name, body, _ := strings.Cut(block, "\n")
		if name == "" {
			continue
		}
		c := webhookCase{name: name, status: http.StatusOK}
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			var err error
			switch strings.TrimSuffix(key, ":") {
			case "serve":
				c.serve = value
			case "status":
				c.status, err = strconv.Atoi(value)
			case "type":
				c.kind = value
			case "dialect":
				c.dialect = hook.Dialect(value)
			case "header":
				c.header = value
			case "body":
				c.body = []byte(value)
				if strings.HasPrefix(value, `"`) {
					value, err = strconv.Unquote(value)
					c.body = []byte(value)
				}
			case "limit":
				c.limit, err = time.ParseDuration(value)
			case "means":
				c.want = value
				continue
			default:
				t.Fatalf("%s: unknown %q", name, key)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c.text += line + "\n"
		}
		cases = append(cases, c)
	}
	return head, cases
}

// TestWebhookRequest holds what a server gets, and what it does not.
func TestWebhookRequest(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Clone(context.Background()) }))
	defer s.Close()
	o := testOptions(t)
	o.Version = "1.2.3"
	o.Getenv = func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "s3cret", "HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1", "OTHER": "x"}[name]
		return v, ok
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	by := &hook.Hook{ID: "h", Kind: hook.Webhook, Config: map[string]any{
		"url": s.URL + "/check?team=a", "method": "PUT", "env": []any{"TOKEN", "LINE"},
		"headers": map[string]any{"authorization": "Bearer ${TOKEN}", "X-Team": "a"},
	}}
	run := func() string {
		return describe(New(o).Evaluator(hook.Webhook).Evaluate(t.Context(), []*hook.Hook{by}, testEvent(t, false))[0])
	}
	if said := run(); said != "no opinion" {
		t.Fatal(said)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer s3cret", "X-Team": "a", "Content-Type": "application/json", "User-Agent": "gate/1.2.3", "Cookie": "", "Connection": "close",
	} {
		if h := got.Header.Get(name); h != want {
			t.Errorf("%s: %q, want %q", name, h, want)
		}
	}
	if got.Method != "PUT" || got.URL.String() != "/check?team=a" || len(got.Header.Get("Webhook-Id")) < 20 {
		t.Errorf("%s %s, id %q", got.Method, got.URL, got.Header.Get("Webhook-Id"))
	}
	first := got.Header.Get("Webhook-Id")
	if run(); got.Header.Get("Webhook-Id") == first {
		t.Error("two requests with one id")
	}
	got = nil
	for name, value := range map[string]string{"X-A": "${OTHER}", "X-B": "${LINE}", "X-C": "a\r\nX-D: b", "Host": "acme.test", "X E": "e"} {
		by.Config["headers"] = map[string]any{name: value}
		if said := run(); !strings.HasPrefix(said, "fault eval: h cannot be sent: its header ") || strings.Contains(said, "s3cret") {
			t.Errorf("%s: %s", name, said)
		}
	}
	by.Config["headers"] = nil
	for _, address := range []string{"http://acme.test", "ftp://127.0.0.1", "", "https://ana:s3cret@acme.test"} {
		by.Config["url"] = address
		if said := run(); !strings.HasPrefix(said, "fault eval: h cannot be sent: its url ") || strings.Contains(said, "s3cret") {
			t.Errorf("%s: %s", address, said)
		}
	}
	if got != nil {
		t.Error("something was sent all the same")
	}
}

// TestWebhookCancelled holds that a run that is stopped says so.
func TestWebhookCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	by := &hook.Hook{ID: "h", Kind: hook.Webhook, Config: map[string]any{"url": s.URL}}
	a := New(testOptions(t)).Evaluator(hook.Webhook).Evaluate(ctx, []*hook.Hook{by}, testEvent(t, false))[0]
	if a.Fault == nil || !errors.Is(a.Fault, context.Canceled) {
		t.Errorf("%+v", a)
	}
}
