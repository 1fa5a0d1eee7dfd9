package mcpproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"gate/internal/strictjson"
)

// maxExchanges bounds the requests under way: each may hold a whole message.
const maxExchanges = 32

// A Remote is a server behind MCP's streamable HTTP. It posts each message, and
// gives what comes back, in answers or as events, one message a line.
type Remote struct {
	url    string
	header http.Header
	client *http.Client
	in     *io.PipeReader
	out    *io.PipeWriter
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // one for each exchange under way
	ending sync.Once
	listen sync.Once

	mu               sync.Mutex
	session, version string
}

// Dial prepares a Remote; nothing is sent before the client says something. The
// address must be https, or http on this machine. The header goes with every
// request. There is no following of redirects: what they lead to got no trust.
//
// meet is told the digest of the public key of the server's certificate before anything
// is sent to it, and can refuse it; nil takes any that the system trusts.
func Dial(address string, header http.Header, meet func(key string) error) (*Remote, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return nil, errors.New("the address must begin with https://, or with http:// and this machine's own name")
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("the address must have a host, and neither a user nor a fragment")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if meet != nil {
		transport.TLSClientConfig = &tls.Config{VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the server has no certificate")
			}
			sum := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
			return meet("sha256:" + hex.EncodeToString(sum[:]))
		}}
	}
	r := &Remote{url: address, header: header.Clone(), slots: make(chan struct{}, maxExchanges), client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	r.in, r.out = io.Pipe()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Stream is what the server says and what is posted to it.
func (r *Remote) Stream() Stream { return Stream{In: r.in, Out: r} }

// Done is closed when the Remote was stopped: a server does not end by itself.
func (r *Remote) Done() <-chan struct{} { return r.ctx.Done() }

// CloseInput stops the Remote.
func (r *Remote) CloseInput() { r.Stop() }

// Stop ends the session, which the server may take a second to acknowledge, and
// everything that is under way.
func (r *Remote) Stop() error {
	r.ending.Do(func() {
		r.cancel()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if id, _ := r.state(); id != "" {
			if resp, err := r.send(ctx, http.MethodDelete, nil, nil); err == nil {
				resp.Body.Close()
			}
		}
		r.out.Close()
		r.client.CloseIdleConnections()
	})
	return nil
}

// Write posts one message, a line. It waits until the server has taken those
// that want no answer, so that they arrive in their order.
func (r *Remote) Write(line []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	e := &exchange{remote: r, message: bytes.Clone(bytes.TrimSpace(line)), open: map[string][]byte{}}
	begun := false
	for _, m := range messagesOf(e.message) {
		begun = begun || m.method == "notifications/initialized"
		if m.named && m.hasID() {
			if key, err := idKey(m.id.of(m.raw)); err == nil {
				e.open[key] = m.id.of(m.raw)
			}
		}
		e.first = e.first || m.method == "initialize"
	}
	if len(e.open) > 0 {
		select {
		case r.slots <- struct{}{}:
			go func() { defer func() { <-r.slots }(); e.run() }()
		default:
			go e.refuse(fmt.Errorf("%d requests are under way already", maxExchanges))
		}
		return len(line), nil
	}
	e.run()
	if begun {
		r.listen.Do(func() { go r.hear() })
	}
	return len(line), nil
}

// messagesOf returns the messages of a line that has been read before.
func messagesOf(line []byte) []message {
	list := []span{{0, len(line)}}
	if len(line) > 0 && line[0] == '[' {
		list, _ = elements(line, maxBatch)
	}
	var out []message
	for _, at := range list {
		if m, err := scan(at.of(line)); err == nil {
			out = append(out, m)
		}
	}
	return out
}

func (r *Remote) state() (session, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session, r.version
}

// send makes one request. The message is what is posted, if anything is.
func (r *Remote) send(ctx context.Context, method string, message []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{r.header, header} {
		maps.Copy(req.Header, h)
	}
	session, version := r.state()
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if version != "" && req.Header.Get("Mcp-Protocol-Version") == "" {
		req.Header.Set("Mcp-Protocol-Version", version)
	}
	resp, err := r.client.Do(req)
	var about *url.Error
	if errors.As(err, &about) {
		err = about.Err // without the address, which may hold a secret
	}
	return resp, err
}

// hear takes what the server says by itself, if it does, as long as it does.
func (r *Remote) hear() {
	e := &exchange{remote: r}
	for wait := time.Second; r.ctx.Err() == nil; wait = min(2*wait, time.Minute) {
		resp, err := r.send(r.ctx, http.MethodGet, nil, e.listening())
		switch {
		case err != nil: // later
		case isEvents(resp):
			if e.events(resp.Body) == nil {
				wait = time.Second
			}
			resp.Body.Close()
		default:
			resp.Body.Close()
			return // it says nothing by itself
		}
		r.pause(wait)
	}
}

func (r *Remote) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ctx.Done():
	}
}

func isEvents(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == "text/event-stream"
}

// headersOf repeats in headers what a message says, as servers of 2026-07-28
// want it. They refuse a message whose headers say something else or nothing.
func headersOf(message []byte) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	list := messagesOf(message)
	if len(list) != 1 || !list[0].named || list[0].params == (span{}) {
		return h
	}
	m := list[0]
	const key = "io.modelcontextprotocol/protocolVersion"
	if !bytes.Contains(message, []byte(key)) {
		return h
	}
	params, err := strictjson.Object(m.params.of(m.raw), limits)
	if err != nil {
		return h
	}
	meta, _ := params["_meta"].(map[string]any)
	version, _ := meta[key].(string)
	if version == "" {
		return h
	}
	name, _ := params["name"].(string)
	if name == "" {
		name, _ = params["uri"].(string)
	}
	for key, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": m.method, "Mcp-Name": name} {
		if value != "" && isPlain(value) {
			h.Set(key, value)
		}
	}
	return h
}

// isPlain reports visible ASCII: all that a header takes as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' && (s[i] != ' ' || i == 0 || i == len(s)-1) || s[i] > '~' {
			return false
		}
	}
	return true
}

func statusError(resp *http.Response) error {
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		return fmt.Errorf("the server answers with status %d and sends to %s; gate does not follow", resp.StatusCode, clip(to))
	}
	return fmt.Errorf("the server answers with status %d", resp.StatusCode)
}
