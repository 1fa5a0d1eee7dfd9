package mcpproxy

import (
	"bytes"
	"fmt"

	"gate/internal/strictjson"
)

// heard handles what gate hands on of one server, or says in its place: one message, or an
// array of them.
func (m *peer) heard(raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		m.hears(raw)
		return
	}
	list, err := elements(raw, maxBatch)
	if err != nil {
		m.tellf("a message was dropped: %v", err)
		return
	}
	for _, at := range list {
		m.hears(raw[at.start:at.end:at.end])
	}
}

func (m *peer) hears(raw []byte) {
	said, err := scan(raw)
	switch {
	case err != nil:
		m.tellf("a message was dropped: %v", err)
	case said.answers():
		m.answered(&said)
	case said.hasID():
		m.wishes(&said)
	default:
		m.notifies(&said)
	}
}

// answered hands on an answer to the client, or to whoever asks for the hub.
func (m *peer) answered(said *message) {
	if !said.hasID() {
		m.client.send(said.raw)
		return
	}
	key, err := idKey(said.id.of(said.raw))
	if err != nil {
		return
	}
	m.mu.Lock()
	own := m.own[key]
	r := m.open[key]
	if own == nil && r != nil && r.to == m {
		delete(m.open, key)
	}
	m.mu.Unlock()
	switch {
	case own != nil:
		select {
		case own <- bytes.Clone(said.raw):
		default: // a second answer
		}
	case r == nil || r.to != m: // it was cancelled
	default:
		if r.links && said.result != (span{}) {
			m.learnLinks(said)
		}
		m.client.send(said.raw)
	}
}

// wishes hands a request of a server on to the client, under an id that no other server has.
func (m *peer) wishes(said *message) {
	refuse := func(why string) { m.deliver(failure(said.id.of(said.raw), codeInvalid, why)) }
	if !m.isReady() {
		if said.method == "ping" { // the client is not there yet
			m.deliver(answer(said.id.of(said.raw), "result", map[string]any{}))
			return
		}
		refuse("the session has not begun yet")
		return
	}
	name := fmt.Sprintf("gate-%d", m.counter.Add(1))
	id := strictjson.Append(nil, name)
	w := &wish{of: m, id: bytes.Clone(said.id.of(said.raw))}
	raw, err := m.forClient(said, w, id)
	if err != nil {
		refuse("params: " + err.Error())
		return
	}
	key, err := idKey(id)
	if err != nil {
		refuse(err.Error())
		return
	}
	m.mu.Lock()
	full := len(m.asked) >= maxWaiting
	if !full {
		m.asked[key] = w
	}
	m.mu.Unlock()
	if full {
		refuse("too many requests wait for an answer")
		return
	}
	m.client.send(raw)
}

// isReady reports that the client has been answered, and the server with it.
func (m *peer) isReady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.joined
}

// forClient is a request of a server as the client gets it: under another id, and its
// progress by another token. A question to the person says which server asks.
func (m *peer) forClient(said *message, w *wish, id []byte) ([]byte, error) {
	raw := said.raw
	token, err := find(raw, said.params, "_meta", "progressToken")
	if err != nil {
		return nil, err
	}
	var edits []edit
	if token != (span{}) {
		w.token = bytes.Clone(token.of(raw))
		edits = append(edits, edit{token, id})
	}
	if said.method == methodElicitation {
		message, at, err := findText(raw, said.params, "message")
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{at, strictjson.Append(nil, m.name+": "+message)})
	}
	return edited(raw, append(edits, edit{said.id, id})), nil
}

// An edit puts a text in the place of a part of a message.
type edit struct {
	at   span
	text []byte
}

// edited makes edits, which do not overlap.
func edited(raw []byte, edits []edit) []byte {
	for len(edits) > 0 { // the last in the message first: the others stay where they are
		last := 0
		for i := range edits {
			if edits[i].at.start > edits[last].at.start {
				last = i
			}
		}
		raw = splice(raw, edits[last].at, edits[last].text)
		edits = append(edits[:last:last], edits[last+1:]...)
	}
	return raw
}

// notifies hands a notification of a server on, unless it is about what is not the server's.
func (m *peer) notifies(said *message) {
	raw := said.raw
	switch said.method {
	case "notifications/cancelled":
		at, err := find(raw, said.params, "requestId")
		if err != nil || at == (span{}) {
			return
		}
		id := m.takesBack(at.of(raw))
		if id == nil {
			return // it was answered
		}
		raw = splice(raw, at, id)
	case "notifications/progress":
		at, err := find(raw, said.params, "progressToken")
		if err != nil || at == (span{}) || !m.isAsked(at.of(raw)) {
			return // it is late: the request was answered, or is another server's
		}
	case "notifications/resources/updated":
		uri, _, err := findText(raw, said.params, "uri")
		if err != nil {
			m.tellf("%s was dropped: %v", said.method, err)
			return
		}
		if other := m.ownerOf(uri); other != nil && other != m {
			m.tellf("it says that %s was updated, which is read from %s; this was dropped", strictjson.Quoted(clip(uri)), other.quoted())
			return
		}
	case "notifications/resources/list_changed":
		m.mu.Lock()
		m.fresh = false
		m.mu.Unlock()
	}
	if !m.isReady() && said.method != "notifications/message" {
		return // the client has no session with it yet
	}
	m.client.send(raw)
}

// takesBack removes a request that the server does not wait for any more, and returns the id
// that the client knows it by, nil if there is none.
func (m *peer) takesBack(id []byte) []byte {
	key, err := idKey(id)
	if err != nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for theirs, w := range m.asked {
		if own, err := idKey(w.id); w.of == m && err == nil && own == key {
			delete(m.asked, theirs)
			return strictjson.Append(nil, theirs[1:]) // without the letter of the key
		}
	}
	return nil
}

// isAsked reports that progress by a token is that of a request which the server has.
func (m *peer) isAsked(token []byte) bool {
	key, err := idKey(token)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.open {
		if r.to == m && r.token == key {
			return true
		}
	}
	return false
}

// learnLinks notes the addresses of resources that a result tells, which no list need have.
func (m *peer) learnLinks(said *message) {
	if !bytes.Contains(said.raw, []byte(`"uri"`)) {
		return
	}
	result, err := strictjson.Object(said.result.of(said.raw), limits)
	if err != nil {
		return
	}
	content, _ := result["content"].([]any)
	messages, _ := result["messages"].([]any) // of a prompt
	for _, v := range messages {
		body, _ := v.(map[string]any)
		content = append(content, body["content"])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range content {
		part, _ := v.(map[string]any)
		if inner, ok := part["resource"].(map[string]any); ok {
			part = inner
		}
		uri, _ := part["uri"].(string)
		if uri != "" && len(uri) <= maxURI && m.links[uri] == nil && len(m.links) < maxURIs {
			m.links[uri] = m
		}
	}
}
