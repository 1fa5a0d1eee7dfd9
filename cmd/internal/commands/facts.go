package commands

import (
	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/tell"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
)

func newFacts(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "facts 'LINE'",
		Short: "show what gate sees in a call",
		Long: "Works out a call's effects without running anything. It shows the commands, what each\n" +
			"of them reads, writes and reaches, and what is unknown. With --json it prints\n" +
			"input.facts as policies read it; docs/facts.md describes the fields.",
		Example: "  gate facts 'cd /srv && sudo rm -rf data'",
		Args:    f.args("one shell line, or the input of --tool"),
		RunE: func(_ *cobra.Command, args []string) error {
			ev, err := f.asked(p, args)
			if err != nil {
				return err
			}
			d, err := f.dirs.ForPeople(p.lookupEnv)
			if err != nil {
				return err
			}
			m := p.machine(d, places.ProjectRoot("", ev.Dir()))
			m.AllFacts = true
			g, err := setup.New(setup.Options{For: sources.For{Machine: m}})
			if err != nil {
				return err
			}
			facts := g.Reader.Of(&ev)
			if f.json {
				return printJSON(p, document.Value(facts.Document()))
			}
			return printAll(p, tell.Facts(p.page(), &ev, facts))
		},
	}
	f.add(cmd)
	return cmd
}
