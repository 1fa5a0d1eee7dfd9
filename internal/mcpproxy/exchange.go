package mcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// An exchange is one message to a Remote and what comes back for it.
type exchange struct {
	remote  *Remote
	message []byte
	open    map[string][]byte // ids of the requests that have no answer yet
	first   bool              // it holds the first request of a session

	last string        // id of the last event
	wait time.Duration // before events are asked for again; zero: a second
}

// retries is how often a stream is taken up again that ended before its answer.
const retries = 5

var errTooLong = fmt.Errorf("longer than %d bytes", MaxMessage)

// run posts the message and hands on what comes back. Requests that get no
// answer get an error.
func (e *exchange) run() {
	err := e.post()
	for try := 0; err == nil && len(e.open) > 0 && e.last != "" && try < retries; try++ {
		e.remote.pause(max(e.wait, 10*time.Millisecond))
		err = e.resume()
	}
	if err == nil && len(e.open) > 0 {
		err = errors.New("the server's answer ends before the result")
	}
	e.refuse(err)
}

// refuse answers the requests that have no answer with an error.
func (e *exchange) refuse(err error) {
	for _, id := range e.open {
		e.say(failure(id, codeEnded, err.Error()))
	}
}

func (e *exchange) post() error {
	resp, err := e.remote.send(e.remote.ctx, http.MethodPost, e.message, headersOf(e.message))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); e.first && isPlain(id) {
		e.remote.mu.Lock()
		e.remote.session = id
		e.remote.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case isEvents(resp):
		return e.events(resp.Body)
	case kind == "application/json":
		body, err := hostfs.ReadAll(resp.Body, MaxMessage)
		if err == hostfs.TooLarge(MaxMessage) {
			err = errTooLong
		}
		if err != nil {
			return err
		}
		e.answer(body)
		if len(e.open) == 0 || resp.StatusCode/100 == 2 {
			return nil
		}
	}
	if resp.StatusCode/100 != 2 {
		return statusError(resp)
	}
	return nil
}

func (e *exchange) listening() http.Header {
	h := http.Header{"Accept": {"text/event-stream"}}
	if e.last != "" {
		h.Set("Last-Event-Id", e.last)
	}
	return h
}

// resume asks for the events behind the last one.
func (e *exchange) resume() error {
	resp, err := e.remote.send(e.remote.ctx, http.MethodGet, nil, e.listening())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !isEvents(resp) {
		return statusError(resp)
	}
	return e.events(resp.Body)
}

// events hands on the messages of an event stream until it ends. One that breaks
// off can be taken up again, so that is no error.
func (e *exchange) events(body io.Reader) error {
	in := bufio.NewScanner(body)
	in.Buffer(nil, MaxMessage+1<<10)
	var data []byte
	for in.Scan() {
		line := in.Bytes()
		if len(line) == 0 {
			e.answer(data)
			data = nil
			continue
		}
		key, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(key) {
		case "data":
			if len(data)+len(value) > MaxMessage {
				return errTooLong
			}
			data = append(append(data, value...), ' ')
		case "id":
			if isPlain(string(value)) {
				e.last = string(value)
			}
		case "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
				e.wait = time.Duration(min(ms, 30_000)) * time.Millisecond
			}
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return errTooLong
	}
	return nil
}

// answer hands on what the server says, and notes which requests it answers.
func (e *exchange) answer(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	for _, m := range messagesOf(text) {
		key, err := idKey(m.id.of(m.raw))
		if err != nil || !m.answers() {
			continue
		}
		if e.first && m.result != (span{}) {
			e.learnVersion(m.result.of(m.raw))
		}
		delete(e.open, key)
	}
	e.say(text)
}

// learnVersion notes the version that further requests name in their headers.
func (e *exchange) learnVersion(result []byte) {
	doc, _ := strictjson.Object(result, limits)
	if version, _ := doc["protocolVersion"].(string); isPlain(version) {
		e.remote.mu.Lock()
		e.remote.version = version
		e.remote.mu.Unlock()
	}
}

// say gives the proxy one message as a line. Ends of lines in it can only be
// blanks of JSON.
func (e *exchange) say(text []byte) {
	line := append(bytes.ReplaceAll(text, []byte("\n"), []byte(" ")), '\n')
	e.remote.out.Write(line)
}
