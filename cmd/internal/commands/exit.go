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
		{exitFailed, "the command failed, or gate did not understand it; status, doctor, policies, settings, check, fmt --check: there is a problem; mcp: the server ended by itself; serve: it cannot listen; conformance: something differs; install: an agent's files could not be changed, an entry does not deny, or nobody was there to agree; never from hook"},
		{exitReject, "hook, try, eval, explain: the call is rejected; hook: also when gate itself fails; gate without a command and without a terminal; test: a test failed, or a threshold was missed; replay: a difference that --fail-on names; bundle diff: a weakening, with --fail-on-weaker"},
		{exitAsk, "try, eval, explain: a person would be asked"},
		{exitRefused, "bundle, keys, sync: gate refuses a bundle, an envelope or a key set; gate prints a sentence for each reason, with --json also a word; log verify: the chain is broken"},
	}
}

// newExitCodes is a page of help and no command.
func newExitCodes() *cobra.Command {
	var page strings.Builder
	page.WriteString("Exit codes of all commands:")
	for _, row := range exitTable() {
		fmt.Fprintf(&page, "\n  %d  %s", row.status, strings.ReplaceAll(row.meaning, "; ", "\n     "))
	}
	return &cobra.Command{Use: "exit-codes", Short: "list the exit codes of all commands", Long: page.String()}
}
