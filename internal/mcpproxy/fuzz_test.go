package mcpproxy

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// loose is a message as a reader that takes what it can get understands it.
type loose struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
}

// FuzzMessage holds the reader against encoding/json, which folds case and takes
// the last of two keys: where both understand a line, they understand the same.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`,
		`[{"id":"a","result":{}},{"method":"x"}]`, `{"id":1,"Method":"x"}`, "{\"id\":1,\r\"method\":\"x\"}",
		`{"method":"tools\u002fcall","id":-0.0}`, `{"error":{},"id":"1"}`, "{}\n{}", `{"method":"x"}{"method":"y"}`,
		`{"id":1,"method":"ping","param\u017f":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := lines(bytes.NewReader(data), 1<<12, func(l line) {
			if l.text == nil {
				l.guessID()
				return
			}
			if bytes.ContainsAny(l.text, "\r\n") {
				t.Fatalf("%q has lines", l.text)
			}
			list := []span{{0, len(l.text)}}
			if l.text[0] == '[' {
				var err error
				if list, err = elements(l.text, maxBatch); err != nil {
					return
				}
			}
			for _, at := range list {
				checkMessage(t, at.of(l.text))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func checkMessage(t *testing.T, raw []byte) {
	m, err := scan(raw)
	if err != nil {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var l loose
	if err := dec.Decode(&l); err != nil {
		return // too deep, or a method that is no string after all
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("%q holds more than one message", raw)
	}
	if m.method != l.Method || !bytes.Equal(bytes.TrimSpace(l.ID), m.id.of(raw)) || (m.result == span{}) != (l.Result == nil) {
		t.Fatalf("%q is %+v, and %+v to others", raw, m, l)
	}
	if !m.hasID() {
		return
	}
	key, err := idKey(m.id.of(raw))
	if err != nil {
		return
	}
	again, err := idKey(json.RawMessage(`"` + strings.TrimPrefix(key, "n") + `"`))
	if strings.HasPrefix(key, "n") && (err != nil || again != key) {
		t.Fatalf("the id %q is %q, and as a text %q", m.id.of(raw), key, again)
	}
}

// FuzzRewrite changes the arguments of a call: they are then what was wanted,
// for others, too, and all else is as it was.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"method":"tools/call","id":1,"params":{"name":"x","arguments":{"a":1}}}`))
	f.Add([]byte(`{"method":"tools/call","id":1,"params":{"arguments":null,"name":"x"},"z":[]}`))
	f.Add([]byte(`{"method":"tools/call","id":1,"params":{"name":"x" }}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := scan(data)
		if err != nil {
			return
		}
		p := &proxy{name: "s"}
		c, err := p.readCall(&m)
		if err != nil {
			return
		}
		c.input = map[string]any{"new": "input"}
		out := c.rewritten(data)
		var was, is struct {
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(data, &was) != nil {
			return
		}
		if err := json.Unmarshal(out, &is); err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		if is.Params.Name != was.Params.Name || len(is.Params.Arguments) != 1 || is.Params.Arguments["new"] != "input" {
			t.Fatalf("%q became %q", data, out)
		}
	})
}
