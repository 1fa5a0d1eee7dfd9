package mcpproxy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// A beginning is how far the client's session has come. The hub's order guards it.
type beginning struct {
	asked    bool     // the client has said initialize
	waits    bool     // for servers; what comes meanwhile is kept
	kept     [][]byte // messages of the client
	size     int
	ready    []byte // the client's notification that it is ready, nil: not yet
	level    []byte // params of its last logging/setLevel, nil: none
	answered string // the version of the protocol that the client was told
}

// codeMethod and codeParams are JSON-RPC's for a method that is not there, and for params
// that do not fit.
const (
	codeMethod   = -32601
	codeParams   = -32602
	codeResource = -32002 // MCP's for a resource that is not there
)

// A hello is what a server says to initialize.
type hello struct {
	from         *peer
	version      string
	offers       map[string]any
	instructions string
}

// initialize begins a session with each server, and answers the client when they have all
// begun or startTime is over. The hub's order is held.
func (h *hub) initialize(m *message) {
	if h.begin.asked {
		h.fail(m, codeInvalid, "the session has begun already")
		return
	}
	h.begin.asked, h.begin.waits = true, true
	params := []byte("{}")
	if m.params != (span{}) {
		params = m.params.of(m.raw)
	}
	wants := versionIn(m)
	heard := make(chan *hello, len(h.members))
	for _, s := range h.members {
		go func() { heard <- s.hail(params) }()
	}
	h.work.Go(func() {
		timer := time.NewTimer(startTime)
		defer timer.Stop()
		var said []*hello
		waiting := len(h.members)
		for waiting > 0 {
			select {
			case one := <-heard:
				waiting--
				if one != nil {
					said = append(said, one)
				}
				continue
			case <-timer.C:
			case <-h.ctx.Done():
			}
			break
		}
		h.introduce(m, wants, said, waiting > 0)
		if waiting > 0 {
			go h.late(heard, waiting)
		}
	})
}

// hail says initialize to one server. nil: it takes no part.
func (m *peer) hail(params []byte) *hello {
	answer, err := m.request(m.hub.ctx, "initialize", params)
	if err != nil {
		m.leave("it did not begin: " + err.Error())
		return nil
	}
	said, err := strictjson.Object(answer.result.of(answer.raw), limits)
	if err != nil {
		m.leave("what it says of itself cannot be read: " + err.Error())
		return nil
	}
	one := &hello{from: m}
	one.version, _ = said["protocolVersion"].(string)
	one.offers, _ = said["capabilities"].(map[string]any)
	one.instructions, _ = said["instructions"].(string)
	return one
}

// leave has a server take no part.
func (m *peer) leave(why string) {
	m.mu.Lock()
	first := m.out == ""
	if first {
		m.out = fmt.Sprintf("the MCP server %s takes no part: %s", m.quoted(), why)
	}
	m.mu.Unlock()
	if first && !m.leaving.Load() {
		m.tellf("it takes no part: %s", why)
	}
	m.queue.close()
}

// agreed is the version that the client is told: what it wants, if a server speaks that;
// otherwise the newest older one, whose messages it is likeliest to know; otherwise the
// oldest.
func agreed(wants string, said []*hello) string {
	var older, newer string
	for _, s := range said {
		switch {
		case s.version == wants:
			return wants
		case s.version < wants:
			older = max(older, s.version)
		case newer == "" || s.version < newer:
			newer = s.version
		}
	}
	return cmp.Or(older, newer, wants)
}

// introduce answers the client's initialize, and handles what it has said meanwhile.
func (h *hub) introduce(m *message, wants string, said []*hello, late bool) {
	h.order.Lock()
	defer h.order.Unlock()
	h.begin.answered = agreed(wants, said)
	slices.SortFunc(said, func(a, b *hello) int { return slices.Index(h.members, a.from) - slices.Index(h.members, b.from) })
	var instructions []string
	for _, s := range said {
		if h.join(s) && strings.TrimSpace(s.instructions) != "" {
			instructions = append(instructions, fmt.Sprintf("# %s (tools: %sTOOL)\n\n%s", plainName(s.from.name), s.from.prefix, s.instructions))
		}
	}
	result := map[string]any{
		"protocolVersion": h.begin.answered, "capabilities": h.offer(late),
		"serverInfo": map[string]any{"name": "gate", "version": h.version},
	}
	if instructions != nil {
		result["instructions"] = strings.Join(instructions, "\n\n")
	}
	if late {
		for _, s := range h.members {
			if s.why() != "" && !s.isOut() {
				s.tellf("it has not begun within %v; the other servers work without it until it does", startTime)
			}
		}
	}
	if late || len(h.ready("")) > 0 {
		h.client.send(answer(m.id.of(m.raw), "result", result))
	} else {
		h.fail(m, codeEnded, "none of the MCP servers has begun")
	}
	h.begin.waits = false
	kept := h.begin.kept
	h.begin.kept, h.begin.size = nil, 0
	for _, raw := range kept {
		h.handle(raw)
	}
}

func (m *peer) isOut() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out != ""
}

// late takes in the servers that begin after the client was answered.
func (h *hub) late(heard <-chan *hello, waiting int) {
	for ; waiting > 0; waiting-- {
		select {
		case s := <-heard:
			if s == nil {
				continue
			}
			h.order.Lock()
			joined := h.join(s)
			h.order.Unlock()
			if joined {
				s.from.tellf("it has begun, late; what it offers is there now")
				h.changed(s.from)
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// join takes a server in that has begun. One that speaks a newer protocol than the client
// was told would say what the client cannot know. The hub's order is held.
func (h *hub) join(s *hello) bool {
	if s.version > h.begin.answered {
		s.from.leave(fmt.Sprintf("it speaks the protocol %s, and the client was told %s", strictjson.Quoted(clip(s.version)), h.begin.answered))
		return false
	}
	h.mu.Lock()
	in := s.from.out == ""
	s.from.joined, s.from.offers = in, s.offers
	h.mu.Unlock()
	if in {
		h.greet(s.from)
	}
	return in
}

// greet tells a server what the client has told all of them before. The hub's order is held.
func (h *hub) greet(m *peer) {
	if h.begin.ready == nil || m.told {
		return
	}
	m.told = true
	m.deliver(h.begin.ready)
	if h.begin.level != nil && m.offers["logging"] != nil {
		go h.level(m, h.begin.level)
	}
}

// offer are the capabilities of all servers together. Those of a server that is late are
// not known: then everything is offered. Tools can come and go with their servers.
func (h *hub) offer(late bool) map[string]any {
	has := func(capability, part string) bool {
		return late || slices.ContainsFunc(h.ready(capability), func(m *peer) bool {
			of, _ := m.offers[capability].(map[string]any)
			on, _ := of[part].(bool)
			return part == "" || on
		})
	}
	all := map[string]any{}
	for _, capability := range []string{"tools", "prompts", "resources"} {
		if has(capability, "") {
			all[capability] = map[string]any{"listChanged": true}
		}
	}
	if has("resources", "subscribe") {
		all["resources"].(map[string]any)["subscribe"] = true
	}
	for _, capability := range []string{"logging", "completions"} {
		if has(capability, "") {
			all[capability] = map[string]any{}
		}
	}
	return all
}

// isReady is the client's notification that it is. The hub's order is held.
func (h *hub) isReady(m *message) {
	h.begin.ready = bytes.Clone(m.raw)
	for _, s := range h.ready("") {
		h.greet(s)
	}
}

// changed tells the client that what a server offers has come or gone.
func (h *hub) changed(m *peer) {
	h.order.Lock()
	defer h.order.Unlock()
	h.mu.Lock()
	h.fresh = false
	offers := m.offers
	h.mu.Unlock()
	if h.begin.ready == nil {
		return // it has not asked for a list yet
	}
	for _, capability := range []string{"tools", "prompts", "resources"} {
		if offers[capability] != nil {
			h.client.send([]byte(`{"jsonrpc":"2.0","method":"notifications/` + capability + `/list_changed"}`))
		}
	}
}
