package policycheck

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed rules.md
var rulesText string

// A Rule is one kind of finding.
type Rule struct {
	ID    string // as in Finding.Rule
	Says  string // what its findings have in common: one sentence
	Cases []Case
}

// A Case is one mistake that a rule finds, in Markdown as cells of tables have it.
type Case struct {
	Wrong   string // such as "`push.force == \"true\"`"
	Instead string // what to write, or to do
}

// Rules lists the kinds of findings, in the order of docs/checking.md.
func Rules() []Rule {
	var list []Rule
	for part := range strings.SplitSeq(rulesText, "\n## ") {
		id, text, ok := strings.Cut(part, "\n\n")
		if !ok || strings.Contains(id, " ") {
			continue // what stands before the first
		}
		says, table, _ := strings.Cut(text, "\n\n")
		list = append(list, Rule{ID: id, Says: says, Cases: cases(table)})
	}
	return list
}

// cases reads the rows of a table of two columns below its head. A column's
// bar inside a cell stands behind a backslash, as Markdown wants it.
func cases(table string) []Case {
	var list []Case
	rows := slices.Collect(strings.SplitSeq(strings.TrimSpace(table), "\n"))
	for _, row := range rows[min(2, len(rows)):] {
		row = strings.TrimSuffix(strings.TrimPrefix(row, "| "), " |")
		if wrong, instead, ok := strings.Cut(row, " | "); ok {
			list = append(list, Case{wrong, instead})
		}
	}
	return list
}
