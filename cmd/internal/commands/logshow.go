package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gate/cmd/internal/tell"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

func newLogShow(p process) *cobra.Command {
	var dirs dirFlags
	var format string
	cmd := &cobra.Command{
		Use:   "show ID|last",
		Short: "show everything about one decision",
		Long: "Shows one decision, by its id or how the id begins: the call, the reasons, who was\n" +
			"asked, and what of the event is not in the log. last is the last call that was not let\n" +
			"through; where there is none, the last call of a tool.",
		Example: "  gate log show 5spyyq\n  gate log show last --format json",
		Args:    oneArg("a decision's id, or last"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := findRecord(p, dirs, args[0])
			if err != nil {
				return err
			}
			if format == "json" {
				doc, err := strictjson.Object(r.JSON(), strictjson.Limits{Depth: 100})
				if err != nil {
					return err
				}
				return printJSON(p, doc)
			}
			said, err := reviewOf(p, dirs, &r)
			if err != nil {
				return err
			}
			return printAll(p, tell.Record(p.page(), &r, said))
		},
	}
	cmd.ValidArgsFunction = first(decisions(p, &dirs))
	addFormat(cmd, &format)
	addDirFlags(cmd, &dirs)
	return cmd
}

// findRecord finds a decision in the log by its id, or the one that "last" means.
func findRecord(p process, f dirFlags, id string) (audit.Record, error) {
	h, err := openHistory(p, f)
	if err != nil {
		return audit.Record{}, err
	}
	var r audit.Record
	if id == "last" {
		r, err = h.LastCall()
	} else {
		r, err = h.Find(id)
	}
	if errors.Is(err, audit.ErrNoRecord) {
		err = fmt.Errorf("%w: %s; gate log lists all records", err, p.tilde(h.Path()))
	}
	return r, err
}
