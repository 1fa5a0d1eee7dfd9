package fetch_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"gate/internal/source"
	"gate/internal/source/fetch"
)

// TestAwait has servers hold requests, or not.
func TestAwait(t *testing.T) {
	const opa = "application/vnd.openpolicyagent.bundles"
	s := serve(t, nil)
	var prefer []string
	changed := make(chan struct{}, 1)
	kind, status := opa, http.StatusNotModified
	s.over = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, source.EnvelopeSuffix):
			http.NotFound(w, r)
			return
		case r.Header.Get("If-None-Match") == "":
			w.Header().Set("ETag", `"one"`)
		default:
			prefer = append(prefer, r.Header.Get("Prefer"))
			select {
			case <-changed:
				w.Header().Set("ETag", `"two"`)
			default:
				changed <- struct{}{} // the next request has it
				if status == http.StatusOK {
					w.Header().Set("ETag", `"one"`)
				}
				w.WriteHeader(status)
				return
			}
		}
		w.Header().Set("Content-Type", kind)
		w.Write([]byte("archive"))
	}
	o := source.Options{URL: s.URL + "/company.tar.gz"}
	tag := fetched(t, open(t, o), "").Tag

	if !(fetch.Client{}).Await(t.Context(), o, tag, time.Second) {
		t.Error("news was not heard")
	}
	if want := "modes=snapshot;wait=1 modes=snapshot;wait=1"; strings.Join(prefer, " ") != want {
		t.Errorf("preferred %q, want %s", prefer, want)
	}
	for _, status = range []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError} {
		if (fetch.Client{}).Await(t.Context(), o, tag, time.Second) {
			t.Errorf("status %d, and nothing new: news", status)
		}
		<-changed
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if status = http.StatusNotModified; (fetch.Client{}).Await(ended, o, tag, time.Hour) {
		t.Error("who was told to end heard news")
	}

	// A server that does not say that it speaks the API is not asked, nor is what
	// is no server.
	prefer, kind = nil, "application/gzip"
	plain := fetched(t, open(t, o), "").Tag
	for _, o := range []source.Options{o, {URL: "/company.tar.gz"}, {URL: "oci://127.0.0.1:1/x:y"}} {
		if (fetch.Client{}).Await(t.Context(), o, plain, time.Hour) || (fetch.Client{}).Await(t.Context(), o, "", time.Hour) || len(prefer) > 0 {
			t.Errorf("%s: asked %q", o.URL, prefer)
		}
	}
}
