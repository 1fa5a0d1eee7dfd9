package mcpproxy

import (
	"io"
	"strings"
	"testing"
	"time"
)

// heard is what an exchange hands on of an event stream.
func heard(e *exchange, body string) (string, error) {
	in, out := io.Pipe()
	e.remote.out = out
	said := make(chan []byte)
	go func() {
		text, _ := io.ReadAll(in)
		said <- text
	}()
	err := e.events(strings.NewReader(body))
	out.Close()
	return string(<-said), err
}

// FuzzEvents holds that of an event stream only whole lines are handed on, in
// the order they came, and that what the server says of the stream is bounded.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{
		"id: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}\n\n", ": ping\n\nevent: message\r\ndata: {}\r\n\r\n",
		"retry: 99999999999999999999\nretry: -1\nretry: 5\nid: \x1b[2J\n\n", "data\n\ndata:\n\ndata: [{\"id\":1,\"error\":{}}]\n\n", "data: {\"id\":1,\"result\":{}}", "data: {}\rdata: {}\n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &Remote{}
		e := &exchange{remote: r, first: true, open: map[string][]byte{"1": []byte("1")}}
		said, err := heard(e, string(body))
		if err != nil && err != errTooLong {
			t.Fatal(err)
		}
		if said != "" && !strings.HasSuffix(said, "\n") || strings.Contains(said, "\n\n") {
			t.Errorf("%q is handed on as %q", body, said)
		}
		if len(e.open) == 0 && !strings.Contains(said, "1") {
			t.Errorf("%q answers without an answer: %q", body, said)
		}
		if e.wait < 0 || e.wait > 30*time.Second || e.last != "" && !isPlain(e.last) || r.version != "" && !isPlain(r.version) {
			t.Errorf("%q: %v, %q, %q", body, e.wait, e.last, r.version)
		}
		again, err := heard(&exchange{remote: &Remote{}}, string(body)+"\n\ndata: {\"last\":1}\n\n")
		if err == nil && !strings.HasSuffix(again, "{\"last\":1}\n") {
			t.Errorf("%q hides the next message: %q", body, again)
		}
	})
}
