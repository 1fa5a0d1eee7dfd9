package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit statuses of every command. gate hook knows 0 and 2 only, because
// agents read others as "go on".
const (
	exitOK      = 0
	exitFailed  = 1
	exitReject  = 2
	exitAsk     = 3
	exitRefused = 4
)

type exitRow struct {
	status  int
	meaning string
}

// exitTable is what gate help exit-codes prints.
func exitTable() []exitRow {
	return []exitRow{
		{exitOK, "the command did its work; hook, try, eval, explain: the call may go on, perhaps changed; test: all tests passed"},
		{exitFailed, "the command could not do its work, or was not understood; status, doctor, policies, settings, check, fmt --check: something is wrong; mcp: the server ended by itself; serve: it cannot listen; never from hook"},
		{exitReject, "hook, try, eval, explain: the call is rejected; hook: also when gate itself fails, and gate without a command or a terminal; test: a test failed, or a threshold was missed; replay: something that --fail-on names; bundle diff: something that --fail-on-weaker is for"},
		{exitAsk, "try, eval, explain: a person would be asked"},
		{exitRefused, "bundle, keys, sync: a bundle, an envelope or a key set is refused; each reason has a sentence, and a word with --json; log verify: the chain does not hold"},
	}
}

// newExitCodes is a page of help and no command.
func newExitCodes() *cobra.Command {
	var page strings.Builder
	page.WriteString("Exit codes of all commands:")
	for _, row := range exitTable() {
		fmt.Fprintf(&page, "\n  %d  %s", row.status, strings.ReplaceAll(row.meaning, "; ", "\n     "))
	}
	return &cobra.Command{Use: "exit-codes", Short: "the exit codes of all commands", Long: page.String()}
}
