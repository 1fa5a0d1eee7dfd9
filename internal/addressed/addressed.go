// Package addressed finds the parts of a text that speak to an agent instead of to people. It
// decides nothing: whoever reads data that strangers wrote takes such a part for an
// instruction. Start with [Parts].
package addressed

import (
	"slices"
	"strings"
)

// speaks are words of a text that speaks to an agent, in lower case. People write to people:
// where a data file, a log or a page tells an assistant what to do, others speak.
var speaks = [...]string{
	"ai agents:", "ai agent:", "ai assistants:", "ai assistant:", "ai agents must", "ai assistants must", "ai agents should", "assistants must",
	"note for ai", "note to ai", "note for assistants", "note for the assistant", "important for the assistant", "instructions for ai", "instruction for the assistant",
	"assistants: ", "assistants should", "assistants can", "assistants need", "agents should", "agents must", "agents may ", "automated agents", "autonomous agents", "llm agents", "coding agents:", "coding agents can", "coding assistants:", "ai tools: ", "for ai tools", "for ai agents", "for ai assistants", "for coding agents", "for coding assistants",
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

// maxAddressed is how many parts of one text are taken. Of a text with more all counts.
const maxAddressed = 64

// Parts are the parts of a text that speak to an agent, wherever they stand. It goes
// through the text once, word by word: an output may have a megabyte.
func Parts(text string) (list []string) {
	for at := range len(text) {
		if !begins[text[at]] || at > 0 && isWord(text[at-1]) || !mayAddress(text[at:]) || !addresses(text, at) {
			continue
		}
		if len(list) == maxAddressed {
			return []string{text}
		}
		list = append(list, text[max(0, at-addressBefore):min(len(text), at+addressAfter)])
	}
	return list
}

// addresses reports that one of the ways of speaking begins at a place.
func addresses(text string, at int) bool {
	for _, hail := range hails {
		if strings.HasPrefix(text[at:], hail) && (at == 0 || strings.IndexByte(" \t\r\n\"'`;,|<>(){}*#[", text[at-1]) >= 0) {
			return true
		}
	}
	return slices.ContainsFunc(speaks[:], func(words string) bool { return hasPrefixFold(text[at:], words) })
}

// begins are the first letters of the ways of speaking.
var begins = [256]bool{'a': true, 'd': true, 'c': true, 'f': true, 'i': true, 'l': true, 'n': true, 's': true, 't': true, 'w': true,
	'A': true, 'D': true, 'C': true, 'F': true, 'I': true, 'L': true, 'N': true, 'S': true, 'T': true, 'W': true}

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
	case "ai a", "as a", "assi", "note", "impo", "inst", "if y", "igno", "do n", "with", "the ", "agen", "auto", "codi", "llm ", "syst", "ai t", "for ":
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

// isWord reports a byte within a word.
func isWord(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
