package adapters_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gate/adapters"
	"gate/hook"
	"gate/internal/strictjson"
)

// cells are the decisions of the matrix, of those that goldens makes.
var cells = []string{
	"no opinion", "allow", "ask", "ask, nobody there", "deny", "rewrite", "rewrite and allow", "rewrite and ask", "rewritten prompt", "context",
	"output as text", "halt", "warn", "fault of gate", "fault of a hook", "unreadable event",
}

// representatives are one sample of each of an agent's events, with a shell's
// call where there is one.
func representatives(t testing.TB, agent string) []sample {
	var list []sample
	at := map[string]int{}
	for _, s := range samples(t, agent) {
		name := eventNamed(s)
		ev := parsed(t, agent, s)
		i, had := at[name]
		switch {
		case !had:
			at[name] = len(list)
			list = append(list, s)
		case ev.Tool() == "Bash":
			list[i] = s
		}
	}
	return list
}

// TestMatrix holds the answers of every agent to every event against
// testdata/answers, one file an agent. They were reviewed against the agents'
// protocols by hand: a difference is a change of protocol.
func TestMatrix(t *testing.T) {
	for _, agent := range agents {
		t.Run(agent.name, func(t *testing.T) {
			a := adapter(t, agent.name)
			var b strings.Builder
			for _, s := range append(representatives(t, agent.name), sample{name: string(unheard), event: string(unheard)}) {
				fmt.Fprintf(&b, "== %s\n", s.name)
				for _, g := range goldens() {
					if !slices.Contains(cells, g.name) {
						continue
					}
					ev := a.Named(s.event)
					if s.data != nil && g.name != "unreadable event" {
						ev = parsed(t, agent.name, s)
					}
					ev.Gate.Interactive = !g.nobody
					fmt.Fprintf(&b, "-- %s\n%s", g.name, show(a.Render(&ev, g.decision)))
				}
			}
			compareText(t, "testdata/answers/"+agent.name+".golden", b.String())
		})
	}
}

// lawful fails t unless what the agent makes of the answer is at least as strict
// as the decision.
func lawful(t *testing.T, agent string, s sample, ev *hook.Event, d *hook.Decision) {
	t.Helper()
	a := adapter(t, agent)
	answer := a.Render(ev, d)
	native := eventNamed(s)
	came := nativeInput(objectOf(s.data))
	o := readers[agent](native, came, answer)
	fail := func(why string) {
		t.Helper()
		t.Fatalf("%s %s: %s\ndecision: %+v\nanswer: %s\nread as: %+v", agent, s.name, why, d, show(answer), o)
	}
	if answer.Status != 0 && answer.Status != 2 {
		fail("the status")
	}
	if len(answer.Stdout) > 0 && objectOf(answer.Stdout) == nil {
		fail("standard output is not one object")
	}
	if o.granted && (d.Effect != hook.Allow || d.Halt != nil || d.Fault != nil) {
		fail("an unasked allow")
	}
	faulty := d.Fault != nil && d.Effect == hook.Deny || slices.ContainsFunc(d.Steps, func(s hook.Step) bool {
		return s.Fault != nil && s.Effect == d.Effect
	})
	can := slices.Contains(stoppable[agent], native)
	// A turn that is to end must not be told to go on.
	turnsEnd := ev.Name == hook.Stop
	if turnsEnd && d.Halt != nil && o.blocked {
		fail("a halt keeps the agent going")
	}
	if turnsEnd && d.Fault != nil && d.Effect == hook.Deny && len(d.Steps) == 0 && len(d.Reasons) == 0 && o.blocked && d.Halt == nil && d.Rewrite == nil {
		fail("gate's own error keeps the agent going")
	}
	if !can || turnsEnd && d.Halt != nil {
		return
	}
	stopped := o.blocked || o.replaced || o.ended
	asks := (o.asked || ev.Name == hook.PermissionRequest && !o.granted) && a.CanAsk(ev)
	switch {
	case d.Effect == hook.Deny && !faulty && !stopped:
		fail("a deny went through")
	case d.Halt != nil && !stopped:
		fail("a halt went through")
	case d.Effect == hook.Ask && !faulty && !stopped && !asks:
		fail("a question went through unasked")
	case o.asked && !a.CanAsk(ev) && !o.blocked:
		fail("a question to nobody")
	case d.Fault != nil && stops(ev.Name) && !stopped:
		fail("gate's own error went through")
	case d.Output != nil && ev.Name == hook.PostToolUse && !stopped:
		fail("a redaction was lost")
	case d.Rewrite != nil && !stopped && !faulty && ev.Name != hook.PostToolUse && !rewrote(a, s, o.input, d.Rewrite):
		fail("a rewrite was lost")
	}
}

// rewrote reports that the input, sent again, is in gate's words the one that
// was wanted.
func rewrote(a adapters.Adapter, s sample, input map[string]any, want any) bool {
	if input == nil {
		return false
	}
	doc := maps.Clone(objectOf(s.data))
	for _, key := range []string{"tool_input", "toolArgs", "toolInput"} {
		if _, ok := doc[key]; ok {
			doc[key] = input
		}
	}
	ev, err := a.Parse(strictjson.Append(nil, doc), s.event)
	return err == nil && string(strictjson.Append(nil, ev.ToolInput())) == string(strictjson.Append(nil, want))
}

// TestAgentsNeverLooser: no cell of the matrix, and nothing else that can be
// decided, is looser for the agent than it was decided.
func TestAgentsNeverLooser(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, agent := range agents {
		seen := map[string]bool{}
		for _, s := range samples(t, agent.name) {
			ev := parsed(t, agent.name, s)
			seen[eventNamed(s)] = true
			rounds := func(d *hook.Decision) {
				for _, there := range []bool{true, false} {
					ev.Gate.Interactive = there
					lawful(t, agent.name, s, &ev, d)
				}
			}
			for _, g := range goldens() {
				if g.decision != nil {
					rounds(g.decision)
				}
			}
			for range 300 {
				rounds(random(r, "a", "b c", "", "\x1b[31m\u202e"))
			}
			for _, d := range changes(&ev) {
				rounds(d)
			}
		}
		for _, name := range stoppable[agent.name] {
			if !seen[name] && name != "PermissionRequest" && name != "tool_call" {
				t.Errorf("%s: there is no sample of %s", agent.name, name)
			}
		}
	}
}

// changes are decisions that change one text of a call's input each.
func changes(ev *hook.Event) []*hook.Decision {
	var list []*hook.Decision
	for _, k := range slices.Sorted(maps.Keys(ev.ToolInput())) {
		v := ev.ToolInput()[k]
		if _, ok := v.(string); !ok {
			continue
		}
		for _, value := range []any{"changed", "/else/where\nand more", 7, nil} {
			input := maps.Clone(ev.ToolInput())
			if input[k] = value; value == nil {
				delete(input, k)
			}
			list = append(list, &hook.Decision{ID: "x", Effect: hook.Pass, Rewrite: input}, &hook.Decision{ID: "x", Effect: hook.Allow, Rewrite: input})
		}
	}
	return list
}

// An event that could not be read is answered in the form that blocks, by the
// name on the command line, also one that nobody has heard of.
func TestUnreadable(t *testing.T) {
	d := &hook.Decision{ID: "x", Effect: hook.Deny, Fault: hook.Faultf(hook.FaultEvent, "event: unreadable")}
	for _, agent := range agents {
		a := adapter(t, agent.name)
		for _, name := range append(slices.Clone(stoppable[agent.name]), string(unheard)) {
			ev := a.Named(name)
			o := readers[agent.name](name, nil, a.Render(&ev, d))
			want := stops(ev.Name)
			if got := o.blocked; got != want && ev.Name != hook.PostToolUse {
				if name == string(unheard) && (agent.name == "cline" || agent.name == "antigravity") {
					continue // these read no status
				}
				t.Errorf("%s %s: blocked is %v: %s", agent.name, name, got, show(a.Render(&ev, d)))
			}
			if a.Closes(ev.Name) != (want || ev.Name == hook.UserPromptSubmit) {
				t.Errorf("%s: Closes(%s) is %v", agent.name, ev.Name, !want)
			}
		}
		if a.CanAsk(nil) || a.CanAsk(&hook.Event{Name: hook.PreToolUse}) {
			t.Errorf("%s: CanAsk", agent.name)
		}
		for _, name := range []hook.Name{hook.PreToolUse, hook.SessionEnd, unheard} {
			if a.Deadline(name) <= 0 {
				t.Errorf("%s: Deadline(%s)", agent.name, name)
			}
		}
	}
}
