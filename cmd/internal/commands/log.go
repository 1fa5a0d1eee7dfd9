package commands

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/tell"
	"gate/internal/audit"
	"gate/internal/audit/ocsf"
	"gate/internal/setup"
)

// logFlags are the flags of gate log.
type logFlags struct {
	dirs   dirFlags
	filter logFilter
	most   int
	format string
	follow bool
	stats  bool
	asked  bool   // questions are counted instead
	before string // when something changed, for the questions
	all    bool   // every decision, not only those about calls
}

func newLog(p process) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "list the decisions so far",
		Long: "Lists the calls of tools, each once, the newest last: time, id, what became of it,\n" +
			"event, tool, the call, and the policies that objected or\n" +
			"would have. Other events are in the list if\n" +
			"they were held back, and bundles that came into force or were refused; --all lists\n" +
			"every decision. Filters narrow the list; -f waits for more.\n" +
			"docs/log.md describes the file.",
		Example: "  gate log --since yesterday\n  gate log --since 2h --effect deny,ask\n  gate log --policy gate.git -n 50\n  gate log -f\n  gate log --stats\n  gate log --questions\n  gate log show 5spyyq\n  gate log review 5spyyq --false-alarm",
		Args:    subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.stats && f.filter.since == "" {
				f.filter.since = week.String()
			}
			wanted, err := f.filter.compile(time.Now())
			if err != nil {
				return err
			}
			switch sums := f.stats || f.asked; {
			case sums && (f.follow || cmd.Flags().Changed("number")):
				return usageError("--stats and --questions count all of them; they go with neither -n nor -f")
			case f.stats && f.asked:
				return usageError("give --stats or --questions")
			case f.follow && len(f.filter.reviews) > 0:
				return usageError("nobody has reviewed what is to come; --reviewed does not go with -f")
			case f.before != "" && !f.asked:
				return usageError("--before goes with --questions")
			}
			if sums := f.stats || f.asked; sums && f.format == formatOCSF {
				return usageError("--stats and --questions have no form in OCSF; use --format json")
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
			if f.asked {
				return f.questions(p, h, wanted)
			}
			return f.list(cmd.Context(), p, h, wanted)
		},
	}
	f.filter.add(cmd)
	cmd.Flags().IntVarP(&f.most, "number", "n", 20, "how many at most, the newest; 0: all")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "wait for more, until interrupted")
	cmd.Flags().BoolVar(&f.all, "all", false, "list every decision: each event of a call, and events that are no call")
	cmd.Flags().BoolVar(&f.stats, "stats", false, "sum the calls up instead, of the last seven days unless --since says otherwise")
	cmd.Flags().BoolVar(&f.asked, "questions", false, "count what persons were asked in a session instead, by policy, before and after a moment")
	cmd.Flags().StringVar(&f.before, "before", "", "that moment, as for --since; otherwise the first call that a policy allowed")
	cmd.Flags().StringVar(&f.format, "format", "text", forWhom+", ocsf for systems that collect security events")
	oneOf(cmd, "format", "text", "json", formatOCSF)
	offer(cmd, "policy", policiesHere(p, &f.dirs))
	offer(cmd, "tool", toolsUsed(p, &f.dirs))
	offer(cmd, "session", sessions(p, &f.dirs, nil))
	addDirFlags(cmd, &f.dirs)
	cmd.AddCommand(newLogShow(p), newLogReview(p), newLogVerify(p), newLogShip(p))
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
	var more iter.Seq2[audit.Record, error]
	if f.follow { // before the list is read, so that nothing falls between
		more = follow(ctx, h)
	}
	found, torn, err := f.newest(h, wanted)
	if err != nil {
		return err
	}
	wide := tell.ColumnsOf(found, f.follow)
	for _, r := range found {
		if err := f.print(p, r, wide); err != nil {
			return err
		}
	}
	torn.report(p)
	if !f.follow {
		return f.nothing(p, h, len(found))
	}
	for r, err := range more {
		seen := slices.ContainsFunc(found, func(o tell.Row) bool { return o.ID == r.ID && o.Time.Equal(r.Time) })
		switch {
		case err != nil:
			fmt.Fprintf(p.stderr, "gate: note: %s\n", oneLine(err.Error()))
		case !seen && wanted(&r):
			if row, ok := f.fresh(&r); ok {
				if err := f.print(p, row, wide); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fresh is the row of a record that was just written; ok is false where it is none of its
// own.
func (f *logFlags) fresh(r *audit.Record) (row tell.Row, ok bool) {
	switch {
	case r.Review != nil: // it shows beside its decision, which stands above already
		return tell.RecordRow(r, nil), f.every() || f.follow
	case r.OfCall() && !f.every(): // what comes of it is not known yet
		return tell.CallRow(&audit.Call{Records: []audit.Record{*r}}), f.alone(r) || r.Begins()
	case f.every() || f.alone(r):
		return tell.RecordRow(r, nil), true
	}
	return tell.Row{}, false
}

// follow yields the records that are written from now on, until the context ends.
func follow(ctx context.Context, h *audit.History) iter.Seq2[audit.Record, error] {
	tick := make(chan time.Time)
	more := h.Follow(tick)
	return func(yield func(audit.Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
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
		more(yield)
	}
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

// every reports that the list has each decision, not each call once. Programs get the
// records themselves.
func (f *logFlags) every() bool { return f.all || f.forPrograms() }

// formatOCSF has records printed as events of OCSF.
const formatOCSF = "ocsf"

// forPrograms reports that lines are JSON.
func (f *logFlags) forPrograms() bool { return f.format == "json" || f.format == formatOCSF }

// alone reports a decision that is a row by itself: about a bundle, or about an event
// that was held back.
func (f *logFlags) alone(r *audit.Record) bool { return r.Sync != nil || r.HeldBack() }

// patience is how many records are looked through for the beginning of a call.
const patience = 256

// newest returns the newest rows that are wanted, the oldest of them first.
func (f *logFlags) newest(h *audit.History, wanted func(*audit.Record) bool) ([]tell.Row, torn, error) {
	var found []row
	var calls audit.Calls
	var t torn
	add := func(call *audit.Call) {
		if f.wantsCall(call, wanted) {
			found = append(found, row{call.Records[0].Time, tell.CallRow(call)})
		}
	}
	more := patience
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
		if call := calls.Add(r); call != nil && !f.every() {
			add(call)
		}
		if wanted(&r) && f.filter.saidOf(calls.Review(&r)) && (f.every() || !r.OfCall() && f.alone(&r)) {
			found = append(found, row{r.Time, tell.RecordRow(&r, calls.Review(&r))})
		}
		if len(found) < f.most || f.most == 0 {
			continue
		}
		if more--; f.every() || more == 0 || len(calls.Rest()) == 0 {
			break
		}
	}
	if !f.every() {
		for _, call := range calls.Rest() {
			add(call)
		}
	}
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b row) int { return a.begun.Compare(b.begun) })
	if f.most > 0 {
		found = found[max(0, len(found)-f.most):]
	}
	rows := make([]tell.Row, len(found))
	for i := range found {
		rows[i] = found[i].Row
	}
	return rows, t, nil
}

// A row is one of the list, in the order of what began.
type row struct {
	begun time.Time
	tell.Row
}

// wantsCall reports whether a filter takes a call: one of its decisions is wanted, and
// where effects are wanted, the one that made the outcome.
func (f *logFlags) wantsCall(call *audit.Call, wanted func(*audit.Record) bool) bool {
	if f.filter.calls != nil && !f.filter.calls(call) || !f.filter.saidOf(call.Review) {
		return false
	}
	if len(f.filter.effects) > 0 {
		return wanted(call.Deciding())
	}
	return slices.ContainsFunc(call.Records, func(r audit.Record) bool { return wanted(&r) })
}

// nothing says why a list is empty.
func (f *logFlags) nothing(p process, h *audit.History, found int) error {
	if found > 0 || f.forPrograms() {
		return nil
	}
	if _, err := h.Last(); errors.Is(err, audit.ErrNoRecord) {
		return printAll(p, fmt.Sprintf("no decisions yet in %s\n", visible(p.tilde(h.Path()))))
	}
	if !f.every() && !f.stats {
		return printAll(p, "no call in the log is one of these; --all looks at every decision\n")
	}
	return printAll(p, "no decision in the log is one of these\n")
}

func (f *logFlags) print(p process, r tell.Row, wide tell.Columns) error {
	switch f.format {
	case "json":
		return emit(p, append(r.JSON(), '\n'))
	case formatOCSF:
		line, err := ocsf.Event(r.Record, setup.Version())
		if err != nil {
			return err
		}
		return emit(p, append(line, '\n'))
	}
	return printAll(p, wide.Line(p.page(), r)+"\n")
}
