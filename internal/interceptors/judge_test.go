package interceptors

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestShared holds that the pair has one decision of a message, and that whoever else asks has
// another.
func TestShared(t *testing.T) {
	asked := 0
	host := New(Gate(func(context.Context, []byte, time.Duration) []byte {
		asked++
		return []byte(`{"valid":true}`)
	}))
	ask := func(name, principal string) {
		t.Helper()
		answer := host.Answer(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"interceptor/invoke","params":{"name":%q,"event":"tools/call","phase":"request",`+
			`"payload":{"name":"x","arguments":{}},"context":{"sessionId":"s","principal":{"type":"user","id":%q}}}}`, name, principal))
		if answer == nil {
			t.Fatal("no answer")
		}
	}
	ask("gate/rewrite", "ann")
	ask("gate", "ann")
	if asked != 1 {
		t.Errorf("%d decisions of one message", asked)
	}
	ask("gate/rewrite", "ann")
	ask("gate", "bob")
	if asked != 3 {
		t.Errorf("%d decisions, of which bob's is another than ann's", asked)
	}
}
