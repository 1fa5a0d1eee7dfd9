package adapters_test

import (
	"testing"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
)

// TestCloses holds that a fault closes exactly where the table of events says it
// stops something, and that no agent is said to be stopped elsewhere.
func TestCloses(t *testing.T) {
	own := &hook.Decision{ID: "x", Effect: hook.Deny, Fault: hook.Faultf(hook.FaultInternal, "broken")}
	late := hook.Step{Hook: &hook.Hook{ID: "acme.rule"}, Effect: hook.Deny, Fault: hook.Faultf(hook.FaultTimeout, "late")}
	of := &hook.Decision{ID: "x", Effect: hook.Deny, Steps: []hook.Step{late}, Reasons: []hook.Reason{{Effect: hook.Deny, Reason: "late"}}}
	generic := adapter(t, "generic")
	for _, m := range append(moment.Moments(), moment.Moment{Name: unheard}) {
		ev := hook.Event{Name: m.Name}
		for _, c := range []struct {
			what string
			d    *hook.Decision
			want bool
		}{
			{"gate's own error", own, m.Closes == moment.ClosesAlways},
			{"a hook's fault", of, m.Closes != moment.ClosesNever},
		} {
			if got := adapters.Rule(&ev, c.d).Result == hook.Reject; got != c.want {
				t.Errorf("%s, %s: a Reject is %v", m.Name, c.what, got)
			}
			if got := generic.Render(&ev, c.d).Status == 2; got != c.want {
				t.Errorf("%s, %s: generic stops is %v", m.Name, c.what, got)
			}
		}
		for _, name := range adapters.Names() {
			a := adapter(t, name)
			if named := a.Named(string(m.Name)); a.Closes(named.Name) && m.Closes == moment.ClosesNever {
				t.Errorf("%s is said to be stopped on %s", name, m.Name)
			}
		}
	}
}
