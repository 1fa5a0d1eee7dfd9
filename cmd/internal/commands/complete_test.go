package commands

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachFlag calls f with every flag of every command that takes a value.
func eachFlag(f func(*cobra.Command, *pflag.Flag)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if _, closed := flag.Value.(choice); closed || flag.NoOptDefVal == "" {
				f(c, flag)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(newRoot(process{stdout: io.Discard, stderr: io.Discard}))
}

// TestChoices holds that a flag whose help lists words takes these and no others, and
// that shells offer them: the words that it takes are those that it offers.
func TestChoices(t *testing.T) {
	// A list makes up the help, or a part of it that begins behind a colon.
	list := regexp.MustCompile(`(?:^|: )(?:[A-Za-z0-9_-]+, )*[A-Za-z0-9_-]+(?:,| or|, or) [A-Za-z0-9_-]+(?:$|;| \()`)
	found := 0
	eachFlag(func(cmd *cobra.Command, flag *pflag.Flag) {
		complete, known := cmd.GetFlagCompletionFunc(flag.Name)
		if !known {
			t.Errorf("%s --%s: shells are told nothing", cmd.CommandPath(), flag.Name)
			return
		}
		c, closed := flag.Value.(choice)
		if !closed {
			if words, _ := complete(cmd, nil, ""); list.MatchString(flag.Usage) && len(words) == 0 {
				t.Errorf("%s --%s lists words and offers none: %s", cmd.CommandPath(), flag.Name, flag.Usage)
			}
			return
		}
		found++
		words, directive := complete(cmd, nil, "")
		if directive != cobra.ShellCompDirectiveNoFileComp || !slices.Equal(words, slices.Sorted(slices.Values(c.words))) {
			t.Errorf("%s --%s takes %q, and offers %q with %d", cmd.CommandPath(), flag.Name, c.words, words, directive)
		}
		for _, word := range c.words {
			if !strings.Contains(flag.Usage, word) {
				t.Errorf("%s --%s takes %q, and its help is silent about that: %s", cmd.CommandPath(), flag.Name, word, flag.Usage)
			}
			if err := cmd.Flags().Set(flag.Name, word); err != nil {
				t.Errorf("%s --%s %s: %v", cmd.CommandPath(), flag.Name, word, err)
			}
		}
		if err := cmd.Flags().Set(flag.Name, "no-such-word"); err == nil {
			t.Errorf("%s --%s takes any word", cmd.CommandPath(), flag.Name)
		}
	})
	if found < 30 {
		t.Errorf("only %d flags have a closed list", found)
	}
}

// TestNoFiles holds that shells offer files where help says that a flag or an argument
// is one, and nowhere else.
func TestNoFiles(t *testing.T) {
	meant := regexp.MustCompile(`\b(FILE|PATH|DIR|DIRECTORY|LOG|EVENT|OLD|SERVER)\b`)
	files := 0
	check := func(what, help string, complete cobra.CompletionFunc, cmd *cobra.Command) {
		begun := ""
		if strings.HasPrefix(help, "FORM=") {
			begun = "json="
		}
		_, directive := complete(cmd, nil, begun)
		offers := directive&cobra.ShellCompDirectiveNoFileComp == 0
		if offers {
			files++
		}
		if offers != meant.MatchString(help) {
			t.Errorf("%s: files are offered: %v, and its help says %q", what, offers, help)
		}
	}
	eachFlag(func(cmd *cobra.Command, flag *pflag.Flag) {
		name, _ := pflag.UnquoteUsage(flag)
		if complete, known := cmd.GetFlagCompletionFunc(flag.Name); known {
			check(cmd.CommandPath()+" --"+flag.Name, name, complete, cmd)
		}
	})
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction != nil {
			first := firstArgument(cmd.Use)
			switch cmd.Name() {
			case "rotate": // OLD is a key
				first = ""
			case "distrust": // only what is trusted, which other directories are not
				first = ""
			}
			check(cmd.CommandPath(), first, cmd.ValidArgsFunction, cmd)
		} else if !cmd.HasSubCommands() {
			t.Errorf("%s: shells are told nothing about its arguments", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(newRoot(process{stdout: io.Discard, stderr: io.Discard}))
	if files < 60 {
		t.Errorf("only %d places offer files", files)
	}
}

// firstArgument is what the first line of a command's help calls its first argument.
func firstArgument(use string) string {
	use = regexp.MustCompile(`\[?--[a-z]+ [A-Z]+\]?|-- `).ReplaceAllString(strings.ReplaceAll(use, " | ", "|"), "")
	words := append(strings.Fields(use), "")
	return words[1]
}

// TestOffered holds what is made of words before a shell gets them.
func TestOffered(t *testing.T) {
	words := []string{"beta\tthe second", "alpha", "alpha", "al\x1b[31mpha", "al\npha", "gamma"}
	got, directive := offered(words, "a")
	if !slices.Equal(got, []string{"alpha"}) || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("%q, %d", got, directive)
	}
	if got := about("id", "rm\t-rf\n~ "+strings.Repeat("x", 100)); strings.Count(got, "\t") != 1 || strings.Contains(got, "\n") || len([]rune(got)) > 80 {
		t.Errorf("%q", got)
	}
	if got := either([]string{"a", "b", "c"}); got != "a, b or c" {
		t.Error(got)
	}
}
