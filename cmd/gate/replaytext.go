package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/audit"
	"gate/cmd/internal/screen"
	"gate/cmd/internal/tell"
	"gate/replay"
)

// changeWords are the headings of a report.
var changeWords = map[replay.Change]string{
	replay.NewlyDenied: "newly denied", replay.NewlyAsked: "newly asked", replay.NewlyAllowed: "newly allowed",
	replay.Rewritten: "runs changed otherwise", replay.Reworded: "other reasons",
}

// text is a report for people.
func (f *replayFlags) text(p process, r *replay.Report, against *proposal, inputs []string) string {
	var b strings.Builder
	s := p.page()
	fmt.Fprintf(&b, "%s from %s: %s, %s not replayable\n", screen.Counted(r.Calls, "call"), screen.Counted(len(inputs), "file"),
		s.Strong(fmt.Sprintf("%d changed", len(r.Changed))), fmt.Sprint(len(r.Lost)))
	if against == nil {
		b.WriteString("then: as recorded, and what nobody recorded went ahead · now: the policies in force here\n")
	} else {
		fmt.Fprintf(&b, "then: the policies in force here · now: with %s\n", visible(against.text(p, f.as)))
	}
	for _, c := range replay.Changes() {
		f.changeText(&b, p, r, c)
	}
	if len(r.Faults) > 0 {
		fmt.Fprintf(&b, "\n%s: %d\n", s.Strong("could not answer"), len(r.Faults))
		for _, e := range f.first(r.Faults) {
			fmt.Fprintf(&b, "  %s\n", callText(e.At, e.Tool, e.Call))
			fmt.Fprintf(&b, "    %s\n", oneLine(e.Now.Faults[0]))
		}
		f.more(&b, "  ", len(r.Faults))
	}
	f.lostText(&b, p, r)
	timesText(&b, r)
	f.notesText(&b, r, against)
	return b.String()
}

// first returns what --limit leaves of a list.
func (f *replayFlags) first(list []replay.Entry) []replay.Entry {
	if f.limit > 0 && len(list) > f.limit {
		return list[:f.limit]
	}
	return list
}

func (f *replayFlags) more(b *strings.Builder, indent string, n int) {
	if f.limit > 0 && n > f.limit {
		fmt.Fprintf(b, "%s… and %d more\n", indent, n-f.limit)
	}
}

func (f *replayFlags) changeText(b *strings.Builder, p process, r *replay.Report, c replay.Change) {
	n := r.Count(c)
	if n == 0 {
		return
	}
	s := p.page()
	fmt.Fprintf(b, "\n%s: %d\n", s.Strong(changeWords[c]), n)
	for _, g := range r.Groups(c) {
		policy := g.Policy
		if policy == "" {
			policy = "no policy"
		}
		fmt.Fprintf(b, "  %s: %d\n", s.Name(oneLine(policy)), len(g.Entries))
		for _, e := range f.first(g.Entries) {
			f.entryText(b, p, e)
		}
		f.more(b, "    ", len(g.Entries))
	}
}

func (f *replayFlags) entryText(b *strings.Builder, p process, e replay.Entry) {
	s := p.page()
	fmt.Fprintf(b, "    %s  %s → %s\n", callText(e.At, e.Tool, e.Call),
		s.Effect(e.Then.Effect, e.Then.Effect.String()), s.Effect(e.Now.Effect, e.Now.Effect.String()))
	side := func(word string, side replay.Side) {
		if text := reasonText(side); text != "" {
			fmt.Fprintf(b, "      %s: %s\n", word, text)
		}
		if e.Change == replay.Rewritten {
			text := "as it came"
			if side.Rewrite != nil {
				text = oneLine(tell.Input(side.Rewrite))
			} else if len(side.Changed) > 0 {
				text = "changed by " + oneLine(strings.Join(side.Changed, ", "))
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
		fmt.Fprintf(b, "      decided without the secrets in %s\n", oneLine(strings.Join(e.Redacted, ", ")))
	}
}

// otherReasons shows the reasons of one side that the other one does not have.
func otherReasons(b *strings.Builder, word string, side, other replay.Side) {
	for _, why := range side.Reasons {
		same := func(o audit.Reason) bool { return o.Effect == why.Effect && o.ID == why.ID && o.Reason == why.Reason }
		if !slices.ContainsFunc(other.Reasons, same) {
			fmt.Fprintf(b, "      %s: %s: %s (%s)\n", word, why.Effect, oneLine(why.Reason), oneLine(why.ID))
		}
	}
}

// callText is one call in one line.
func callText(at, tool, call string) string {
	return strings.TrimRight(fmt.Sprintf("%s  %s  %s", visible(at), oneLine(tool), strings.TrimRight(screen.Column(call, 100), " ")), " ")
}

// reasonText is the reason of a side's effect, with who gives it.
func reasonText(s replay.Side) string {
	i := slices.IndexFunc(s.Reasons, func(why audit.Reason) bool { return why.Effect == s.Effect })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", oneLine(s.Reasons[i].Reason), oneLine(s.Reasons[i].ID))
}

func (f *replayFlags) lostText(b *strings.Builder, p process, r *replay.Report) {
	if len(r.Lost) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %d\n", p.page().Strong("not replayable"), len(r.Lost))
	for i, l := range r.Lost {
		if f.limit > 0 && i == f.limit {
			break
		}
		fmt.Fprintf(b, "  %s\n    %s\n", callText(l.At, l.Tool, l.Call), oneLine(l.Why))
	}
	f.more(b, "  ", len(r.Lost))
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
func (f *replayFlags) notesText(b *strings.Builder, r *replay.Report, against *proposal) {
	for _, n := range f.notes(r, against) {
		fmt.Fprintf(b, "note: %s\n", visible(n))
	}
}

func (f *replayFlags) notes(r *replay.Report, against *proposal) []string {
	var out []string
	if today := r.Decided - r.Recorded; today > 0 {
		switch {
		case f.facts == factsBlind:
			out = append(out, fmt.Sprintf("the facts of %s are those of the call alone: no file and no variable was looked at", screen.Counted(today, "call")))
		case r.Kinds[replay.Transcript] > 0:
			out = append(out, fmt.Sprintf("the facts of %s are worked out with the branch of then, and today's files, links and variables", screen.Counted(today, "call")))
		default:
			out = append(out, fmt.Sprintf("the facts of %s are worked out with today's files, links and variables", screen.Counted(today, "call")))
		}
	}
	if f.strangers > 0 {
		out = append(out, fmt.Sprintf("policies of a project that is not here took part in %s then, and do not now", screen.Counted(f.strangers, "decision")))
	}
	if r.Repeated > 0 {
		out = append(out, screen.Counted(r.Repeated, "call")+" of resumed sessions left out, which stand in another transcript, too")
	}
	if against != nil {
		out = append(out, against.notes...)
	}
	return out
}
