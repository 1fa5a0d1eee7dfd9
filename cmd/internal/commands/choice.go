package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A choice is the value of a flag that takes one word of a closed list, or several with
// commas where the flag takes a list. It is the one place that has the list: it refuses
// other words, and shells offer these.
type choice struct {
	pflag.Value
	words []string
	none  bool // nothing may be said, as by default
}

// oneOf has a flag take nothing but some words; nothing at all too where that is its default.
func oneOf(cmd *cobra.Command, name string, words ...string) {
	flag := cmd.Flags().Lookup(name)
	flag.Value = choice{flag.Value, words, flag.DefValue == "" || flag.DefValue == "[]"}
}

// Set takes the words, or says which of them is no such word.
func (c choice) Set(text string) error {
	if text == "" && c.none {
		return c.Value.Set(text)
	}
	given := []string{text}
	if c.several() {
		given = strings.Split(text, ",")
	}
	for _, word := range given {
		if !slices.Contains(c.words, word) {
			return choiceError{word, c.words}
		}
	}
	return c.Value.Set(text)
}

// several reports a flag that takes a list.
func (c choice) several() bool { return c.Type() == "stringSlice" }

// A choiceError is a word that a flag does not take.
type choiceError struct {
	given string
	known []string
}

func (e choiceError) Error() string {
	return quoted(e.given) + ": want " + either(e.known) + didYouMean(e.given, e.known, strings.Clone)
}

// either lists words as a sentence does: a, b or c.
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// texts are values of a kind of text, as the words of a choice.
func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
