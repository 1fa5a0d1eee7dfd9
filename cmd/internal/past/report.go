package past

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/tell"
	"gate/internal/audit"
	"gate/internal/replay"
	"gate/internal/strictjson"
)

// changeWords are the headings of a report.
var changeWords = map[replay.Change]string{
	replay.NewlyDenied: "newly denied", replay.NewlyAsked: "newly asked", replay.NewlyAllowed: "newly allowed",
	replay.Rewritten: "runs changed otherwise", replay.Reworded: "other reasons",
}

// A Report says what is different about calls that were decided again, and what
// that rests on.
type Report struct {
	*replay.Report
	Limit int // entries of each list that people are shown; 0: all

	Against   *Proposal // what it compares with; nil: with what was recorded
	facts     string    // which facts calls were decided by
	strangers int       // calls that a project's policies decided about which are not here
}

// Text is a report for people. files is how many were read.
func (r *Report) Text(s screen.Page, files int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %s: %s, %s not replayable\n", screen.Counted(r.Calls, "call"), screen.Counted(files, "file"),
		s.Strong(fmt.Sprintf("%d changed", len(r.Changed))), fmt.Sprint(len(r.Lost)))
	if r.Against == nil {
		b.WriteString("then: as recorded, and what nobody recorded went ahead · now: the policies in force here\n")
	} else {
		fmt.Fprintf(&b, "then: the policies in force here · now: with %s\n", strictjson.Visible(r.Against.Text(s)))
	}
	for _, c := range replay.Changes() {
		r.changeText(&b, s, c)
	}
	if len(r.Faults) > 0 {
		fmt.Fprintf(&b, "\n%s: %d\n", s.Strong("could not answer"), len(r.Faults))
		r.list(&b, "  ", equalCalls(r.Faults, func(e replay.Entry) text {
			return text{callText(e.At, e.Tool, e.Call), e.Tool + "\n" + e.Call, "    " + strictjson.OneLine(e.Now.Faults[0]) + "\n"}
		}))
	}
	r.lossesText(&b, s, "not replayable", r.Lost)
	r.lossesText(&b, s, "used without a hook", r.Unseen)
	timesText(&b, r.Report)
	r.notesText(&b)
	return b.String()
}

// Differences are the parts of the text about single calls, and the notes.
func (r *Report) Differences(s screen.Page) string {
	var b strings.Builder
	for _, c := range replay.Changes() {
		r.changeText(&b, s, c)
	}
	r.lossesText(&b, s, "not replayable", r.Lost)
	r.notesText(&b)
	return b.String()
}

// A text is what people are shown of a call: a line with its place, the whole call, and
// lines about the decision.
type text struct{ line, call, about string }

// equal are calls of which the same is said. The first is shown.
type equal struct {
	text
	times int
}

// equalCalls takes calls together of which the same is said, those of most calls first.
func equalCalls[T any](list []T, say func(T) text) []equal {
	at := map[string]int{}
	var out []equal
	for _, one := range list {
		t := say(one)
		key := t.call + "\n" + t.about
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, equal{text: t})
		}
		out[i].times++
	}
	slices.SortStableFunc(out, func(a, b equal) int { return cmp.Compare(b.times, a.times) })
	return out
}

// list shows what the limit leaves of a list.
func (r *Report) list(b *strings.Builder, indent string, list []equal) {
	left := 0
	for i, e := range list {
		if r.Limit > 0 && i >= r.Limit {
			left += e.times
			continue
		}
		times := ""
		if e.times > 1 {
			times = fmt.Sprintf("  (%d times)", e.times)
		}
		fmt.Fprintf(b, "%s%s%s\n%s", indent, e.line, times, e.about)
	}
	if left > 0 {
		fmt.Fprintf(b, "%s… and %d more\n", indent, left)
	}
}

// changeText shows the decisions that have a change.
func (r *Report) changeText(b *strings.Builder, s screen.Page, c replay.Change) {
	n := r.Count(c)
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %d\n", s.Strong(changeWords[c]), n)
	for _, g := range r.Groups(c) {
		policy := g.Policy
		if policy == "" {
			policy = "no policy"
		}
		fmt.Fprintf(b, "  %s: %d\n", s.Name(strictjson.OneLine(policy)), len(g.Entries))
		r.list(b, "    ", equalCalls(g.Entries, func(e replay.Entry) text { return entryText(s, e) }))
	}
}

// entryText says what is different about a call.
func entryText(s screen.Page, e replay.Entry) text {
	b := &strings.Builder{}
	effects := fmt.Sprintf("  %s → %s", s.Effect(e.Then.Effect, e.Then.Effect.String()), s.Effect(e.Now.Effect, e.Now.Effect.String()))
	side := func(word string, side replay.Side) {
		if text := reasonText(side); text != "" {
			fmt.Fprintf(b, "      %s: %s\n", word, text)
		}
		if e.Change == replay.Rewritten {
			text := "as it came"
			if side.Rewrite != nil {
				text = strictjson.OneLine(tell.Input(side.Rewrite))
			} else if len(side.Changed) > 0 {
				text = "changed by " + strictjson.OneLine(strings.Join(side.Changed, ", "))
			}
			fmt.Fprintf(b, "      %s it runs: %s\n", word, text)
		}
	}
	if then, now := reasonText(e.Then), reasonText(e.Now); then != now || e.Change == replay.Rewritten {
		side("then", e.Then)
		side("now", e.Now)
	} else if now != "" {
		fmt.Fprintf(b, "      %s\n", now)
		otherReasons(b, "now also", e.Now, e.Then)
		otherReasons(b, "no longer", e.Then, e.Now)
	}
	if e.Failed {
		b.WriteString("      the agent got an error then\n")
	}
	if len(e.Redacted) > 0 {
		fmt.Fprintf(b, "      decided without the secrets in %s\n", strictjson.OneLine(strings.Join(e.Redacted, ", ")))
	}
	return text{callText(e.At, e.Tool, e.Call) + effects, e.Tool + "\n" + e.Call + effects, b.String()}
}

// otherReasons shows the reasons of one side that the other one does not have.
func otherReasons(b *strings.Builder, word string, side, other replay.Side) {
	for _, why := range side.Reasons {
		same := func(o audit.Reason) bool { return o.Effect == why.Effect && o.ID == why.ID && o.Reason == why.Reason }
		if !slices.ContainsFunc(other.Reasons, same) {
			fmt.Fprintf(b, "      %s: %s: %s (%s)\n", word, why.Effect, strictjson.OneLine(why.Reason), strictjson.OneLine(why.ID))
		}
	}
}

// callText is one call in one line.
func callText(at, tool, call string) string {
	return strings.TrimRight(fmt.Sprintf("%s  %s  %s", strictjson.Visible(at), strictjson.OneLine(tool), strings.TrimRight(screen.Column(call, 100), " ")), " ")
}

// reasonText is the reason of a side's effect, with who gives it.
func reasonText(s replay.Side) string {
	i := slices.IndexFunc(s.Reasons, func(why audit.Reason) bool { return why.Effect == s.Effect })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", strictjson.OneLine(s.Reasons[i].Reason), strictjson.OneLine(s.Reasons[i].ID))
}

// lossesText shows the calls that could not be decided again, or that nobody asked about.
func (r *Report) lossesText(b *strings.Builder, s screen.Page, what string, list []replay.Loss) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %d\n", s.Strong(what), len(list))
	r.list(b, "  ", equalCalls(list, func(l replay.Loss) text {
		return text{callText(l.At, l.Tool, l.Call), l.Tool + "\n" + l.Call, "    " + strictjson.OneLine(l.Why) + "\n"}
	}))
}

func timesText(b *strings.Builder, r *replay.Report) {
	if r.Sampled == 0 {
		return
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000) }
	fmt.Fprintf(b, "\ntime of a decision, in ms (%s): ", screen.Counted(r.Sampled, "call"))
	if r.Then == (replay.Times{}) {
		fmt.Fprintf(b, "median %s, p95 %s\n", ms(r.Now.Median), ms(r.Now.P95))
		return
	}
	fmt.Fprintf(b, "median %s → %s, p95 %s → %s; added for each call: median %s, p95 %s\n",
		ms(r.Then.Median), ms(r.Now.Median), ms(r.Then.P95), ms(r.Now.P95), ms(r.Added.Median), ms(r.Added.P95))
}

// notesText says what the answer rests on.
func (r *Report) notesText(b *strings.Builder) {
	for _, n := range r.notes() {
		fmt.Fprintf(b, "note: %s\n", strictjson.Visible(n))
	}
}

func (r *Report) notes() []string {
	var out []string
	if today := r.Decided - r.Recorded; today > 0 {
		switch {
		case r.facts == Blind:
			out = append(out, fmt.Sprintf("the facts of %s are those of the call alone: no file and no variable was looked at", screen.Counted(today, "call")))
		case r.Kinds[replay.Transcript] > 0:
			out = append(out, fmt.Sprintf("the facts of %s are worked out with the branch of then, and today's files, links and variables", screen.Counted(today, "call")))
		default:
			out = append(out, fmt.Sprintf("the facts of %s are worked out with today's files, links and variables", screen.Counted(today, "call")))
		}
	}
	if r.strangers > 0 {
		out = append(out, fmt.Sprintf("policies of a project that is not here took part in %s then, and do not now", screen.Counted(r.strangers, "decision")))
	}
	if r.Repeated > 0 {
		out = append(out, screen.Counted(r.Repeated, "call")+" of resumed sessions left out, which stand in another transcript, too")
	}
	if r.Against != nil {
		out = append(out, r.Against.notes...)
	}
	return out
}
