package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/tell"
	"gate/internal/audit"
)

// logFlags are the flags of gate log.
type logFlags struct {
	dirs   dirFlags
	filter logFilter
	most   int
	format string
	follow bool
	stats  bool
}

func newLog(p process) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "list the decisions so far",
		Long: "Lists decisions, the newest last: time, id, effect, tool, the call, and the policies\n" +
			"that objected. Filters narrow the list; -f waits for more.\n" +
			"docs/log.md describes the file.",
		Example: "  gate log --since 2h --effect deny,ask\n  gate log --policy gate.git -n 50\n  gate log -f\n  gate log --since 7d --stats\n  gate log show 5spyyq",
		Args:    subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(f.format); err != nil {
				return err
			}
			wanted, err := f.filter.compile(time.Now())
			if err != nil {
				return err
			}
			if f.stats && (f.follow || cmd.Flags().Changed("number")) {
				return usageError("--stats counts all of them; it goes with neither -n nor -f")
			}
			if f.most < 0 {
				return usageError("-n must not be negative; 0 means all")
			}
			h, err := openHistory(p, f.dirs)
			if err != nil {
				return err
			}
			if f.stats {
				return f.summary(p, h, wanted)
			}
			return f.list(cmd.Context(), p, h, wanted)
		},
	}
	f.filter.add(cmd)
	cmd.Flags().IntVarP(&f.most, "number", "n", 20, "how many at most, the newest; 0: all")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "wait for more, until interrupted")
	cmd.Flags().BoolVar(&f.stats, "stats", false, "count them instead: by effect, policy and tool, and how long they took")
	addFormat(cmd, &f.format)
	addDirFlags(cmd, &f.dirs)
	cmd.AddCommand(newLogShow(p), newLogVerify(p), newLogShip(p))
	return cmd
}

func openHistory(p process, f dirFlags) (*audit.History, error) {
	d, err := f.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	return h, nil
}

// followEvery is how often -f looks for more.
const followEvery = 300 * time.Millisecond

func (f *logFlags) list(ctx context.Context, p process, h *audit.History, wanted func(*audit.Record) bool) error {
	tick := make(chan time.Time)
	var more func(yield func(audit.Record, error) bool)
	if f.follow { // before the list is read, so that nothing falls between
		more = h.Follow(tick)
	}
	found, torn, err := f.newest(h, wanted)
	if err != nil {
		return err
	}
	wide := tell.ColumnsOf(found, f.follow)
	for i := range found {
		if err := f.print(p, &found[i], wide); err != nil {
			return err
		}
	}
	torn.report(p)
	if !f.follow {
		return f.nothing(p, h, len(found))
	}
	go func() {
		defer close(tick)
		clock := time.NewTicker(followEvery)
		defer clock.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-clock.C:
				select {
				case tick <- now:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	for r, err := range more {
		seen := slices.ContainsFunc(found, func(o audit.Record) bool { return o.ID == r.ID && o.Time.Equal(r.Time) })
		switch {
		case err != nil:
			fmt.Fprintf(p.stderr, "gate: note: %s\n", oneLine(err.Error()))
		case !seen && wanted(&r):
			if err := f.print(p, &r, wide); err != nil {
				return err
			}
		}
	}
	return nil
}

// torn counts the lines of a log that are no records.
type torn struct {
	lines int
	first error
}

// count takes in an error of a reader, and returns it if it is another one.
func (t *torn) count(err error) error {
	var line *audit.TornError
	if err == nil || !errors.As(err, &line) {
		return err
	}
	if t.lines++; t.first == nil {
		t.first = err
	}
	return nil
}

func (t *torn) report(p process) {
	if t.lines == 0 {
		return
	}
	fmt.Fprintf(p.stderr, "gate: note: %s of the log %s no record of a decision, such as %s\n",
		screen.Counted(t.lines, "line"), screen.Plural(t.lines, "is", "are"), oneLine(t.first.Error()))
}

// newest returns the newest records that are wanted, the oldest of them first.
func (f *logFlags) newest(h *audit.History, wanted func(*audit.Record) bool) ([]audit.Record, torn, error) {
	var found []audit.Record
	var t torn
	for r, err := range h.Newest() {
		if err != nil {
			if err = t.count(err); err != nil {
				return nil, t, err
			}
			continue
		}
		if f.filter.tooOld(&r) {
			break
		}
		if wanted(&r) {
			if found = append(found, r); len(found) == f.most {
				break
			}
		}
	}
	slices.Reverse(found)
	return found, t, nil
}

// nothing says why a list is empty.
func (f *logFlags) nothing(p process, h *audit.History, found int) error {
	if found > 0 || f.format == "json" {
		return nil
	}
	if _, err := h.Last(); errors.Is(err, audit.ErrNoRecord) {
		return printAll(p, fmt.Sprintf("no decisions yet in %s\n", visible(p.tilde(h.Path()))))
	}
	return printAll(p, "no decision in the log is one of these\n")
}

func (f *logFlags) print(p process, r *audit.Record, wide tell.Columns) error {
	if f.format == "json" {
		return emit(p, append(r.JSON(), '\n'))
	}
	return printAll(p, wide.Line(p.page(), r)+"\n")
}
