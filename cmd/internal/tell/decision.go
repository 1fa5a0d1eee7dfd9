package tell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/explain"
	"gate/internal/mark"
	"gate/internal/strictjson"
)

// Decision says what would follow for a call, the harmful part first. The command
// why tells more.
func Decision(p screen.Page, ev *hook.Event, d *hook.Decision, why string) string {
	var b strings.Builder
	text := shellText(d)
	if d.Fault != nil {
		fmt.Fprintf(&b, "%s: gate could not decide: %s\n", p.Effect(d.Effect, d.Effect.String()), strictjson.Visible(d.Fault.Error()))
	}
	switch {
	case len(d.Reasons) == 0 && d.Fault == nil && d.Rewrite == nil:
		fmt.Fprintf(&b, "%s: no policy objects\n", p.Effect(d.Effect, d.Effect.String()))
	case d.Confined != nil:
		fmt.Fprintf(&b, "%s: it runs confined by the profile %s\n", p.Effect(d.Effect, d.Effect.String()), strictjson.Visible(d.Confined.Profile))
	case d.Rewrite != nil:
		fmt.Fprintf(&b, "%s: it runs changed\n", p.Effect(d.Effect, d.Effect.String()))
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
		fmt.Fprintf(&b, "warning: %s\n", screen.Hang(strictjson.Visible(line)))
	}
	if input, ok := d.Inside().(map[string]any); ok {
		printChange(&b, ev, input, d.Changes)
	}
	for _, c := range d.Context {
		fmt.Fprintf(&b, "context: %s\n", strictjson.Visible(c.Text))
	}
	marksText(&b, "remembers", d.Remember)
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "note: %s\n", strictjson.Visible(n))
	}
	if d.Effect >= hook.Ask {
		fmt.Fprintf(&b, "hint: %s says why\n", why)
	}
	return b.String()
}

// marksText says a line a mark: its name, its value unless that is not known, how long it
// lives and who set it.
func marksText(w io.Writer, word string, marks []mark.Mark) {
	for _, k := range marks {
		text := strictjson.Visible(k.Name)
		switch k.Value {
		case "":
		case mark.None:
			text += ", taken back"
		default:
			text += " = " + strictjson.Visible(k.Value)
		}
		if k.Round {
			text += ", until the next prompt"
		}
		fmt.Fprintf(w, "%s: %s\n  policy: %s (%s)\n", word, screen.Hang(text), strictjson.Visible(cmp.Or(k.By, "not known")), strictjson.Visible(k.Source))
	}
}

// unansweredBy says which hooks could not answer and stopped nothing: what would
// have is a reason already.
func unansweredBy(d *hook.Decision) []string {
	var lines []string
	for _, s := range d.Steps {
		if s.Fault == nil || s.Hook == nil || s.Effect >= hook.Ask || s.Hook.Whole != "" { // of which a note tells
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

// printReason shows one reason, the part of the line that it is about, and
// where it comes from.
func printReason(b *strings.Builder, p screen.Page, r hook.Reason, word, text string) {
	fmt.Fprintf(b, "%s: %s\n", p.Effect(r.Effect, word), screen.Hang(strictjson.Visible(r.Reason)))
	if r.Span != nil && text != "" {
		b.WriteString(p.Marked(r.Effect, text, []explain.Mark{{Span: *r.Span}}))
	}
	where := []string{r.Source}
	if r.Pos != "" {
		where = append(where, p.Tilde(r.Pos))
	}
	fmt.Fprintf(b, "  policy: %s (%s)\n", p.Name(strictjson.Visible(r.ID)), strictjson.Visible(strings.Join(where, ", ")))
	if r.Suggestion != "" {
		fmt.Fprintf(b, "  instead: %s\n", screen.Hang(strictjson.Visible(r.Suggestion)))
	}
	if r.Help != "" {
		fmt.Fprintf(b, "hint: %s\n", screen.Hang(strictjson.Visible(r.Help)))
	}
}

func printChange(b *strings.Builder, ev *hook.Event, input map[string]any, changes []hook.Change) {
	if line, ok := input["command"].(string); ok && ev.ToolInput()["command"] != line {
		fmt.Fprintf(b, "  runs: %s\n", screen.Hang(strictjson.Visible(line)))
	}
	for _, c := range changes {
		fmt.Fprintf(b, "  changed by: %s: %s\n", strictjson.Visible(c.Hook), strictjson.Visible(c.Reason))
	}
}

// shellText is the line that spans count in.
func shellText(d *hook.Decision) string {
	if d.Facts == nil || d.Facts.Shell == nil {
		return ""
	}
	return d.Facts.Shell.Text
}
