package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"gate/hook"
	"gate/internal/strictjson"
)

// A Call is what an approval is bound to. All of it must be the same: nothing
// that an agent can vary is left out.
type Call struct {
	Event   hook.Name
	Agent   string
	Session string // the agent's own name for it, with that of a sub-agent
	Tool    string // exact bytes
	Dir     string // working directory
	Input   string // canonical JSON of the tool's input as it came
	Facts   string // digest of what it would do, and of the input as rewritten
}

// CallOf returns the call that a decision is about. It is an error if gate
// cannot tell exactly which one that is.
func CallOf(ev *hook.Event, d *hook.Decision) (Call, error) {
	c := Call{Event: ev.Name, Agent: ev.Agent, Tool: ev.Tool(), Dir: ev.Dir()}
	input, given := ev.Fields["tool_input"]
	switch {
	case c.Event == "" || c.Agent == "" || c.Tool == "" || !given:
		return Call{}, errors.New("only a tool call can be approved")
	case !filepath.IsAbs(c.Dir):
		return Call{}, errors.New("the event names no absolute working directory")
	}
	c.Session = tie(ev.SessionID(), ev.Text("agent_id"))
	var err error
	if c.Input, err = canonical(input, maxInput); err != nil {
		return Call{}, fmt.Errorf("tool input: %w", err)
	}
	facts := d.Facts
	if facts == nil {
		facts = ev.Facts
	}
	meaning, err := canonical(map[string]any{"facts": facts.Document(), "rewrite": d.Inside()}, 0)
	if err != nil {
		return Call{}, fmt.Errorf("facts: %w", err)
	}
	h := sha256.Sum256([]byte(meaning))
	c.Facts = hex.EncodeToString(h[:])
	return c, nil
}

// canonical returns v as JSON that differs for different values. What strictjson
// would repair is refused: two inputs could become one.
func canonical(v any, limit int) (string, error) {
	if err := strictjson.Check(v); err != nil {
		return "", err
	}
	text := strictjson.Append(nil, v)
	if limit > 0 && len(text) > limit {
		return "", fmt.Errorf("%d bytes are too much to look through; at most %d can be approved", len(text), limit)
	}
	return string(text), nil
}

// Digest identifies the call: 64 hex digits.
func (c Call) Digest() string {
	return tie("call", string(c.Event), c.Agent, c.Session, c.Tool, c.Dir, c.Input, c.Facts)
}

// differs says how this call is not one that was approved, the least that it
// takes. It is NoApproval if they have little to do with each other.
func (c Call) differs(approved Call) Refusal {
	if c.Tool != approved.Tool || c.Event != approved.Event {
		return NoApproval
	}
	if approved.Facts = c.Facts; approved == c {
		return OtherFacts
	}
	if approved.Session, approved.Agent = c.Session, c.Agent; approved == c {
		return OtherAgent
	}
	dir := approved.Dir
	if approved.Dir = c.Dir; approved == c {
		return OtherDir
	}
	if dir == c.Dir {
		return OtherInput
	}
	return NoApproval
}

// nearness orders what [Call.differs] returns: the nearer, the more.
func nearness(r Refusal) int {
	return slices.Index([]Refusal{NoApproval, OtherInput, OtherDir, OtherAgent, OtherFacts}, r)
}

func (c Call) encode() map[string]any {
	return map[string]any{
		"event": string(c.Event), "agent": c.Agent, "session": c.Session, "tool": c.Tool, "dir": c.Dir, "input": c.Input, "facts": c.Facts,
	}
}

func decodeCall(f *fields) Call {
	c := Call{
		Event: hook.Name(f.text("event")), Agent: f.text("agent"), Session: f.text("session"), Tool: f.text("tool"),
		Dir: f.text("dir"), Input: f.text("input"), Facts: f.text("facts"),
	}
	if !isDigest(c.Session) || !isDigest(c.Facts) {
		f.fail("session or facts is not a digest")
	}
	if c.Event == "" || c.Agent == "" || c.Tool == "" || !filepath.IsAbs(c.Dir) || c.Input == "" {
		f.fail("the call is not complete")
	}
	if v, err := strictjson.Decode([]byte(c.Input), strictjson.Limits{}); err != nil || string(strictjson.Append(nil, v)) != c.Input {
		f.fail("input is not canonical JSON")
	}
	return c
}
