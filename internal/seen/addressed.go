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

// addressed are the parts of a text that speak to an agent, one for each way of speaking.
// It goes through the text once, word by word: an output may have a megabyte.
func addressed(text string) (list []string) {
	var hailed [len(hails)]bool
	var spoken [len(speaks)]bool
	part := func(done *bool, at int) {
		if !*done {
			*done = true
			list = append(list, text[max(0, at-addressBefore):min(len(text), at+addressAfter)])
		}
	}
	for at := range len(text) {
		if at > 0 && inWindow(text[at-1]) != 0 {
			continue // within a word
		}
		if !mayAddress(text[at:]) {
			continue
		}
		for i, hail := range hails {
			if strings.HasPrefix(text[at:], hail) && (at == 0 || parts[text[at-1]] == gap || strings.IndexByte("*#[", text[at-1]) >= 0) {
				part(&hailed[i], at)
			}
		}
		for i, words := range speaks {
			if hasPrefixFold(text[at:], words) {
				part(&spoken[i], at)
			}
		}
	}
	return list
}

// mayAddress reports a text whose first letters are those of a way of speaking: most words
// are done with here.
func mayAddress(text string) bool {
	if len(text) < 4 {
		return false
	}
	var first [4]byte
	for i := range first {
		if first[i] = text[i]; 'A' <= first[i] && first[i] <= 'Z' {
			first[i] += 'a' - 'A'
		}
	}
	switch string(first[:]) {
	case "ai a", "as a", "assi", "note", "impo", "inst", "if y", "igno", "do n", "with", "the ", "agen", "syst":
		return true
	}
	return false
}

// hasPrefixFold reports that a text begins with words in lower case, in whatever case.
func hasPrefixFold(text, words string) bool {
	if len(text) < len(words) {
		return false
	}
	for i := range len(words) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != words[i] {
			return false
		}
	}
	return true
}

// forAgents reports a file by which a project tells agents what to do.
func forAgents(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	return strings.Contains(" agents.md claude.md gemini.md skill.md .cursorrules .windsurfrules .clinerules copilot-instructions.md ", " "+name+" ") || strings.HasSuffix(name, ".mdc")
}
