package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// fromClient handles one line of the client of several servers.
func (h *hub) fromClient(l line) {
	h.order.Lock()
	defer h.order.Unlock()
	if l.text == nil {
		h.client.send(failure(l.guessID(), codeInvalid, fmt.Sprintf("the message is longer than %d bytes", MaxMessage)))
		return
	}
	if l.text[0] != '[' {
		h.handle(l.text)
		return
	}
	list, err := elements(l.text, maxBatch)
	if err == nil && len(list) == 0 {
		err = errors.New("an empty batch")
	}
	if err != nil {
		h.client.send(failure(nil, codeInvalid, err.Error()))
	}
	for _, at := range list {
		h.handle(l.text[at.start:at.end:at.end])
	}
}

// handle handles one message of the client. The hub's order is held.
func (h *hub) handle(raw []byte) {
	m, err := scan(raw)
	switch {
	case err != nil:
		h.client.send(failure(nil, codeInvalid, err.Error()))
	case m.answers():
		h.replied(&m)
	case h.begin.waits && m.method != "initialize":
		h.keep(&m)
	case m.id != span{} && !m.hasID():
		h.client.send(failure(nil, codeInvalid, "the id is null"))
	case m.hasID():
		h.requested(&m)
	default:
		h.notified(&m)
	}
}

// keep keeps a message until the servers have begun.
func (h *hub) keep(m *message) {
	if len(h.begin.kept) == maxWaiting || h.begin.size+len(m.raw) > maxHeld {
		h.fail(m, codeInvalid, "more messages than gate keeps until its servers have begun")
		return
	}
	h.begin.kept, h.begin.size = append(h.begin.kept, bytes.Clone(m.raw)), h.begin.size+len(m.raw)
}

// fail answers a request of the client with an error.
func (h *hub) fail(m *message, code int, why string) {
	if m.hasID() {
		h.client.send(failure(m.id.of(m.raw), code, why))
	}
}

// requested handles a request of the client.
func (h *hub) requested(m *message) {
	l, lists := listings(m.method)
	switch {
	case m.method == "initialize":
		h.initialize(m)
	case m.method == "ping":
		h.client.send(answer(m.id.of(m.raw), "result", map[string]any{}))
	case m.method == "server/discover":
		h.fail(m, codeMethod, "gate speaks the protocol that begins with initialize to several servers")
	case !h.begin.asked:
		h.fail(m, codeInvalid, "the session begins with initialize")
	case lists:
		h.work.Go(func() { h.list(m, l) })
	case m.method == methodCall, m.method == methodPrompt:
		h.byName(m, m.params, "name")
	case m.method == "completion/complete":
		h.complete(m)
	case m.method == methodResource, m.method == "resources/subscribe", m.method == "resources/unsubscribe":
		h.byAddress(m, m.params)
	case m.method == "logging/setLevel":
		h.setLevel(m)
	default:
		h.fail(m, codeMethod, fmt.Sprintf("gate does not know which of its servers %s is for", strictjson.Quoted(clip(m.method))))
	}
}

// within the params, find returns where a value stands, by the keys that lead to it. A key
// that is there twice, or looks like the one that is looked for, is an error; one that is
// not there is the zero span.
func find(raw []byte, at span, keys ...string) (span, error) {
	for _, key := range keys {
		if at == (span{}) || raw[at.start] != '{' {
			return span{}, nil
		}
		list, err := members(at.of(raw))
		if err != nil {
			return span{}, err
		}
		next := span{}
		for _, e := range list {
			switch {
			case e.key != key && strictjson.Fold(e.key) == strictjson.Fold(key):
				return span{}, fmt.Errorf("the key %s looks like %s", strictjson.Quoted(clip(e.key)), key)
			case e.key != key:
			case next != span{}:
				return span{}, fmt.Errorf("duplicate key %s", strictjson.Quoted(key))
			default:
				next = span{at.start + e.value.start, at.start + e.value.end}
			}
		}
		at = next
	}
	return at, nil
}

// findText is find for a text.
func findText(raw []byte, at span, keys ...string) (string, span, error) {
	at, err := find(raw, at, keys...)
	if err != nil {
		return "", span{}, err
	}
	if at == (span{}) {
		return "", span{}, fmt.Errorf("%s is missing", strings.Join(keys, "."))
	}
	s, err := text(at.of(raw))
	return s, at, err
}

// byName hands on what uses a tool or a prompt by its name, without the name's prefix.
func (h *hub) byName(m *message, in span, keys ...string) {
	name, at, err := findText(m.raw, in, keys...)
	if err != nil {
		h.refuse(m, codeParams, "params: "+err.Error())
		return
	}
	for _, s := range h.members {
		if own, ok := strings.CutPrefix(name, s.prefix); ok && own != "" {
			h.forward(s, m, splice(m.raw, at, strictjson.Append(nil, own)))
			return
		}
	}
	h.refuse(m, codeParams, fmt.Sprintf("no server offers %s; names are SERVER__NAME", strictjson.Quoted(clip(name))))
}

// refuse answers a request: that of a call so that the model reads it, another one with an
// error.
func (h *hub) refuse(m *message, code int, why string) {
	if m.method == methodCall {
		h.client.send(answer(m.id.of(m.raw), "result", refusal("gate: "+strictjson.Visible(why))))
		return
	}
	h.fail(m, code, why)
}

// forward hands a request on to a server, as raw says it.
func (h *hub) forward(s *peer, m *message, raw []byte) {
	if why := s.why(); why != "" {
		h.refuse(m, codeEnded, why)
		return
	}
	id := bytes.Clone(m.id.of(m.raw))
	key, err := idKey(id)
	r := &sent{to: s, id: id, links: m.method == methodCall || m.method == methodPrompt}
	if err == nil {
		r.token, err = tokenOf(m)
	}
	if err == nil {
		err = h.enter(key, r)
	}
	if err != nil {
		h.client.send(failure(nil, codeInvalid, err.Error()))
		return
	}
	if err := s.post(raw); err != nil && h.leaves(key) != nil {
		h.refuse(m, codeEnded, err.Error())
	}
}

// tokenOf is the key of the token that a request's progress is told by, "" if it has none.
func tokenOf(m *message) (string, error) {
	at, err := find(m.raw, m.params, "_meta", "progressToken")
	if err != nil || at == (span{}) {
		return "", err
	}
	return idKey(at.of(m.raw))
}

// enter notes a request of the client.
func (h *hub) enter(key string, r *sent) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.open[key] != nil:
		return fmt.Errorf("the id %s is in use", clip(string(r.id)))
	case len(h.open) >= maxWaiting:
		return fmt.Errorf("%d requests are waiting for an answer already", maxWaiting)
	}
	h.open[key] = r
	return nil
}

// leaves removes a request of the client and returns it, nil if there is none.
func (h *hub) leaves(key string) *sent {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.open[key]
	delete(h.open, key)
	return r
}

// complete hands on a question for completions of a prompt's or a template's argument.
func (h *hub) complete(m *message) {
	kind, _, err := findText(m.raw, m.params, "ref", "type")
	if err != nil {
		h.fail(m, codeParams, "params: "+err.Error())
		return
	}
	ref, _ := find(m.raw, m.params, "ref")
	switch kind {
	case "ref/prompt":
		h.byName(m, ref, "name")
	case "ref/resource":
		h.byAddress(m, ref)
	default:
		h.fail(m, codeParams, "params.ref.type is neither ref/prompt nor ref/resource")
	}
}

// setLevel has each server log from a level on.
func (h *hub) setLevel(m *message) {
	params := []byte("{}")
	if m.params != (span{}) {
		params = bytes.Clone(m.params.of(m.raw))
	}
	h.begin.level = params
	servers := h.ready("logging")
	h.work.Go(func() {
		failed := make(chan error, len(servers))
		for _, s := range servers {
			go func() { failed <- h.level(s, params) }()
		}
		var first error
		n := 0
		for range servers {
			if err := <-failed; err != nil {
				first, n = err, n+1
			}
		}
		if n > 0 && n == len(servers) {
			h.fail(m, codeEnded, first.Error())
			return
		}
		h.client.send(answer(m.id.of(m.raw), "result", map[string]any{}))
	})
}

// level has one server log from a level on.
func (h *hub) level(s *peer, params []byte) error {
	ctx, cancel := context.WithTimeout(h.ctx, startTime)
	defer cancel()
	_, err := s.request(ctx, "logging/setLevel", params)
	if err != nil {
		s.tellf("logging/setLevel: %v", err)
	}
	return err
}

// notified handles a notification of the client.
func (h *hub) notified(m *message) {
	switch m.method {
	case "notifications/initialized":
		h.isReady(m)
	case "notifications/roots/list_changed":
		for _, s := range h.ready("") {
			s.deliver(m.raw)
		}
	case "notifications/cancelled":
		h.cancels(m)
	case "notifications/progress":
		h.progressed(m)
	default:
		h.tell(fmt.Sprintf("%s of the client was dropped: gate does not know which of its servers it is for", strictjson.Quoted(clip(m.method))))
	}
}

// deliver posts what nobody waits for.
func (m *peer) deliver(raw []byte) {
	if err := m.post(raw); err != nil && !m.isOut() {
		m.tellf("a message was dropped: %v", err)
	}
}

// cancels hands on that the client does not wait for an answer any more. One about a request
// that several servers have, or none, changes nothing.
func (h *hub) cancels(m *message) {
	at, err := find(m.raw, m.params, "requestId")
	if err != nil || at == (span{}) {
		return
	}
	key, err := idKey(at.of(m.raw))
	if err != nil {
		return
	}
	if r := h.leaves(key); r != nil {
		r.to.deliver(m.raw)
	}
}

// progressed hands on what the client tells about the progress of a server's request.
func (h *hub) progressed(m *message) {
	at, err := find(m.raw, m.params, "progressToken")
	if err != nil || at == (span{}) {
		return
	}
	key, err := idKey(at.of(m.raw))
	if err != nil {
		return
	}
	h.mu.Lock()
	w := h.asked[key]
	h.mu.Unlock()
	if w != nil && w.token != nil {
		w.of.deliver(splice(m.raw, at, w.token))
	}
}

// replied hands on the client's answer to a server's request, under the server's own id.
func (h *hub) replied(m *message) {
	if !m.hasID() {
		h.tell("the client sent an error that belongs to no request")
		return
	}
	key, err := idKey(m.id.of(m.raw))
	var w *wish
	if err == nil {
		h.mu.Lock()
		w = h.asked[key]
		delete(h.asked, key)
		h.mu.Unlock()
	}
	if w == nil {
		h.tell("the client answered a request that is not there: " + clip(string(m.id.of(m.raw))))
		return
	}
	w.of.deliver(splice(m.raw, m.id, w.id))
}

// request asks a server something for the hub, and returns the result.
func (m *peer) request(ctx context.Context, method string, params []byte) (*message, error) {
	id := "gate-" + rand.Text()
	got := make(chan []byte, 1)
	key, err := idKey(strictjson.Append(nil, id))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.own[key] = got
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		delete(m.own, key)
		m.mu.Unlock()
	}()
	raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}`, id, method, params)
	if err := m.post(raw); err != nil {
		return nil, err
	}
	began := time.Now()
	select {
	case raw := <-got:
		return readAnswer(raw)
	case <-m.done:
		select {
		case raw := <-got:
			return readAnswer(raw)
		default:
		}
		return nil, errors.New("the server has ended")
	case <-ctx.Done():
		m.deliver(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%s"}}`, id))
		return nil, fmt.Errorf("no answer to %s within %v", method, time.Since(began).Round(time.Second))
	}
}

// readAnswer reads an answer to the hub; the error is what the server says.
func readAnswer(raw []byte) (*message, error) {
	m, err := scan(raw)
	switch {
	case err != nil:
		return nil, err
	case m.failed != span{}:
		said, _ := strictjson.Object(m.failed.of(raw), limits)
		why, _ := said["message"].(string)
		return nil, fmt.Errorf("it answers with an error: %s", strictjson.Visible(clip(why)))
	case m.result == span{}:
		return nil, errors.New("its answer has no result")
	}
	return &m, nil
}
