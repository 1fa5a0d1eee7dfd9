package hook

// A Name says what kind of moment an [Event] is. The set is open: an agent may
// send names that gate has never heard of, and hooks may ask for them.
type Name string

// The events of Claude Code 2.1.329 (its contract, section 2), the field's
// common tongue.
const (
	SessionStart        Name = "SessionStart"
	Setup               Name = "Setup"
	UserPromptSubmit    Name = "UserPromptSubmit"
	UserPromptExpansion Name = "UserPromptExpansion"
	PreToolUse          Name = "PreToolUse"
	PermissionRequest   Name = "PermissionRequest"
	PermissionDenied    Name = "PermissionDenied"
	PostToolUse         Name = "PostToolUse"
	PostToolUseFailure  Name = "PostToolUseFailure"
	PostToolBatch       Name = "PostToolBatch"
	Notification        Name = "Notification"
	MessageDisplay      Name = "MessageDisplay"
	SubagentStart       Name = "SubagentStart"
	SubagentStop        Name = "SubagentStop"
	TaskCreated         Name = "TaskCreated"
	TaskCompleted       Name = "TaskCompleted"
	Stop                Name = "Stop"
	StopFailure         Name = "StopFailure"
	TeammateIdle        Name = "TeammateIdle"
	InstructionsLoaded  Name = "InstructionsLoaded"
	ConfigChange        Name = "ConfigChange"
	CwdChanged          Name = "CwdChanged"
	DirectoryAdded      Name = "DirectoryAdded"
	FileChanged         Name = "FileChanged"
	WorktreeCreate      Name = "WorktreeCreate"
	WorktreeRemove      Name = "WorktreeRemove"
	PreCompact          Name = "PreCompact"
	PostCompact         Name = "PostCompact"
	PreModelSwitch      Name = "PreModelSwitch"
	PostModelSwitch     Name = "PostModelSwitch"
	Elicitation         Name = "Elicitation"
	ElicitationResult   Name = "ElicitationResult"
	SessionEnd          Name = "SessionEnd"
)

// Rewrites returns the top-level field that a modify rule changes on this
// event, "" where nothing can be rewritten.
func (n Name) Rewrites() string {
	switch n {
	case PreToolUse, PermissionRequest:
		return "tool_input"
	case UserPromptSubmit:
		return "prompt"
	case PostToolUse:
		return "tool_response"
	}
	return ""
}

// Names returns the events above, in no particular order of importance.
func Names() []Name {
	return []Name{
		SessionStart, Setup, UserPromptSubmit, UserPromptExpansion, PreToolUse, PermissionRequest, PermissionDenied,
		PostToolUse, PostToolUseFailure, PostToolBatch, Notification, MessageDisplay, SubagentStart, SubagentStop,
		TaskCreated, TaskCompleted, Stop, StopFailure, TeammateIdle, InstructionsLoaded, ConfigChange, CwdChanged,
		DirectoryAdded, FileChanged, WorktreeCreate, WorktreeRemove, PreCompact, PostCompact, PreModelSwitch,
		PostModelSwitch, Elicitation, ElicitationResult, SessionEnd,
	}
}

// Canonical returns the common name of an event that other systems call
// differently, else n itself.
func (n Name) Canonical() Name {
	switch n {
	case "message_submit":
		return UserPromptSubmit
	case "turn_end":
		return Stop
	case "subagent_spawn":
		return SubagentStart
	case "subagent_complete":
		return SubagentStop
	}
	return n
}
