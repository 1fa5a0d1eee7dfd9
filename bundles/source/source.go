// Package source brings bundles from where publishers put them: a file or a
// directory, a web server, a registry for containers.
//
// Whatever comes is bytes of a stranger: nothing is unpacked, believed or
// remembered here. It knows nothing of the machine that the bundle is for;
// package bundles verifies it, bundles/sync puts it in force. Start with [Open].
package source

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
)

// A Found is what a source has.
type Found struct {
	Archive, Envelope []byte // the envelope is nil if there is none
	// Tag is what the source calls this state of the two. It is given to the
	// next Fetch. "": it has no name for it.
	Tag string
	// Unchanged says that the source still has what the tag stands for; nothing
	// else is set.
	Unchanged bool
}

// A Source is one place that one bundle comes from. It may be used by one
// goroutine at a time.
type Source interface {
	// Fetch brings what the source has now, unless that is what the tag of an
	// earlier Found stands for. It takes no longer than Options.Time.
	Fetch(ctx context.Context, tag string) (Found, error)
}

// Options say where a bundle comes from, and how.
type Options struct {
	// URL is a path, or an address: file, http, https, or oci for a registry
	// (oci://host/repository:tag; registries on this machine are spoken to
	// without TLS). A directory holds the bundle as NAME.tar.gz. A path or the
	// address of a file names the archive; its envelope is beside it, with
	// [EnvelopeSuffix].
	URL  string
	Name string // of the bundle; wanted where the URL is a directory's

	TokenFile string // holds a bearer token, or user:password for a registry; never sent over plain http but to this machine
	CertFile  string // of the client, with KeyFile; PEM
	KeyFile   string
	CAFile    string // whom to believe that they are the server, instead of the system's; PEM

	Alone   bool          // there is no envelope, and none is asked for
	Limit   int64         // bytes of an archive; default 64 MiB
	Time    time.Duration // for everything; default 5 minutes
	Partial string        // a file that keeps half a download for the next try; "": none
	Agent   string        // what requests call this program

	hold time.Duration // how long the server may hold a request; see Await
}

// EnvelopeSuffix makes the name of the envelope that lies beside an archive.
const EnvelopeSuffix = ".gate.json"

const (
	defaultLimit = 64 << 20
	defaultTime  = 5 * time.Minute
	maxEnvelope  = 2 << 20
)

// An Error says why a source gave nothing, in one sentence.
type Error struct {
	Err     error
	Hint    string        // what to do about it; ""
	Missing bool          // there is nothing under this address
	Wait    time.Duration // how long the source wants to be left alone; 0: it does not say
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func fail(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Open makes the source of an address. Nothing is asked for yet.
func Open(o Options) (Source, error) {
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
		var told *Error
		if errors.As(u.Err, &told) {
			return told
		}
		return u.Err
	}
	return err
}

// worded says what a status means.
func worded(status int, header http.Header) error {
	e := &Error{
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
