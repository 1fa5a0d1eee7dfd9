package mcpproxy

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// fromServer handles one line of the server. What cannot be read is not handed
// on: a client that reads it otherwise would get a result that nobody judged.
func (p *proxy) fromServer(l line) {
	if l.text == nil {
		p.lost(l.guessID(), fmt.Sprintf("longer than %d bytes", MaxMessage))
		return
	}
	batch, err := p.batch(l.text, p.endsCall)
	if err != nil {
		p.lost(nil, err.Error()+": "+strconv.QuoteToASCII(clip(string(l.text))))
		return
	}
	for i := range batch.messages {
		if m := &batch.messages[i]; p.passes(m) && !batch.whole {
			p.client.send(m.raw)
		}
	}
	if batch.whole {
		p.client.send(l.text)
	}
}

// lost says that a message of the server did not get to the client, and answers
// in its place where it is known whose answer it was.
func (p *proxy) lost(id []byte, why string) {
	p.tell("the server sent a message that was not handed on: " + why)
	key, err := idKey(id)
	if err != nil {
		return
	}
	if r, _ := p.waiting.take(key); r != nil {
		p.failRequest(r, codeEnded, "the server's answer is "+why)
	}
}

// endsCall reports that m must not stand in a batch that passes whole: it is judged, or
// answers nothing.
func (p *proxy) endsCall(m *message) bool {
	if !m.answers() {
		return !m.hasID() && m.params != span{} || m.hasID() && asksClient(m.method) != ""
	}
	if !m.hasID() {
		return false
	}
	key, err := idKey(m.id.of(m.raw))
	r := p.waiting.is(key)
	return err != nil || r == nil || r.call != nil || r.own != nil || r.looked()
}

// looked reports a request whose answer the proxy looks at.
func (r *request) looked() bool {
	_, lists := listings(r.method)
	return lists || r.names()
}

// names reports a request whose answer has the server's name.
func (r *request) names() bool { return r.method == "initialize" || r.method == "server/discover" }

// passes reports that a message of the server goes to the client as it is. An
// answer to a call does not: it is judged first.
func (p *proxy) passes(m *message) bool {
	switch {
	case !m.answers() && p.heldWhy() != "":
		return false
	case !m.answers() && m.hasID() && asksClient(m.method) != "":
		p.asksFor(m)
		return false
	case !m.answers() && m.hasID():
		return true
	case !m.answers():
		if m.method == "notifications/tools/list_changed" {
			p.tools.changed()
		}
		return p.notifies(m)
	case !m.hasID():
		return m.result == span{} // an error that belongs to no request
	}
	key, err := idKey(m.id.of(m.raw))
	if err != nil {
		p.lost(nil, err.Error())
		return false
	}
	r, cancelled := p.waiting.take(key)
	switch {
	case r == nil && !cancelled:
		p.tell("the server answered a request that is not there: " + clip(string(m.id.of(m.raw))))
	case r == nil:
	case r.own != nil:
		r.own <- m.raw
	case r.call == nil:
		return p.learnFrom(r, m) && p.lookedAt(r, m)
	case r.call.sent.IsZero():
		// It answers what it has not got; whoever has the call judged finds
		// that nobody waits any more.
		p.fail(r.id, codeEnded, "the server answered before it was asked")
	default:
		judge(&p.answering, p.answers, len(m.raw), func() { p.client.send(p.judged(r, m)) })
	}
	return false
}

// lookedAt reports that an answer passes as it is. A list does not, which is looked at beside
// the reading, nor does what a server says of itself, before anything else is read.
func (p *proxy) lookedAt(r *request, m *message) bool {
	_, lists := listings(r.method)
	switch {
	case lists:
		judge(&p.answering, p.answers, len(m.raw), func() { p.client.send(p.handList(r, m)) })
	case r.names():
		p.client.sendAll(p.introduced(r, m))
	}
	return !r.looked()
}

// learnFrom takes the server's name from where it says it, and reports whether the
// answer may pass: not that of a server of which nothing may.
func (p *proxy) learnFrom(r *request, m *message) bool {
	if r.names() && p.serverName() == "" && m.result != (span{}) {
		p.meet(m.result.of(m.raw))
	}
	if p.heldWhy() == "" {
		return true
	}
	p.client.sendAll(p.inPlaceOf(r, m))
	return false
}

// meet takes the server's name from the result of an initialize. One that cannot be read
// says none.
func (p *proxy) meet(text []byte) {
	result, err := strictjson.Object(text, limits)
	if err != nil {
		p.tell("what the server says about itself: " + err.Error())
		return
	}
	info, _ := result["serverInfo"].(map[string]any)
	if meta, ok := result["_meta"].(map[string]any); ok && info == nil {
		info, _ = meta["io.modelcontextprotocol/serverInfo"].(map[string]any)
	}
	name, _ := info["name"].(string)
	p.learn(name)
	if name != "" && p.Book != nil {
		p.Book.Begin(p.ctx, name, true)
	}
}

// judged returns what the client gets for the answer to a call.
func (p *proxy) judged(r *request, m *message) []byte {
	refuse := r.refused
	switch {
	case m.result != span{} && m.failed != span{}:
		return refuse("gate could not read the server's answer: it is a result and an error")
	case m.failed != span{}:
		return p.judgedError(r, m)
	}
	result, err := strictjson.Object(m.result.of(m.raw), limits)
	if err != nil {
		return refuse("gate could not read the server's answer: " + err.Error())
	}
	if kind, _ := result["resultType"].(string); kind == "input_required" {
		return m.raw // no result yet: the client calls again
	}
	if why := p.changedMeanwhile(r.call); why != "" {
		return refuse("the server has run this call, and its result is withheld: " + why)
	}
	output := outputOf(result)
	ev := p.event(hook.PostToolUse, r, r.call.input)
	ev.Fields["tool_response"] = output
	d := p.decide(&ev)
	ruling := adapters.Rule(&ev, &d)
	p.tell(strings.Join(ruling.Person, "\n"))
	context := append(r.call.context, ruling.Context...)
	switch {
	case ruling.Result == hook.Reject:
		return refuse(withContext(ruling.Reason, context))
	case ruling.Output == nil && len(context) == 0:
		return m.raw
	case ruling.Output != nil:
		if _, whole := ruling.Output.(map[string]any); !whole && r.method != methodCall {
			return refuse(fmt.Sprintf("a policy makes something of this result that no result of %s can be", r.method))
		}
		result = withOutput(r.method, result, ruling.Output)
	}
	r.addContext(result, context)
	return splice(m.raw, m.result, strictjson.Append(nil, result))
}

// addContext adds texts for the agent to a result: as content, as a message of the prompt, or
// as another text at the resource's address.
func (r *request) addContext(result map[string]any, context []string) {
	if len(context) == 0 {
		return
	}
	key := map[string]string{methodCall: "content", methodPrompt: "messages", methodResource: "contents"}[r.method]
	list, _ := result[key].([]any)
	for _, text := range context {
		switch r.method {
		case methodPrompt:
			list = append(list, map[string]any{"role": "user", "content": textContent(text)})
		case methodResource:
			list = append(list, map[string]any{"uri": r.call.input["uri"], "mimeType": "text/plain", "text": text})
		default:
			list = append(list, textContent(text))
		}
	}
	result[key] = list
}

// judgedError tells hooks of a call that failed. Its message can take context.
func (p *proxy) judgedError(r *request, m *message) []byte {
	doc, err := strictjson.Object(m.failed.of(m.raw), limits)
	why, ok := doc["message"].(string)
	if err != nil || !ok {
		return failure(r.id, codeEnded, "the server's answer is an error that cannot be read")
	}
	ev := p.event(hook.PostToolUseFailure, r, r.call.input)
	ev.Fields["error"] = why
	d := p.decide(&ev)
	ruling := adapters.Rule(&ev, &d)
	p.tell(strings.Join(ruling.Person, "\n"))
	context := append(r.call.context, ruling.Context...)
	if ruling.Reason != "" {
		context = append(context, ruling.Reason)
	}
	if len(context) == 0 {
		return m.raw
	}
	doc["message"] = why + "\n" + strings.Join(context, "\n")
	return splice(m.raw, m.failed, strictjson.Append(nil, doc))
}

// besides are the keys of a result that say something about it.
var besides = []string{"_meta", "isError", "resultType"}

// outputOf is what policies see of a result: its content, as agents show it
// their hooks, and where there is more than that, all of it.
func outputOf(result map[string]any) any {
	output := maps.Clone(result)
	for _, key := range besides {
		delete(output, key)
	}
	if content, ok := output["content"].([]any); ok && len(output) == 1 {
		return content
	}
	return output
}

// withOutput returns the result with what policies made of it. A text, or a list
// that is not content, becomes text: a client must be able to show it.
func withOutput(method string, result map[string]any, output any) map[string]any {
	changed := map[string]any{}
	for _, key := range besides {
		if v, ok := result[key]; ok {
			changed[key] = v
		}
	}
	switch v := output.(type) {
	case map[string]any:
		maps.Copy(changed, v)
		if _, ok := v["content"].([]any); !ok && method == methodCall {
			changed["content"] = []any{}
		}
		return changed
	case []any:
		if isContent(v) {
			changed["content"] = v
			return changed
		}
	case string:
		changed["content"] = []any{textContent(v)}
		return changed
	}
	changed["content"] = []any{textContent(string(bytes.TrimSpace(strictjson.Append(nil, output))))}
	return changed
}

func isContent(list []any) bool {
	for _, e := range list {
		m, _ := e.(map[string]any)
		if _, ok := m["type"].(string); !ok {
			return false
		}
	}
	return true
}
