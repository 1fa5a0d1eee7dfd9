package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/audit"
	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/strictjson"
)

func newLogShow(p process) *cobra.Command {
	var dirs dirFlags
	var format string
	cmd := &cobra.Command{
		Use:   "show ID|last",
		Short: "all that the log knows of one decision",
		Long: "Shows one decision, by its id or how the id begins, or the last one: the call, the\n" +
			"reasons, who was asked, and what of the event is not in the log.",
		Example: "  gate log show 5spyyq\n  gate log show last --format json",
		Args:    oneArg("a decision's id, or last"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
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
			return printAll(p, recordText(p, &r))
		},
	}
	addFormat(cmd, &format)
	addDirFlags(cmd, &dirs)
	return cmd
}

// findRecord finds a decision in the log by its id, or the last one.
func findRecord(p process, f dirFlags, id string) (audit.Record, error) {
	h, err := openHistory(p, f)
	if err != nil {
		return audit.Record{}, err
	}
	var r audit.Record
	if id == "last" {
		r, err = h.Last()
	} else {
		r, err = h.Find(id)
	}
	if errors.Is(err, audit.ErrNoRecord) {
		err = fmt.Errorf("%w: %s; gate log lists what is there", err, p.tilde(h.Path()))
	}
	return r, err
}

// recordText is one decision for people.
func recordText(p process, r *audit.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", oneLine(r.ID), r.Effect, r.Time.Local().Format("2006-01-02 15:04:05"))
	if r.Sync != nil {
		syncText(&b, r)
		return b.String()
	}
	fmt.Fprintf(&b, "  %s\n", oneLine(momentOf(r)))
	if r.Dir != "" {
		fmt.Fprintf(&b, "  in %s\n", visible(p.tilde(r.Dir)))
	}
	if call := wholeCall(r); call != "" {
		fmt.Fprintf(&b, "  %s\n", screen.Hang(visible(call)))
	}
	for _, why := range r.Reasons {
		recordReason(&b, p, why.Effect.String(), why)
	}
	for _, why := range r.Warned {
		recordReason(&b, p, "warning", why)
	}
	for _, id := range r.Changed {
		fmt.Fprintf(&b, "changed by: %s\n", visible(id))
	}
	if r.Kept != nil && r.Kept.Rewrite != nil {
		fmt.Fprintf(&b, "  runs: %s\n", screen.Hang(visible(inputText(r.Kept.Rewrite))))
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "fault: %s\n", visible(f))
	}
	if r.Halt {
		b.WriteString("the turn was ended\n")
	}
	askedText(&b, r)
	keptText(&b, r)
	return b.String()
}

// momentOf says what the decision was about: of an event that could not be read
// no more is known than the command line of the hook says.
func momentOf(r *audit.Record) string {
	text := string(r.Event)
	if r.Tool != "" {
		text += " " + r.Tool
	}
	text += " of " + r.Agent
	if r.Session != "" {
		text += ", session " + r.Session
	}
	return text
}

func recordReason(b *strings.Builder, p process, word string, why audit.Reason) {
	fmt.Fprintf(b, "%s: %s\n", word, screen.Hang(visible(why.Reason)))
	where := why.Source
	if why.Pos != "" {
		where += ", " + p.tilde(why.Pos)
	}
	fmt.Fprintf(b, "  policy: %s (%s)\n", visible(why.ID), visible(where))
}

// wholeCall is what was asked for, as much of it as the log has.
func wholeCall(r *audit.Record) string {
	if r.Kept != nil {
		if input, ok := r.Kept.Input["tool_input"]; ok {
			return inputText(input)
		}
		if prompt, ok := r.Kept.Input["prompt"].(string); ok {
			return prompt
		}
	}
	return r.Call
}

// inputText is the line of a shell call, else the input of a tool as JSON.
func inputText(input any) string {
	if m, ok := input.(map[string]any); ok {
		if line, ok := m["command"].(string); ok {
			return line
		}
	}
	if text, ok := input.(string); ok {
		return text
	}
	return string(strictjson.Append(nil, document.Value(input)))
}

func askedText(b *strings.Builder, r *audit.Record) {
	var asked []string
	for _, p := range r.Policies {
		text := p.ID
		if p.Effect != hook.Pass {
			text += " (" + p.Effect.String() + ")"
		}
		asked = append(asked, oneLine(text))
	}
	if len(asked) > 0 {
		fmt.Fprintf(b, "asked: %s\n", strings.Join(asked, ", "))
	}
	for _, p := range r.Policies {
		if p.Usage != nil {
			fmt.Fprintf(b, "judged: %s by %s\n", oneLine(p.ID), usageText(p.Usage, p.Took))
		}
	}
}

// usageText says who judged and what it cost, in one line.
func usageText(u *hook.Usage, took time.Duration) string {
	who := oneLine(u.Provider + "/" + u.Model)
	if u.Cached {
		return who + ", as it judged the same call before"
	}
	turns := ""
	if u.Turns > 1 {
		turns = fmt.Sprintf(" in %d turns", u.Turns)
	}
	return fmt.Sprintf("%s, %d tokens in and %d out%s, %s", who, u.InputTokens, u.OutputTokens, turns, took.Round(time.Millisecond))
}

// keptText says what of the event is not in the log.
func keptText(b *strings.Builder, r *audit.Record) {
	if r.Kept == nil {
		fmt.Fprintf(b, "note: %s\n", audit.ErrNotKept)
		return
	}
	for _, c := range r.Kept.Cut {
		if c.Bytes > 0 {
			fmt.Fprintf(b, "note: %s is cut: it had %d bytes\n", oneLine(c.At), c.Bytes)
		} else {
			fmt.Fprintf(b, "note: %s is not in the log whole\n", oneLine(c.At))
		}
	}
	var redacted []string
	for _, at := range r.Kept.Redacted {
		if !strings.HasPrefix(at, "/input/facts/") {
			redacted = append(redacted, oneLine(at))
		}
	}
	if len(redacted) > 0 {
		fmt.Fprintf(b, "note: secrets were taken out of %s\n", strings.Join(redacted, ", "))
	}
}
