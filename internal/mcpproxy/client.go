package mcpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"gate/internal/strictjson"
)

// The methods whose requests and results are judged: they use what a list names.
const (
	methodCall     = "tools/call"
	methodPrompt   = "prompts/get"
	methodResource = "resources/read"
)

// looksLikeCall reports the method of calls, and what a server may take for it.
func looksLikeCall(method string) bool { return method == methodCall || looksLike(method, methodCall) }

// meant returns which of the methods of lists and their entries this is or looks like, ""
// if it is none.
func meant(method string) string {
	for _, known := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", methodPrompt, methodResource} {
		if method == known || looksLike(method, known) {
			return known
		}
	}
	return ""
}

// looksLike reports what a server may take for a method: in other letters, with white
// space, other or further slashes, or escapes of an address in it.
func looksLike(method, known string) bool {
	if at, err := url.PathUnescape(method); err == nil {
		method = at
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case strings.ContainsRune("/\\\u2044\u2215\u29f8\uff0f", r):
			return -1
		}
		return r
	}, strictjson.Fold(method))
	return plain == strings.ReplaceAll(strictjson.Fold(known), "/", "")
}

// Codes of JSON-RPC errors.
const (
	codeInvalid = -32600
	codeEnded   = -32000
)

// fromClient handles one line of the client.
func (p *proxy) fromClient(l line) {
	if l.text == nil {
		p.fail(l.guessID(), codeInvalid, fmt.Sprintf("the message is longer than %d bytes", MaxMessage))
		return
	}
	batch, err := p.batch(l.text, func(m *message) bool { return looksLikeCall(m.method) || meant(m.method) != "" || m.answers() })
	if err != nil {
		p.fail(nil, codeInvalid, err.Error())
		return
	}
	if why := p.heldWhy(); why != "" {
		for i := range batch.messages {
			p.client.sendAll(heldAnswer(&batch.messages[i], p.serverName(), why))
		}
		return
	}
	if batch.whole {
		if err := p.enterAll(batch.messages); err != nil {
			p.fail(nil, codeInvalid, err.Error())
			return
		}
		p.server.send(l.text)
		return
	}
	for i := range batch.messages {
		p.request(&batch.messages[i])
	}
}

// A batch is what one line holds: one message, or an array of them.
type batch struct {
	messages []message
	whole    bool // an array that may pass as it is
}

// batch reads one line. An array that holds something to be judged is taken
// apart, and its messages go on one by one.
func (p *proxy) batch(raw []byte, judged func(*message) bool) (batch, error) {
	if raw[0] != '[' {
		m, err := scan(raw)
		return batch{messages: []message{m}}, err
	}
	list, err := elements(raw, maxBatch)
	if err == nil && len(list) == 0 {
		err = errors.New("an empty batch")
	}
	if err != nil {
		return batch{}, err
	}
	b := batch{whole: true}
	for _, at := range list {
		m, err := scan(raw[at.start:at.end:at.end])
		if err != nil {
			return batch{}, err
		}
		b.whole = b.whole && !judged(&m)
		b.messages = append(b.messages, m)
	}
	return b, nil
}

// request hands one message of the client on, a call when it was judged.
func (p *proxy) request(m *message) {
	call := looksLikeCall(m.method)
	switch {
	case m.answers():
		if p.answersServer(m) {
			return
		}
	case call && m.method != methodCall:
		p.fail(m.id.of(m.raw), codeInvalid, "the method looks like "+methodCall)
		return
	case call && !m.hasID():
		// An answer would have nobody to go to, and so would a reason.
		p.tell("a call without an id was dropped")
		return
	case m.id != span{} && !m.hasID():
		p.fail(nil, codeInvalid, "the id is null")
		return
	case call, m.hasID() && (m.method == methodPrompt || m.method == methodResource):
		p.call(m)
		return
	case m.hasID() && p.mimics(m):
		return
	case m.hasID():
		if _, err := p.enter(m, nil); err != nil {
			p.fail(nil, codeInvalid, err.Error())
			return
		}
	case m.method == "notifications/cancelled":
		p.cancelled(m)
	}
	p.server.send(m.raw)
}

// mimics answers a request whose method only looks like one of a list or an entry.
func (p *proxy) mimics(m *message) bool {
	known := meant(m.method)
	if known == "" || known == m.method {
		return false
	}
	p.fail(m.id.of(m.raw), codeInvalid, "the method looks like "+known)
	return true
}

// enter notes a request, so that its answer is known when it comes.
func (p *proxy) enter(m *message, c *call) (*request, error) {
	id := m.id.of(m.raw)
	key, err := idKey(id)
	if err != nil {
		return nil, err
	}
	r := &request{id: bytes.Clone(id), key: key, method: m.method, call: c, since: p.tools.count()}
	return r, p.waiting.add(r, len(m.raw))
}

// enterAll notes the requests of a batch, or none of them.
func (p *proxy) enterAll(list []message) error {
	var entered []*request
	for i := range list {
		if m := &list[i]; m.named && m.hasID() {
			r, err := p.enter(m, nil)
			if err != nil {
				for _, r := range entered {
					p.waiting.take(r.key)
				}
				return err
			}
			entered = append(entered, r)
		}
	}
	return nil
}

func (p *proxy) cancelled(m *message) {
	if m.params == (span{}) {
		return
	}
	params := m.params.of(m.raw)
	list, err := members(params)
	if err != nil {
		return
	}
	for _, e := range list {
		if key, err := idKey(e.value.of(params)); err == nil && e.key == "requestId" {
			p.waiting.cancel(key)
		}
	}
}
