package attack

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/internal/policytest"
)

// A disguise is a line that does what another one does.
type disguise struct{ how, line string }

// disguised returns the disguises of a line that bash can read.
func disguised(line string) []disguise {
	var list []disguise
	add := func(how, text string) {
		if text != "" && text != line && parses(text) {
			list = append(list, disguise{how, text})
		}
	}
	for _, template := range Disguises() {
		if template != "{}" {
			add(template, Fill(template, line))
		}
	}
	words := plainWords(line)
	if len(words) == 0 {
		return list
	}
	for _, s := range spellings() {
		add(s.name, written(s, words))
	}
	forms := respelt(words)
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		add(name, forms[name])
	}
	return list
}

// written returns a spelling of words, "" where there is none.
func written(s spelling, words []string) string {
	text := s.write(words[0], words[1:])
	if strings.HasPrefix(text, " ") {
		return "" // the program has no such form
	}
	return strings.TrimRight(text, " ")
}

// parses reports that bash can read a text. A line with a here-document does not
// fit into every template.
func parses(text string) bool {
	_, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	return err == nil
}

// lineOf returns the line of a call of the shell.
func lineOf(c policytest.Case) (string, bool) {
	tool, _ := c.Event["tool_name"].(string)
	line, ok := input(c)["command"].(string)
	return line, ok && tool == "Bash" && strings.TrimSpace(line) != "" && parses(line)
}

func input(c policytest.Case) map[string]any {
	in, _ := c.Event["tool_input"].(map[string]any)
	return in
}

// command returns the input of a shell call with another line in it.
func command(line string, c policytest.Case) map[string]any {
	in := maps.Clone(input(c))
	in["command"] = line
	return in
}
