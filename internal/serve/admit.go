package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// peerKey marks requests that came over a socket whose other side is known.
type peerKey struct{}

// withPeer notes of a connection that the system said whose it is.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if _, known := c.(*ownConn); known {
		return context.WithValue(ctx, peerKey{}, true)
	}
	return ctx
}

// A refusal is why a request is not looked at any further. The zero refusal is
// none.
type refusal struct {
	status int
	word   string // for metrics, and as OPA's "code"
	why    string
}

var (
	wrongHost   = refusal{http.StatusMisdirectedRequest, "host", "the request is for another host than this machine"}
	fromBrowser = refusal{http.StatusForbidden, "origin", "requests of web pages are not answered"}
	noToken     = refusal{http.StatusUnauthorized, "unauthorized", "the token is missing or wrong; the request needs Authorization: Bearer and what is in gate's token file"}
	wrongMethod = refusal{http.StatusMethodNotAllowed, "method", "the method does not go with this address"}
	wrongPath   = refusal{http.StatusNotFound, "resource_not_found", "there is nothing at this address"}
	wrongAgent  = refusal{http.StatusNotFound, "agent", "the address names an agent that gate does not know"}
	tooLarge    = refusal{http.StatusRequestEntityTooLarge, "size", "the request is too large"}
	encoded     = refusal{http.StatusUnsupportedMediaType, "encoding", "compressed requests are not read"}
	unreadable  = refusal{http.StatusBadRequest, "body", "the request did not arrive whole and in time"}
	malformed   = refusal{http.StatusBadRequest, "invalid_parameter", ""}
	busy        = refusal{http.StatusServiceUnavailable, "busy", "gate has too many questions to answer at once"}
	ending      = refusal{http.StatusServiceUnavailable, "stopping", "gate serve is about to stop"}
	failed      = refusal{http.StatusInternalServerError, "internal_error", "gate failed"}
)

// admit reports why a request may not ask anything.
//
// A page in a browser can send requests to this machine, and have a name of its
// own resolve to it, so that even the page's answers would be readable. Its
// requests have an Origin, or the host that they are for is not this one.
func (s *Server) admit(r *http.Request, public bool) refusal {
	_, own := r.Context().Value(peerKey{}).(bool)
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case !own && !isLocal(r.Host):
		return wrongHost
	case len(r.Header.Values("Origin")) > 0, site != "" && site != "none":
		return fromBrowser
	case public, own:
		return refusal{}
	case !s.bears(r.Header):
		return noToken
	}
	return refusal{}
}

// isLocal reports whether a request's host is a name that this machine alone
// can have.
func isLocal(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if !isDigits(port) {
			return false
		}
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return host == "127.0.0.1" || host == "::1" || strings.EqualFold(host, "localhost")
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// bears reports whether the request has the token. How long that takes says
// nothing about the token.
func (s *Server) bears(h http.Header) bool {
	given := h.Values("Authorization")
	if len(given) != 1 || s.o.Token == "" {
		return false
	}
	scheme, token, ok := strings.Cut(given[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}
