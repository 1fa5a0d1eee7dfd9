package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/pins"
	"gate/internal/strictjson"
)

// limits bound what is judged: a call, a result.
var limits = strictjson.Limits{Bytes: MaxMessage}

// call has a request judged that runs a tool or reads a prompt or resource, and hands it on.
func (p *proxy) call(m *message) {
	r, err := p.enter(m, &call{})
	if err != nil {
		p.fail(nil, codeInvalid, err.Error())
		return
	}
	judge(&p.asking, p.calls, len(m.raw), func() {
		raw, look, reason := p.ask(m, r)
		switch {
		case reason != "":
			p.reject(r, reason)
		case raw == nil: // cancelled meanwhile
		case p.server.send(raw) != nil:
			if r, _ := p.waiting.take(r.key); r != nil {
				p.fail(r.id, codeEnded, "the server ended before it was asked")
			}
		}
		if look != nil {
			go look() // other calls may wait for it, too
		}
	})
}

// ask returns the message that the server gets, or why it gets none. Neither:
// nobody waits for the answer any more. look is what is to be done when it has it, or nil.
func (p *proxy) ask(m *message, r *request) (raw []byte, look func(), reason string) {
	c, err := p.readCall(m)
	if err != nil {
		return nil, nil, "gate could not read this call: " + err.Error()
	}
	r.call.tool, r.call.server, r.call.trace = c.tool, c.server, c.trace
	known, reason := p.known(&c)
	if reason != "" {
		return nil, nil, reason
	}
	ev := p.event(hook.PreToolUse, r, c.input)
	d := p.decide(&ev)
	ruling := adapters.Rule(&ev, &d)
	p.tell(strings.Join(ruling.Person, "\n"))
	raw = m.raw
	switch ruling.Result {
	case hook.Reject:
		return nil, nil, withContext(ruling.Reason, ruling.Context)
	case hook.ModifyInput:
		c.input = ruling.Input
		if err := p.fits(known, c.input); err != nil {
			return nil, nil, "what policies made of the arguments does not fit the tool's inputSchema: " + err.Error()
		}
		if reason := p.renamed(&c); reason != "" {
			return nil, nil, reason
		}
		raw = c.rewritten(m.raw)
	}
	again, first := p.glance(&c)
	if first {
		look = func() { p.lookAgain(again, c.meta) }
	}
	r.call.name, r.call.again = c.name, again
	if !p.waiting.send(r, c.input, ruling.Context) {
		raw = nil
	}
	return raw, look, ""
}

// known returns what the server says of the tool, or why it must not be called.
func (p *proxy) known(c *wireCall) (tool, string) {
	if held := p.heldWhy(); held != "" {
		return tool{}, held
	}
	if c.method != methodCall {
		return tool{}, p.unusable(c)
	}
	if p.Book == nil {
		return tool{}, p.catalogue.why(pins.Tools, c.name)
	}
	known, err := p.tool(c.name, c.meta)
	held := p.heldWhy() // by what the server has said of itself meanwhile
	switch {
	case held != "":
		return known, held
	case err != nil:
		return known, err.Error()
	case known.withheld != "":
		return known, known.withheld
	}
	if err := p.fits(known, c.input); err != nil {
		return known, "the arguments do not fit the tool's inputSchema: " + err.Error()
	}
	return known, ""
}

// A use is how a request names what it uses: a part of its params, and what is pinned of it.
type use struct {
	key  string
	kind pins.Kind
}

func (c *wireCall) use() use {
	switch c.method {
	case methodPrompt:
		return use{"name", pins.Prompts}
	case methodResource:
		return use{"uri", pins.Resources}
	}
	return use{"name", pins.Tools}
}

// unusable returns why a prompt or resource must not be read, "" if it may.
func (p *proxy) unusable(c *wireCall) string {
	kind := c.use().kind
	why := p.catalogue.why(kind, c.name)
	if why == "" && p.Book != nil {
		why = p.Book.refuses(kind, c.name)
	}
	return why
}

// renamed takes another prompt or resource out of what policies made of a request, and
// returns why it must not be read, "" if it may.
func (p *proxy) renamed(c *wireCall) string {
	if c.method == methodCall {
		return ""
	}
	name, _ := c.input[c.use().key].(string)
	if name == "" {
		return "policies made a request of it that does not say what is to be read"
	}
	c.name = name
	return p.unusable(c)
}

// fits holds arguments against the tool's inputSchema, where the proxy can.
func (p *proxy) fits(t tool, input map[string]any) error {
	if p.Fits == nil || t.schema == nil {
		return nil
	}
	return p.Fits(t.schema, input)
}

// protocolMeta is what of a request's _meta says which protocol is spoken.
func protocolMeta(meta map[string]any) map[string]any {
	var kept map[string]any
	for key, value := range meta {
		if strings.HasPrefix(key, "io.modelcontextprotocol/") {
			if kept == nil {
				kept = map[string]any{}
			}
			kept[key] = value
		}
	}
	return kept
}

// A wireCall is what a request says that runs a tool, or reads a prompt or resource.
type wireCall struct {
	method            string
	tool, server      string
	name              string         // of the tool or prompt, as the server has it, or the resource's address
	whole             map[string]any // the params
	meta              map[string]any // what the protocol wants with each request; nil: nothing
	trace             string         // the client's trace context, "" if it told none
	input             map[string]any
	params, arguments span // in the message; no arguments: the zero span
}

// readCall reads a call strictly. Its input are the arguments of a tool; of what reads a
// prompt or resource it is all that the request says, as a call of mcp__SERVER__prompts_get
// or mcp__SERVER__resources_read.
func (p *proxy) readCall(m *message) (wireCall, error) {
	c := wireCall{method: m.method, params: m.params, input: map[string]any{}, server: p.serverName()}
	if c.server == "" {
		return c, errors.New("the server has not said its name yet; a person can give it one with --name")
	}
	if m.params == (span{}) {
		return c, errors.New("it has no params")
	}
	params := m.params.of(m.raw)
	doc, err := strictjson.Object(params, limits)
	if err != nil {
		return c, fmt.Errorf("params: %w", err)
	}
	c.whole = doc
	by := c.use()
	for key := range doc {
		for _, known := range []string{by.key, "arguments", "task"} {
			if key != known && strictjson.Fold(key) == known {
				return c, fmt.Errorf("params: the key %s looks like %s", strconv.QuoteToASCII(clip(key)), known)
			}
		}
	}
	name, _ := doc[by.key].(string)
	if name == "" {
		return c, fmt.Errorf("params: the %s is missing", by.key)
	}
	if _, ok := doc["task"]; ok {
		return c, errors.New("params: a call as a task has its result where gate does not look")
	}
	c.name = name
	if meta, ok := doc["_meta"].(map[string]any); ok {
		c.meta = protocolMeta(meta)
		said, _ := meta["traceparent"].(string)
		c.trace = moment.TraceParent(said)
	}
	if m.method != methodCall {
		c.tool = serverTool(c.server, strings.ReplaceAll(m.method, "/", "_"))
		c.input = maps.Clone(doc)
		delete(c.input, "_meta")
		return c, nil
	}
	c.tool = serverTool(c.server, name)
	switch v := doc["arguments"].(type) {
	case nil:
	case map[string]any:
		c.input = v
	default:
		return c, fmt.Errorf("params.arguments: %s where an object is wanted", strictjson.TypeName(v))
	}
	list, err := members(params)
	for _, e := range list {
		if e.key == "arguments" {
			c.arguments = span{m.params.start + e.value.start, m.params.start + e.value.end}
		}
	}
	return c, err
}

// serverTool names a tool of a server as agents do.
func serverTool(server, tool string) string { return "mcp__" + plainName(server) + "__" + tool }

// rewritten returns the message with other arguments, and all else as it is.
func (c *wireCall) rewritten(raw []byte) []byte {
	if c.method != methodCall {
		params := maps.Clone(c.input)
		if meta, has := c.whole["_meta"]; has {
			params["_meta"] = meta
		}
		return splice(raw, c.params, strictjson.Append(nil, params))
	}
	input := strictjson.Append(nil, c.input)
	if c.arguments != (span{}) {
		return splice(raw, c.arguments, input)
	}
	end := c.params.end - 1 // there is a name before it
	return splice(raw, span{end, end}, append([]byte(`,"arguments":`), input...))
}

// plainName writes a server's name as agents do in the names of tools.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, clip(name))
}

// event is an event about a call.
func (p *proxy) event(name hook.Name, r *request, input map[string]any) hook.Event {
	id := string(r.id)
	if s, err := text(r.id); err == nil {
		id = s
	}
	fields := map[string]any{
		"hook_event_name": string(name), "session_id": p.Session, "cwd": p.Dir,
		"tool_name": r.call.tool, "tool_input": input, "tool_use_id": id,
		"mcp_server": map[string]any{"name": r.call.server, "source": "gate mcp"},
	}
	if !r.call.sent.IsZero() {
		fields["duration_ms"] = json.Number(strconv.FormatInt(time.Since(r.call.sent).Milliseconds(), 10))
	}
	return hook.Event{Agent: "generic", Name: name, Fields: fields, Gate: hook.Gate{Trace: r.call.trace}}
}

// reject answers a call with why it is refused.
func (p *proxy) reject(r *request, reason string) {
	if r, _ := p.waiting.take(r.key); r != nil {
		p.client.send(r.refused(reason))
	}
}

// refused is what the client gets in the place of a result: of a tool's one that says why,
// so that the model reads it. Other results have no place for it.
func (r *request) refused(reason string) []byte {
	if r.method != methodCall {
		return failure(r.id, codeEnded, reason)
	}
	return answer(r.id, "result", refusal(reason))
}

// withContext is what an agent reads in the place of a result.
func withContext(reason string, context []string) string {
	return strings.Join(append([]string{reason}, context...), "\n")
}

func refusal(reason string) map[string]any {
	return map[string]any{"content": []any{textContent(reason)}, "isError": true}
}

func textContent(text string) any { return map[string]any{"type": "text", "text": text} }

// fail answers a request with an error; without an id it is nobody's.
func (p *proxy) fail(id []byte, code int, why string) { p.client.send(failure(id, code, why)) }

// failRequest answers a request of the client, or of gate itself, with an error.
func (p *proxy) failRequest(r *request, code int, why string) {
	if r.own != nil {
		r.own <- failure(r.id, code, why)
		return
	}
	p.fail(r.id, code, why)
}

func failure(id []byte, code int, why string) []byte {
	return answer(id, "error", map[string]any{
		"code": json.Number(strconv.Itoa(code)), "message": "gate: " + strictjson.Visible(why),
	})
}

func answer(id []byte, key string, value any) []byte {
	if len(id) == 0 {
		id = []byte("null")
	}
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	out = append(out, `,"`+key+`":`...)
	out = strictjson.Append(out, value)
	return append(out, '}')
}
