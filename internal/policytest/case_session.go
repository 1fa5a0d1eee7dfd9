package policytest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"gate/hook"
	"gate/internal/load"
)

// A Step is one event of a whole session, and what must come of it. What the steps before
// it did counts: calls, marks, and what they left in files.
type Step struct {
	Line  int
	Event map[string]any // as that of a [Case]
	Agent string         // the adapter's name; "" is that of the case

	// Session names another session on the same project; "" is the case's own.
	Session string

	After   time.Duration // since the step before; 0: [stepTime]
	Output  *Value        // what the tool gave, of which gate hears afterwards; nil: it does not hear of it
	NotRun  bool          // the call did not run although gate let it go on: a person said no
	Left    *Left         // what the call left behind; nil: what its facts say
	Expect  *Expectation  // nil: it goes on, neither rejected nor asked about
	Comment string        // what a person should know of the step; formatting only
}

// Left is what a call left behind, by absolute paths or such below the project.
type Left struct {
	Writes  map[string]string
	Removes []string // files, and directories with all in them
}

// stepTime is the time from one step to the next: more than what clocks of files may differ.
const stepTime = 10 * time.Second

// stepKeys are the keys of a step beside what happens.
var stepKeys = []string{"input", "cwd", "agent", "agent_id", "session", "after", "output", "ran", "writes", "removes", "expect"}

// notOfSessions are the keys of a case that the steps of a session have instead.
var notOfSessions = append([]string{"input", "cwd", "expect"}, happenings...)

// session reads the steps of a case.
func (p *caseParser) session(m map[string]any, at string) []Step {
	for _, key := range notOfSessions {
		if _, ok := m[key]; ok {
			p.fail(load.Below(at, key), "%s goes into the steps of the session", key)
		}
	}
	list, ok := get[[]any](p, m, at, "session", "a list of steps")
	at += "/session"
	if ok && len(list) == 0 {
		p.fail(at, "session is empty: nothing is tested")
	}
	p.noun = "step"
	defer func() { p.noun = "case" }()
	var steps []Step
	for i, v := range list {
		steps = append(steps, p.step(v, at+"/"+strconv.Itoa(i)))
	}
	if len(list) > 0 && !slices.ContainsFunc(steps, func(s Step) bool { return s.Expect != nil }) {
		p.fail(at, "no step of the session expects anything; give at least one an expect")
	}
	return steps
}

func (p *caseParser) step(v any, at string) Step {
	s := Step{Line: p.doc.Line(at)}
	m, ok := v.(map[string]any)
	if !ok {
		p.fail(at, "a step is an object with what happens (%s)", p.happenings())
		return s
	}
	p.known(m, at, append(slices.Clone(stepKeys), happenings...)...)
	happening := p.happening(m, at)
	if happening.Lines != nil {
		p.fail(at+"/lines", "lines are calls of their own; give each a step")
	}
	s.Event, s.Agent = happening.Event, happening.Agent
	s.Session, _ = get[string](p, m, at, "session", "the name of a session")
	if id, ok := get[string](p, m, at, "agent_id", "the name of a sub-agent"); ok {
		s.Event["agent_id"] = id
	}
	if text, ok := get[string](p, m, at, "after", "a time such as 90s"); ok {
		var err error
		if s.After, err = time.ParseDuration(text); err != nil || s.After < 0 {
			p.fail(at+"/after", "after: %q is no time such as 90s or 10m", text)
		}
	}
	p.outcome(&s, m, at)
	if m["expect"] != nil {
		e := p.expectation(m, at)
		s.Expect = &e
	}
	return s
}

// outcome reads what came of a step's call.
func (p *caseParser) outcome(s *Step, m map[string]any, at string) {
	if v, ok := m["output"]; ok {
		s.Output = &Value{v}
	}
	ran, said := get[bool](p, m, at, "ran", "true or false")
	s.NotRun = said && !ran
	_, writes := m["writes"]
	_, removes := m["removes"]
	if writes || removes {
		s.Left = &Left{Writes: p.textMap(m, at, "writes")}
		if removes {
			s.Left.Removes = p.texts(m["removes"], at+"/removes", "removes")
		}
	}
	for _, key := range []string{"output", "ran", "writes", "removes"} {
		switch _, ok := m[key]; {
		case !ok:
		case !s.calls():
			p.fail(load.Below(at, key), "%s goes with the call of a tool", key)
		case s.NotRun && key != "ran":
			p.fail(load.Below(at, key), "%s: a call that did not run has none", key)
		}
	}
}

// calls reports a step that is about to call a tool.
func (s *Step) calls() bool {
	name := hook.Name(cmp.Or(text(s.Event["hook_event_name"]), string(hook.PreToolUse)))
	return name.Canonical() == hook.PreToolUse
}

// node writes a step in its shortest form.
func (s *Step) node() *yaml.Node {
	m := node(yaml.MappingNode)
	c := Case{Event: s.Event}
	id, sub := s.Event["agent_id"].(string)
	if sub {
		c.Event = maps.Clone(s.Event)
		delete(c.Event, "agent_id")
	}
	c.putEvent(m)
	texts := func(key, s string) {
		if s != "" {
			put(m, key, textNode(s))
		}
	}
	texts("agent", s.Agent)
	if sub {
		put(m, "agent_id", textNode(id))
	}
	texts("session", s.Session)
	if s.After > 0 {
		put(m, "after", textNode(s.After.String()))
	}
	if s.Output != nil {
		put(m, "output", valueNode(s.Output.Value))
	}
	if s.NotRun {
		put(m, "ran", valueNode(false))
	}
	if s.Left != nil && (s.Left.Writes != nil || s.Left.Removes == nil) {
		put(m, "writes", valueNode(anyMap(s.Left.Writes)))
	}
	if s.Left != nil && s.Left.Removes != nil {
		put(m, "removes", valueNode(anyList(s.Left.Removes)))
	}
	if s.Expect != nil {
		put(m, "expect", s.Expect.node())
	}
	m.HeadComment = s.Comment
	return m
}
