package seen

import "strings"

// speaks are words of a text that speaks to an agent, in lower case. People write to people:
// where a data file, a log or a page tells an assistant what to do, others speak.
var speaks = [...]string{
	"ai agents:", "ai agent:", "ai assistants:", "ai assistant:", "ai agents must", "ai assistants must", "ai agents should", "assistants must",
	"note for ai", "note to ai", "note for assistants", "note for the assistant", "important for the assistant", "instructions for ai", "instruction for the assistant",
	"if you are an ai", "if you are an llm", "if you are a language model", "as an ai assistant, you", "ignore previous instructions", "ignore all previous", "ignore the above instructions",
	"do not mention this to the user", "do not tell the user", "do not inform the user", "without asking the user", "without telling the user", "the user agreed to", "the user has approved",
}

// hails stand at the beginning of a text or behind a mark, as they are written.
var hails = [...]string{"AGENT: ", "SYSTEM: ", "ASSISTANT: ", "Assistant: "}

// How far from its address an instruction goes.
const (
	addressBefore = 160
	addressAfter  = 400
)

// addressed are the parts of a text that speak to an agent.
func addressed(text string) (list []string) {
	part := func(at int) {
		list = append(list, text[max(0, at-addressBefore):min(len(text), at+addressAfter)])
	}
	for _, hail := range hails {
		if at := strings.Index(text, hail); at >= 0 && (at == 0 || parts[text[at-1]] == gap || strings.IndexByte("*#[", text[at-1]) >= 0) {
			part(at)
		}
	}
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // letters of other lengths: the places would not fit
		text = lower
	}
	for _, words := range speaks {
		if at := strings.Index(lower, words); at >= 0 {
			part(at)
		}
	}
	return list
}

// forAgents reports a file by which a project tells agents what to do.
func forAgents(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	return strings.Contains(" agents.md claude.md gemini.md skill.md .cursorrules .windsurfrules .clinerules copilot-instructions.md ", " "+name+" ") || strings.HasSuffix(name, ".mdc")
}
