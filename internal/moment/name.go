package moment

import (
	str "strings"
	"unicode"
)

// A Name says what kind of moment an [Event] is. The set is open: an agent may
// send names that gate has never heard of, and hooks may ask for them.
// [Name.Moment] is what gate knows of a name.
type Name string

// The events of Claude Code 2.1.329, the field's common tongue, as far as
// programs name them. The table of [Moments] is the list.
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

// ShellEnv is the event of the hook lifecycle RFC on which its agent asks for variables
// of its shell. It has no row: of the agents that gate knows, none sends it.
const ShellEnv Name = "shell_env"

// Moment returns the row of the table for n. For an event that the table does
// not have, an alias too, it is a row without a name: closing closes, nothing
// can be rewritten, and a few well-known fields keep their types.
func (n Name) Moment() Moment {
	if m := n.row(); m != nil {
		return *m
	}
	return Moment{Fields: unlisted[:]}
}

func (n Name) row() *Moment {
	for i := range moments {
		if moments[i].Name == n {
			return &moments[i]
		}
	}
	for i := range messages {
		if messages[i].Name == n {
			return &messages[i]
		}
	}
	return nil
}

// Rewrites returns the top-level field that a modify rule changes on this
// event, "" where nothing can be rewritten.
func (n Name) Rewrites() string {
	if m := n.row(); m != nil {
		return m.Rewrites
	}
	return ""
}

// Canonical returns the common name of an event that other systems call
// differently, else n itself.
func (n Name) Canonical() Name {
	for i := range moments {
		if moments[i].Alias == n && n != "" {
			return moments[i].Name
		}
	}
	return n
}

// Meant returns the event of the table whose name n is in other letters, such
// as pre_tool_use, "" if n is none or spelt right. Of events that decide about a call,
// it is one with a single slip, too: PreToolUs, or PreToolUse with a blank behind it.
func (n Name) Meant() Name {
	if n.row() != nil || n.Canonical() != n {
		return ""
	}
	plain := str.Map(func(r rune) rune {
		if r == '_' || r == '-' || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, string(n))
	for i := range moments {
		m := &moments[i]
		name := str.ToLower(string(m.Name))
		if plain == name || m.Closes == ClosesAlways && m.Rewrites == "tool_input" && oneSlip(plain, name) {
			return m.Name
		}
	}
	return ""
}

// oneSlip reports two texts that differ in one letter, which one of them lacks, has
// in another form, or has in the place of its neighbour.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return a[min(i+1, len(a)):] == b[min(i+1, len(b)):] ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
