// Package reach has the HTTP client for addresses that settings and hooks name. It reads
// no settings and checks no address: package outgoing does. Start with [Client].
package reach

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	maxHeaders   = 64 << 10 // of an answer, in bytes
	maxRedirects = 3
	dialTime     = 10 * time.Second // for one address of several
)

// Options say what a client goes by. The zero value is what the system has.
type Options struct {
	Local    bool           // only this machine is reached
	Roots    *x509.CertPool // the certificates that servers are trusted by; nil: the system's
	Resolver *net.Resolver  // nil: the system's
}

// Client returns a client for one request, or a few to one server. What an agent's
// environment or a server could use to lead requests elsewhere is left out: no proxy, no
// cookies, no other server.
func Client(o Options) *http.Client {
	dialer := &net.Dialer{
		Timeout: dialTime, Resolver: o.Resolver,
		Control: func(_, address string, _ syscall.RawConn) error { return reachable(address, o.Local) },
	}
	return &http.Client{
		CheckRedirect: follow,
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTime,
			MaxResponseHeaderBytes: maxHeaders,
			DisableKeepAlives:      true,
		},
	}
}

// reachable judges the address behind a name, when it is about to be connected
// to. Link-local ones are those where clouds keep a machine's own keys.
func reachable(address string, local bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	switch {
	case local && !ip.IsLoopback():
		return fmt.Errorf("%s is not this machine", ip)
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
		return fmt.Errorf("gate does not connect to %s", ip)
	}
	return nil
}

// follow follows what repeats the request at the same server; anything else is
// an answer, and no good one.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) == 0 || req.Response == nil {
		return errors.New("a redirect without an answer")
	}
	first := via[0].URL
	again := req.Response.StatusCode == http.StatusTemporaryRedirect || req.Response.StatusCode == http.StatusPermanentRedirect
	if !again || len(via) > maxRedirects || req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || req.URL.User != nil {
		return http.ErrUseLastResponse
	}
	return nil
}
