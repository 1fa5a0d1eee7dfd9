package mcpproxy

import (
	"io"
	"sync"

	"gate/internal/strictjson"
)

// heldAnswer is what a client gets in the place of a server of which nothing may pass: a
// server without anything. A message that wants no answer gets none.
func heldAnswer(m *message, name, why string) [][]byte {
	if !m.named || !m.hasID() {
		return nil
	}
	id := m.id.of(m.raw)
	l, lists := listings(m.method)
	switch {
	case m.method == methodCall:
		return [][]byte{answer(id, "result", refusal(why))}
	case m.method == "ping":
		return [][]byte{answer(id, "result", map[string]any{})}
	case lists:
		return [][]byte{answer(id, "result", map[string]any{l.key: []any{}})}
	case m.method == "initialize":
		return [][]byte{answer(id, "result", map[string]any{
			"protocolVersion": versionIn(m), "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": strictjson.Visible(clip(name)), "version": "0"},
		})}
	}
	return [][]byte{failure(id, codeEnded, why)}
}

// versionIn is the version of the protocol that a message names.
func versionIn(m *message) string {
	for _, at := range []span{m.result, m.params} {
		if at == (span{}) {
			continue
		}
		doc, _ := strictjson.Object(at.of(m.raw), limits)
		if version, _ := doc["protocolVersion"].(string); isPlain(version) && len(version) < 32 && version != "" {
			return version
		}
	}
	return "2025-06-18"
}

// Nobody stands where a server would that must not be started: it says nothing.
func Nobody() Server {
	n := &nobody{done: make(chan struct{})}
	n.in, n.out = io.Pipe()
	return n
}

type nobody struct {
	in   *io.PipeReader
	out  *io.PipeWriter
	done chan struct{}
	once sync.Once
}

func (n *nobody) Stream() Stream        { return Stream{In: n.in, Out: io.Discard} }
func (n *nobody) CloseInput()           { n.Stop() }
func (n *nobody) Done() <-chan struct{} { return n.done }

func (n *nobody) Stop() error {
	n.once.Do(func() { close(n.done); n.out.Close() })
	return nil
}
