package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gate/internal/source"
)

// bundleType is the type that a server gives bundles if it speaks OPA's bundle
// API with long polling: it holds a request until there is something new.
const bundleType = "application/vnd.openpolicyagent.bundles"

// holds reports whether a server would hold requests for what it sent.
func holds(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), bundleType)
}

// Await implements [source.Client].
func (c Client) Await(ctx context.Context, o source.Options, tag string, hold time.Duration) bool {
	var known tags
	if json.Unmarshal([]byte(tag), &known) != nil || !known.Holds || known.Archive == "" {
		return false
	}
	o.Hold = hold
	opened, err := c.Open(o)
	w, ok := opened.(*web)
	if err != nil || !ok {
		return false
	}
	defer w.client.CloseIdleConnections()
	for ctx.Err() == nil {
		// A server that answers at once is not asked more often than twice in
		// the time that it was to hold the request.
		next := time.After(hold / 2)
		if news, held := w.ask(ctx, known.Archive, hold); !held {
			return news
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
	return false
}

// ask makes one request that may be held. held says that nothing is new.
func (w *web) ask(ctx context.Context, tag string, hold time.Duration) (news, held bool) {
	ctx, cancel := context.WithTimeout(ctx, hold+w.options.Time)
	defer cancel()
	r, err := w.get(ctx, w.archive, tag, nil)
	if err != nil {
		return false, false
	}
	r.Body.Close()
	switch r.StatusCode {
	case http.StatusNotModified:
		return false, true
	case http.StatusOK:
		return tagOf(r.Header) != tag, false
	}
	return false, false
}

// preference is what OPA's bundle API wants to know: that whole bundles are taken
// and no deltas, and how long to hold the request.
func preference(o source.Options) string {
	if o.Hold <= 0 {
		return "modes=snapshot"
	}
	return fmt.Sprintf("modes=snapshot;wait=%d", max(1, int(o.Hold.Seconds())))
}
