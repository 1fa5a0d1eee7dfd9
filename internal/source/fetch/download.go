package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"gate/internal/hostfs"
)

// tries is how often a download goes on where it broke off.
const tries = 3

// download brings the archive. If the line breaks it goes on where it was, also
// in the next Fetch.
func (w *web) download(ctx context.Context, tag string) (answer, error) {
	half := w.kept()
	for try := 1; ; try++ {
		a, broken, err := w.attempt(ctx, tag, half)
		if broken == nil {
			if err == nil && !a.unchanged {
				w.keep(nil)
			}
			return a, err
		}
		half = broken
		if try == tries || ctx.Err() != nil {
			w.keep(half)
			return a, err
		}
	}
}

// attempt asks once. If the answer breaks off, and can be gone on with, it
// returns what there is of it beside the error.
func (w *web) attempt(ctx context.Context, tag string, half *partial) (answer, *partial, error) {
	r, err := w.get(ctx, w.archive, tag, half)
	if err != nil {
		return answer{}, half, err
	}
	defer r.Body.Close()
	var before []byte
	switch r.StatusCode {
	case http.StatusNotModified:
		if tag == "" {
			return answer{}, nil, fail("", "the server says that nothing has changed, though it was not asked")
		}
		return answer{tag: tag, unchanged: true}, nil, nil
	case http.StatusOK:
	case http.StatusPartialContent:
		if half == nil || r.Header.Get("ETag") != half.ETag || !strings.HasPrefix(r.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", len(half.data))) {
			return answer{}, nil, fail("", "the server sent another part of the file than was asked for")
		}
		before = half.data
	case http.StatusRequestedRangeNotSatisfiable:
		if half != nil { // there is no more of it: begin again
			w.keep(nil)
			return w.attempt(ctx, tag, nil)
		}
		return answer{}, nil, worded(r.StatusCode, r.Header)
	default:
		return answer{}, nil, worded(r.StatusCode, r.Header)
	}
	most := w.options.Limit - int64(len(before))
	if r.ContentLength > most {
		return answer{}, nil, w.tooLarge()
	}
	rest, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	data := append(bytes.Clone(before), rest...)
	switch {
	case int64(len(rest)) > most:
		return answer{}, nil, w.tooLarge()
	case isPage(r.Header, data):
		return answer{}, nil, errPage
	case err != nil:
		err = fmt.Errorf("%s broke off after %d bytes: %w", base(w.archive), len(data), err)
		if etag := r.Header.Get("ETag"); etag != "" && !strings.HasPrefix(etag, "W/") && len(data) > 0 {
			return answer{}, &partial{URL: w.archive.String(), ETag: etag, data: data}, err
		}
		return answer{}, nil, err
	case len(data) == 0:
		return answer{}, nil, fail("", "%s is empty", base(w.archive))
	}
	return answer{body: data, tag: tagOf(r.Header), holds: holds(r.Header)}, nil, nil
}

func (w *web) tooLarge() error {
	return fail("", "%s has more than %d bytes", base(w.archive), w.options.Limit)
}

// A partial is half a download: what the server called the file, and what came
// of it. Whether the halves belong together is for the server to say, and for
// the signature.
type partial struct {
	URL  string `json:"url"`
	ETag string `json:"etag"`
	data []byte
}

// kept returns what is left of the last download, nil if that is of no use.
func (w *web) kept() *partial {
	if w.options.Partial == "" {
		return nil
	}
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(w.options.Partial), int(w.options.Limit)+4096)
	if err != nil {
		return nil
	}
	line, rest, ok := bytes.Cut(data, []byte("\n"))
	var p partial
	if !ok || json.Unmarshal(line, &p) != nil || p.URL != w.archive.String() || p.ETag == "" || len(rest) == 0 {
		return nil
	}
	p.data = rest
	return &p
}

// keep writes half a download, or removes what is there. What cannot be kept is
// fetched again.
func (w *web) keep(p *partial) {
	file := w.options.Partial
	if file == "" {
		return
	}
	os.Remove(file)
	if p == nil {
		return
	}
	line, err := json.Marshal(p)
	if err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(append(append(line, '\n'), p.data...))
	if errors.Join(err, f.Close()) != nil {
		os.Remove(file)
	}
}
