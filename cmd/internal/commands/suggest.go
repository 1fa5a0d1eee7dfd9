package commands

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gate/internal/handlers"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

func newSuggest(p process) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "print the files that the agent offers after @, from the setting fileSuggestion",
		Long: "Runs the command that the setting fileSuggestion names, gives it the query\n" +
			"{\"query\": \"src/ma\"} on standard input as it came, and prints the paths that it prints,\n" +
			"one a line. Where there is none, it is switched off, fails or takes longer than " + handlers.ScriptLimit.String() + ",\n" +
			"nothing is printed.",
		Example: "  echo '{\"query\": \"src/ma\"}' | gate suggest",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := script{process: p, flags: f, setting: "fileSuggestion", of: func(s scopes.Settings) setting.Script { return s.FileSuggestion }}
			return s.print(cmd.Context(), readQuery, shownPath)
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().IntVar(&f.lines, "lines", 1000, "how many paths at most")
	return cmd
}

// readQuery reads what the person has typed behind @. The agent says no more
// than that: the directory is this process's.
func readQuery(data []byte) (scriptInput, error) {
	s, err := readSession(data)
	if err != nil {
		return s, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: mostSession})
	if err != nil {
		return s, err
	}
	if _, ok := doc["query"].(string); !ok {
		return s, errors.New("the query is missing; send {\"query\": \"src/ma\"}")
	}
	if s.dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return s, err
		}
		s.dir = filepath.ToSlash(here)
	}
	return s, nil
}

// shownPath reports whether a line is a path to show. One with characters that
// nobody sees cannot be shown as what it is.
func shownPath(line string) (string, bool) { return line, line != "" && visible(line) == line }
