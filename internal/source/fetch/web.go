package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gate/internal/hostfs"
	"gate/internal/source"
)

// A web is a bundle on a web server.
type web struct {
	options  source.Options
	archive  *url.URL
	envelope *url.URL
	client   *http.Client
}

func openWeb(o source.Options) (source.Source, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, fmt.Errorf("%q is no address", o.URL)
	case u.User != nil:
		return nil, errors.New("the address holds a name or a password; put a token into a file, and name that")
	case u.Fragment != "":
		return nil, fmt.Errorf("%s: an address without # is wanted", o.URL)
	case u.Scheme == "http" && o.TokenFile != "" && !local(u.Host):
		return nil, fmt.Errorf("%s: the token would be readable for everybody on the way; use https://", o.URL)
	}
	if strings.HasSuffix(u.Path, "/") {
		if o.Name == "" {
			return nil, fmt.Errorf("%s is a directory; name the bundle", o.URL)
		}
		u = u.JoinPath(o.Name + ".tar.gz")
	}
	transport, err := transportOf(o)
	if err != nil {
		return nil, err
	}
	w := &web{options: o, archive: u, envelope: beside(u)}
	w.client = &http.Client{Transport: transport, CheckRedirect: w.redirect}
	return w, nil
}

// beside is the address of the envelope. What a query says, a signature of the
// address for example, is meant for both.
func beside(u *url.URL) *url.URL {
	v := *u
	v.Path, v.RawPath = v.Path+source.EnvelopeSuffix, ""
	return &v
}

// transportOf is how servers are spoken to. Nothing is compressed on the way: an
// archive is, and its digest is that of its bytes.
func transportOf(o source.Options) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		data, err := small(o.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s: it holds no certificate in PEM", o.CAFile)
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, errors.New("a client certificate needs both its file and its key's")
	}
	if o.CertFile != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			// It is read each time: certificates are renewed.
			c, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
			return &c, err
		}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, DisableCompression: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10, ResponseHeaderTimeout: o.Hold + min(o.Time, time.Minute), TLSHandshakeTimeout: min(o.Time, 30*time.Second),
		IdleConnTimeout: 30 * time.Second, MaxIdleConns: 2,
	}, nil
}

// small reads a file that the administrator named.
func small(name string) ([]byte, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(abs), 1<<20)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// maxRedirects is how often a server may send us on, within itself.
const maxRedirects = 5

// redirect stays on the server that the administrator named, and so do tokens.
func (w *web) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Scheme != w.archive.Scheme || r.URL.Host != w.archive.Host:
		return fail("if that is the right server, write its address into the settings",
			"the server sends us on to %s://%s; only %s://%s was named", r.URL.Scheme, r.URL.Host, w.archive.Scheme, w.archive.Host)
	case len(via) > maxRedirects:
		return fail("", "the server sends us on and on")
	}
	return nil
}

// tags are the names of both files' states.
type tags struct {
	Archive  string `json:"archive"`
	Envelope string `json:"envelope,omitempty"` // "": there was none
	Holds    bool   `json:"holds,omitempty"`    // the server would hold requests: see Await
}

// Fetch asks for both files. A plain bundle that has not changed is one request
// and an answer without a body.
func (w *web) Fetch(ctx context.Context, tag string) (source.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, w.options.Time)
	defer cancel()
	defer w.client.CloseIdleConnections()
	var known tags
	json.Unmarshal([]byte(tag), &known) // a tag that cannot be read is none
	archive, err := w.download(ctx, known.Archive)
	if err != nil {
		return source.Found{}, plainTime(err, w.options.Time)
	}
	switch {
	case archive.unchanged && known.Envelope == "":
		return source.Found{Tag: tag, Unchanged: true}, nil
	case w.options.Alone:
		return source.Found{Archive: archive.body}, nil
	}
	ask := ""
	if archive.unchanged {
		ask = known.Envelope
	}
	envelope, err := w.beside(ctx, ask)
	switch {
	case err != nil:
		return source.Found{}, plainTime(err, w.options.Time)
	case archive.unchanged && envelope.unchanged:
		return source.Found{Tag: tag, Unchanged: true}, nil
	case archive.unchanged: // it was signed again
		if archive, err = w.download(ctx, ""); err != nil {
			return source.Found{}, plainTime(err, w.options.Time)
		}
	}
	found := source.Found{Archive: archive.body, Envelope: envelope.body}
	if archive.tag != "" && (envelope.body == nil || envelope.tag != "") {
		name, err := json.Marshal(tags{archive.tag, envelope.tag, archive.holds})
		if err != nil {
			return source.Found{}, err
		}
		found.Tag = string(name)
	}
	return found, nil
}

// An answer is what came of one request.
type answer struct {
	body      []byte
	tag       string
	unchanged bool
	holds     bool
}

// beside asks for the envelope. Servers that do not tell strangers what they
// have say "forbidden" instead of "not found".
func (w *web) beside(ctx context.Context, tag string) (answer, error) {
	r, err := w.get(ctx, w.envelope, tag, nil)
	if err != nil {
		return answer{}, err
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusNotModified:
		return answer{tag: tag, unchanged: true}, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden:
		return answer{}, nil
	case http.StatusOK:
		data, err := hostfs.ReadAll(r.Body, maxEnvelope)
		if err == hostfs.TooLarge(maxEnvelope) {
			err = fail("", "the envelope has more than %d bytes", maxEnvelope)
		}
		if err == nil && isPage(r.Header, data) {
			return answer{}, nil // servers that answer everything with a page
		}
		return answer{body: data, tag: tagOf(r.Header)}, err
	}
	return answer{}, worded(r.StatusCode, r.Header)
}

// get asks for a file, or for the rest of it.
func (w *web) get(ctx context.Context, u *url.URL, tag string, half *partial) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", w.options.Agent)
	r.Header.Set("Accept", "application/vnd.openpolicyagent.bundles, application/gzip, application/octet-stream, */*;q=0.1")
	r.Header.Set("Prefer", preference(w.options))
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	if half != nil {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", len(half.data)))
		r.Header.Set("If-Range", half.ETag)
	}
	if w.options.TokenFile != "" {
		token, err := small(w.options.TokenFile)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return w.client.Do(r)
}

// tagOf is what a server calls the state of a file. When it was changed is no
// name for it: a file that is replaced within the second, or by one that was
// made earlier, would never be seen.
func tagOf(h http.Header) string { return h.Get("ETag") }

// retryAfter is how long a server wants to be left alone, an hour at most.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}

// isPage reports a web page, which proxies and sign-in pages answer with,
// whatever they were asked for.
func isPage(h http.Header, data []byte) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(strings.ToLower(kind)); kind == "text/html" || kind == "application/xhtml+xml" {
		return true
	}
	start := strings.ToLower(strings.TrimLeft(string(data[:min(len(data), 512)]), " \t\r\n\ufeff"))
	return strings.HasPrefix(start, "<!doctype") || strings.HasPrefix(start, "<html")
}

var errPage = &source.Error{
	Err:  errors.New("a web page came instead of a bundle"),
	Hint: "a proxy or a sign-in page may stand in between, or the address is that of a page about the bundle",
}

// base is the last part of an address, for people.
func base(u *url.URL) string { return path.Base(u.Path) }
