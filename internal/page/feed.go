package page

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"gate/internal/page/look"
)

// feed writes a line of JSON for each further call, until the browser goes away, the
// key ends or the server stops. An empty line says that nothing has happened.
func (p *Page) feed(w http.ResponseWriter, r *http.Request, key string) {
	if r.Method != http.MethodGet {
		p.refuse(w, r, wrongMethod)
		return
	}
	filter, err := p.filterOf(r.URL.Query())
	if err != nil {
		p.refuse(w, r, refusalOf(err))
		return
	}
	select {
	case p.feeds <- struct{}{}:
		defer func() { <-p.feeds }()
	default:
		p.refuse(w, r, busy)
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	out := &stream{w: w, control: http.NewResponseController(w)}
	out.control.SetReadDeadline(time.Time{}) // it would end the feed
	w.Header().Set("Content-Type", "application/x-ndjson")
	if out.line("") != nil {
		return
	}
	go func() {
		beat := time.NewTicker(beatEvery)
		defer beat.Stop()
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.o.Done:
				return
			case <-beat.C:
				if !p.keys.opens(key) || out.line("") != nil {
					return
				}
			}
		}
	}()
	p.o.Sources.Feed(ctx, filter, func(call Document) error {
		line, err := p.row(call)
		if err != nil {
			return err
		}
		return out.line(line)
	})
	stop()
	out.end()
}

// row is a call as a line of the feed: itself, and its row of the table.
func (p *Page) row(call Document) (string, error) {
	var b bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&b, "row", look.Visible(call)); err != nil {
		return "", err
	}
	data, err := look.Marshal(Document{"call": call, "html": strings.TrimSpace(b.String())})
	return string(data), err
}

// A stream writes lines one at a time, and none when it has ended.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	ended   bool
}

func (s *stream) line(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return context.Canceled
	}
	s.control.SetWriteDeadline(time.Now().Add(slowest))
	if _, err := s.w.Write([]byte(text + "\n")); err != nil {
		return err
	}
	return s.control.Flush()
}

// end waits for a line that is under way.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}
