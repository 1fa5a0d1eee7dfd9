package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/explain"
	"gate/hook"
)

func newTry(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "try 'LINE'",
		Short: "what would happen to this call",
		Long: "Decides about a call as if an agent made it, and runs nothing: neither the call\n" +
			"nor, without --run-handlers, hooks that are programs. The exit status\n" +
			"says what would follow; see gate help exit-codes.",
		Example: "  gate try 'git push --force origin main'\n  gate try --tool Write /etc/hosts",
		Args:    oneArg("one shell line, or what --tool takes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ev, err := f.event(args[0])
			if err != nil {
				return err
			}
			_, d, err := f.decide(cmd.Context(), p, ev)
			if err != nil {
				return err
			}
			if f.json {
				err = printJSON(p, document.Decision(&d, true))
			} else {
				err = printTry(p, &ev, &d, f.again("explain", args[0]))
			}
			if err != nil {
				return err
			}
			return exitWith(statusOf(&d))
		},
	}
	f.add(cmd)
	return cmd
}

// printTry says what would follow for a call, the harmful part first. The command
// why tells more.
func printTry(p process, ev *hook.Event, d *hook.Decision, why string) error {
	var b strings.Builder
	s := p.style()
	text := shellText(d)
	if d.Fault != nil {
		fmt.Fprintf(&b, "%s: gate could not decide: %s\n", s.Effect(d.Effect, d.Effect.String()), visible(d.Fault.Error()))
	}
	switch {
	case len(d.Reasons) == 0 && d.Fault == nil && d.Rewrite == nil:
		fmt.Fprintf(&b, "%s: no policy objects\n", s.Effect(d.Effect, d.Effect.String()))
	case d.Rewrite != nil:
		fmt.Fprintf(&b, "%s: it runs changed\n", s.Effect(d.Effect, d.Effect.String()))
	}
	causes := slices.Clone(d.Reasons)
	place := func(r hook.Reason) int { // what decided comes first
		if r.Effect == d.Effect {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(causes, func(x, y hook.Reason) int { return place(x) - place(y) })
	for _, r := range helpedOnce(causes[:min(len(causes), mostCauses)]) {
		printReason(&b, p, r, r.Effect.String(), text)
	}
	if more := len(causes) - mostCauses; more > 0 {
		fmt.Fprintf(&b, "and %s\n", screen.Counted(more, "other reason"))
	}
	for _, r := range helpedOnce(d.Warnings) {
		r.Effect = hook.Ask // it is shown like one
		printReason(&b, p, r, "warning", text)
	}
	for _, line := range unansweredBy(d) {
		fmt.Fprintf(&b, "warning: %s\n", screen.Hang(visible(line)))
	}
	if input, ok := d.Rewrite.(map[string]any); ok {
		printChange(&b, ev, input, d.Changes)
	}
	for _, c := range d.Context {
		fmt.Fprintf(&b, "context: %s\n", visible(c.Text))
	}
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "note: %s\n", visible(n))
	}
	if d.Effect >= hook.Ask {
		fmt.Fprintf(&b, "hint: %s says why\n", why)
	}
	return printAll(p, b.String())
}

// unansweredBy says which hooks could not answer and stopped nothing: what would
// have is a reason already.
func unansweredBy(d *hook.Decision) []string {
	var lines []string
	for _, s := range d.Steps {
		if s.Fault == nil || s.Hook == nil || s.Effect >= hook.Ask {
			continue
		}
		line := s.Hook.ID + " could not answer: " + strings.TrimPrefix(s.Fault.Error(), s.Hook.ID+" ")
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// helpedOnce leaves help out where the next reason has the same.
func helpedOnce(list []hook.Reason) []hook.Reason {
	list = slices.Clone(list)
	for i := 1; i < len(list); i++ {
		if list[i-1].Help == list[i].Help {
			list[i-1].Help = ""
		}
	}
	return list
}

// again is the command line of another command about the same call.
func (f *callFlags) again(command, arg string) string {
	const most = 60
	switch {
	case f.tool != "Bash", f.cwd != "", len(arg) > most, visible(arg) != arg, strings.Contains(arg, "\n"):
		return "gate " + command + " with the same arguments"
	}
	return "gate " + command + " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// printReason shows one reason, the part of the line that it is about, and
// where it comes from.
func printReason(b *strings.Builder, p process, r hook.Reason, word, text string) {
	s := p.style()
	fmt.Fprintf(b, "%s: %s\n", s.Effect(r.Effect, word), screen.Hang(visible(r.Reason)))
	if r.Span != nil && text != "" {
		b.WriteString(s.Marked(r.Effect, text, []explain.Mark{{Span: *r.Span}}))
	}
	where := []string{r.Source}
	if r.Pos != "" {
		where = append(where, p.tilde(r.Pos))
	}
	fmt.Fprintf(b, "  policy: %s (%s)\n", s.Name(visible(r.ID)), visible(strings.Join(where, ", ")))
	if r.Suggestion != "" {
		fmt.Fprintf(b, "  instead: %s\n", screen.Hang(visible(r.Suggestion)))
	}
	if r.Help != "" {
		fmt.Fprintf(b, "hint: %s\n", screen.Hang(visible(r.Help)))
	}
}

func printChange(b *strings.Builder, ev *hook.Event, input map[string]any, changes []hook.Change) {
	if line, ok := input["command"].(string); ok && ev.ToolInput()["command"] != line {
		fmt.Fprintf(b, "  runs: %s\n", screen.Hang(visible(line)))
	}
	for _, c := range changes {
		fmt.Fprintf(b, "  changed by: %s: %s\n", visible(c.Hook), visible(c.Reason))
	}
}

// shellText is the line that spans count in.
func shellText(d *hook.Decision) string {
	if d.Facts == nil || d.Facts.Shell == nil {
		return ""
	}
	return d.Facts.Shell.Text
}

// printAll writes a whole answer for people.
func printAll(p process, text string) error {
	return emit(p, []byte(text))
}
