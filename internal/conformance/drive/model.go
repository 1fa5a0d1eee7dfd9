package drive

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"gate/internal/strictjson"
)

// maxAsked bounds a request of a client to its model, and all requests together.
const maxAsked = 16 << 20

// A turn is what the model says to one request: calls of tools, or that it is done.
type turn []toolCall

// A toolCall is a call of a tool. One with Text is a free-form call of the Responses API.
type toolCall struct {
	Name string
	Args map[string]any
	Text string
}

// A model is a scripted stand-in for a model's API on loopback. It speaks four formats, by
// the end of the path: OpenAI's Responses and Chat, Gemini's and Anthropic's. A request that
// offers no tools uses up no turn.
type model struct {
	base string // http://127.0.0.1:PORT
	web  *http.Server
	lock sync.Mutex
	left []turn
	used int    // requests that offered tools
	said []byte // bodies of all requests, one after the other
}

// startModel listens until stop.
func startModel(turns []turn) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{base: "http://" + l.Addr().String(), left: turns}
	m.web = &http.Server{Handler: m}
	go m.web.Serve(l) // ends with stop
	return m, nil
}

func (m *model) stop() { m.web.Close() }

// read is what the client sent, and in how many requests with tools.
func (m *model) read() (text string, requests int) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return string(m.said), m.used
}

// next is the turn for a request.
func (m *model) next(body []byte, tools bool) turn {
	m.lock.Lock()
	defer m.lock.Unlock()
	if len(m.said)+len(body) <= maxAsked {
		m.said = append(m.said, body...)
	}
	if !tools {
		return nil
	}
	m.used++
	if len(m.left) == 0 {
		return nil
	}
	t := m.left[0]
	m.left = m.left[1:]
	return t
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet && strings.HasSuffix(path, "/models") {
			one := map[string]any{"id": "kit", "object": "model", "created": 0, "owned_by": "kit", "name": "kit", "slug": "kit"}
			reply(w, map[string]any{"object": "list", "data": []any{one}, "models": []any{}})
			return
		}
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAsked))
	if err != nil {
		return
	}
	var doc map[string]any
	json.Unmarshal(body, &doc) // the client's own: what is no object offers no tools
	switch {
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, body, doc)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, body, doc)
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		m.gemini(w, strings.HasSuffix(path, ":streamGenerateContent"), body, doc)
	case strings.HasSuffix(path, "/messages"):
		m.messages(w, body, doc)
	case strings.HasSuffix(path, "ountTokens"), strings.HasSuffix(path, "/count_tokens"):
		reply(w, map[string]any{"totalTokens": 10, "input_tokens": 10})
	default:
		http.NotFound(w, r)
	}
}

// offers reports a request with tools.
func offers(doc map[string]any) bool {
	tools, _ := doc["tools"].([]any)
	return len(tools) > 0
}

// doneText is what the model says when its script has ended.
const doneText = "done"

func reply(w http.ResponseWriter, doc map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(strictjson.Append(nil, doc))
}

// stream sends events. Those of Responses and Messages have a name, their type.
func stream(w http.ResponseWriter, named, done bool, events ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", strictjson.Append(nil, e))
	}
	if done {
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

// id names the n-th call of the m-th request.
func (m *model) id(prefix string, n int) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return fmt.Sprintf("%s_kit%04d%02d", prefix, m.used, n)
}

// responses speaks OpenAI's Responses.
func (m *model) responses(w http.ResponseWriter, body []byte, doc map[string]any) {
	tools := offers(doc)
	input, _ := doc["input"].([]any)
	for _, v := range input {
		item, _ := v.(map[string]any)
		tools = tools || item["type"] == "additional_tools"
	}
	var items []any
	for i, c := range m.next(body, tools) {
		item := map[string]any{"type": "function_call", "id": m.id("fc", i), "call_id": m.id("call", i), "name": c.Name, "status": "completed"}
		if c.Text != "" {
			item["type"], item["input"] = "custom_tool_call", c.Text
		} else {
			item["arguments"] = string(strictjson.Append(nil, c.Args))
		}
		items = append(items, item)
	}
	if items == nil {
		part := map[string]any{"type": "output_text", "text": doneText, "annotations": []any{}}
		items = []any{map[string]any{"type": "message", "id": m.id("msg", 0), "role": "assistant", "status": "completed", "content": []any{part}}}
	}
	answer := map[string]any{"id": m.id("resp", 0), "object": "response", "created_at": 1, "model": "kit", "status": "completed", "output": items, "usage": map[string]any{
		"input_tokens": 10, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens": 5,
		"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 15,
	}}
	if doc["stream"] != true {
		reply(w, answer)
		return
	}
	events := []map[string]any{{"type": "response.created", "response": map[string]any{"id": answer["id"], "object": "response", "status": "in_progress", "output": []any{}}}}
	for i, item := range items {
		events = append(events,
			map[string]any{"type": "response.output_item.added", "output_index": i, "item": item},
			map[string]any{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	events = append(events, map[string]any{"type": "response.completed", "response": answer})
	for i, e := range events {
		e["sequence_number"] = i
	}
	stream(w, true, false, events...)
}

// chat speaks OpenAI's Chat Completions.
func (m *model) chat(w http.ResponseWriter, body []byte, doc map[string]any) {
	message, why := map[string]any{"role": "assistant", "content": doneText}, "stop"
	var calls []any
	for i, c := range m.next(body, offers(doc)) {
		calls = append(calls, map[string]any{"index": i, "id": m.id("call", i), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(strictjson.Append(nil, c.Args))}})
	}
	if calls != nil {
		message["content"], message["tool_calls"], why = nil, calls, "tool_calls"
	}
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	answer := func(object string, more map[string]any, choices ...any) map[string]any {
		out := map[string]any{"id": "chatcmpl-kit", "created": 1, "model": "kit", "object": object, "choices": choices}
		if choices == nil {
			out["choices"] = []any{}
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	if doc["stream"] != true {
		reply(w, answer("chat.completion", map[string]any{"usage": usage}, map[string]any{"index": 0, "message": message, "finish_reason": why}))
		return
	}
	const chunk = "chat.completion.chunk"
	stream(w, false, true,
		answer(chunk, nil, map[string]any{"index": 0, "delta": message, "finish_reason": nil}),
		answer(chunk, nil, map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": why}),
		answer(chunk, map[string]any{"usage": usage}))
}

// gemini speaks generateContent. Questions of the client's own want JSON.
func (m *model) gemini(w http.ResponseWriter, streams bool, body []byte, doc map[string]any) {
	tools := false
	list, _ := doc["tools"].([]any)
	for _, v := range list {
		one, _ := v.(map[string]any)
		tools = tools || one["functionDeclarations"] != nil
	}
	var parts []any
	for i, c := range m.next(body, tools) {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"id": m.id("call", i), "name": c.Name, "args": c.Args}, "thoughtSignature": "c2ln"})
	}
	if parts == nil {
		text := doneText
		if form, _ := doc["generationConfig"].(map[string]any); !tools && (form["responseJsonSchema"] != nil || form["responseSchema"] != nil) {
			text = `{"reasoning":"ok","next_speaker":"user","model_choice":"flash","complexity_reasoning":"ok","complexity_score":10,"response":"ok"}`
		}
		parts = []any{map[string]any{"text": text}}
	}
	answer := map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "kit",
	}
	if streams {
		stream(w, false, false, answer)
		return
	}
	reply(w, answer)
}

// messages speaks Anthropic's Messages.
func (m *model) messages(w http.ResponseWriter, body []byte, doc map[string]any) {
	var blocks []any
	why := "tool_use"
	for i, c := range m.next(body, offers(doc)) {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": m.id("toolu", i), "name": c.Name, "input": c.Args})
	}
	if blocks == nil {
		blocks, why = []any{map[string]any{"type": "text", "text": doneText}}, "end_turn"
	}
	answer := func(content []any, why any) map[string]any {
		return map[string]any{"type": "message", "id": m.id("msg", 0), "role": "assistant", "model": "kit", "content": content,
			"stop_reason": why, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5}}
	}
	if doc["stream"] != true {
		reply(w, answer(blocks, why))
		return
	}
	events := []map[string]any{{"type": "message_start", "message": answer([]any{}, nil)}}
	for i, v := range blocks {
		b := v.(map[string]any)
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(strictjson.Append(nil, b["input"]))}
		}
		events = append(events,
			map[string]any{"type": "content_block_start", "index": i, "content_block": start},
			map[string]any{"type": "content_block_delta", "index": i, "delta": delta},
			map[string]any{"type": "content_block_stop", "index": i})
	}
	stream(w, true, false, append(events,
		map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": why, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 5}},
		map[string]any{"type": "message_stop"})...)
}
