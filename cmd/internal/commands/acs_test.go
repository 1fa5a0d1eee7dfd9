package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gate/internal/acs"
	"gate/internal/conformance"
)

// acsKey is what clients of the Agent Control Standard sign with in tests.
func acsKey() acs.Key {
	return acs.Key{ID: "k1", Secret: []byte("0123456789abcdef0123456789abcdef")}
}

// approveWord finds what a person is told to approve.
var approveWord = regexp.MustCompile(`gate approve ([0-9a-z]{6})`)

// acsTarget is gate in this process, whose clock stands still and whose policies and
// approvals the kit may set.
func (m *machine) acsTarget(key acs.Key) conformance.Target {
	m.t.Helper()
	now := func() time.Time { return time.Date(2026, 9, 9, 12, 0, 0, 0, time.UTC) }
	m.write("user/settings.json", `{"approvals": {"enabled": true, "minutes": 10, "keyRequired": false}}`)
	a := m.answerer()
	guardian, err := acs.Open(m.t.Context(), acs.Options{Keys: []acs.Key{key}, Decide: acsDecide(a.decide), Dir: filepath.Join(m.dir, "acs"), Now: now})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { guardian.Close() })
	return conformance.Target{
		Send: func(ctx context.Context, body []byte) ([]byte, error) { return guardian.Answer(ctx, body), nil },
		Key:  key, Dir: m.project, Now: now,
		Prepare: func(n conformance.Need) error {
			os.RemoveAll(filepath.Join(m.dir, "user", "policies"))
			if (n != conformance.Need{}) {
				m.write("user/policies/vector.rego", vectorPolicy(n))
			}
			return nil
		},
		Approve: func(said map[string]any) error {
			found := approveWord.FindStringSubmatch(fmt.Sprint(said["reasoning"]))
			if found == nil {
				return fmt.Errorf("nothing waits for an approval")
			}
			if status, stdout, stderr := m.gate(nil, true, "approve", found[1]); status != exitOK {
				return fmt.Errorf("approve: %s%s", stdout, stderr)
			}
			return nil
		},
	}
}

// vectorPolicy is the policy that a vector describes, as one writes it for gate.
func vectorPolicy(n conformance.Need) string {
	text := "# METADATA\n# custom: {gate: {events: [PreToolUse]}}\npackage acme.vector\n\n"
	if n.Ask != "" {
		text += fmt.Sprintf("ask contains {\"id\": \"CAPABILITY_NOT_NEGOTIATED\", \"reason\": \"a person decides about this\"} if input.tool_name == %q\n\n", n.Ask)
	}
	if n.Bound != "" {
		text += fmt.Sprintf("deny contains {\"id\": \"CAPABILITY_NOT_NEGOTIATED\", \"reason\": \"this turn has had enough of these\"} if {\n"+
			"\tinput.tool_name == %q\n\tinput.acs.turn.calls[input.tool_name] > %d\n}\n", n.Bound, n.Most)
	}
	return text
}

// TestACSVectors drives the standard's vectors against gate with its own policies: each
// that has a request to a Guardian in it ends as its file says.
func TestACSVectors(t *testing.T) {
	m := newMachine(t)
	list, err := conformance.ACS(t.Context(), m.acsTarget(acsKey()))
	if err != nil {
		t.Fatal(err)
	}
	count := map[conformance.Outcome]int{}
	for _, f := range list {
		count[f.Outcome]++
		if f.Outcome == conformance.Differs || f.Outcome == conformance.NotDriven {
			t.Errorf("%s (%s) %s: %s", f.ID, f.About, f.Outcome, f.Why)
		}
	}
	if len(list) != 43 || count[conformance.Held] != 22 || count[conformance.NotApplicable] != 21 {
		t.Errorf("%d vectors: %v", len(list), count)
	}
	if data, err := os.ReadDir(filepath.Join(m.dir, "acs")); err != nil || len(data) < 10 {
		t.Errorf("%d sessions are kept: %v", len(data), err)
	}
	if strings.Contains(fmt.Sprint(list), "internal_error") {
		t.Errorf("gate failed: %v", list)
	}
}
