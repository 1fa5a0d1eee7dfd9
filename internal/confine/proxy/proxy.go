// Package proxy is the way out of a confinement that has no network but its own
// loopback. It is an HTTP proxy that reaches the hosts of a list only.
//
// It resolves names itself and dials only what it looked at: addresses of the internet,
// and others that are listed. A tunnel carries TLS that names the server which was asked
// for. A request without TLS is handed on for that server alone. Nobody sees inside TLS,
// so a listed host that takes uploads is a way out.
//
// It has a parser of its own for the few forms that programs send to proxies, because
// net/http would make each confined start dearer. Begin with [New]; [Proxy.Serve] works
// until its listener is closed.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a proxy.
const (
	mostConns    = 128              // at the same time; others wait
	firstTime    = 15 * time.Second // for the head of a request, or the first message of TLS
	dialTime     = 15 * time.Second // to look a name up and to reach it, each
	idleTime     = 10 * time.Minute // without a byte in either direction
	mostRefusals = 20               // that are kept
)

// A Refusal is a host that was not reached, and why.
type Refusal struct {
	Host string // host:port, or "" where the request did not say it
	Why  string // without a full stop
}

// A Proxy lets a program reach some hosts.
type Proxy struct {
	// Lookup finds the addresses of a name; nil is the system's way.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

	list  list
	conns chan struct{}

	mu      sync.Mutex
	refused []Refusal
	more    bool // some were not kept
	open    map[net.Conn]bool
	closed  bool
}

// New makes a proxy for the hosts of a profile.
func New(hosts []string) (*Proxy, error) {
	l, err := newList(hosts)
	if err != nil {
		return nil, err
	}
	return &Proxy{list: l, conns: make(chan struct{}, mostConns), open: map[net.Conn]bool{}}, nil
}

// Serve answers connections until the listener fails, as one does that was closed.
func (p *Proxy) Serve(l net.Listener) {
	for {
		p.conns <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			<-p.conns
			if t, ok := err.(interface{ Temporary() bool }); ok && t.Temporary() { // no descriptor is left
				time.Sleep(10 * time.Millisecond)
				continue
			}
			return
		}
		go func() {
			defer func() { <-p.conns }()
			p.serve(c)
		}()
	}
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
}

// Refused lists what was refused, each host once for a reason, in the order of time. It
// ends with one without a host where there were too many to keep.
func (p *Proxy) Refused() []Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.refused[:len(p.refused):len(p.refused)]
	if p.more {
		list = append(list, Refusal{Why: "and more than these"})
	}
	return list
}

// hold has Close end a connection. It returns false where that has been.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = true
	}
	return !p.closed
}

func (p *Proxy) release(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

// refuse keeps a refusal.
func (p *Proxy) refuse(r Refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.refused {
		if known == r {
			return
		}
	}
	if len(p.refused) == mostRefusals {
		p.more = true
		return
	}
	p.refused = append(p.refused, r)
}

// answer sends an answer of the proxy's own.
func answer(c net.Conn, status, text string) {
	c.SetWriteDeadline(time.Now().Add(firstTime))
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(text), text)
	if half, ok := c.(*net.TCPConn); ok { // what still comes is read, or the answer would be lost with a reset
		half.CloseWrite()
		c.SetReadDeadline(time.Now().Add(time.Second))
		io.CopyN(io.Discard, c, mostHead)
	}
}

// serve answers one request.
func (p *Proxy) serve(c net.Conn) {
	if !p.hold(c) {
		c.Close()
		return
	}
	defer p.release(c)
	c.SetReadDeadline(time.Now().Add(firstTime))
	buf, end, err := until(c, nil, mostHead, endOfHead)
	if err != nil {
		if len(buf) > 0 {
			answer(c, "400 Bad Request", "gate run: the request has no end\n")
		}
		return
	}
	r, err := parseRequest(buf[:end])
	if err != nil {
		p.refuse(Refusal{Why: err.Error()})
		answer(c, "400 Bad Request", "gate run: "+err.Error()+"\n")
		return
	}
	if !p.list[r.host] {
		p.forbid(c, r.host, "the profile does not list it")
		return
	}
	server, why, err := p.dial(r.host)
	switch {
	case why != "":
		p.forbid(c, r.host, why)
		return
	case err != nil:
		answer(c, "502 Bad Gateway", fmt.Sprintf("gate run: %s: %v\n", r.host, err))
		return
	}
	if !p.hold(server) {
		server.Close()
		return
	}
	defer p.release(server)
	if r.tunnel {
		p.tunnel(c, server, r.host, buf[end:])
		return
	}
	if err := send(server, r.head); err == nil {
		pipe(c, server, buf[end:], r.body)
	}
}

// forbid refuses a host.
func (p *Proxy) forbid(c net.Conn, h Host, why string) {
	p.refuse(Refusal{h.String(), why})
	answer(c, "403 Forbidden", fmt.Sprintf("gate run: %s cannot be reached: %s\n", h, why))
}

// until reads until what came has an end, and returns all of it.
func until(c net.Conn, buf []byte, most int, ends func([]byte) int) (all []byte, end int, err error) {
	chunk := make([]byte, 4096)
	for {
		if end = ends(buf); end > 0 {
			return buf, end, nil
		}
		if len(buf) >= most {
			return buf, 0, errors.New("too long")
		}
		n, err := c.Read(chunk[:min(len(chunk), most-len(buf))])
		buf = append(buf, chunk[:n]...)
		if n == 0 && err != nil {
			return buf, 0, err
		}
	}
}

// dial reaches a host at an address that may be. The reason says why none may be.
func (p *Proxy) dial(h Host) (c net.Conn, why string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	found := []netip.Addr{h.Address()}
	if !found[0].IsValid() {
		if found, err = p.lookup(ctx, h.Name); err != nil {
			return nil, "", err
		}
	}
	may, why := p.list.choose(h, found)
	if why != "" {
		return nil, why, nil
	}
	d := net.Dialer{Timeout: dialTime}
	for _, addr := range may[:min(len(may), 4)] {
		if c, err = d.Dial("tcp", netip.AddrPortFrom(addr, h.Port).String()); err == nil {
			return c, "", nil
		}
	}
	return nil, "", err
}

func (p *Proxy) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if p.Lookup != nil {
		return p.Lookup(ctx, name)
	}
	r := net.Resolver{PreferGo: true}
	if !local(name) {
		name += "." // no domain is put behind it
	}
	return r.LookupNetIP(ctx, "ip", name)
}

// tunnel carries TLS to a host, once it is sure that it is TLS and meant for that host.
func (p *Proxy) tunnel(c, server net.Conn, h Host, early []byte) {
	if send(c, []byte("HTTP/1.1 200 Connection established\r\n\r\n")) != nil {
		return
	}
	var said hello
	var bad error
	c.SetReadDeadline(time.Now().Add(firstTime))
	first, _, err := until(c, early, 2*mostHello, func(b []byte) int {
		said, bad = parseHello(b)
		if bad == errShort {
			return 0
		}
		return 1
	})
	why := ""
	switch {
	case err != nil && len(first) == 0:
		return // a program that only looks whether the host is there
	case err != nil:
		why = "what came is no whole beginning of TLS"
	case bad != nil:
		why = bad.Error()
	default:
		why = said.lies(h)
	}
	if why != "" {
		p.refuse(Refusal{h.String(), why})
		return
	}
	if send(server, first) == nil {
		pipe(c, server, nil, -1)
	}
}

// lies says why the beginning of TLS is not for a host; "" if it is.
func (h hello) lies(to Host) string {
	name := strings.ToLower(strings.TrimSuffix(h.server, "."))
	switch {
	case h.hidden:
		return "TLS hides the name of its server"
	case name == to.Name, name == "" && to.Address().IsValid():
		return ""
	case name == "":
		return "TLS does not name its server"
	}
	return fmt.Sprintf("TLS is meant for another server, %q", h.server)
}

// send writes all of some bytes.
func send(c net.Conn, b []byte) error {
	c.SetWriteDeadline(time.Now().Add(idleTime))
	_, err := c.Write(b)
	return err
}

// A traffic is what two directions of a connection know of each other.
type traffic struct {
	last atomic.Int64 // when a byte came
	stop atomic.Bool  // nothing more of the program is wanted
}

// pipe carries bytes in both directions until both have ended, or nothing has come for
// long. Of the program it takes those that came early and then no more than the limit
// says; -1 is none.
func pipe(c, server net.Conn, early []byte, limit int64) {
	var t traffic
	t.last.Store(time.Now().UnixNano())
	whole := limit < 0
	if !whole {
		early = early[:min(int64(len(early)), limit)]
		limit -= int64(len(early))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := send(server, early)
		if err == nil {
			err = t.copy(server, c, limit)
		}
		switch half, ok := server.(*net.TCPConn); {
		case err != nil && !t.stop.Load():
			server.Close()
		case ok && whole:
			half.CloseWrite()
		}
	}()
	err := t.copy(c, server, -1)
	if half, ok := c.(*net.TCPConn); ok && err == nil {
		half.CloseWrite()
	}
	if !whole || err != nil {
		t.stop.Store(true)
		c.SetReadDeadline(time.Now())
	}
	<-done
}

// copy copies until the end, or until so many bytes were copied; -1 is no limit.
func (t *traffic) copy(to, from net.Conn, limit int64) error {
	buf := make([]byte, 32<<10)
	for limit != 0 {
		size := len(buf)
		if limit > 0 {
			size = int(min(int64(size), limit))
		}
		from.SetReadDeadline(time.Unix(0, t.last.Load()).Add(idleTime))
		if t.stop.Load() { // looked at after the deadline was set, for pipe sets it as well
			return nil
		}
		n, err := from.Read(buf[:size])
		if n > 0 {
			t.last.Store(time.Now().UnixNano())
			if err := send(to, buf[:n]); err != nil {
				return err
			}
			limit -= int64(n)
			if limit < 0 {
				limit = -1
			}
		}
		var timeout net.Error
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &timeout) && timeout.Timeout() && time.Since(time.Unix(0, t.last.Load())) < idleTime:
		case err != nil:
			return err
		}
	}
	return nil
}
