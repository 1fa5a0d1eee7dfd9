// Package ship sends the decision log to a collector of OPA decision logs: batches of
// records as gzipped JSON arrays, posted to one address. A [Form] writes batches for a
// collector of another kind.
//
// The log itself is the queue. The package notes beside it how far it has sent. So a
// lost network loses nothing, and a record may arrive twice (decision_id tells). It
// never runs where a call waits for an answer. Start with [Client], fill in a
// [Shipper], call [Shipper.Ship].
package ship

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"gate/internal/audit"
)

// A Shipper sends logs to one address. A zero field means its default. It is
// safe for concurrent use.
type Shipper struct {
	URL    string            // where batches are posted
	Client *http.Client      // see [Client]; nil: one without a certificate of its own
	Token  string            // sent as bearer token; "": none
	Labels map[string]string // of the machine, for gaps: records bring theirs
	Queue  string            // of several destinations, which one: each has its own cursor; "": the one that rotation waits for
	Form   Form              // how batches are written; nil: as OPA sends its decision log

	Batch int // bytes of one batch before compression, default 1 MiB
	Tries int // of one batch, default 5

	// Wait waits between two tries, or until ctx ends; nil: it does.
	Wait func(ctx context.Context, d time.Duration) error
}

// A Report is what one shipping did.
type Report struct {
	Records  int // that arrived
	Kept     int // records that the form does not send
	Skipped  int // records that the other side refuses, in whose place it took a gap
	Gaps     int // that arrived: places where records are missing
	Findings int // that arrived: the log is not the one that was sent before
	Batches  int
	Bytes    int64 // as sent, compressed
	Cursor   audit.Cursor

	Refused int64  // items of requests that were taken, which the other side says it threw away
	Said    string // what it said to the first request of which it refused something or warned; "": nothing
}

// A Log is what is sent: an *[audit.History], or the log of another account.
type Log interface {
	// Unsent yields what is behind a cursor. An error is the last.
	Unsent(c audit.Cursor, o audit.Origin) iter.Seq2[audit.Sendable, error]
	// Cursor returns how far it was sent to a destination, and Advance notes it.
	Cursor(to string) (audit.Cursor, error)
	Advance(to string, c audit.Cursor) error
}

// most records are in one batch.
const most = 1000

// Ship sends what was not sent yet. What arrived before an error counts, and is
// in the report.
func (s *Shipper) Ship(ctx context.Context, h Log) (Report, error) {
	cursor, err := h.Cursor(s.Queue)
	if err != nil {
		return Report{}, err
	}
	r := &run{Shipper: s, ctx: ctx, history: h, report: Report{Cursor: cursor}}
	size := s.Batch
	if size <= 0 {
		size = 1 << 20
	}
	total := 0
	for item, err := range h.Unsent(cursor, audit.Origin{Labels: s.Labels, Now: time.Now()}) {
		if err != nil {
			return r.report, errors.Join(r.flush(), err)
		}
		if len(r.waiting) == most || total > 0 && total+len(item.Text) > size {
			if err := r.flush(); err != nil {
				return r.report, err
			}
			total = 0
		}
		item.Text = bytes.Clone(item.Text)
		r.waiting = append(r.waiting, item)
		total += len(item.Text)
	}
	return r.report, r.flush()
}

// A run is one shipping.
type run struct {
	*Shipper
	ctx     context.Context
	history Log
	report  Report
	waiting []audit.Sendable
}

// flush sends what waits, in halves where it is too much for the other side.
func (r *run) flush() error {
	for len(r.waiting) > 0 {
		n := len(r.waiting)
		err := r.send(r.waiting[:n])
		for unwanted(err) && n > 1 {
			n = (n + 1) / 2
			err = r.send(r.waiting[:n])
		}
		if unwanted(err) && r.report.Skipped < mostSkipped {
			err = r.instead(r.waiting[0], err)
		}
		if err != nil {
			return err
		}
		last := r.waiting[n-1].After
		last.At = time.Now()
		if err := r.history.Advance(r.Queue, last); err != nil {
			return err
		}
		r.report.Cursor = last
		r.waiting = r.waiting[n:]
	}
	return nil
}

// instead sends a gap for one record that the other side does not take, because of why.
func (r *run) instead(item audit.Sendable, why error) error {
	if item.Gap || item.Finding {
		return why
	}
	g := audit.Gap{Log: item.After.Log, From: item.After.Seq, To: item.After.Seq, Before: time.Now(), User: item.User}
	if record, err := audit.Parse(item.Text); err == nil {
		g.Before = record.Time
	}
	if err := r.send([]audit.Sendable{{Text: g.JSON(r.Labels), After: item.After, Gap: true, User: item.User}}); err != nil {
		return why
	}
	r.report.Skipped++
	return nil
}

// mostSkipped bounds the records of one shipping that gaps stand for: a server that is
// wrong about all of them must not empty the queue.
const mostSkipped = 10

var errTooLarge = errors.New("the batch is too large for the server")

// unwanted reports that the other side may take a part of the batch.
func unwanted(err error) bool {
	var answer *AnswerError
	return errors.Is(err, errTooLarge) || errors.As(err, &answer) && answer.Code == http.StatusBadRequest
}

// send sends one batch. All of its requests must arrive: otherwise it is sent again, and
// the other side gets those twice that it had.
func (r *run) send(batch []audit.Sendable) error {
	form := r.Form
	if form == nil {
		form = decisionLog{}
	}
	requests, err := form.Requests(batch)
	if err != nil {
		return err
	}
	if len(requests) == 0 {
		r.report.Kept += len(batch)
		return nil
	}
	for i := range requests {
		if err := r.deliver(&requests[i]); err != nil {
			return err
		}
	}
	r.report.Batches++
	for _, item := range batch {
		switch {
		case item.Gap:
			r.report.Gaps++
		case item.Finding:
			r.report.Findings++
		default:
			r.report.Records++
		}
	}
	return nil
}

// Post sends one request that is no batch of a log. An answer that is no success is an
// [AnswerError].
func (s *Shipper) Post(ctx context.Context, q Request) error {
	return (&run{Shipper: s, ctx: ctx}).deliver(&q)
}

// deliver posts a request, again and again where that may help.
func (r *run) deliver(q *Request) error {
	address, err := q.address(r.URL)
	if err != nil {
		return err
	}
	body := q.Body
	if !q.Plain {
		body = pack(body)
	}
	tries := r.Tries
	if tries <= 0 {
		tries = 5
	}
	for try := 1; ; try++ {
		pause, err := r.post(q, address, body)
		if err == nil {
			r.report.Bytes += int64(len(body))
			return nil
		}
		if q.Path != "" {
			err = fmt.Errorf("%s: %w", q.Path, err)
		}
		if errors.Is(err, errTooLarge) || pause < 0 || try == tries {
			return err
		}
		if waitErr := r.wait(max(pause, backoff(try))); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
}

// pack compresses the body of a request.
func pack(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // neither a buffer nor a writer into one fails
	z.Write(body)
	z.Close()
	return b.Bytes()
}

// Bounds of the wait between two tries.
const (
	firstWait = 500 * time.Millisecond
	longest   = time.Minute
)

// backoff is how long to wait behind a try: twice as long each time, and by
// chance between half of that and all of it, so that machines that failed
// together do not come back together.
func backoff(try int) time.Duration {
	d := min(firstWait<<min(try-1, 20), longest)
	return d/2 + rand.N(d/2)
}

func (r *run) wait(d time.Duration) error {
	if r.Wait != nil {
		return r.Wait(r.ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// post sends a body once. With an error comes how long to wait before the next
// try: negative where there is no use in one.
func (r *run) post(q *Request, address string, body []byte) (pause time.Duration, err error) {
	const never = -1
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	req.Header.Set("Content-Type", q.Type)
	if !q.Plain {
		req.Header.Set("Content-Encoding", "gzip")
	}
	req.Header.Set("User-Agent", "gate")
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if q.Sign != nil {
		q.Sign(req.Header, body)
	}
	client := r.Client
	if client == nil {
		client = &http.Client{Timeout: timeout, CheckRedirect: stay}
	}
	res, err := client.Do(req)
	if err != nil {
		if r.ctx.Err() != nil {
			return never, err
		}
		return 0, err
	}
	defer res.Body.Close()
	said, readErr := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1)) // so that the connection can be used again
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		if q.Answer == nil {
			return 0, nil
		}
		if readErr != nil {
			return 0, fmt.Errorf("the server answered %s and broke off: %w", res.Status, readErr)
		}
		refusal, err := q.answer(res.Header.Get("Content-Type"), said)
		if err != nil {
			return never, fmt.Errorf("the server answered %s: %w", res.Status, err)
		}
		r.report.note(refusal)
		return 0, nil
	case code == http.StatusRequestEntityTooLarge:
		return never, errTooLarge
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return retryAfter(res.Header.Get("Retry-After")), answerError(res, said, q.Sign != nil)
	default:
		return never, answerError(res, said, q.Sign != nil)
	}
}

// retryAfter reads how many seconds a server wants to be left alone.
func retryAfter(value string) time.Duration {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(min(n, 3600))*time.Second, longest)
}
