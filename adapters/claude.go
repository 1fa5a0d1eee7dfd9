package adapters

import (
	"time"

	"gate/hook"
	"gate/internal/moment"
)

// claude speaks Claude Code's hook protocol, as it was documented and
// observed for version 2.1.329.
type claude struct{}

func (claude) Name() string { return "claude" }

// Parse reads an event of Claude Code. Its names are the canonical ones, so
// nothing is renamed and Native stays nil.
func (claude) Parse(data []byte, event string) (hook.Event, error) {
	return parse("claude", data, event, true)
}

func (claude) Session(data []byte, event string) hook.Event { return session("claude", data, event) }

func (claude) Named(event string) hook.Event {
	return hook.Event{Agent: "claude", Name: hook.Name(event)}
}

// CanAsk holds for the events whose answer has a word for a question. The mode
// can only take it away: in dontAsk nobody is asked.
func (claude) CanAsk(ev *hook.Event) bool {
	return ev != nil && ev.Gate.Interactive && ev.Text("permission_mode") != "dontAsk" &&
		claudeFormOf(ev.Name).ask != noQuestion
}

func (claude) RunsHooks() bool { return true }

func (claude) Closes(n hook.Name) bool { return n.Moment().Closes != moment.ClosesNever }

// Deadline is the client's default for command hooks; a
// configured timeout takes its place.
func (claude) Deadline(n hook.Name) time.Duration {
	if wait := claudeFormOf(n).wait; wait > 0 {
		return wait
	}
	return 600 * time.Second
}

// Environment reads the variables that hooks get. Clients that do not
// say whether somebody attends are taken at their entry point. Where they say
// neither, a question may be put: a client with nobody to ask takes it for a
// denial in every mode (contract 4).
func (claude) Environment(getenv func(string) string) Environment {
	e := Environment{ProjectDir: getenv("CLAUDE_PROJECT_DIR"), EnvFile: getenv("CLAUDE_ENV_FILE")}
	switch getenv("CLAUDE_CODE_SESSION_ATTENDED") {
	case "1", "true":
		e.Attended = true
	case "":
		entry := getenv("CLAUDE_CODE_ENTRYPOINT")
		e.Attended = entry == "cli" || entry == ""
	}
	return e
}

// A refusal is the form of a Reject in the JSON answer.
type refusal uint8

const (
	unstoppable refusal = iota // nothing in the JSON stops this event: the person is told
	block                      // decision "block" and a reason
	permission                 // permissionDecision "deny"
	behavior                   // decision {behavior: "deny"}
	decline                    // action "decline"
	hide                       // displayContent in place of the text
	failure                    // no JSON at all, the status and standard error
)

// A question is the form of an ask.
type question uint8

const (
	noQuestion question = iota
	askWord             // permissionDecision "ask"
	ownDialog           // the client is about to ask anyway: no opinion
)

// A stop is the form of a halt.
type stop uint8

const (
	noStop      stop = iota // nothing, or the refusal ends the turn anyway
	proceedNot              // continue false, beside the refusal
	proceedOnly             // continue false instead of the refusal, which would keep the agent going
	interrupt               // decision.interrupt beside behavior "deny"
)

// A hearing says when additionalContext reaches the agent and does no more.
type hearing uint8

const (
	deaf       hearing = iota
	listens            // it is honoured
	whenKeptOn         // it would keep the agent going, so only beside a refusal that does the same
)

// A claudeForm says how one event is answered. The zero form is that of an
// event nobody has heard of: only the status counts.
type claudeForm struct {
	refuse  refusal
	status  bool // exit 2 blocks, or is heard at least: said beside the JSON
	ask     question
	halt    stop
	context hearing
	message bool // systemMessage is honoured
	wait    time.Duration
}

type claudeEvent struct {
	name hook.Name
	form claudeForm
}

// claudeForms holds what is documented of the client, with what it was seen to
// do where that says less:
//   - the reason of the JSON is used beside exit 2 on every event that blocks,
//     and so are additionalContext, systemMessage, continue and
//     updatedToolOutput;
//   - continue false does nothing on Setup, SubagentStart and PermissionRequest,
//     and on a prompt it keeps the prompt that a block erases;
//   - TaskCompleted honours decision "block";
//   - additionalContext on Stop and SubagentStop keeps the agent going, as a
//     block does.
var claudeForms = [...]claudeEvent{
	{hook.SessionStart, claudeForm{context: listens, message: true}},
	{moment.Setup, claudeForm{context: listens, message: true}},
	{hook.UserPromptSubmit, claudeForm{refuse: block, status: true, context: listens, message: true, wait: 30 * time.Second}},
	{moment.UserPromptExpansion, claudeForm{refuse: block, status: true, context: listens, message: true}},
	{hook.PreToolUse, claudeForm{refuse: permission, status: true, ask: askWord, halt: proceedNot, context: listens, message: true}},
	{hook.PermissionRequest, claudeForm{refuse: behavior, ask: ownDialog, halt: interrupt, message: true}},
	{moment.PermissionDenied, claudeForm{halt: proceedNot, message: true}},
	{hook.PostToolUse, claudeForm{refuse: block, status: true, halt: proceedNot, context: listens, message: true}},
	{hook.PostToolUseFailure, claudeForm{refuse: block, status: true, halt: proceedNot, context: listens, message: true}},
	{moment.PostToolBatch, claudeForm{refuse: block, status: true, halt: proceedNot, context: listens, message: true}},
	{hook.Notification, claudeForm{context: listens}},
	{moment.MessageDisplay, claudeForm{refuse: hide, wait: 10 * time.Second}},
	{hook.SubagentStart, claudeForm{context: listens, message: true}},
	{hook.SubagentStop, claudeForm{refuse: block, status: true, halt: proceedOnly, context: whenKeptOn, message: true}},
	{moment.TaskCreated, claudeForm{refuse: block, status: true, message: true}},
	{moment.TaskCompleted, claudeForm{refuse: block, status: true, halt: proceedNot, message: true}},
	{hook.Stop, claudeForm{refuse: block, status: true, halt: proceedOnly, context: whenKeptOn, message: true}},
	{moment.StopFailure, claudeForm{}},
	{moment.TeammateIdle, claudeForm{refuse: block, status: true, halt: proceedOnly, message: true}},
	{moment.InstructionsLoaded, claudeForm{}},
	{moment.ConfigChange, claudeForm{refuse: block, status: true}},
	{moment.CwdChanged, claudeForm{message: true}},
	{moment.DirectoryAdded, claudeForm{message: true}},
	{moment.FileChanged, claudeForm{message: true}},
	{moment.WorktreeCreate, claudeForm{refuse: failure, status: true}},
	{moment.WorktreeRemove, claudeForm{}},
	{hook.PreCompact, claudeForm{refuse: block, status: true}},
	{moment.PostCompact, claudeForm{}},
	{moment.PreModelSwitch, claudeForm{refuse: permission, status: true, ask: askWord, halt: proceedNot, message: true, wait: 30 * time.Second}},
	{moment.PostModelSwitch, claudeForm{halt: proceedNot, context: listens, message: true, wait: 30 * time.Second}},
	{moment.Elicitation, claudeForm{refuse: decline, status: true}},
	{moment.ElicitationResult, claudeForm{refuse: decline, status: true}},
	{hook.SessionEnd, claudeForm{wait: 1500 * time.Millisecond}},
}

func claudeFormOf(n hook.Name) claudeForm {
	for i := range claudeForms {
		if claudeForms[i].name == n {
			return claudeForms[i].form
		}
	}
	return claudeForm{refuse: failure, status: true}
}
