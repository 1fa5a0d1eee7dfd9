package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/internal/hostfs"
)

// addWrite adds the flag that has a command's report in other forms, too: one run, a
// page for whoever reads the job's output, and files for what reads them.
func addWrite(cmd *cobra.Command, list *[]string, forms []string) {
	cmd.Flags().StringArrayVar(list, "write", nil, "also write the report into a file, as `FORM=FILE`; forms are: "+strings.Join(forms, ", "))
	_ = cmd.RegisterFlagCompletionFunc("write", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(begun, "=") {
			return nil, cobra.ShellCompDirectiveDefault // a file
		}
		words := make([]string, len(forms))
		for i, form := range forms {
			words[i] = form + "="
		}
		words, _ = offered(words, begun)
		return words, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}) // the flag is there
}

// checkWrites reports values of --write that make no sense.
func checkWrites(list, forms []string) error {
	for _, w := range list {
		form, file, ok := strings.Cut(w, "=")
		if !ok || file == "" {
			return usageError("--write " + quoted(w) + ": want FORM=FILE, such as " + forms[len(forms)-1] + "=report")
		}
		if !slices.Contains(forms, form) {
			return usageError("unknown format " + quoted(form) + "; known are: " + strings.Join(forms, ", "))
		}
	}
	return nil
}

// writeForms writes a report into the files of --write.
func writeForms(list []string, text func(form string) (string, error)) error {
	for _, w := range list {
		form, file, _ := strings.Cut(w, "=")
		report, err := text(form)
		if err == nil {
			err = hostfs.Replace(file, []byte(report), 0o644)
		}
		if err != nil {
			return fmt.Errorf("--write %s: %w", form, err)
		}
	}
	return nil
}
