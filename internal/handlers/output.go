package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// maxOutput bounds what a handler may say, on each of its streams, in bytes.
const maxOutput = 1 << 20

// readAnswer reads what a handler said with success, as its dialect means it.
func readAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	return speaks(h).answer(h, ev, said)
}

// ownAnswer reads an answer in gate's own form. Nothing and plain text are no
// opinion; all else must be exactly one JSON object in the output form of
// Claude Code's hooks, without a member that gate does not know. What cannot be
// read so is a fault; what it denies, asks or halts all the same is kept.
func ownAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	switch plain, err := isPlain(said); {
	case err != nil:
		return unreadable(h, err)
	case plain:
		return engine.Answer{}
	}
	return oneObject(h, said, func(doc map[string]any) engine.Answer { return readObject(h, ev, doc) })
}

func unreadable(h *hook.Hook, err error) engine.Answer {
	return failed(hook.FaultOutput, "%s answered with what is no answer: %w", h.ID, err)
}

// readObject reads an answer that has been decoded.
func readObject(h *hook.Hook, ev *hook.Event, doc map[string]any) engine.Answer {
	return newReader(h, ev).read(doc, answerMembers)
}

// A member is one member of an answer.
type member struct {
	is      string // its type, as strictjson.TypeName says it; "" takes every one
	rewrite string // the field that the event must be able to rewrite; "" is any event
	take    func(*answerReader, any) error
}

// answerMembers, specificMembers and permissionMembers are the whole output form: what
// does not stand here is a mistake.
var (
	answerMembers = map[string]member{
		"continue":           {"a boolean", "", func(r *answerReader, v any) error { r.stop = r.stop || v == false; return nil }},
		"stopReason":         text("stopReason"),
		"suppressOutput":     {"a boolean", "", func(*answerReader, any) error { return nil }}, // gate shows no output
		"systemMessage":      {"a string", "", (*answerReader).message},
		"decision":           {"a string", "", (*answerReader).decide},
		"reason":             text("reason"),
		"hookSpecificOutput": {"an object", "", (*answerReader).specific},
	}
	specificMembers = map[string]member{
		"hookEventName":            text("hookEventName"),
		"permissionDecision":       {"a string", "", (*answerReader).permit},
		"permissionDecisionReason": text("permissionDecisionReason"),
		"additionalContext":        {"a string", "", (*answerReader).context},
		"updatedInput":             {"an object", "tool_input", (*answerReader).replace},
		"updatedPrompt":            {"a string", "prompt", (*answerReader).replace},
		"updatedToolOutput":        {"", "tool_response", (*answerReader).replace},
		"updatedMCPToolOutput":     {"", "tool_response", (*answerReader).replace},
		"decision":                 {"an object", "", (*answerReader).behave},
		"action":                   {"a string", "", (*answerReader).act},
	}
	permissionMembers = map[string]member{
		"behavior":     {"a string", "", (*answerReader).permit},
		"message":      text("message"),
		"interrupt":    {"a boolean", "", func(r *answerReader, v any) error { r.stop = r.stop || v == true; return nil }},
		"updatedInput": {"an object", "tool_input", (*answerReader).replace},
	}
)

// text is a member that is kept until all others were read.
func text(name string) member {
	return member{"a string", "", func(r *answerReader, v any) error {
		r.said[name] = strings.TrimSpace(v.(string))
		return nil
	}}
}

// effects are the words of a decision. What would be put off is asked.
var effects = map[string]hook.Effect{
	"approve": hook.Allow, "allow": hook.Allow, "ask": hook.Ask, "defer": hook.Ask, "block": hook.Deny, "deny": hook.Deny,
}

// An answerReader collects what one answer says.
type answerReader struct {
	hook    *hook.Hook
	ev      *hook.Event
	said    map[string]string // texts that belong to other members
	general hook.Effect       // of decision, whose text is reason
	special hook.Effect       // of permissionDecision
	granted hook.Effect       // of hookSpecificOutput.decision
	behaves bool              // hookSpecificOutput.decision is being read
	stop    bool
	foreign func(name string, known map[string]member) bool // members that are passed over; nil: none
	lax     bool                                            // a reason may stand without a decision
	words   map[string]hook.Effect                          // of a decision
	rewrite any
	rewrote bool
	verdict hook.Verdict
	errs    []error
}

func newReader(h *hook.Hook, ev *hook.Event) *answerReader {
	return &answerReader{hook: h, ev: ev, said: map[string]string{}, words: effects}
}

// read reads a whole answer.
func (r *answerReader) read(doc map[string]any, known map[string]member) engine.Answer {
	r.object("", doc, known)
	r.conclude()
	a := engine.Answer{Verdict: r.verdict}
	if len(r.errs) > 0 {
		a.Fault = hook.Faultf(hook.FaultOutput, "%s answered: %w", r.hook.ID, errors.Join(r.errs...))
	}
	return a
}

// object reads the members of an object. It finds all that is wrong, and takes
// what is right.
func (r *answerReader) object(path string, doc map[string]any, known map[string]member) {
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		m, ok := known[name]
		v := doc[name]
		switch {
		case !ok && r.foreign != nil && r.foreign(name, known):
			continue
		case !ok:
			r.bad(path+name, "is no member of an answer%s", meant(name, known))
			continue
		case m.is != "" && strictjson.TypeName(v) != m.is:
			r.bad(path+name, "is %s and must be %s", strictjson.TypeName(v), m.is)
			continue
		case m.rewrite != "" && r.ev.Name.Rewrites() != m.rewrite:
			r.bad(path+name, "is nothing that %s can have", r.ev.Name)
			continue
		}
		if err := m.take(r, v); err != nil {
			r.bad(path+name, "%w", err)
		}
	}
}

func (r *answerReader) bad(path, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s %w", oneLine(path), fmt.Errorf(format, args...)))
}

func meant(name string, known map[string]member) string {
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if strictjson.Fold(strings.ReplaceAll(name, "_", "")) == strictjson.Fold(k) {
			return "; did you mean " + k + "?"
		}
	}
	return ""
}

func (r *answerReader) decide(v any) (err error) {
	r.general, err = r.effectOf(v)
	return err
}

func (r *answerReader) permit(v any) error {
	e, err := r.effectOf(v)
	if r.behaves {
		r.granted = e
	} else {
		r.special = e
	}
	return err
}

// effectOf reads a word. One that is written in another way than it must be
// does not count, unless it tightens.
func (r *answerReader) effectOf(v any) (hook.Effect, error) {
	if e, ok := r.words[v.(string)]; ok {
		return e, nil
	}
	e := effects[strictjson.Fold(strings.TrimSpace(v.(string)))]
	if e == hook.Allow {
		e = hook.Pass
	}
	return e, fmt.Errorf("is %q and must be one of %s", v, strings.Join(slices.Sorted(maps.Keys(r.words)), ", "))
}

func (r *answerReader) message(v any) error {
	if s := strings.TrimSpace(v.(string)); s != "" {
		r.verdict.Warnings = append(r.verdict.Warnings, hook.Reason{ID: r.hook.ID, Reason: s})
	}
	return nil
}

func (r *answerReader) context(v any) error {
	if s := v.(string); strings.TrimSpace(s) != "" {
		r.verdict.Context = append(r.verdict.Context, hook.Context{Text: s})
	}
	return nil
}

func (r *answerReader) replace(v any) error {
	switch {
	case v == nil:
		return errors.New("is null, and nothing can be replaced by that")
	case r.rewrote && !bytes.Equal(strictjson.Append(nil, r.rewrite), strictjson.Append(nil, v)):
		return errors.New("is not what another member of the answer says")
	}
	r.rewrite, r.rewrote = v, true
	return nil
}

func (r *answerReader) specific(v any) error {
	r.object("hookSpecificOutput.", v.(map[string]any), specificMembers)
	switch name := hook.Name(r.said["hookEventName"]); {
	case name == "":
		return errors.New("has no hookEventName")
	case name.Canonical() != r.ev.Name.Canonical():
		return fmt.Errorf("is about %s, and the event is %s", oneLine(string(name)), r.ev.Name)
	}
	return nil
}

func (r *answerReader) behave(v any) error {
	r.behaves = true
	r.object("hookSpecificOutput.decision.", v.(map[string]any), permissionMembers)
	r.behaves = false
	return nil
}

// act takes what a person shall be taken to have done with a question.
func (r *answerReader) act(v any) error {
	switch {
	case r.ev.Name != moment.Elicitation && r.ev.Name != moment.ElicitationResult:
		return fmt.Errorf("is nothing that %s can have", r.ev.Name)
	case v == "decline", v == "cancel":
		r.special = hook.Deny
	case v != "accept":
		return fmt.Errorf("is %q and must be one of accept, cancel, decline", v)
	}
	return nil
}

// conclude puts together what different members say about one thing.
func (r *answerReader) conclude() {
	reason, special := r.said["reason"], r.said["permissionDecisionReason"]
	switch {
	case r.lax:
	case reason != "" && r.general == hook.Pass && r.special == hook.Pass && !r.stop:
		r.bad("reason", "stands without a decision")
	case special != "" && r.special == hook.Pass:
		r.bad("permissionDecisionReason", "stands without a permissionDecision")
	case r.said["stopReason"] != "" && !r.stop:
		r.bad("stopReason", "stands without continue: false")
	}
	r.reason(r.general, reason)
	r.reason(r.special, cmp.Or(special, reason))
	r.reason(r.granted, r.said["message"])
	if r.stop {
		why := cmp.Or(r.said["stopReason"], reason, r.said["message"], special)
		r.verdict.Halt = []hook.Reason{reasonOf(r.hook, hook.Deny, why)}
	}
	if r.rewrote {
		r.verdict.Rewrites = []hook.Rewrite{{Reason: "changed by " + r.hook.ID, Value: r.rewrite}}
	}
}

func (r *answerReader) reason(e hook.Effect, why string) {
	if e != hook.Pass {
		r.verdict.Reasons = append(r.verdict.Reasons, reasonOf(r.hook, e, why))
	}
}

// reasonOf is a reason in a handler's own words, or that there were none.
func reasonOf(h *hook.Hook, e hook.Effect, why string) hook.Reason {
	if why = strings.TrimSpace(why); why == "" {
		why = fmt.Sprintf("%s says %s and gives no reason", h.ID, e)
	}
	return hook.Reason{ID: h.ID, Effect: e, Reason: why, Pos: h.Pos()}
}

// oneLine is a stranger's text for a message.
func oneLine(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Join(strings.Fields(strictjson.Visible(s)), " ")
}

// tooMuch is the answer of a handler that said more than anybody reads.
func tooMuch(h *hook.Hook, stream string) engine.Answer {
	return failed(hook.FaultOutput, "%s wrote more than %d KiB to %s", h.ID, maxOutput>>10, stream)
}
