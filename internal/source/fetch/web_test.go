package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/internal/source"
	"gate/internal/source/fetch"
)

// A server is a plain file server that notes what it was asked.
type server struct {
	*httptest.Server
	files map[string][]byte
	asked []string
	over  http.HandlerFunc // answers instead, if set
}

func serve(t *testing.T, files map[string][]byte) *server {
	s := &server{files: files}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")+" "+r.Header.Get("If-None-Match")))
		if s.over != nil {
			s.over(w, r)
			return
		}
		s.file(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) file(w http.ResponseWriter, r *http.Request) {
	data, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%d-%d"`, len(data), data[len(data)/2]))
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func open(t *testing.T, o source.Options) source.Source {
	t.Helper()
	s, err := (fetch.Client{}).Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fetched(t *testing.T, s source.Source, tag string) source.Found {
	t.Helper()
	f, err := s.Fetch(context.Background(), tag)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWeb(t *testing.T) {
	s := serve(t, map[string][]byte{"/b/company.tar.gz": []byte("one")})
	from := open(t, source.Options{URL: s.URL + "/b/", Name: "company"})
	wants := func(what string, f source.Found, want string, asked ...string) {
		t.Helper()
		got := fmt.Sprintf("%s|%s|%v", f.Archive, f.Envelope, f.Unchanged)
		if got != want || strings.Join(s.asked, ", ") != strings.Join(asked, ", ") {
			t.Errorf("%s: %s after %q, want %s after %q", what, got, s.asked, want, asked)
		}
		s.asked = nil
	}
	const a, e = "/b/company.tar.gz", "/b/company.tar.gz.gate.json"
	f := fetched(t, from, "")
	wants("first", f, "one||false", a, e)
	f = fetched(t, from, f.Tag)
	wants("nothing new is one request", f, "||true", a+`  "3-110"`)
	s.files[a] = []byte("second")
	s.files[e] = []byte("{}")
	f = fetched(t, from, f.Tag)
	wants("a new one, with an envelope", f, "second|{}|false", a+`  "3-110"`, e)
	f = fetched(t, from, f.Tag)
	wants("nothing new", f, "||true", a+`  "6-111"`, e+`  "2-125"`)
	s.files[e] = []byte("{ }")
	f = fetched(t, from, f.Tag)
	wants("signed again", f, "second|{ }|false", a+`  "6-111"`, e+`  "2-125"`, a)
	f = fetched(t, from, "what nobody wrote")
	wants("a broken tag", f, "second|{ }|false", a, e)
}

// TestWebRefuses has servers answer with everything but a bundle. Each is one
// sentence.
func TestWebRefuses(t *testing.T) {
	other := serve(t, map[string][]byte{"/x": []byte("x")})
	status := func(n int) http.HandlerFunc { return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) } }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a proxy's page": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<!DOCTYPE html><html>Please sign in")
		}, "a web page came instead of a bundle"},
		"a page that says it is none": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/gzip")
			fmt.Fprint(w, "\n <HTML>")
		}, "a web page came instead of a bundle"},
		"another host": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/x", http.StatusFound) }, "the server sends us on to http://127.0.0.1"},
		"another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://"+r.Host+"/x", http.StatusFound)
		}, "the server sends us on to ftp://"},
		"itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "sends us on and on"},
		"too large, as it says": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "9999") }, "more than 1000 bytes"},
		"too large without saying": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				fmt.Fprint(w, strings.Repeat("x", 100))
				w.(http.Flusher).Flush()
			}
		}, "more than 1000 bytes"},
		"huge headers": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 200_000))
		}, "exceeded"},
		"empty":              {func(http.ResponseWriter, *http.Request) {}, "company.tar.gz is empty"},
		"not changed at all": {status(304), "though it was not asked"},
		"not found":          {status(404), "the server says 404 Not Found"},
		"forbidden":          {status(403), "the server says 403 Forbidden"},
		"down":               {status(503), "the server says 503 Service Unavailable"},
		"another part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.WriteHeader(206)
		}, "another part of the file"},
		"never": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no whole answer within 500ms"},
		"for ever": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}, "no whole answer within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			s.over = c.answer
			o := source.Options{URL: s.URL + "/company.tar.gz", Limit: 1000}
			if strings.Contains(c.want, "within") {
				o.Time = 500 * time.Millisecond
			}
			_, err := open(t, o).Fetch(context.Background(), "")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if len(other.asked) > 0 {
		t.Errorf("the other host was asked for %q", other.asked)
	}
}

// TestResume breaks the line half way: in one fetch, between two, and with the
// file replaced in between.
func TestResume(t *testing.T) {
	whole := []byte(strings.Repeat("0123456789", 1000))
	part := filepath.Join(t.TempDir(), "part")
	s := serve(t, map[string][]byte{"/c.tar.gz": whole})
	from := func() source.Source { return open(t, source.Options{URL: s.URL + "/c.tar.gz", Partial: part}) }
	breaks := func(times int) {
		s.asked = nil
		s.over = func(w http.ResponseWriter, r *http.Request) {
			if times--; times < 0 || r.URL.Path != "/c.tar.gz" {
				s.file(w, r)
				return
			}
			s.file(&broken{w, 1000}, r)
			panic(http.ErrAbortHandler)
		}
	}
	check := func(what string, want []byte, asked string) {
		t.Helper()
		f, err := from().Fetch(context.Background(), "")
		if err != nil || !bytes.Equal(f.Archive, want) {
			t.Errorf("%s: %d bytes, %v", what, len(f.Archive), err)
		}
		if got := strings.Join(s.asked, ", "); got != asked {
			t.Errorf("%s: asked for %s, want %s", what, got, asked)
		}
		if _, err := os.Stat(part); err == nil {
			t.Errorf("%s: half of it is still kept", what)
		}
	}
	breaks(2)
	check("twice in one fetch", whole, "/c.tar.gz, /c.tar.gz bytes=1000-, /c.tar.gz bytes=2000-, /c.tar.gz.gate.json")

	breaks(3)
	if _, err := from().Fetch(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "broke off after 3000 bytes") {
		t.Errorf("three times: %v", err)
	}
	breaks(0)
	check("in the next fetch", whole, "/c.tar.gz bytes=3000-, /c.tar.gz.gate.json")

	breaks(3)
	from().Fetch(context.Background(), "")
	s.files["/c.tar.gz"] = []byte("other")
	breaks(0)
	check("replaced meanwhile", []byte("other"), "/c.tar.gz bytes=3000-, /c.tar.gz.gate.json")
}

// A broken answer ends after some bytes.
type broken struct {
	http.ResponseWriter
	left int
}

func (b *broken) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		b.ResponseWriter.Write(data[:len(data)+b.left])
		b.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(data)
}

// TestToken: a token goes to its server, fresh each time, and nowhere else.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, map[string][]byte{"/c.tar.gz": []byte("one")})
	var got []string
	s.over = func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		s.file(w, r)
	}
	from := open(t, source.Options{URL: s.URL + "/c.tar.gz", TokenFile: file})
	for _, token := range []string{"first\n", "second"} {
		write(token)
		got = nil
		fetched(t, from, "")
		if want := "Bearer " + strings.TrimSpace(token); len(got) != 2 || got[0] != want || got[1] != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	_, err := (fetch.Client{}).Open(source.Options{URL: "http://bundles.example/c.tar.gz", TokenFile: file})
	if err == nil || !strings.Contains(err.Error(), "readable for everybody on the way") {
		t.Errorf("over plain http: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                   "no address",
		"ftp://host/x":       `unknown scheme "ftp"`,
		"https:///x":         "is no address",
		"https://a:b@host/x": "holds a name or a password",
		"https://host/x#y":   "without #",
		"https://host/x/":    "name the bundle",
		"oci://host":         "host/repository:tag is wanted",
		"oci://host/repo":    "a tag or a digest is wanted",
		"file://other/x":     "a file of this machine",
		"https://host/\x7f":  "no address",
	} {
		if _, err := (fetch.Client{}).Open(source.Options{URL: url}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	for want, o := range map[string]source.Options{
		"needs both":     {URL: "https://host/x", CertFile: "c.pem"},
		"no certificate": {URL: "https://host/x", CAFile: "web_test.go"},
	} {
		if _, err := (fetch.Client{}).Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "company.tar.gz")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(at, "one")
	for _, o := range []source.Options{{URL: at}, {URL: dir, Name: "company"}, {URL: "file://" + filepath.ToSlash(at)}} {
		from := open(t, o)
		f := fetched(t, from, "")
		if string(f.Archive) != "one" || f.Envelope != nil {
			t.Errorf("%s: %+v", o.URL, f)
		}
		if f = fetched(t, from, f.Tag); !f.Unchanged {
			t.Errorf("%s: %+v", o.URL, f)
		}
	}
	from := open(t, source.Options{URL: at})
	tag := fetched(t, from, "").Tag
	write(at+source.EnvelopeSuffix, "{}")
	if f := fetched(t, from, tag); f.Unchanged || string(f.Envelope) != "{}" {
		t.Errorf("with an envelope: %+v", f)
	}
	if _, err := open(t, source.Options{URL: dir}).Fetch(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory without a name: %v", err)
	}
	if _, err := open(t, source.Options{URL: at, Limit: 2}).Fetch(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "larger than 2 bytes") {
		t.Errorf("too large: %v", err)
	}
	var e *source.Error
	if _, err := open(t, source.Options{URL: dir}).Fetch(context.Background(), ""); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
}
