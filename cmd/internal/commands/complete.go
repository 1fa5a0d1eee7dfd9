package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A completion offers words for the next argument of a command line that somebody is
// typing in a shell. What cannot be read offers nothing: a shell shows no errors. A word
// may have a tab and one line about it behind it, which zsh and fish show.
type completion = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completes has shells offer what help says that the flags and arguments of a command
// take, and of all below it: the words of a closed list, files where it says FILE,
// directories where it says DIR, and no files anywhere else. What a command has set
// itself stays.
func completes(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		_, known := cmd.GetFlagCompletionFunc(flag.Name)
		c, closed := flag.Value.(choice)
		switch {
		case known:
		case closed:
			offer(cmd, flag.Name, func() []string { return slices.Clone(c.words) })
		case flag.NoOptDefVal == "":
			what, _ := pflag.UnquoteUsage(flag)
			cmd.RegisterFlagCompletionFunc(flag.Name, filesFor(what))
		}
	})
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = argumentsOf(cmd.Use)
	}
	for _, below := range cmd.Commands() {
		completes(below)
	}
}

// offer has shells offer words for a flag, after each comma where it takes a list.
func offer(cmd *cobra.Command, name string, words func() []string) {
	several := cmd.Flags().Lookup(name).Value.Type() == "stringSlice"
	cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		list := words()
		if i := strings.LastIndexByte(begun, ','); several && i >= 0 {
			given := strings.Split(begun[:i], ",")
			list = slices.DeleteFunc(list, func(w string) bool { return slices.Contains(given, wordOf(w)) })
			for at := range list {
				list[at] = begun[:i+1] + list[at]
			}
		}
		return offered(list, begun)
	})
}

// offered are the words that begin as the person did. A word that would not be shown as
// it is comes from no one who means well.
func offered(words []string, begun string) ([]string, cobra.ShellCompDirective) {
	words = slices.DeleteFunc(words, func(w string) bool {
		word := wordOf(w)
		return !strings.HasPrefix(word, begun) || oneLine(word) != word
	})
	slices.Sort(words)
	return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
}

// wordOf is a word without the line about it.
func wordOf(w string) string {
	word, _, _ := strings.Cut(w, "\t")
	return word
}

// about is a word with one line about it, of a length that fits beside it.
func about(word, line string) string {
	if line = oneLine(line); line == "" {
		return word
	}
	const most = 72
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most-1]) + "…"
	}
	return word + "\t" + line
}

// first offers words for the first argument only.
func first(words func() []string) completion {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered(words(), begun)
	}
}

// each offers words for every argument, those only that stand there not yet.
func each(words func() []string) completion {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offered(slices.DeleteFunc(words(), func(w string) bool {
			return slices.Contains(args, wordOf(w))
		}), begun)
	}
}

// orFiles offers files, too.
func orFiles(c completion) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		words, _ := c(cmd, args, begun)
		return words, cobra.ShellCompDirectiveDefault
	}
}

// filesFor offers files or directories where help calls a value so.
func filesFor(what string) completion {
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, kind := range strings.FieldsFunc(what, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		switch {
		case kind == "FILE" || kind == "PATH" || kind == "LOG":
			directive = cobra.ShellCompDirectiveDefault
		case (kind == "DIR" || kind == "DIRECTORY") && directive != cobra.ShellCompDirectiveDefault:
			directive = cobra.ShellCompDirectiveFilterDirs
		}
	}
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return nil, directive }
}

// argumentsOf offers files where the first line of a command's help has them. Its last
// argument may stand there again and again.
func argumentsOf(use string) completion {
	var names []string
	words := strings.Fields(strings.ReplaceAll(use, " | ", "|"))[1:]
	for i := 0; i < len(words); i++ {
		if strings.Contains(words[i], "--") { // a flag, with its value
			i++
			continue
		}
		names = append(names, words[i])
	}
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		at := len(args)
		if last := len(names) - 1; at > last && last >= 0 && strings.ContainsAny(names[last], ".…") {
			at = last
		}
		if at >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return filesFor(names[at])(cmd, args, begun)
	}
}

// completeHelp offers the commands below those that stand there.
func completeHelp(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	above, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, c := range above.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			words = append(words, about(c.Name(), c.Short))
		}
	}
	return offered(words, begun)
}
