// Package markdown writes reports for the pages of code hosts: job summaries and comments
// of pull requests.
//
// Names and texts in a report are other people's. They stand in code only, where no page
// reads markup, HTML, links, or mentions of people; [Code] and [Block] put them there. A page
// has a limit, since hosts refuse longer ones. Start with [Page].
package markdown

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
)

// Limit is how many bytes a page has at most: a comment of GitHub has 65536 characters.
const Limit = 60_000

const (
	mostCode  = 300   // characters of a word
	mostBlock = 3_000 // characters of a text of several lines
	frame     = 400   // bytes that a section needs beside its entries
)

// Code is a text of somebody else's on one line, as code.
func Code(s string) string {
	s = short(strictjson.OneLine(s), mostCode)
	if s == "" {
		return "*nothing*"
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Block is a text of somebody else's with its lines, as code, below an entry of a list.
func Block(s string) string {
	s = short(strings.Trim(strictjson.Visible(s), "\n"), mostBlock)
	fence := strings.Repeat("`", max(longestRun(s)+1, 3))
	return "\n  " + fence + "text\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n  " + fence
}

// short cuts a text behind so many characters, and says so.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + " …"
}

// longestRun is how many backticks stand side by side at most.
func longestRun(s string) int {
	longest, n := 0, 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// A Section is a list with a title. Titles are gate's own words, and code.
type Section struct {
	Title   string
	Folded  bool     // shown when a person unfolds it
	Entries []string // such as Code(name) + ": is gone", with a Block behind it or not
}

// Page is a whole page: a headline, a paragraph or none, and the sections that have
// entries. The first sections have the most room; what does not fit is counted.
func Page(headline, text string, sections ...Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n", headline)
	if text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	sections = slices.DeleteFunc(sections, func(s Section) bool { return len(s.Entries) == 0 })
	for i, s := range sections {
		room := Limit - b.Len() - frame*(len(sections)-i)
		s.write(&b, room)
	}
	return b.String()
}

func (s Section) write(b *strings.Builder, room int) {
	if s.Folded {
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", s.Title)
	} else {
		fmt.Fprintf(b, "\n**%s**\n\n", s.Title)
	}
	for i, e := range s.Entries {
		if room -= len(e) + len("- \n"); room < 0 {
			fmt.Fprintf(b, "- … and %d more\n", len(s.Entries)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", e)
	}
	if s.Folded {
		b.WriteString("\n</details>\n")
	}
}
