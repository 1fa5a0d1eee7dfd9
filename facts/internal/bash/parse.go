// Package bash reads the text of shell lines, beyond what a parser does: comments
// that end in a backslash, escapes, braces and numbers, as bash has them. It knows
// neither variables nor programs; package facts runs a line. Ask TooDeep first,
// then Parse.
package bash

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxMends bounds how often a text is parsed anew because of its comments.
const maxMends = 8

// Parse parses text as bash does, and returns it as it was parsed: without the
// backslashes that end a comment's line, and every other byte in its place. To the
// parser they join the next line to the command before the comment, to no shell.
func Parse(text string) (*syntax.File, string, error) {
	f, err := parse(text)
	for range maxMends {
		var ends []int
		if f != nil && strings.Contains(text, "\\\n") {
			ends = joiningComments(f, text)
		}
		if len(ends) == 0 {
			if mended := mendedLines(text); err != nil && mended != text {
				if f, err := parse(mended); err == nil && inComments(f, text, mended) {
					return f, mended, nil
				}
			}
			return f, text, err
		}
		text = blanked(text, ends)
		f, err = parse(text)
	}
	return f, text, errors.New("many comments that end in a backslash")
}

func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// joiningComments returns where the backslashes stand with which comments end.
func joiningComments(f *syntax.File, text string) []int {
	var ends []int
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && strings.HasSuffix(c.Text, "\\\n") {
			hash := int(c.Hash.Offset())
			line, _, _ := strings.Cut(text[hash:], "\n")
			ends = append(ends, hash+strings.LastIndexByte(line, '\\'))
		}
		return true
	})
	return ends
}

// mendedLines is text without the backslashes at the end of lines in which a comment
// may begin. Where text does not parse, nobody says which of them are comments.
func mendedLines(text string) string {
	var ends []int
	start := 0
	for line := range strings.Lines(text) {
		bare, joins := strings.CutSuffix(line, "\\\n")
		for i := range len(bare) {
			if joins && bare[i] == '#' && CommentStarts(line, i) {
				ends = append(ends, start+len(bare))
				break
			}
		}
		start += len(line)
	}
	return blanked(text, ends)
}

// inComments reports that mended differs from text in comments only.
func inComments(f *syntax.File, text, mended string) bool {
	in := make(map[int]bool) // where a comment ends
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			in[int(c.End().Offset())-1] = true
		}
		return true
	})
	for i := range len(text) {
		if text[i] != mended[i] && !in[i] {
			return false
		}
	}
	return true
}

func blanked(text string, at []int) string {
	if len(at) == 0 {
		return text
	}
	b := []byte(text)
	for _, i := range at {
		b[i] = ' '
	}
	return string(b)
}

// CommentStarts reports a # that stands where the shell, too, begins a comment.
// The parser also takes ("a"# …) and (`a`# …) for one.
func CommentStarts(text string, hash int) bool {
	return hash <= 0 || hash > len(text) || strings.IndexByte(" \t\n;&|(<>", text[hash-1]) >= 0
}

// Message is what is wrong with a text that does not parse, in one line.
func Message(err error) string {
	msg := err.Error()
	if i := strings.IndexByte(msg, '\n'); i >= 0 {
		msg = msg[:i]
	}
	return msg
}
