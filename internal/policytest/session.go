package policytest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/session"
)

// A moment is one event of a case on its way through the pipeline.
type moment struct {
	line     string // what is judged, for people
	number   int    // of the step, from 1; 0 where the case is no session
	at       int    // the line in the file
	expect   Expectation
	goesOn   bool // nothing is expected but that the event goes on
	result   bool // the event is what came of a step's call
	event    *hook.Event
	decision hook.Decision
	again    func(context.Context, hook.Event) hook.Decision // decides about a changed event in the same world
}

// moments goes through the events of a case in their order. An error is that of one event.
func (s *Suite) moments(ctx context.Context, p *pipeline, c *Case) iter.Seq2[*moment, error] {
	if c.Session != nil {
		return func(yield func(*moment, error) bool) { s.newVisit(p, c).through(ctx, yield) }
	}
	return func(yield func(*moment, error) bool) {
		for _, call := range c.calls() {
			m := &moment{line: call.line, at: c.Line, expect: c.Expect}
			err := s.decide(ctx, p, call, m)
			if !yield(m, err) {
				return
			}
		}
	}
}

// A visit goes through a session step by step, with what its steps leave: memories, files,
// and what is known of them.
type visit struct {
	suite    *Suite
	pipeline *pipeline
	of       *Case
	now      time.Time
	files    files
	world    World // of the last event
	origins  session.Lines
	shown    session.Texts // what outputs and prompts showed
	memories map[session.Key]*session.Held
}

func (s *Suite) newVisit(p *pipeline, c *Case) *visit {
	return &visit{suite: s, pipeline: p, of: c, memories: map[session.Key]*session.Held{}}
}

// before is how old the files are that a session begins with.
const before = time.Hour

func (v *visit) through(ctx context.Context, yield func(*moment, error) bool) {
	for i := range v.of.Session {
		step := &v.of.Session[i]
		m := &moment{number: i + 1, at: step.Line, line: judged(step.Event)}
		if step.Expect == nil {
			m.goesOn = true
		} else {
			m.expect = *step.Expect
		}
		if !v.step(ctx, step, m, yield) {
			return
		}
	}
}

// step decides about the event of a step, and about what came of its call.
func (v *visit) step(ctx context.Context, step *Step, m *moment, yield func(*moment, error) bool) bool {
	rejected, err := v.decide(ctx, step, m)
	if err != nil || !step.calls() || step.NotRun || rejected {
		return yield(m, err)
	}
	v.files = v.files.after(step, m.event, &m.decision)
	v.ran(m.event)
	if !yield(m, nil) || step.Output == nil {
		return step.Output == nil
	}
	later := *step
	later.After = time.Nanosecond
	later.Event = merged(step.Event, map[string]any{"hook_event_name": string(hook.PostToolUse), "tool_response": outputOf(step, m.event)})
	if field := m.event.Name.Rewrites(); field != "" && m.decision.Inside() != nil {
		later.Event[field] = m.decision.Inside()
	}
	result := &moment{number: m.number, at: m.at, line: m.line, result: true}
	_, err = v.decide(ctx, &later, result)
	return yield(result, err)
}

// ran says that the call of an event has run. What is kept in this process cannot fail.
func (v *visit) ran(ev *hook.Event) {
	w := v.world
	w.files = v.files
	ledger := session.Ledger{Project: w.Project, Files: w, Lines: &v.origins}
	_ = ledger.Settle(context.Background(), session.Key{Agent: ev.Agent, Session: ev.SessionID()}, ev.Text("tool_use_id"), session.Ran, v.now)
}

// outputOf is what a tool gave as the agent sends it: of a shell, a text is its output.
func outputOf(step *Step, ev *hook.Event) any {
	if text, ok := step.Output.Value.(string); ok && ev.Tool() == "Bash" {
		return map[string]any{"stdout": text, "stderr": "", "interrupted": false, "isImage": false}
	}
	return step.Output.Value
}

// decide decides about one event with what is remembered of its session.
func (v *visit) decide(ctx context.Context, step *Step, m *moment) (rejected bool, err error) {
	one := *v.of
	one.Session, one.Event, one.Agent = nil, step.Event, cmp.Or(step.Agent, v.of.Agent)
	call := one.call(step.Event)
	ev, w, err := v.pipeline.event(call)
	if err != nil {
		return false, err
	}
	m.event = ev
	v.place(step, m, ev, &w)
	g, err := v.gate(w)
	if err != nil {
		return false, err
	}
	adapter, ok := adapters.Lookup(ev.Agent)
	if !ok {
		return false, fmt.Errorf("unknown agent %q", ev.Agent)
	}
	key := session.Key{Agent: ev.Agent, Session: ev.SessionID()}
	if v.memories[key] == nil {
		v.memories[key] = &session.Held{}
	}
	m.decision = g.Retell(ctx, core.RecallFrom(v.memories[key]), ev, func(d *hook.Decision) bool {
		rejected = d.Result(adapter.CanAsk(ev)) == hook.Reject
		return rejected
	})
	m.again = func(ctx context.Context, ev hook.Event) hook.Decision {
		g, err := v.gate(w)
		if err != nil {
			return hook.Decision{}
		}
		return g.Decide(ctx, ev)
	}
	return rejected, nil
}

// gate is what decides in a world, with what the session left there and was shown.
func (v *visit) gate(w World) (g *core.Gate, err error) {
	g, err = v.pipeline.Seeing(func(ev *hook.Event) *hook.Facts { return g.Recalled(v.suite.events.factsOf(w, ev), ev) })
	if err == nil {
		g.Origins, g.Shown, g.Files, g.Reader = w.origins, &v.shown, w, readerIn(w)
	}
	return g, err
}

// place puts an event where its session is by now.
func (v *visit) place(step *Step, m *moment, ev *hook.Event, w *World) {
	if v.files == nil {
		v.now = ev.Gate.Now
		v.files = w.files.changedAt(v.now.Add(-before))
	} else {
		v.now = v.now.Add(cmp.Or(step.After, stepTime))
	}
	ev.Gate.Now = v.now
	if step.Session != "" {
		ev.Fields["session_id"] = step.Session
	}
	if _, said := step.Event["tool_use_id"]; !said && ev.Tool() != "" {
		ev.Fields["tool_use_id"] = "toolu_step_" + strconv.Itoa(m.number)
	}
	w.files = v.files
	v.world = *w
	w.origins = &session.Ledger{Project: w.Project, Files: v.world, Lines: &v.origins}
}

// files are those of a world, by absolute path. They are never changed.
type files map[string]entry

// An entry is a file of a world.
type entry struct {
	text    string
	unsaid  bool      // a call wrote it, and nobody says what
	changed time.Time // zero where that does not matter
}

func (f files) changedAt(t time.Time) files {
	out := make(files, len(f))
	for name, e := range f {
		e.changed = t
		out[name] = e
	}
	return out
}

// after are the files once the call of a step has run.
func (f files) after(step *Step, ev *hook.Event, d *hook.Decision) files {
	out := maps.Clone(f)
	now := ev.Gate.Now
	if step.Left != nil {
		for _, name := range step.Left.Removes {
			out.remove(inProject(name))
		}
		for name, text := range step.Left.Writes {
			out[inProject(name)] = entry{text: text, changed: now}
		}
		return out
	}
	if d.Facts == nil {
		return out
	}
	for _, p := range d.Facts.Paths {
		name := p.Resolved
		if name == nil {
			name = p.Path
		}
		switch {
		case name == nil || p.Glob || strings.HasPrefix(*name, "/dev/"):
		case p.Access == "delete":
			out.remove(*name)
		case p.Access == "write":
			out[*name] = f[*name].written(ev, d)
		}
	}
	for _, m := range d.Facts.Moves {
		if e, there := out[m.Path]; m.Secret != "" && (!there || e.changed.Before(now)) {
			out[m.Path] = entry{unsaid: true, changed: now}
		}
	}
	return out
}

// written is the file once a call has written it: the tools that bring a text along say
// what is in it.
func (e entry) written(ev *hook.Event, d *hook.Decision) entry {
	input, changed := d.Inside().(map[string]any)
	if !changed {
		input = ev.ToolInput()
	}
	out := entry{unsaid: true, changed: ev.Gate.Now}
	switch content, ok := input["content"].(string); {
	case ev.Tool() == "Write" && ok:
		out.text, out.unsaid = content, false
	case ev.Tool() == "NotebookEdit" && !e.unsaid:
		out.text, out.unsaid = withCell(e.text, text(input["new_source"])), false
	case ev.Tool() == "Edit" && !e.unsaid:
		most := 1
		if all, _ := input["replace_all"].(bool); all {
			most = -1
		}
		out.text, out.unsaid = strings.Replace(e.text, text(input["old_string"]), text(input["new_string"]), most), false
	}
	return out
}

// withCell is a notebook with one more cell: where it stands does not matter to what it does.
func withCell(notebook, source string) string {
	book := map[string]any{}
	if json.Unmarshal([]byte(notebook), &book) != nil {
		return notebook
	}
	cells, _ := book["cells"].([]any)
	book["cells"] = append(cells, map[string]any{"cell_type": "code", "source": source})
	out, err := json.Marshal(book)
	if err != nil {
		return notebook
	}
	return string(out)
}

func (f files) remove(name string) {
	for other := range f {
		if other == name || strings.HasPrefix(other, name+"/") {
			delete(f, other)
		}
	}
}
