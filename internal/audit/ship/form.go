package ship

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"gate/internal/audit"
)

// A Form is how batches are written for a kind of collector.
type Form interface {
	// Requests returns what carries a batch, in the order in which it is posted. It has
	// to return the same for the same batch: a batch may be sent again. With none the
	// batch counts as done.
	Requests(batch []audit.Sendable) ([]Request, error)
}

// A Request is one body that is posted.
type Request struct {
	Path string // below the address, such as "/v1/logs"; "": the address itself
	Type string // its Content-Type
	Body []byte // before compression

	Plain bool // it is sent as it is, without compression

	// Sign adds to the headers of each try what proves who sends body, which is as it
	// is sent. nil: nothing is added.
	Sign func(h http.Header, body []byte)

	// Answer reads what came with a status of success, of 64 KiB at most. An error says
	// that it is no answer of such a collector, so that nothing counts as sent. nil:
	// the status says all.
	Answer func(contentType string, body []byte) (Refusal, error)
}

// A Refusal is what a collector says of a request that it took. The zero Refusal: it
// took everything.
type Refusal struct {
	Items int64  // that it threw away; they are not to be sent again
	Said  string // why, or a warning where Items is 0
}

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 64 << 10

func (q *Request) answer(contentType string, body []byte) (Refusal, error) {
	if len(body) > maxAnswer {
		return Refusal{}, errors.New("what came with it is longer than any answer of a collector")
	}
	return q.Answer(contentType, body)
}

// address is where the request goes, whose path is put below that of base.
func (q *Request) address(base string) (string, error) {
	if q.Path == "" {
		return base, nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", errors.New("the address of the collector is no address") // without it: it may hold a secret
	}
	return u.JoinPath(q.Path).String(), nil
}

// note takes in what a collector refused.
func (r *Report) note(f Refusal) {
	r.Refused += max(f.Items, 0)
	if r.Said == "" {
		r.Said = line(f.Said)
	}
}

// An AnswerError is an answer that is no success.
type AnswerError struct {
	Code int    // the HTTP status
	Body []byte // of 64 KiB at most, as it came

	status, said, note string
}

func answerError(res *http.Response, body []byte, signed bool) *AnswerError {
	e := &AnswerError{Code: res.StatusCode, Body: body, status: res.Status}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/plain" {
		e.said, _, _ = strings.Cut(string(body), "\n")
	}
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized && signed:
		e.note = "it does not know this machine, or has another key of it"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.note = "look at the token or the certificate"
	case code >= 300 && code < 400:
		e.note = "gate sends the log to no other address than the one it was given"
	}
	return e
}

func (e *AnswerError) Error() string {
	text := "the server answered " + line(e.status)
	for _, more := range []string{e.note, line(e.said)} {
		if more != "" && !strings.HasSuffix(text, more) {
			text = fmt.Sprintf("%s: %s", text, more)
		}
	}
	return text
}

// line makes one short line of what another side wrote.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	const most = 300
	return strings.TrimSpace(text[:min(len(text), most)])
}

// decisionLog is the form of OPA's decision log: an array of the documents.
type decisionLog struct{}

func (decisionLog) Requests(batch []audit.Sendable) ([]Request, error) {
	var b bytes.Buffer
	for i, item := range batch {
		b.WriteByte("[,"[min(i, 1)])
		b.Write(item.Text)
	}
	b.WriteByte(']')
	return []Request{{Type: "application/json", Body: b.Bytes()}}, nil
}
