package mcpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/pins"
	"gate/internal/strictjson"
)

// The requests of a server that are judged, and whose answers are.
const (
	methodSampling    = "sampling/createMessage"
	methodElicitation = "elicitation/create"
	methodRoots       = "roots/list"
)

// asksClient returns which of those a method is or looks like, "" if it is none.
func asksClient(method string) string {
	for _, known := range []string{methodSampling, methodElicitation, methodRoots} {
		if method == known || looksLike(method, known) {
			return known
		}
	}
	return ""
}

// messageEvent is an event about a message that is no call. part is "params" or "result".
func (p *proxy) messageEvent(name hook.Name, method, part string, body map[string]any) hook.Event {
	fields := map[string]any{
		"hook_event_name": string(name), "session_id": p.Session, "cwd": p.Dir, "mcp_server_name": p.serverName(),
		"mcp": map[string]any{"method": method, "server": p.serverName(), part: body},
	}
	return hook.Event{Agent: "generic", Name: name, Fields: fields}
}

// objects returns why a message must not be handed on, "" if it may. What a person should
// know beside that, they are told.
func (p *proxy) objects(ev hook.Event) (reason string) {
	d := p.decide(&ev)
	ruling := adapters.Rule(&ev, &d)
	p.tell(strings.Join(ruling.Person, "\n"))
	if ruling.Result == hook.Reject {
		return ruling.Reason
	}
	return ""
}

// texts are a list of texts as one of JSON.
func texts(names []string) []any {
	list := []any{}
	for _, n := range names {
		list = append(list, n)
	}
	return list
}

// heldWhy is why nothing of the server passes, "" if it may.
func (p *proxy) heldWhy() string {
	p.mu.Lock()
	why := p.refused
	p.mu.Unlock()
	if why == "" && p.Book != nil {
		why = p.Book.Held()
	}
	return why
}

// introduced returns what the client gets for what the server says of itself. Where a policy
// objects, it does without its instructions; where that does not help, nothing of the server
// passes.
func (p *proxy) introduced(r *request, m *message) [][]byte {
	if m.result == (span{}) {
		return [][]byte{m.raw}
	}
	said, err := strictjson.Object(m.result.of(m.raw), limits)
	if err != nil {
		return [][]byte{failure(r.id, codeEnded, "what the server says of itself was not handed on: "+err.Error())}
	}
	ask := func() string {
		ev := p.messageEvent(moment.MCPInitialize, r.method, "result", said)
		if p.Servers != nil {
			ev.Fields["mcp"].(map[string]any)["servers"] = texts(p.Servers(p.serverName()))
		}
		return p.objects(ev)
	}
	reason := p.toldOtherwise(said)
	_, has := said["instructions"]
	if reason == "" {
		if reason = ask(); reason == "" {
			return [][]byte{m.raw}
		}
	}
	if has {
		p.tell(fmt.Sprintf("the instructions of the MCP server %s are withheld: %s", p.quotedName(), reason))
		delete(said, "instructions")
		if reason = ask(); reason == "" {
			return [][]byte{splice(m.raw, m.result, strictjson.Append(nil, said))}
		}
	}
	p.mu.Lock()
	p.refused = "nothing of this MCP server passes: " + reason
	p.mu.Unlock()
	p.tell(fmt.Sprintf("nothing of the MCP server %s passes: %s", p.quotedName(), reason))
	return p.inPlaceOf(r, m)
}

// toldOtherwise returns why a server's instructions are withheld that are not what they were
// at its first use, "" if they are. A server without any has empty ones.
func (p *proxy) toldOtherwise(said map[string]any) string {
	if p.Book == nil {
		return ""
	}
	text, has := said["instructions"]
	if !has {
		text = ""
	}
	why, err := p.Book.look(p.ctx, pins.Instructions, []pins.Definition{{Name: "instructions", Body: map[string]any{"instructions": text}}}, true)
	switch {
	case err != nil:
		return err.Error()
	case !has:
		return "" // there is nothing to withhold
	}
	return why[0]
}

func (p *proxy) quotedName() string { return strictjson.Quoted(clip(p.serverName())) }

// mostAsked bounds how often policies are asked about one part of a list. What they object to
// beyond is withheld without a closer look.
const mostAsked = 512

// withheld notes in why which entries of a list a policy wants withheld. It is asked about
// the whole list, and about parts of it where it objects, until it objects to single ones.
func (p *proxy) withheld(r *request, l listing, g page, why []string) {
	var open []int
	for i := range g.entries {
		if why[i] == "" {
			open = append(open, i)
		}
	}
	names := p.catalogue.add(l, g.entries)
	asked, blocks := 0, 0
	var judge func(part []int)
	judge = func(part []int) {
		asked++
		entries := make([]any, len(part))
		for i, at := range part {
			entries[i] = g.entries[at]
		}
		body := maps.Clone(g.result)
		body[l.key] = entries
		ev := p.messageEvent(moment.MCPEvent(r.method, true), r.method, "result", body)
		ev.Fields["mcp"].(map[string]any)["names"] = names
		reason := p.objects(ev)
		switch {
		case reason == "":
		case len(part) > 1 && asked >= mostAsked:
			blocks += len(part)
			for _, at := range part {
				why[at] = fmt.Sprintf("a policy withholds it, or what stands beside it in the list, of which more is withheld than gate looks at one by one: %s", reason)
			}
		case len(part) > 1:
			judge(part[:len(part)/2])
			judge(part[len(part)/2:])
		case len(part) == 1:
			at := part[0]
			entry, _ := g.entries[at].(map[string]any)
			name, _ := entry[l.name].(string)
			why[at] = fmt.Sprintf("a policy withholds it: %s", reason)
			if p.catalogue.why(l.kind, name) == "" { // it is news
				p.tell(fmt.Sprintf("withheld of the MCP server %s: %s %s: %s", p.quotedName(), strings.TrimSuffix(string(l.kind), "s"), strictjson.Quoted(clip(name)), reason))
			}
		}
	}
	if len(open) > 0 {
		judge(open)
	}
	if blocks > 0 {
		p.tell(fmt.Sprintf("withheld of the MCP server %s: %d %s beside those that a policy withholds: it objects to more than gate looks at one by one", p.quotedName(), blocks, l.kind))
	}
	p.catalogue.hold(l, g.entries, why)
}

// inPlaceOf is what a client gets for the answer to a request to a server of which nothing
// may pass.
func (p *proxy) inPlaceOf(r *request, m *message) [][]byte {
	held := *m
	held.method, held.named = r.method, true // the answer stands for the request
	return heldAnswer(&held, p.serverName(), p.heldWhy())
}

// asksFor has a request of the server judged, and hands it on.
func (p *proxy) asksFor(m *message) {
	id := bytes.Clone(m.id.of(m.raw))
	refuse := func(why string) { p.server.send(failure(id, codeInvalid, why)) }
	known := asksClient(m.method)
	if known != m.method {
		refuse("the method looks like " + known)
		return
	}
	key, err := idKey(id)
	if err == nil {
		err = p.asked.add(key, known)
	}
	if err != nil {
		refuse(err.Error())
		return
	}
	if known == methodRoots { // it tells the client nothing; the answer is judged
		p.client.send(m.raw)
		return
	}
	judge(&p.answering, p.answers, len(m.raw), func() {
		params, err := paramsOf(m)
		if err != nil {
			p.asked.take(key)
			refuse("params: " + err.Error())
			return
		}
		reason := p.objects(p.requestEvent(known, params))
		if reason == "" {
			p.client.send(m.raw)
			return
		}
		p.asked.take(key)
		p.tell(fmt.Sprintf("%s of the MCP server %s was refused: %s", known, p.quotedName(), reason))
		p.server.send(refusedTo(known, id, reason))
	})
}

func paramsOf(m *message) (map[string]any, error) {
	if m.params == (span{}) {
		return map[string]any{}, nil
	}
	return strictjson.Object(m.params.of(m.raw), limits)
}

// requestEvent is the event that a request of the server is.
func (p *proxy) requestEvent(method string, params map[string]any) hook.Event {
	if method != methodElicitation {
		return p.messageEvent(moment.MCPEvent(method, false), method, "params", params)
	}
	ev := p.messageEvent(moment.Elicitation, method, "params", params)
	for theirs, ours := range map[string]string{"message": "message", "mode": "mode", "url": "url", "elicitationId": "elicitation_id", "requestedSchema": "requested_schema"} {
		if v, given := params[theirs]; given && v != nil {
			ev.Fields[ours] = v
		}
	}
	return ev
}

// refusedTo answers a request of the server in the client's place.
func refusedTo(method string, id []byte, reason string) []byte {
	if method == methodElicitation {
		return answer(id, "result", map[string]any{"action": "decline"})
	}
	return failure(id, codeEnded, reason)
}

// answersServer reports that a message of the client answers a request of the server that is
// judged, and hands it on when it was.
func (p *proxy) answersServer(m *message) bool {
	key, err := idKey(m.id.of(m.raw))
	if err != nil {
		return false
	}
	method := p.asked.take(key)
	if method == "" || m.result == (span{}) {
		return false
	}
	id := bytes.Clone(m.id.of(m.raw))
	judge(&p.asking, p.calls, len(m.raw), func() {
		result, err := strictjson.Object(m.result.of(m.raw), limits)
		if err != nil {
			p.server.send(refusedTo(method, id, "the client's answer: "+err.Error()))
			return
		}
		ev := p.messageEvent(moment.MCPEvent(method, true), method, "result", result)
		if method == methodElicitation {
			ev = p.messageEvent(moment.ElicitationResult, method, "result", result)
			for _, name := range []string{"action", "content"} {
				if v, given := result[name]; given && v != nil {
					ev.Fields[name] = v
				}
			}
		}
		if reason := p.objects(ev); reason != "" {
			p.tell(fmt.Sprintf("the answer to %s of the MCP server %s was not handed on: %s", method, p.quotedName(), reason))
			p.server.send(refusedTo(method, id, reason))
			return
		}
		p.server.send(m.raw)
	})
	return true
}

// notifies reports a notification of the server that may pass. It is judged before anything
// else is read, since what it is about comes in order. One that only counts has no event.
func (p *proxy) notifies(m *message) bool {
	if m.params == (span{}) || m.method == "notifications/cancelled" {
		return true
	}
	params, err := strictjson.Object(m.params.of(m.raw), limits)
	if err != nil {
		p.tell("a notification of the MCP server was not handed on: " + err.Error())
		return false
	}
	if _, says := params["message"]; m.method == "notifications/progress" && !says {
		return true
	}
	reason := p.objects(p.messageEvent(moment.MCPEvent(m.method, false), m.method, "params", params))
	if reason != "" {
		p.tell(fmt.Sprintf("a notification of the MCP server %s was withheld: %s", p.quotedName(), reason))
	}
	return reason == ""
}

// A catalogue is what the server has listed: names, and why entries are withheld by a policy.
type catalogue struct {
	sync.Mutex
	names map[pins.Kind][]any
	held  map[pins.Kind]map[string]string
}

// maxNames bounds the names of a list that policies see with each part.
const maxNames = 10_000

// add notes the names of a part of a list, and returns those of all parts.
func (c *catalogue) add(l listing, entries []any) []any {
	c.Lock()
	defer c.Unlock()
	if c.names == nil {
		c.names, c.held = map[pins.Kind][]any{}, map[pins.Kind]map[string]string{}
	}
	list := c.names[l.kind]
	have := make(map[any]bool, len(list))
	for _, name := range list {
		have[name] = true
	}
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		for _, key := range []string{l.name, "title"} {
			if name, _ := entry[key].(string); name != "" && !have[name] && len(list) < maxNames {
				list, have[name] = append(list, name), true
			}
		}
	}
	c.names[l.kind] = list
	return slices.Clone(list)
}

// hold notes which entries are withheld now.
func (c *catalogue) hold(l listing, entries []any, why []string) {
	c.Lock()
	defer c.Unlock()
	if c.held[l.kind] == nil {
		c.held[l.kind] = map[string]string{}
	}
	for i, e := range entries {
		entry, _ := e.(map[string]any)
		name, _ := entry[l.name].(string)
		if delete(c.held[l.kind], name); why[i] != "" {
			c.held[l.kind][name] = why[i]
		}
	}
}

// why is why an entry is withheld, "" if it is not.
func (c *catalogue) why(kind pins.Kind, name string) string {
	c.Lock()
	defer c.Unlock()
	return c.held[kind][name]
}

// asked are the requests of the server that wait for the client's answer, with their
// methods.
type asked struct {
	sync.Mutex
	methods map[string]string
}

var errAsked = errors.New("the id is in use, or too many requests wait for an answer")

func (a *asked) add(key, method string) error {
	a.Lock()
	defer a.Unlock()
	if a.methods == nil {
		a.methods = map[string]string{}
	}
	if a.methods[key] != "" || len(a.methods) >= maxWaiting {
		return errAsked
	}
	a.methods[key] = method
	return nil
}

// take removes a request and returns its method, "" if there is none.
func (a *asked) take(key string) string {
	a.Lock()
	defer a.Unlock()
	method := a.methods[key]
	delete(a.methods, key)
	return method
}
