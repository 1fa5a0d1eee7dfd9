package elsewhere

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/setting"
)

// TestJunk reads an address at which others write: what does not say exactly what the
// question says is not checked at all, forged answers are few, the same text costs nothing,
// and a text without an answer puts the next look off.
func TestJunk(t *testing.T) {
	checked, body := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	defer server.Close()
	now := time.Now()
	d := &Desk{
		Store:    consent.Store{Dir: t.TempDir() + "/consent"},
		Settings: setting.Approvals{Poll: server.URL},
		Rules: consent.Approvals{Enabled: true, Elsewhere: func(_, signature []byte, _ time.Time) (string, error) {
			checked++
			if !strings.Contains(string(signature), "ana") {
				return "", errors.New("by nobody")
			}
			return "ana", nil
		}},
	}
	ev := &hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{"session_id": "s", "cwd": "/x", "tool_name": "Bash", "tool_input": map[string]any{"command": "make deploy"}}, Gate: hook.Gate{Now: now}, Facts: &hook.Facts{}}
	dec := &hook.Decision{ID: "5spyyq", Effect: hook.Ask, Facts: &hook.Facts{}, Reasons: []hook.Reason{{Hook: "acme.deploy", ID: "acme.deploy", Effect: hook.Ask, Reason: "may it", Source: "user"}}}
	p, err := d.Store.AddPending(ev, dec, d.Rules)
	if err != nil {
		t.Fatal(err)
	}
	q, _, err := d.Store.Ask(p, func(time.Time) string { return "may it" }, d.Rules, now)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(statement, by string) string {
		return statement + beginSignature + "\n" + by + "\n" + endSignature + "\n"
	}
	yes := string(q.Statement(true))
	other := strings.Replace(yes, q.Nonce, strings.Repeat("0", 32), 1)
	l := newLooks(d)
	for _, c := range []struct {
		name    string
		body    string
		checked int // at most
		pause   time.Duration
	}{
		{"nothing", "", 0, between},
		{"talk", "hello\n", 0, 2 * between},
		{"the same talk", "hello\n", 0, 2 * between},
		{"other questions", strings.Repeat(answer(other, "ana"), 400), 0, 4 * between},
		{"forged", strings.Repeat(answer(yes, "eve"), 400), maxTried, 8 * between},
		{"forged again", strings.Repeat(answer(yes, "eve"), 400), 0, 8 * between},
		{"much talk", strings.Repeat("x\n", 100_000), 0, betweenAll},
		{"answered", "hello\n" + answer(yes, "ana"), 1, between},
	} {
		checked, body = 0, c.body
		if err := l.look(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if checked > c.checked || c.checked > 0 && checked == 0 || l.pause != c.pause {
			t.Errorf("%s: %d signatures checked, the next look in %s; want at most %d, and %s", c.name, checked, l.pause, c.checked, c.pause)
		}
		if l.due(time.Now()) || !l.due(time.Now().Add(l.pause+time.Second)) {
			t.Errorf("%s: the next look is not in %s", c.name, l.pause)
		}
	}
	if _, a, err := d.Store.Asked(ev, dec); err != nil || a == nil || !a.Yes {
		t.Errorf("the answer did not count: %+v, %v", a, err)
	}
}
