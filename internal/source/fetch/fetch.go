// Package fetch brings bundles from their publishers, and puts them into registries for
// containers.
//
// It brings the bytes of a stranger, and believes nothing of them; see [source.Source].
// It is not for gate-hook or gate: the client of registries compiles patterns before
// main. Start with [Client.Open].
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/source"
)

// A Client implements [source.Client]. Its zero value is ready.
type Client struct{}

const (
	defaultLimit = 64 << 20
	defaultTime  = 5 * time.Minute
	maxEnvelope  = 2 << 20
)

func fail(hint, format string, args ...any) error {
	return &source.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Open implements [source.Client].
func (Client) Open(o source.Options) (source.Source, error) {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if o.Time <= 0 {
		o.Time = defaultTime
	}
	scheme, rest, ok := strings.Cut(o.URL, "://")
	switch {
	case o.URL == "":
		return nil, errors.New("no address is given")
	case !ok:
		return &files{o, o.URL}, nil
	}
	switch scheme {
	case "file":
		u, err := url.Parse(o.URL)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return nil, fmt.Errorf("%s: a file of this machine is wanted: file:///path", o.URL)
		}
		return &files{o, filepath.FromSlash(u.Path)}, nil
	case "http", "https":
		return openWeb(o)
	case "oci":
		return openRegistry(o, rest)
	}
	return nil, fmt.Errorf("%s: unknown scheme %q; a path, file, http, https and oci are known", o.URL, scheme)
}

// local reports an address on this machine, where nobody listens on the way.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// plainTime says what a time-out is to people.
func plainTime(err error, after time.Duration) error {
	var n net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout() {
		return fail("", "no whole answer within %s", after)
	}
	var u *url.Error
	if errors.As(err, &u) {
		var told *source.Error
		if errors.As(u.Err, &told) {
			return told
		}
		return u.Err
	}
	return err
}

// worded says what a status means.
func worded(status int, header http.Header) error {
	e := &source.Error{
		Err:  fmt.Errorf("the server says %d %s", status, http.StatusText(status)),
		Wait: retryAfter(header), Missing: status == http.StatusNotFound || status == http.StatusGone,
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Hint = "the token or the certificate is missing, wrong or expired"
	case http.StatusNotFound, http.StatusGone:
		e.Hint = "nothing is there under this name; look at the address"
	case http.StatusProxyAuthRequired:
		e.Hint = "a proxy on the way wants to know who asks"
	}
	return e
}
