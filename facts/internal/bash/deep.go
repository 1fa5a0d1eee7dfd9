package bash

import "strings"

const maxNesting = 200 // brackets inside each other

// TooDeep reports a text that is not to be parsed: it nests so deeply that a
// parser, which recurses, would take seconds or all of its stack. It counts
// brackets and what else opens something.
func TooDeep(text string) bool {
	depth, deepest := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
			deepest = max(deepest, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	// Quoting also nests: "$( "$( … and `\`…\“ need both characters.
	return deepest > maxNesting || strings.Count(text, "`") > maxNesting || keywords(text) > 10*maxNesting
}

// keywords counts what opens a compound command without a bracket.
func keywords(text string) int {
	n := 0
	for _, k := range []string{"if ", "while ", "until ", "for ", "case ", "! ", "time "} {
		n += strings.Count(text, k)
	}
	return n
}
