package handlers

import (
	"fmt"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
)

// A protocol is how commands of one dialect are spoken to: what they are given,
// and what it means what they print and how they end.
type protocol struct {
	// event is the document about an event, as the dialect tells it.
	event func(*Handlers, *hook.Hook, *hook.Event) any

	// hears makes of an event what a command of the dialect knows; of nil it is not
	// told. nil: the event as it is.
	hears func(*Handlers, *hook.Hook, *hook.Event) *hook.Event

	// reads reports whether a command finds the event on its standard input;
	// else that is empty. nil: always.
	reads func(*hook.Hook, *hook.Event) bool

	// inherits are the variables that a command gets where they are set, and
	// named whether it may name others.
	inherits []string
	named    bool

	// variables are those that say what the event is about.
	variables func(h *Handlers, by *hook.Hook, ev *hook.Event, set func(name, value string))

	// detaches reports whether the object that a command's output begins with may let
	// the call go on. nil: no.
	detaches func(*hook.Hook) bool

	// exits are the statuses that are no fault; others is what all the rest
	// and signals mean, and that it does not even start.
	exits  map[int]ending
	others ending
	why    string // stands before the reason of a command that ends so

	// pages says that a webhook's answer that is no JSON is no opinion.
	pages bool

	// answer reads what a handler printed that ended well.
	answer func(*hook.Hook, *hook.Event, []byte) engine.Answer
}

// An ending is what the way means in which a command ended.
type ending uint8

const (
	broken   ending = iota // it could not answer: a fault
	answered               // what it printed is its answer
	rejects                // reject, for what it wrote to standard error
)

func always(*hook.Hook) bool { return true }

// speaks returns the protocol of a hook. A dialect that is not listed is gate's
// own.
func speaks(h *hook.Hook) *protocol {
	switch {
	case h.Dialect == moment.MassGen && callable(h) != "":
		return &massgenCallable
	case protocols[h.Dialect] != nil:
		return protocols[h.Dialect]
	}
	return protocols[""]
}

var protocols = map[hook.Dialect]*protocol{
	"": {
		event: ownEvent, inherits: inherited, named: true, variables: ownVariables, detaches: always,
		exits: map[int]ending{0: answered, 2: rejects}, answer: ownAnswer,
	},
	moment.Claude: {
		event: claudeEvent, inherits: inherited, named: true, variables: claudeVariables, detaches: always,
		exits: map[int]ending{0: answered, 2: rejects}, answer: claudeAnswer,
	},
	moment.Cocode: {
		event: cocodeEvent, reads: func(h *hook.Hook, _ *hook.Event) bool { return on(h, "pass_context") },
		inherits: inherited, named: true, variables: ownVariables, detaches: parsesResult,
		exits: map[int]ending{0: answered}, others: rejects, why: "Hook failed: ", pages: true, answer: cocodeAnswer,
	},
	moment.Zeph: {
		event: zephEvent, reads: func(_ *hook.Hook, ev *hook.Event) bool { return afterTool(ev) },
		inherits: []string{"PATH"}, variables: zephVariables,
		exits: map[int]ending{0: answered}, answer: zephAnswer,
	},
	moment.MassGen: {
		event: massgenEvent, inherits: inherited, named: true, variables: massgenVariables,
		exits: map[int]ending{0: answered}, answer: massgenAnswer,
	},
	moment.CodeWhale: {
		event: codewhaleEvent, hears: codewhaleHears,
		reads:    func(_ *hook.Hook, ev *hook.Event) bool { return codewhaleFields[ev.Name.Canonical()] != nil },
		inherits: inherited, named: true, variables: ownVariables,
		exits: map[int]ending{0: answered, 2: rejects}, answer: codewhaleAnswer,
	},
}

// massgenCallable is how a Python function is spoken to, by way of the program
// that calls it.
var massgenCallable = protocol{
	event: massgenEvent, inherits: inherited, named: true, variables: massgenVariables,
	exits: map[int]ending{0: answered, notImported: rejects}, answer: massgenAnswer,
}

// on reports a switch of a hook's file.
func on(h *hook.Hook, key string) bool {
	b, _ := h.Config[key].(bool)
	return b
}

// switches are the keys of a hook that say how its answer is read.
var switches = []string{"parse_result", "background", "python"}

// commandAnswer reads how a command ended, as its dialect means it.
func commandAnswer(h *hook.Hook, ev *hook.Event, r *result) engine.Answer {
	p := speaks(h)
	said := r.Stdout
	if p.detaches != nil && p.detaches(h) {
		said = afterAsync(said)
	}
	end, listed := p.exits[r.Status]
	if end == rejects && h.Observes(ev.Name) {
		listed = false
	}
	var a engine.Answer
	switch {
	case r.Err != "":
		return p.refusal(h, r, "cannot be run: "+r.Err)
	case r.TooMuch != "":
		a = tooMuch(h, r.TooMuch)
	case r.Beyond != nil:
		a = p.fault(h, r, r.Beyond.Kind, r.Beyond.What)
	case r.Overdue:
		a = p.fault(h, r, hook.FaultTimeout, "did not end in time")
	case r.Signal != "":
		a = p.refusal(h, r, "was ended by a signal ("+r.Signal+")")
	case !listed:
		a = p.refusal(h, r, fmt.Sprintf("ended with status %d", r.Status))
	case end == rejects:
		return p.rejection(h, r.stderr())
	case r.Left != "":
		a = failed(hook.FaultEval, "%s: %s", h.ID, r.Left)
	default:
		return p.answer(h, ev, said)
	}
	if a.Fault != nil {
		a.Verdict = p.answer(h, ev, said).Verdict // what it denies all the same
	}
	return a
}

// refusal is the answer of a command that ended in none of the ways that its
// protocol lists, or could not start.
func (p *protocol) refusal(h *hook.Hook, r *result, how string) engine.Answer {
	if p.others != rejects {
		return p.fault(h, r, hook.FaultEval, how)
	}
	if why := r.stderr(); why != "" {
		how = why
	} else {
		how = h.ID + " " + how
	}
	return p.rejection(h, how)
}

func (p *protocol) rejection(h *hook.Hook, why string) engine.Answer {
	if why != "" {
		why = p.why + why
	}
	return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{reasonOf(h, hook.Deny, why)}}}
}

// delivered is the answer of a webhook. Where no program that fails is passed
// over, no server is.
func (p *protocol) delivered(h *hook.Hook, a engine.Answer) engine.Answer {
	if p.others != rejects || a.Fault == nil || a.Fault.Kind != hook.FaultEval || a.Verdict.Effect() == hook.Deny {
		return a
	}
	return p.rejection(h, a.Fault.Error())
}

func (p *protocol) fault(h *hook.Hook, r *result, kind hook.FaultKind, how string) engine.Answer {
	if last := lastLine(r.stderr()); last != "" {
		how += ": " + last
	}
	return failed(kind, "%s %s", h.ID, how)
}

// stderr is what a command wrote to standard error, as text.
func (r *result) stderr() string {
	return cut(strings.TrimSpace(strings.ToValidUTF8(string(r.Stderr), "\ufffd")))
}
