package tell

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// Record is one decision for people, with what a person said of it; nil: nothing.
func Record(p screen.Page, r *audit.Record, said *audit.Review) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", strictjson.OneLine(r.ID), r.Effect, r.Time.Local().Format("2006-01-02 15:04:05"))
	if r.Sync != nil {
		syncText(&b, r)
		return b.String()
	}
	if r.Review != nil {
		reviewText(&b, r.Review)
		return b.String()
	}
	fmt.Fprintf(&b, "  %s\n", strictjson.OneLine(momentOf(r)))
	if r.Dir != "" {
		fmt.Fprintf(&b, "  in %s\n", strictjson.Visible(p.Tilde(r.Dir)))
	}
	if call := wholeCall(r); call != "" {
		fmt.Fprintf(&b, "  %s\n", screen.Hang(strictjson.Visible(call)))
	}
	for _, why := range r.Reasons {
		recordReason(&b, p, why.Effect.String(), why)
	}
	for _, why := range r.Warned {
		recordReason(&b, p, "warning", why)
	}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Objects() {
			fmt.Fprintf(&b, "%s: %s\n  policy: %s (%s)\n", wouldText(p), screen.Hang(strictjson.Visible(p.Would.Reason)), strictjson.Visible(p.ID), strictjson.Visible(p.Source))
		}
	}
	for _, id := range r.Changed {
		fmt.Fprintf(&b, "changed by: %s\n", strictjson.Visible(id))
	}
	if r.Kept != nil && r.Kept.Rewrite != nil {
		fmt.Fprintf(&b, "  runs: %s\n", screen.Hang(strictjson.Visible(Input(r.Kept.Rewrite))))
	}
	if r.Confined != "" {
		fmt.Fprintf(&b, "confined by: %s\n", strictjson.Visible(r.Confined))
	}
	for _, what := range r.Refused {
		fmt.Fprintf(&b, "refused: %s\n", strictjson.Visible(what))
	}
	marksText(&b, "remembered", r.Remembered)
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "fault: %s\n", strictjson.Visible(f))
	}
	if r.Halt {
		b.WriteString("the turn was ended\n")
	}
	askedText(&b, r)
	keptText(&b, r)
	if said != nil {
		reviewText(&b, said)
	}
	return b.String()
}

// reviewText is what a person said of a decision.
func reviewText(b *strings.Builder, v *audit.Review) {
	fmt.Fprintf(b, "review of %s: %s, said %s on %s\n", strictjson.OneLine(v.Of), strictjson.OneLine(v.Says.String()),
		strictjson.OneLine(cmp.Or(v.By, "somebody")), v.At.Local().Format("2006-01-02 15:04:05"))
	if v.Note != "" {
		fmt.Fprintf(b, "  %s\n", screen.Hang(strictjson.Visible(v.Note)))
	}
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

func recordReason(b *strings.Builder, p screen.Page, word string, why audit.Reason) {
	fmt.Fprintf(b, "%s: %s\n", word, screen.Hang(strictjson.Visible(why.Reason)))
	where := why.Source
	if why.Pos != "" {
		where += ", " + p.Tilde(why.Pos)
	}
	fmt.Fprintf(b, "  policy: %s (%s)\n", strictjson.Visible(why.ID), strictjson.Visible(where))
}

// wholeCall is what was asked for, as much of it as the log has.
func wholeCall(r *audit.Record) string {
	if r.Kept != nil {
		if input, ok := r.Kept.Input["tool_input"]; ok {
			return Input(input)
		}
		if prompt, ok := r.Kept.Input["prompt"].(string); ok {
			return prompt
		}
	}
	return r.Call
}

// Input is the line of a shell call, else the input of a tool as JSON.
func Input(input any) string {
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
		asked = append(asked, strictjson.OneLine(text))
	}
	if len(asked) > 0 {
		fmt.Fprintf(b, "asked: %s\n", strings.Join(asked, ", "))
	}
	for _, p := range r.Policies {
		if p.Usage != nil {
			fmt.Fprintf(b, "judged: %s by %s\n", strictjson.OneLine(p.ID), usageText(p.Usage, p.Took))
		}
	}
}

// usageText says who judged and what it cost, in one line.
func usageText(u *hook.Usage, took time.Duration) string {
	who := strictjson.OneLine(u.Provider + "/" + u.Model)
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
			fmt.Fprintf(b, "note: %s is cut: it had %d bytes\n", strictjson.OneLine(c.At), c.Bytes)
		} else {
			fmt.Fprintf(b, "note: %s is not in the log whole\n", strictjson.OneLine(c.At))
		}
	}
	var redacted []string
	for _, at := range r.Kept.Redacted {
		if !strings.HasPrefix(at, "/input/facts/") {
			redacted = append(redacted, strictjson.OneLine(at))
		}
	}
	if len(redacted) > 0 {
		fmt.Fprintf(b, "note: secrets were taken out of %s\n", strings.Join(redacted, ", "))
	}
}

// syncText is what became of a bundle, for people.
func syncText(b *strings.Builder, r *audit.Record) {
	fmt.Fprintf(b, "  gate sync, by %s\n  %s\n", strictjson.OneLine(cmp.Or(r.User, "nobody known")), strictjson.Visible(r.Call))
	for _, why := range r.Reasons {
		fmt.Fprintf(b, "refused: %s\n  reason: %s\n  from: %s\n", screen.Hang(strictjson.Visible(why.Reason)), strictjson.Visible(why.ID), strictjson.Visible(why.Source))
	}
	fmt.Fprintf(b, "offered: %s\n", strictjson.OneLine(r.Sync.Digest))
	for _, in := range r.Bundles {
		fmt.Fprintf(b, "in force: %s %s, %s\n", strictjson.OneLine(in.Name), strictjson.OneLine(in.Revision), strictjson.OneLine(in.Digest))
	}
}
