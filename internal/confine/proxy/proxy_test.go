package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"gate/internal/confine/profile"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestChoose holds which addresses of a name may be dialled.
func TestChoose(t *testing.T) {
	l, err := newList([]string{"name:443", "localhost:443", "10.0.0.1:443", "10.0.0.2:80"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, found, want string }{
		{"name", "93.184.216.34", "93.184.216.34"}, {"name", "127.0.0.1 93.184.216.34", "93.184.216.34"}, {"name", "10.0.0.1", "10.0.0.1"},
		{"name", "10.0.0.2", ""}, {"name", "", ""}, {"localhost", "127.0.0.1 ::1", "127.0.0.1 ::1"}, {"localhost", "93.184.216.34", ""},
		{"name", "::1 ::ffff:127.0.0.1 127.1.2.3 0.0.0.0 0.1.2.3 :: 192.168.1.1 172.16.0.1 169.254.169.254 fe80::1 100.100.100.200 192.0.0.192 fd00:ec2::254 224.0.0.1 255.255.255.255 198.18.0.1", ""},
		{"name", "64:ff9b::a9fe:a9fe 2002:7f00:1:: 2001:0:1:: ::127.0.0.1 fec0::1 ff02::1 fe80::1%lo", ""},
		{"name", "2606:4700::1111", "2606:4700::1111"},
	} {
		var found []netip.Addr
		for text := range strings.FieldsSeq(c.found) {
			found = append(found, netip.MustParseAddr(text))
		}
		may, why := l.choose(Host{Name: c.name, Port: 443}, found)
		got := strings.Trim(fmt.Sprint(may), "[]")
		if got != c.want || (why == "") != (c.want != "") {
			t.Errorf("%s at %s: %q %q, want %q", c.name, c.found, got, why, c.want)
		}
	}
}

// TestParseRequest holds what the proxy takes, and what it hands on.
func TestParseRequest(t *testing.T) {
	for text, want := range map[string]string{
		"CONNECT h:443 HTTP/1.1|Host: other|": "tunnel h:443 0 ",
		"GET http://H/a?b HTTP/1.1|Host: other|Proxy-Connection: keep-alive|X: y|Connection: x, z|Z: 1|Content-Length: 3|": "h:80 3 GET /a?b HTTP/1.1|Host: h|Connection: close|Content-Length: 3||",
		"POST http://h:81?q HTTP/1.0|connection: content-length, content-length|content-length: 2|":                        "h:81 2 POST /?q HTTP/1.1|Host: h:81|Connection: close|content-length: 2||",
		"GET http://[::1]/ HTTP/1.1|Upgrade: websocket|":                                                                   "[::1]:80 0 GET / HTTP/1.1|Host: [::1]|Connection: close||",
		"GET / HTTP/1.1|":                                              "",
		"GET https://h/ HTTP/1.1|":                                     "",
		"GET http://u@h/ HTTP/1.1|":                                    "",
		"GET http://h\\@i/ HTTP/1.1|":                                  "",
		"GET http://h/#f HTTP/1.1|":                                    "",
		"GET http://h/ a HTTP/1.1|":                                    "",
		"GET http:///x HTTP/1.1|":                                      "",
		"GET  http://h/ HTTP/1.1|":                                     "",
		"GET http://h/ HTTP/2.0|":                                      "",
		"G(T http://h/ HTTP/1.1|":                                      "",
		"POST http://h/ HTTP/1.1|Transfer-Encoding: chunked|":          "",
		"POST http://h/ HTTP/1.1|Content-Length: 1|Content-Length: 1|": "",
		"POST http://h/ HTTP/1.1|Content-Length: +1|":                  "",
		"POST http://h/ HTTP/1.1|Content-Length:|":                     "",
		"POST http://h/ HTTP/1.1|Content-Length : 1|":                  "",
		"GET http://h/ HTTP/1.1|X: y| folded|":                         "",
		"GET http://h/ HTTP/1.1|X: y\nGET http://other/ HTTP/1.1|":     "",
		"GET http://h/ HTTP/1.1|X: \x00|":                              "",
		"CONNECT h HTTP/1.1|":                                          "",
		"CONNECT h:443 HTTP/1.1|Content-Length: 5|":                    "",
		"CONNECT http://h:443 HTTP/1.1|":                               "",
		"|":                                                            "",
	} {
		r, err := parseRequest([]byte(strings.ReplaceAll(text, "|", "\r\n") + "\r\n"))
		if want == "" {
			if err == nil {
				t.Errorf("%q was taken: %+v", text, r)
			}
			continue
		}
		got := fmt.Sprintf("%s %d %s", r.host, r.body, strings.ReplaceAll(string(r.head), "\r\n", "|"))
		if r.tunnel {
			got = "tunnel " + got
		}
		if err != nil || got != want {
			t.Errorf("%q: %v\ngot  %s\nwant %s", text, err, got, want)
		}
	}
}

// greeting is what a client of TLS says first.
func greeting(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	go tls.Client(a, config).Handshake()
	b.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 1<<16)
	n, err := b.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

// again puts a message of TLS into records of some length.
func again(b []byte, size int) (out []byte) {
	for message := b[5:]; len(message) > 0; {
		n := min(size, len(message))
		out = append(append(out, 22, 3, 1, byte(n>>8), byte(n)), message[:n]...)
		message = message[n:]
	}
	return out
}

// TestParseHello holds the name of the server, however the message is cut.
func TestParseHello(t *testing.T) {
	plain := greeting(t, &tls.Config{ServerName: "host.example", MinVersion: tls.VersionTLS12})
	for _, b := range [][]byte{plain, again(plain, 7), again(plain, 1), append(again(plain, 100), "more"...)} {
		if h, err := parseHello(b); err != nil || h.server != "host.example" || h.hidden {
			t.Errorf("%+v %v", h, err)
		}
	}
	for n := range len(plain) {
		if _, err := parseHello(plain[:n]); err != errShort {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	bare := greeting(t, &tls.Config{InsecureSkipVerify: true})
	if h, err := parseHello(bare); err != nil || h.server != "" {
		t.Errorf("without a name: %+v %v", h, err)
	}
	hidden := again(withExtension(plain, extHello, []byte("x")), 1<<14)
	if h, err := parseHello(hidden); err != nil || !h.hidden {
		t.Errorf("encrypted: %+v %v", h, err)
	}
	twice := again(withExtension(plain, extServerName, []byte{0, 8, 0, 0, 5, 'o', 't', 'h', 'e', 'r'}), 1<<14)
	if _, err := parseHello(twice); err == nil || err == errShort {
		t.Errorf("two names: %v", err)
	}
	for _, text := range []string{"GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x16\x02", "\x16\x03\x01\x00\x00\x01", "\x16\x03\x01\x00\x01\x02", "\x16\x03\x01\x00\x04\x01\xff\xff\xff"} {
		if _, err := parseHello([]byte(text)); err == nil || err == errShort {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// withExtension adds an extension to the message of one record.
func withExtension(b []byte, kind int, body []byte) []byte {
	r := &reader{b: b[9:]}
	r.take(34)
	r.vector(1)
	r.vector(2)
	r.vector(1)
	fixed := b[9 : len(b)-len(r.b)]
	list := append([]byte{}, r.vector(2)...)
	list = append(append(list, byte(kind>>8), byte(kind), byte(len(body)>>8), byte(len(body))), body...)
	message := append(append(append([]byte{}, fixed...), byte(len(list)>>8), byte(len(list))), list...)
	return append([]byte{22, 3, 1, 0, 0, 1, 0, byte(len(message) >> 8), byte(len(message))}, message...)
}

// FuzzRequest holds that a request which is taken means one server and ends where the
// proxy says, for another reader of HTTP as well.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{"CONNECT h:443 HTTP/1.1\r\n\r\n", "GET http://h/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: a\r\nA: b\r\n\r\nabc", "POST http://[::1]:81?x HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := endOfHead(b)
		if end == 0 {
			return
		}
		r, err := parseRequest(b[:end])
		if err != nil {
			return
		}
		if _, err := profile.ParseHost(r.host.String()); err != nil {
			t.Fatalf("%q: host %q", b, r.host)
		}
		if r.tunnel {
			return
		}
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(r.head))))
		if err != nil {
			return // a server refuses it
		}
		if strings.TrimSuffix(req.Host, ":80") != strings.TrimSuffix(r.host.String(), ":80") || req.ContentLength != r.body || !req.Close || req.URL.Host != "" && req.URL.Host != r.host.Name {
			t.Fatalf("%q: %s and %d bytes, and net/http reads %s and %d: %q", b, r.host, r.body, req.Host, req.ContentLength, r.head)
		}
	})
}

// FuzzHello holds that the name of a server is the one that crypto/tls reads.
func FuzzHello(f *testing.F) {
	plain := []byte("\x16\x03\x01\x00\x44\x01\x00\x00\x40\x03\x03" + strings.Repeat("r", 32) + "\x00\x00\x02\x13\x01\x01\x00\x00\x15\x00\x00\x00\x11\x00\x0f\x00\x00\x0chost.example")
	if h, err := parseHello(plain); err != nil || h.server != "host.example" { // a real one takes long to make where everything is counted
		f.Fatal(h, err)
	}
	f.Add(plain)
	f.Add(again(plain, 5))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHello(b)
		if err != nil || h.hidden {
			return
		}
		read, ok := "", false
		tls.Server(said{b: strings.NewReader(string(b))}, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			read, ok = info.ServerName, true
			return nil, io.EOF
		}}).Handshake()
		if ok && strings.TrimSuffix(read, ".") != strings.TrimSuffix(h.server, ".") {
			t.Fatalf("%q, and crypto/tls reads %q", h.server, read)
		}
	})
}

// said is a connection whose other end has said something and listens no more.
type said struct {
	net.Conn
	b *strings.Reader
}

func (s said) Read(b []byte) (int, error)       { return s.b.Read(b) }
func (s said) Write(b []byte) (int, error)      { return len(b), nil }
func (s said) SetWriteDeadline(time.Time) error { return nil }
func (s said) Close() error                     { return nil }

// A rig is a proxy with servers.
type rig struct {
	proxy *Proxy
	at    string
}

func newRig(t *testing.T, hosts []string, names map[string]string) *rig {
	t.Helper()
	p, err := New(hosts)
	if err != nil {
		t.Fatal(err)
	}
	p.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if at, ok := names[name]; ok {
			return []netip.Addr{netip.MustParseAddr(at)}, nil
		}
		return nil, fmt.Errorf("no such host")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve(l)
	t.Cleanup(func() { l.Close(); p.Close() })
	return &rig{p, l.Addr().String()}
}

// TestServe holds what becomes of requests, through real connections.
func TestServe(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Host, r.URL, body)
	})
	secure, plain := httptest.NewTLSServer(echo), httptest.NewServer(echo)
	defer secure.Close()
	defer plain.Close()
	port := func(s *httptest.Server) string { u, _ := url.Parse(s.URL); return u.Port() }
	tls443, http80 := port(secure), port(plain)
	r := newRig(t, []string{"example.com:" + tls443, "127.0.0.1:" + tls443, "plain.test:" + http80, "127.0.0.1:" + http80, "inner.test:1"}, map[string]string{
		"example.com": "127.0.0.1", "plain.test": "127.0.0.1", "inner.test": "169.254.169.254",
	})
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	client := func(server string) *http.Client {
		return &http.Client{Transport: &http.Transport{
			Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: r.at}),
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: server},
		}, Timeout: 20 * time.Second}
	}
	get := func(c *http.Client, url, body string) string {
		resp, err := c.Post(url, "text/plain", strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, " ", string(text))
	}
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ server, url, body, want string }{
		{"", "https://example.com:" + tls443 + "/a", "b", "200 example.com:" + tls443 + " /a b"},
		{"", "https://127.0.0.1:" + tls443 + "/a", "b", "200 127.0.0.1:" + tls443 + " /a b"},
		{"", "https://example.com:" + tls443 + "/a", big, "200 example.com:" + tls443 + " /a " + big},
		{"", "http://plain.test:" + http80 + "/a", big, "200 plain.test:" + http80 + " /a " + big},
		{"", "https://other.test:" + tls443, "", "Forbidden"},
		{"", "http://other.test/", "", "403 gate run: other.test:80 cannot be reached: the profile does not list it\n"},
		{"", "http://inner.test:1/", "", "403 gate run: inner.test:1 cannot be reached: its address 169.254.169.254 is not one of the internet, and is not listed\n"},
		{"fronted.example", "https://example.com:" + tls443, "", "EOF"},
	} {
		if got := get(client(c.server), c.url, c.body); got != c.want && !(len(c.want) < 12 && strings.HasSuffix(got, c.want)) {
			t.Errorf("%s: %.300q, want %.300q", c.url, got, c.want)
		}
	}
	var said []string
	for _, refusal := range r.proxy.Refused() {
		said = append(said, refusal.Host+": "+refusal.Why)
	}
	want := []string{
		"other.test:" + tls443 + ": the profile does not list it", "other.test:80: the profile does not list it",
		"inner.test:1: its address 169.254.169.254 is not one of the internet, and is not listed",
		"example.com:" + tls443 + `: TLS is meant for another server, "fronted.example"`,
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("refused:\n%s\nwant:\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// TestSecondRequest holds that a connection carries one request: a second one behind it,
// for another server, reaches none.
func TestSecondRequest(t *testing.T) {
	var got []string
	done := make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.SetReadDeadline(time.Now().Add(500 * time.Millisecond)) // a server that does not close by itself
		text, _ := io.ReadAll(c)
		got = append(got, string(text))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}()
	r := newRig(t, []string{l.Addr().String()}, nil)
	c, err := net.Dial("tcp", r.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST http://%s/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.1\r\nHost: other\r\n\r\n", l.Addr())
	answer, _ := io.ReadAll(c)
	<-done
	if want := fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab", l.Addr()); len(got) != 1 || got[0] != want || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("the server got %q, want %q; the program %q", got, want, answer)
	}
}

// TestTooLong holds that a head without an end is cut off.
func TestTooLong(t *testing.T) {
	r := newRig(t, nil, nil)
	c, err := net.Dial("tcp", r.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET http://h/ HTTP/1.1\r\nX: "+strings.Repeat("x", mostHead))
	answer, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("%q", answer)
	}
}

// TestManyRefusals holds that no more are kept than a line can say, and that this is said.
func TestManyRefusals(t *testing.T) {
	p, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * mostRefusals {
		p.refuse(Refusal{fmt.Sprint("h", i/2, ":443"), "no"})
	}
	got := p.Refused()
	if len(got) != mostRefusals+1 || got[0].Host != "h0:443" || got[1].Host != "h1:443" || got[mostRefusals].Why != "and more than these" {
		t.Errorf("%d: %v", len(got), got)
	}
}
