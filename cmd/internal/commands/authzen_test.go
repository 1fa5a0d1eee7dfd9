package commands

import (
	"context"
	"strings"
	"testing"

	"gate/internal/conformance"
	"gate/internal/serve"
)

// recordsPolicy is the certification's scenario, as one writes it for gate.
const recordsPolicy = `# METADATA
# custom: {gate: {events: [AccessEvaluation]}}
package acme.records

import rego.v1

subject := input.authzen.subject

action := input.authzen.action

resource := input.authzen.resource

archived if resource.properties.status == "archived"

admin if subject.properties.role == "admin"

allow contains "both may read the active record" if {
	subject.id in {"alice", "bob"}
	action.name == "read"
	resource.id == "record-1"
}

allow contains "alice may write what is not archived" if {
	subject.id == "alice"
	action.name == "write"
	not archived
}

allow contains "an admin may write what is archived" if {
	action.name == "write"
	archived
	admin
}

allow contains "alice may delete softly" if {
	subject.id == "alice"
	action.name == "delete"
	action.properties.soft == true
}
`

// serving is gate serve on a free port with the machine's policies: its address.
func (m *machine) serving(o serve.Options) string {
	m.t.Helper()
	a := m.answerer()
	o.Decide, o.State, o.Token = a.decide, a.keeper.State, strings.Repeat("t", 40)
	list, err := serve.Loopback(0)
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(m.t.Context())
	done := make(chan error, 1)
	go func() { done <- serve.New(o).Serve(ctx, list...) }()
	m.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			m.t.Error(err)
		}
	})
	return "http://" + list[0].Addr().String()
}

// TestAuthZEN drives the certification's cases against gate serve, whose policies know the
// scenario. Searches are not offered.
func TestAuthZEN(t *testing.T) {
	m := newMachine(t)
	m.write("user/policies/records.rego", recordsPolicy)
	address := m.serving(serve.Options{})
	list, err := conformance.AuthZEN(t.Context(), caller(address, strings.Repeat("t", 40)), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Outcome == conformance.Differs {
			t.Errorf("%s %s: %s", f.ID, f.About, f.Why)
		}
	}
	held := 0
	for _, f := range list {
		if f.Outcome == conformance.Held {
			held++
		}
	}
	if held != 33 || len(list) != 54 {
		t.Errorf("%d of %d cases held", held, len(list))
	}
}
