package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"gate/internal/source"
)

// FuzzRegistry has a registry send whatever manifest: what comes of it is one
// bundle whose bytes have the digest that the manifest named, or a sentence.
func FuzzRegistry(f *testing.F) {
	blob := []byte("archive")
	sum := sha256.Sum256(blob)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	f.Add(fmt.Appendf(nil, `{"schemaVersion":2,"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":%q,"size":%d}]}`, digest, len(blob)))
	f.Add(fmt.Appendf(nil, `{"layers":[{"digest":%q,"size":-1,"annotations":{"org.opencontainers.image.title":"a.tgz"}},{"mediaType":%q,"digest":%q}]}`, digest, EnvelopeType, "md5:../../x"))
	from, err := openRegistry(source.Options{URL: "oci://127.0.0.1/company:latest", Limit: 100, Time: time.Minute}, "127.0.0.1/company:latest")
	if err != nil {
		f.Fatal(err)
	}
	var manifest []byte
	from.repository.Client = &auth.Client{Client: &http.Client{Transport: answers(func(r *http.Request) *http.Response {
		w := httptest.NewRecorder() // no connection: what a fuzzer sees must not depend on goroutines
		body := blob
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			body = manifest
		} else if !strings.HasSuffix(r.URL.Path, digest) {
			w.WriteHeader(http.StatusNotFound)
			return w.Result()
		}
		sum := sha256.Sum256(body)
		w.Header().Set("Docker-Content-Digest", "sha256:"+hex.EncodeToString(sum[:]))
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		if r.Method != http.MethodHead {
			w.Write(body)
		}
		answer := w.Result()
		answer.Request, answer.ContentLength = r, int64(len(body))
		return answer
	})}}
	f.Fuzz(func(t *testing.T, data []byte) {
		manifest = data
		found, err := from.Fetch(context.Background(), "")
		switch {
		case err == nil && string(found.Archive) != string(blob):
			t.Errorf("%s: fetched %q", data, found.Archive)
		case err != nil && strings.ContainsAny(err.Error(), "\x00\x1b"):
			t.Errorf("%q", err)
		}
	})
}

type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// FuzzPartial reads what is left of a download: only what was kept for this
// address is gone on with, and it is never written on where it cannot be.
func FuzzPartial(f *testing.F) {
	u, err := url.Parse("https://policy.acme.example/company.tar.gz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"url":"https://policy.acme.example/company.tar.gz","etag":"\"1\""}` + "\nhalf"))
	f.Add([]byte(`{"url":"https://evil.example/","etag":"\"1\""}` + "\nhalf"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &web{archive: u, options: source.Options{Partial: filepath.Join(t.TempDir(), "partial"), Limit: 64}}
		if err := os.WriteFile(w.options.Partial, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p := w.kept()
		if p == nil {
			return
		}
		if p.URL != u.String() || p.ETag == "" || len(p.data) == 0 {
			t.Errorf("%q: goes on with %+v", data, p)
		}
		w.keep(p)
		again := w.kept()
		if again == nil || again.ETag != p.ETag || string(again.data) != string(p.data) {
			t.Errorf("%q: kept as %+v", data, again)
		}
		if w.keep(nil); w.kept() != nil {
			t.Error("it is still there")
		}
	})
}

// FuzzRetryAfter holds that a server says for how long it wants to be left
// alone, and neither for ever nor for less than no time.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"", "0", "120", "-1", "3601", "9223372037", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if wait := retryAfter(http.Header{"Retry-After": {text}}); wait < 0 || wait > time.Hour {
			t.Errorf("%q: %v", text, wait)
		}
	})
}
