package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/past"
	"gate/cmd/internal/screen"
	"gate/internal/replay"
	"gate/internal/setup"
	"gate/internal/sources"
)

// replayFlags are the flags of gate replay.
type replayFlags struct {
	dirs     dirFlags
	agent    string
	against  string
	as       string
	facts    string
	failOn   []string
	limit    int
	format   string
	progress bool
	fleet    fleetFlags
}

func newReplay(p process) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [LOG|TRANSCRIPT|EVENTS|DIR|-]...",
		Short: "decide past calls again, and see what would change",
		Long: "Reads past calls and decides each again, running nothing: from gate's decision logs,\n" +
			"from transcripts of Claude Code's sessions, from files with an event a line, or all of\n" +
			"these below a directory; without an argument, from your own decision log. What a line\n" +
			"is it tells from the line. With --against, compares the policies in force here with\n" +
			"policies that might be; without, what was decided then with what would be now. Of a\n" +
			"log and transcripts together it also lists the uses of tools that no hook asked about.\n" +
			"docs/replay.md says what can be replayed and how.\n\n" +
			"With --from it decides the records of a fleet instead, as an archive or a collector holds\n" +
			"them, on all processors and in bounded memory. --state has it go on where it was stopped,\n" +
			"and --partition has several processes or machines share the work; --merge takes their\n" +
			"results together.",
		Example: "  gate replay\n  gate replay ~/.claude/projects --against policies\n" +
			"  gate replay decisions.jsonl --against bundle.tar.gz --as managed --fail-on newly-allowed\n" +
			"  gate replay ~/.local/state/gate/decisions.jsonl ~/.claude/projects --fail-on unseen\n" +
			"  gate replay --from /srv/gate/archive --against bundle.tar.gz --as managed --state replay.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch err := errors.Join(f.check(), f.checkFleet(args)); {
			case err != nil:
				return err
			case f.fleet.merge:
				return f.runMerge(p, args)
			case f.fleet.from.Place != "":
				return f.runFleet(cmd, p)
			}
			return f.run(cmd, p, args)
		},
	}
	f.fleet.add(cmd)
	cmd.Flags().StringVar(&f.against, "against", "", "the `PATH` of policies, or of an OPA bundle (directory or .tar.gz), to compare with")
	cmd.Flags().StringVar(&f.as, "as", "", "whose place it takes: managed, user or project (default: one more source of yours,\nin the place of one of the same name)")
	cmd.Flags().StringVar(&f.facts, "facts", past.Recorded, "what calls are decided by: recorded facts where there are any, those of today's\nfiles and environment (today), or those of the call alone (blind)")
	cmd.Flags().StringSliceVar(&f.failOn, "fail-on", nil, "end with status 2 on any of "+strings.Join(failWords(), ", "))
	oneOf(cmd, "as", standings()...)
	oneOf(cmd, "facts", past.Bases()...)
	oneOf(cmd, "fail-on", failWords()...)
	cmd.Flags().IntVar(&f.limit, "limit", 5, "calls that are shown of each policy and of what is not replayable; 0: all")
	cmd.Flags().StringVar(&f.agent, "agent", "claude", "the agent whose form the events have")
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().BoolVar(&f.progress, "progress", false, "show progress on standard error, also without a terminal")
	addFormat(cmd, &f.format)
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// Words of --fail-on beside the changes themselves.
const (
	failChanged = "changed" // any change
	failLost    = "not-replayable"
	failUnseen  = "unseen"
	failFault   = "fault"
)

func failWords() []string {
	return []string{string(replay.NewlyAllowed), string(replay.NewlyDenied), string(replay.NewlyAsked), failChanged, failLost, failUnseen, failFault}
}

func (f *replayFlags) check() error {
	switch {
	case f.limit < 0:
		return usageError("--limit must not be negative; 0 means all")
	case f.as != "" && f.against == "":
		return usageError("--as needs --against: it names the source that --against replaces")
	}
	return nil
}

func (f *replayFlags) run(cmd *cobra.Command, p process, args []string) error {
	adapter, err := adapterFor(f.agent)
	if err != nil {
		return err
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	inputs, err := past.Files(d, args)
	if err != nil {
		return err
	}
	var against *past.Proposal
	if f.against != "" {
		if against, err = past.LoadProposal(f.against, f.as); err != nil {
			return err
		}
	}
	r := past.New(setup.Options{For: sources.For{Machine: p.machine(d, "")}}, against, f.facts)
	bar := newProgressBar(p, f.progress)
	bar.size = past.Size(inputs)
	report, err := r.Run(cmd.Context(), past.Calls(p.stdin, p.page(), args, inputs, adapter, bar.took), bar.at)
	bar.end()
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %s", screen.Counted(report.Calls, "call"))
	}
	if err != nil {
		return err
	}
	report.Limit = f.limit
	if f.format == "json" {
		err = printJSON(p, report.Document())
	} else {
		err = printAll(p, report.Text(p.page(), len(inputs)))
	}
	if err == nil && f.fails(report.Report) {
		err = exitWith(exitReject)
	}
	return err
}

// fails reports whether something is there that --fail-on names.
func (f *replayFlags) fails(r *replay.Report) bool {
	return slices.ContainsFunc(f.failOn, func(word string) bool {
		switch word {
		case failChanged:
			return len(r.Changed) > 0
		case failLost:
			return len(r.Lost) > 0
		case failUnseen:
			return len(r.Unseen) > 0
		case failFault:
			return len(r.Faults) > 0
		}
		return r.Count(replay.Change(word)) > 0
	})
}
