package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/internal/wordlist"
)

// keepsToItself reports a text that a tool loads, such as a configuration, and that hands
// on nothing of the files which it reads: the tool uses them, as a server does its key. A
// text does not keep to itself that prints, throws, compares, writes, sends or starts
// anything, or that nobody can follow; nor one that shares what it reads with another file
// of the agent's which may do so.
func (u *use) keepsToItself(language, text string, report *code.Report) bool {
	reads := func(c code.Call) bool { return wordlist.Has(" read list listen ", c.Does) }
	if report.Unknown != "" || handsOn(text) || slices.ContainsFunc(report.Calls, func(c code.Call) bool { return !reads(c) }) {
		return false
	}
	own := stem(u.config)
	for _, file := range u.Authored() {
		if file == u.config || !wordlist.Has(suffixes(language), path.Ext(file)) {
			continue
		}
		st, _ := u.AuthoredText(file)
		other, known := st.Template()
		if !known || other.Value() == nil {
			return false
		}
		shares := wordlist.Has(forTests, path.Base(u.config)) || namesWord(*other.Value(), own) || namesWord(text, stem(file))
		if shares && handsOn(*other.Value()) {
			return false
		}
	}
	return true
}

// forTests are files whose values tests get without naming the file.
const forTests = " conftest.py spec_helper.rb rails_helper.rb "

// stem is the name by which other files load one.
func stem(file string) string {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if name == "index" || name == "__init__" {
		return path.Base(path.Dir(file))
	}
	return name
}

var (
	outlet = lazy(`(?i)\b(?:console|p?print\w*|puts|warn\w*|raise|throw|assert\w*|expect\w*|log|logger|logging|stdout|stderr|write\w*|send\w*|echo|fetch|axios|httpx|requests|urllib|got|post|exit|abort|die|fail|emit|inspect|display|render|exec\w*|spawn\w*|system|popen|subprocess|eval|define|DefinePlugin|EnvironmentPlugin)\b|\.end\s*\(|\brequest\s*\(|(?m:^\s*pp?\s)`)

	// saysNothing are outlets of words that stand in the text itself.
	saysNothing = lazy(`\b(?:console\.\w+|print|puts|warn|raise\s+\w+|throw\s+(?:new\s+)?\w+|(?:logger|logging|log)\.\w+|(?:sys\.|process\.)?exit)\s*\(\s*(?:\d+|'[^'\n\\]*'|"[^"\n{#$\\]*")?\s*\)`)
)

// handsOn reports a text that shows or gives away more than words of its own.
func handsOn(text string) bool { return outlet().MatchString(saysNothing().ReplaceAllString(text, "")) }
