package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"gate/audit"
	"gate/hook"
)

// logFlags are the flags of gate log.
type logFlags struct {
	dirs   dirFlags
	filter logFilter
	most   int
	format string
	follow bool
}

func newLog(p process) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "the decisions so far",
		Long: "Lists decisions, the newest last: when, its id, the effect, the tool, what was asked\n" +
			"for, and which policies objected. Filters narrow the list; -f waits for more.\n" +
			"docs/log.md describes the file.",
		Example: "  gate log --since 2h --effect deny,ask\n  gate log --policy gate.git -n 50\n  gate log -f\n  gate log show 5spyyq",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(f.format); err != nil {
				return err
			}
			wanted, err := f.filter.compile(time.Now())
			if err != nil {
				return err
			}
			if f.most < 0 {
				return usageError("-n must not be negative; 0 means all")
			}
			h, err := openHistory(p, f.dirs)
			if err != nil {
				return err
			}
			return f.list(cmd.Context(), p, h, wanted)
		},
	}
	f.filter.add(cmd)
	cmd.Flags().IntVarP(&f.most, "number", "n", 20, "how many at most, the newest; 0: all")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "wait for more, until interrupted")
	addFormat(cmd, &f.format)
	addDirFlags(cmd, &f.dirs)
	cmd.AddCommand(newLogShow(p))
	return cmd
}

// addFormat adds the flag that says for whom a command prints.
func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "text for people, json for programs")
}

func checkFormat(format string) error {
	if format != "text" && format != "json" {
		return usageError("--format " + quoted(format) + ": want text or json")
	}
	return nil
}

func openHistory(p process, f dirFlags) (*audit.History, error) {
	d, err := f.forPeople(p)
	if err != nil {
		return nil, err
	}
	h, err := audit.OpenHistory(d.state)
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
	wide := columnsOf(found, f.follow)
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
		counted(t.lines, "line"), areOrIs(t.lines), oneLine(t.first.Error()))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func areOrIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
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

func (f *logFlags) print(p process, r *audit.Record, wide logColumns) error {
	if f.format == "json" {
		if !write(p.stdout, append(r.JSON(), '\n')) {
			return errStdout
		}
		return nil
	}
	return printAll(p, logLine(p.style(), r, wide)+"\n")
}

// logColumns are the widths of the columns of gate log.
type logColumns struct{ tool, call int }

// widest are the columns at most, and where it is not known what is to come.
var widest = logColumns{tool: 24, call: 60}

// columnsOf makes room for what is in the list, and for more if more may come.
func columnsOf(list []audit.Record, more bool) logColumns {
	wide := logColumns{tool: 10}
	for i := range list {
		wide.tool = max(wide.tool, min(widest.tool, utf8.RuneCountInString(oneLine(toolOf(&list[i])))))
		wide.call = max(wide.call, min(widest.call, utf8.RuneCountInString(oneLine(callOf(&list[i])))))
	}
	if more {
		wide.call = widest.call
	}
	return wide
}

// toolOf is the tool, or the event where there is none.
func toolOf(r *audit.Record) string { return cmp.Or(r.Tool, string(r.Event)) }

// callOf is what was asked for, in one line.
func callOf(r *audit.Record) string {
	if r.Call != "" || r.Kept == nil {
		return r.Call
	}
	const most = 300 // bytes; a column shows less
	text := wholeCall(r)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// logLine is one decision in one line.
func logLine(s style, r *audit.Record, wide logColumns) string {
	line := fmt.Sprintf("%s  %-6s  %s  %s  %s", s.faint(r.Time.Local().Format("2006-01-02 15:04:05")), oneLine(r.ID),
		s.effect(r.Effect, fmt.Sprintf("%-5s", r.Effect)), column(toolOf(r), wide.tool), column(callOf(r), wide.call))
	return strings.TrimRight(line+"  "+s.name(strings.Join(objectors(r), ", ")), " ")
}

// column shows a text in a column: too long, and its end is missing.
func column(s string, width int) string {
	s = oneLine(s)
	if n := utf8.RuneCountInString(s); n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return string([]rune(s)[:width-1]) + "…"
}

// objectors are the policies that a decision is due to, and those that changed
// the call.
func objectors(r *audit.Record) []string {
	var out []string
	add := func(id, word string) {
		if id = oneLine(id + word); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && r.Effect != hook.Pass {
			add(why.ID, "")
		}
	}
	for _, id := range r.Changed {
		add(id, " (changed it)")
	}
	for _, why := range r.Warned {
		add(why.ID, " (warned)")
	}
	if len(r.Faults) > 0 {
		out = append(out, counted(len(r.Faults), "fault"))
	}
	return out
}
