package confine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gate/internal/confine/proxy"
)

// fetch is a program that fetches from servers, as its arguments say: a way, an address
// and a name of a server.
func fetch(args []string) {
	for len(args) > 2 {
		said, err := fetchBy(args[0], args[1], args[2])
		var errno syscall.Errno
		if errors.As(err, &errno) {
			said = unix.ErrnoName(errno)
		} else if err != nil {
			said = err.Error()
			said = said[strings.LastIndex(said, ": ")+1:]
		}
		fmt.Println(args[0], args[1], args[2], strings.TrimSpace(said))
		args = args[3:]
	}
	os.Exit(0)
}

func fetchBy(way, address, server string) (string, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: server}}
	switch way {
	case "direct":
		c, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err == nil {
			c.Close()
		}
		return "connected", err
	case "dns":
		r := net.Resolver{PreferGo: true}
		_, err := r.LookupHost(context.Background(), server)
		return "found", err
	case "own": // a server inside
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "inside") }))
		defer s.Close()
		address = strings.TrimPrefix(s.URL, "http://")
		way = "http"
	case "raw": // no TLS in the tunnel
		u, _ := url.Parse(os.Getenv("HTTPS_PROXY"))
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			return "", err
		}
		defer c.Close()
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: %s\r\n\r\n", address, server)
		text, err := io.ReadAll(c)
		_, body, _ := strings.Cut(string(text), "\r\n\r\n")
		return fmt.Sprintf("%q", body), err
	}
	resp, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(way + "://" + address + "/")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(text)), err
}

// TestHosts holds what real programs reach by a profile with hosts, and that all other
// hosts are refused and recorded.
func TestHosts(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "reached ", r.Host) })
	secure, plain, other := httptest.NewUnstartedServer(answer), httptest.NewServer(answer), httptest.NewServer(answer)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	defer plain.Close()
	defer other.Close()
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }
	allowed, metadata, open := "allowed.test:"+port(secure), "metadata.test:80", "plain.test:"+port(plain)
	var args []string
	want := ""
	try := func(way, address, server, result string) {
		args = append(args, way, address, server)
		want += strings.Join([]string{way, address, server, result}, " ") + "\n"
	}
	try("https", allowed, "allowed.test", "200 reached "+allowed)
	try("http", open, "-", "200 reached "+open)
	try("own", "-", "-", "200 inside")
	try("https", "other.test:"+port(secure), "other.test", "Forbidden")
	try("https", "192.0.2.9:443", "allowed.test", "Forbidden")
	try("http", metadata, "-", "403 gate run: "+metadata+" cannot be reached: its address 169.254.169.254 is not one of the internet, and is not listed")
	try("https", allowed, "fronted.test", "EOF")
	try("raw", allowed, "fronted.test", `""`)
	try("direct", "192.0.2.9:443", "-", "ENETUNREACH")
	try("direct", "127.0.0.1:"+port(other), "-", "ECONNREFUSED")
	try("dns", "-", "allowed.test", "network is unreachable")
	c := s.command(t, "project-net", append([]string{s.program, "fetch"}, args...)...)
	loopback := "127.0.0.1:"
	c.Profile.Hosts = []string{allowed, loopback + port(secure), open, loopback + port(plain), metadata}
	c.lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if name == "metadata.test" {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	c.Env = append(c.Env, "NO_PROXY=*", "https_proxy=http://elsewhere:1")
	output, out, err := runs(t, c)
	if err != nil || out.Level != Full || out.Status != 0 {
		t.Fatalf("level %s, status %d: %v\n%s", out.Level, out.Status, err, output)
	}
	if output != want {
		t.Errorf("got\n%s\nwant\n%s", output, want)
	}
	refused := []proxy.Refusal{
		{Host: "other.test:" + port(secure), Why: "the profile does not list it"},
		{Host: "192.0.2.9:443", Why: "the profile does not list it"},
		{Host: metadata, Why: "its address 169.254.169.254 is not one of the internet, and is not listed"},
		{Host: allowed, Why: `TLS is meant for another server, "fronted.test"`},
		{Host: allowed, Why: "what comes is no TLS"},
	}
	if got := fmt.Sprint(out.Refused); got != fmt.Sprint(refused) {
		t.Errorf("refused %s\nwant %s", got, fmt.Sprint(refused))
	}
}

// TestNetworkAttacks holds that a profile with hosts lets none of the attacks by the
// network work that the profile without them stops.
func TestNetworkAttacks(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	s.surround(t)
	c := s.command(t, "project-net", s.program, "attack", "tcp-local", "tcp-far", "mptcp", "fast-open", "udp", "vsock", "packet", "abstract", "socket", "pidfd-getfd", "init-mem")
	output, out, err := runs(t, c)
	want := "tcp-local ECONNREFUSED\ntcp-far ENETUNREACH\nmptcp ENETUNREACH\nfast-open ENETUNREACH\nudp ENETUNREACH\nvsock EAFNOSUPPORT\npacket EAFNOSUPPORT\n" +
		"abstract ECONNREFUSED\nsocket ENOENT\npidfd-getfd EPERM\ninit-mem EACCES\n"
	if err != nil || output != want {
		t.Errorf("%v\n%swant\n%s", err, output, want)
	}
	if len(out.Refused) > 0 {
		t.Errorf("refused %v", out.Refused)
	}
}

// TestNoExit holds that a profile without hosts has no proxy.
func TestNoExit(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	c := s.command(t, "project", s.program, "fetch", "direct", fmt.Sprint("127.0.0.1:", exitPort), "-")
	c.Env = append(c.Env, "HTTPS_PROXY=http://elsewhere:1")
	output, _, err := runs(t, c)
	if want := fmt.Sprint("direct 127.0.0.1:", exitPort, " - ECONNREFUSED\n"); err != nil || output != want {
		t.Errorf("%q %v", output, err)
	}
	if env := strings.Join(environ(c.Profile, c.Env, tempDir), "\n"); strings.Contains(strings.ToLower(env), "_proxy=") {
		t.Error(env)
	}
}

// TestBadHosts holds that a profile with a host that cannot be is refused as a whole.
func TestBadHosts(t *testing.T) {
	at := Place{Home: "/home/dev", Project: "/home/dev/app"}
	p, err := Profile{Name: "p", Hosts: []string{"Example.COM.:443"}}.At(at)
	if err != nil || p.Hosts[0] != "example.com:443" {
		t.Errorf("%v %v", p.Hosts, err)
	}
	if _, err := (Profile{Name: "p", Hosts: []string{"*:443"}}).At(at); err == nil || !strings.Contains(err.Error(), `"*:443" holds no name of a host`) {
		t.Error(err)
	}
}
