package hook

import "gate/internal/moment"

type (
	// A Dialect is the system that a hook was written for. It fixes what its
	// handler is given, how its answer and its exit code are read, and its default
	// time-out. The zero Dialect is gate's own.
	Dialect = moment.Dialect
	// A Name says what kind of moment an [Event] is. The set is open: an agent may
	// send names that gate has never heard of, and hooks may ask for them.
	Name = moment.Name
)

const (
	Notification       = moment.Notification
	PermissionRequest  = moment.PermissionRequest
	PostToolUse        = moment.PostToolUse
	PostToolUseFailure = moment.PostToolUseFailure
	PreCompact         = moment.PreCompact
	PreToolUse         = moment.PreToolUse
	SessionEnd         = moment.SessionEnd
	SessionStart       = moment.SessionStart
	Stop               = moment.Stop
	SubagentStart      = moment.SubagentStart
	SubagentStop       = moment.SubagentStop
	UserPromptSubmit   = moment.UserPromptSubmit
)
