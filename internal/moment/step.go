package moment

import (
	"slices"
	"strings"
)

// A Legal says which answers beside "allow" a method of the Agent Control Standard has.
type Legal uint8

const (
	MayDeny Legal = 1 << iota
	MayModify
	MayAsk
	MayDefer
)

// A Step is a row of the table of methods of OWASP's Agent Control Standard, 0.1.0, that
// gate judges.
type Step struct {
	Method string
	Event  Name  // gate's name of it; a failed tool's result is PostToolUseFailure
	Legal  Legal // none: the answer is "allow" whatever gate makes of it
}

// Events of the standard that gate has no older name for.
const (
	AgentTrigger  Name = "AgentTrigger"
	TurnStart     Name = "TurnStart"
	AgentResponse Name = "AgentResponse"
	SkillRegister Name = "SkillRegister"
	SkillLoad     Name = "SkillLoad"
	SkillUnload   Name = "SkillUnload"
	MCPMessage    Name = "MCPMessage"
)

// Guardian is the member of a step that the server adds to it, beside "params", and the
// others are what it has. No client can send it: the standard allows no other member there.
const (
	Guardian       = "guardian"
	GuardianInput  = "input"  // the arguments of the call that the step is the result of
	GuardianTool   = "tool"   // the tool of that call, in the client's words
	GuardianIntent = "intent" // of the session, as it was fixed when the session began
	GuardianTurn   = "turn"   // {"id": TURN, "calls": {TOOL: NUMBER}}: what the server counted
	GuardianFixed  = "fixed"  // true: the client applies no modification
)

// Reason codes that the standard registers.
const (
	ModifyUnsupported = "modify_unsupported"
	NoApprover        = "approver_unavailable"
	ChainMismatch     = "chain_mismatch"
)

const anyAnswer = MayDeny | MayModify | MayAsk | MayDefer

// Steps is the table of methods, in the standard's order. Wrapped messages of MCP have names
// of their own: see [FindStep].
func Steps() []Step {
	return []Step{
		{"steps/sessionStart", SessionStart, MayDeny},
		{"steps/agentTrigger", AgentTrigger, MayDeny | MayModify},
		{"steps/turnStart", TurnStart, MayDeny},
		{"steps/userMessage", UserPromptSubmit, MayDeny | MayModify},
		{"steps/agentResponse", AgentResponse, MayDeny | MayModify},
		{"steps/knowledgeRetrieval", PostToolUse, MayDeny | MayModify},
		{"steps/memoryContextRetrieval", PostToolUse, MayDeny | MayModify},
		{"steps/memoryStore", PreToolUse, MayDeny | MayModify},
		{"steps/toolCallRequest", PreToolUse, anyAnswer},
		{"steps/toolCallResult", PostToolUse, MayDeny | MayModify},
		{"steps/preCompact", PreCompact, MayDeny},
		{"steps/postCompact", PostCompact, MayModify},
		{"steps/subagentStart", SubagentStart, MayDeny},
		{"steps/subagentStop", SubagentStop, 0},
		{"steps/skillRegister", SkillRegister, MayDeny},
		{"steps/skillLoad", SkillLoad, MayDeny},
		{"steps/skillUnload", SkillUnload, 0},
		{"steps/turnEnd", Stop, 0},
		{"steps/sessionEnd", SessionEnd, 0},
	}
}

// FindStep finds a method by its name, those of wrapped messages included.
func FindStep(method string) (Step, bool) {
	if mcp, ok := WrappedMCP(method); ok {
		switch mcp {
		case "tools/call":
			return Step{method, PreToolUse, anyAnswer}, true
		case "resources/read", "prompts/get":
			return Step{method, PreToolUse, MayDeny | MayAsk | MayDefer}, true
		}
		return Step{method, MCPMessage, MayDeny}, true
	}
	list := Steps()
	i := slices.IndexFunc(list, func(s Step) bool { return s.Method == method })
	if i < 0 {
		return Step{}, false
	}
	return list[i], true
}

// WrappedMCP is the method of the MCP message that a method of the standard wraps.
func WrappedMCP(name string) (mcp string, ok bool) {
	mcp, ok = strings.CutPrefix(name, "protocols/MCP/")
	if !ok {
		var rest string
		if rest, ok = strings.CutPrefix(name, "wrapped:mcp-"); !ok {
			return "", false
		}
		if _, mcp, ok = strings.Cut(rest, "/"); !ok {
			return "", false
		}
	}
	for segment := range strings.SplitSeq(mcp, "/") {
		if segment == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return "", false
		}
	}
	return mcp, true
}
