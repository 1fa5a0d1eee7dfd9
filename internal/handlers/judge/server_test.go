package judge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"gate/internal/setting"
)

// A turn is what a model on loopback is asked for, as both APIs tell it.
type turn struct {
	api      string // anthropic or openai
	path     string
	header   http.Header
	raw      string // the request as it came
	system   string
	messages []said
	tools    []string
	shut     bool // no tool may be used any more
	aided    bool // the answer is begun, or asked for as JSON
	model    string
}

// A said is one message of a conversation.
type said struct{ role, text string }

// last is the text of the newest message that is not the begun answer.
func (t *turn) last() string {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].role != "assistant" {
			return t.messages[i].text
		}
	}
	return ""
}

// earlier counts the turns of the model itself so far.
func (t *turn) earlier() int {
	n := 0
	for _, m := range t.messages {
		if m.role == "assistant" && m.text != "{" {
			n++
		}
	}
	return n
}

// An answer is what the model says: a text or uses of tools. With a status
// other than 0 and 200, body is all of it.
type answer struct {
	text   string
	uses   []use
	stop   string // why it ended; "" is by itself
	status int
	body   string
	header map[string]string
	write  func(http.ResponseWriter, *http.Request) // all by itself
}

type use struct{ name, input string }

// A server is a language model on loopback that speaks the Messages API and
// chat completions, and records what it is asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	turns []turn
	think func(*turn) answer
}

func newServer(t testing.TB, think func(*turn) answer) *server {
	s := &server{think: think}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// asked returns the turns so far.
func (s *server) asked() []turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]turn(nil), s.turns...)
}

// provider is the server as settings name it.
func (s *server) provider(api string) setting.Provider {
	p := setting.Provider{Type: api, URL: s.URL, Model: "m", KeyEnv: "JUDGE_KEY"}
	if api == "openai" {
		p.URL += "/v1"
	}
	return p
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	t := turn{path: r.URL.Path, header: r.Header.Clone(), raw: string(body)}
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		t.api = "anthropic"
	case strings.HasSuffix(r.URL.Path, "/v1/chat/completions"):
		t.api = "openai"
	}
	var doc map[string]any
	json.Unmarshal(body, &doc)
	t.read(doc)
	s.mu.Lock()
	s.turns = append(s.turns, t)
	n := len(s.turns)
	s.mu.Unlock()
	a := s.think(&t)
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	switch {
	case a.write != nil:
		a.write(w, r)
	case a.status != 0 && a.status != http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		io.WriteString(w, a.body)
	default:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(t.reply(a, n))
	}
}

// read takes the request in.
func (t *turn) read(doc map[string]any) {
	t.model, _ = doc["model"].(string)
	if list, ok := doc["system"].([]any); ok {
		t.system = texts(list)
	}
	messages, _ := doc["messages"].([]any)
	for _, m := range messages {
		m := m.(map[string]any)
		role, _ := m["role"].(string)
		text := texts(m["content"])
		if role == "system" {
			t.system = text
			continue
		}
		t.messages = append(t.messages, said{role, text})
	}
	tools, _ := doc["tools"].([]any)
	for _, tool := range tools {
		tool := tool.(map[string]any)
		if f, ok := tool["function"].(map[string]any); ok {
			tool = f
		}
		t.tools = append(t.tools, fmt.Sprint(tool["name"]))
	}
	choice, _ := doc["tool_choice"].(map[string]any)
	t.shut = doc["tool_choice"] == "none" || choice["type"] == "none"
	t.aided = doc["response_format"] != nil || len(t.messages) > 0 && t.messages[len(t.messages)-1] == said{"assistant", "{"}
}

// texts collects the texts of a message's content.
func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e))
		}
		return strings.Join(out, "\n")
	case map[string]any:
		if s, ok := v["text"].(string); ok {
			return s
		}
		return texts(v["content"])
	}
	return ""
}

// reply is the answer in the form of the API.
func (t *turn) reply(a answer, n int) any {
	if t.api == "anthropic" {
		var content []any
		text, stop := a.text, "end_turn"
		if t.aided {
			text = strings.TrimPrefix(text, "{") // it goes on with what was begun
		}
		if text != "" {
			content = append(content, map[string]any{"type": "text", "text": text})
		}
		for i, u := range a.uses {
			stop = "tool_use"
			content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("t%d_%d", n, i), "name": u.name, "input": json.RawMessage(u.input)})
		}
		if a.stop != "" {
			stop = a.stop
		}
		return map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
			"usage": map[string]any{"input_tokens": 100, "output_tokens": 10},
		}
	}
	message := map[string]any{"role": "assistant", "content": a.text}
	finish := "stop"
	var calls []any
	for i, u := range a.uses {
		finish = "tool_calls"
		calls = append(calls, map[string]any{
			"id": fmt.Sprintf("t%d_%d", n, i), "type": "function", "function": map[string]any{"name": u.name, "arguments": u.input},
		})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	if a.stop != "" {
		finish = "length"
	}
	return map[string]any{
		"id": "c1", "object": "chat.completion", "model": "m", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	}
}
