package main

import (
	"github.com/spf13/cobra"
)

func newFacts(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "facts 'LINE'",
		Short: "what gate sees in a call",
		Long: "Prints what gate works out about a call without running anything: the input.facts\n" +
			"that policies read. docs/facts.md describes the fields.",
		Example: "  gate facts 'cd /srv && sudo rm -rf data'",
		Args:    oneArg("one shell line, or what --tool takes"),
		RunE: func(_ *cobra.Command, args []string) error {
			ev, err := f.event(args[0])
			if err != nil {
				return err
			}
			d, err := f.dirs.forPeople(p)
			if err != nil {
				return err
			}
			g, err := newGuard(setting{
				dirs: d, home: p.home(), project: projectRoot("", ev.Dir()), env: p.lookupEnv,
			})
			if err != nil {
				return err
			}
			doc := g.reader.Of(&ev).Document()
			if f.json {
				return printJSON(p, plainValue(doc))
			}
			return printFacts(p, doc)
		},
	}
	f.add(cmd)
	return cmd
}

// printFacts leaves out what is not there, so that a person sees what is.
func printFacts(p process, doc map[string]any) error {
	return printJSON(p, plainValue(withoutEmpty(doc)))
}

// withoutEmpty drops nulls, empty lists and empty objects from objects. An
// unknown element of a list stays: it is news.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e = withoutEmpty(e); !isEmpty(e) {
				out[k] = e
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutEmpty(e)
		}
		return out
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
