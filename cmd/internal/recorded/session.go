package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/story"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// A Session is what the log has of a session, on its way to become one event case.
type Session struct {
	Notes []string // as those of a [Call]

	steps   []sessionStep
	world   policytest.CaseWorld
	session string
	agent   string
	began   time.Time
	results bool            // the log has what came of calls, of some at least
	ran     map[string]bool // calls that did run, since something followed from them, by decision
}

// A sessionStep is a decision that becomes a step.
type sessionStep struct {
	policytest.Step
	call   *Call
	result bool // the log has what came of the call
}

// OfSession takes apart what the log has of one session of an agent. Records are the
// session's, and those of calls of other sessions that led to something in it, the oldest
// first; links say which (see [story.Find]). Prompts and calls become steps, and other
// events that were not let go on. What the log does not have is said in Notes, and where
// it belongs in the case. A session without any step is an error.
func OfSession(agent, session string, records []audit.Record, links []story.Link, home string) (*Session, error) {
	s := &Session{session: session, agent: agent, ran: map[string]bool{}}
	for i := range links {
		if from := links[i].From; from != nil {
			s.ran[from.ID] = true
		}
	}
	passed, lost := 0, 0
	var last time.Time
	for i := range records {
		r := &records[i]
		switch {
		case r.Event == hook.PostToolUse || r.Event == hook.PostToolUseFailure:
			s.result(r, home)
			continue
		case !r.Begins() && r.Event != hook.UserPromptSubmit && !r.HeldBack():
			passed++
			continue
		}
		call, err := Of(r, home)
		if err != nil {
			lost++
			s.Notes = append(s.Notes, err.Error()+"; the case lacks that step")
			continue
		}
		step := sessionStep{call: call, Step: call.step()}
		if r.Session != session || r.Agent != agent {
			step.Session = cmp.Or(r.Session, "another")
		}
		if step.Agent = r.Agent; r.Agent == agent {
			step.Agent = ""
		}
		if len(s.steps) == 0 {
			s.began = r.Time
			if n := callsBefore(&call.event); n > 0 {
				s.Notes = append(s.Notes, fmt.Sprintf("the session had %d calls before the log begins", n))
			}
		} else if step.After = r.Time.Sub(last).Round(time.Millisecond); step.After <= 0 {
			step.After = time.Millisecond
		}
		last = r.Time
		s.add(step)
	}
	if len(s.steps) == 0 {
		return nil, fmt.Errorf("the log has no call and no prompt of the session as a whole (%d without their input)", lost)
	}
	if passed > 0 {
		s.Notes = append(s.Notes, screen.Counted(passed, "other event")+" of the session, such as its start, "+screen.Plural(passed, "is", "are")+" left out")
	}
	s.outcomes()
	return s, nil
}

// add takes in the next step, and what it says of the world.
func (s *Session) add(step sessionStep) {
	w := step.call.world()
	w.Session = nil
	if s.world.As != "" && w.As != "" && s.world.As != w.As {
		s.Notes = append(s.Notes, "policies of "+s.world.As+" and of "+w.As+" decided; the case takes all for those of "+s.world.As)
	}
	if s.world.As == "" {
		s.world.As = w.As
	}
	if s.world.Head == "" {
		s.world.Head = w.Head
	}
	if s.world.Files == nil {
		s.world.Files = w.Files
	}
	if s.world.Gate == nil {
		s.world.Gate = w.Gate
	}
	if len(step.call.Notes) > 0 {
		step.Comment = strings.Join(step.call.Notes, "\n")
	}
	s.steps = append(s.steps, step)
}

// callsBefore is how many calls a session had before an event, as far as its memory was
// kept.
func callsBefore(ev *hook.Event) int64 {
	number, _ := ev.Memory["calls"].(json.Number)
	n, _ := number.Int64()
	if ev.Name.Canonical() == hook.PreToolUse {
		n--
	}
	return n
}

// step is the event of a call, and what was decided.
func (c *Call) step() policytest.Step {
	short := c.short()
	step := policytest.Step{Event: short.Event, Expect: &short.Expect}
	if id, ok := c.event.Fields["agent_id"].(string); ok {
		step.Event["agent_id"] = id
	}
	return step
}

// result takes in what came of a call.
func (s *Session) result(r *audit.Record, home string) {
	s.results = true
	if r.Kept == nil {
		return
	}
	id, _ := r.Kept.Input["tool_use_id"].(string)
	for i := range slices.Backward(s.steps) {
		step := &s.steps[i]
		own, _ := step.call.event.Fields["tool_use_id"].(string)
		if step.result || own != id || step.call.record.Tool != r.Tool || step.call.record.Call != r.Call {
			continue
		}
		step.result = true
		result, err := Of(r, home)
		output, there := r.Kept.Input["tool_response"]
		switch {
		case err != nil, !there && r.Event == hook.PostToolUse:
			step.Comment = lines(step.Comment, "the log does not have the output")
		case there:
			step.Output = &policytest.Value{Value: result.moved(output)}
			if _, redacted := r.Kept.Lost("/input/tool_response"); len(redacted) > 0 {
				step.Comment = lines(step.Comment, "secrets were taken out of the output; the word redacted stands for each")
			}
		}
		return
	}
}

func lines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// outcomes says which calls did not run, as far as the log shows it.
func (s *Session) outcomes() {
	said := map[string]bool{}
	for i := range s.steps {
		step := &s.steps[i]
		rejected := step.call.record.Result == hook.Reject
		if s.results && !step.result && !s.ran[step.call.record.ID] && !rejected && step.call.record.Begins() {
			step.NotRun = true
			step.Comment = lines(step.Comment, "the log has nothing of what came of it: taken for a call that did not run")
		}
		for line := range strings.Lines(step.Comment) {
			if text := strings.TrimSpace(line); !said[text] {
				said[text] = true
				s.Notes = append(s.Notes, fmt.Sprintf("step %d: %s", i+1, text))
			}
		}
	}
	if !s.results {
		s.Notes = append(s.Notes, "the log has no output of any call; all that were let go on are taken for calls that ran")
	}
}

// Case returns the shortest case that passes, else the shortest.
func (s *Session) Case(passes func(*policytest.Case) (bool, error)) (policytest.Case, error) {
	short := s.whole(false)
	ok, err := passes(&short)
	if ok || err != nil {
		return short, err
	}
	timed := s.whole(true)
	if ok, err := passes(&timed); ok || err != nil {
		return timed, err
	}
	_, err = passes(&short) // for what is said about it
	return short, err
}

// whole is the case, with the moment when the session began or without it.
func (s *Session) whole(timed bool) policytest.Case {
	c := policytest.Case{Name: "session " + screen.Column(strictjson.OneLine(s.session), 40), Agent: s.agent, World: s.world}
	c.Name = strings.TrimRight(c.Name, " ") + " of " + s.began.UTC().Format(time.DateOnly)
	if timed {
		gate := map[string]any{"now": s.began.UTC().Format(time.RFC3339)}
		maps.Copy(gate, s.world.Gate)
		c.World.Gate = gate
	}
	for _, note := range s.Notes {
		if !strings.HasPrefix(note, "step ") {
			c.Comment = lines(c.Comment, note)
		}
	}
	c.Comment = visibleComment(c.Comment)
	for _, step := range s.steps {
		step.Comment = visibleComment(step.Comment)
		c.Session = append(c.Session, step.Step)
	}
	return c
}

// visibleComment keeps each line of a comment one line.
func visibleComment(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, "# "+strictjson.OneLine(strings.TrimSpace(line)))
	}
	return strings.Join(out, "\n")
}
