package past

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/internal/replay"
	"gate/internal/strictjson"
)

// A FleetReport says what is different about the calls of a fleet.
type FleetReport struct {
	*replay.Partial
	Limit int // examples of each list that people are shown; 0: all
}

// Text is the report for people.
func (r *FleetReport) Text(s screen.Page) string {
	var b strings.Builder
	sum := r.Summary
	fmt.Fprintf(&b, "%s of a fleet: %s decided again, %s, %d not replayable\n", screen.Counted(int(sum.Records), "record"), screen.Counted(int(sum.Decided), "call"),
		s.Strong(fmt.Sprintf("%d changed", sum.Count(""))), sum.Lost.Calls)
	if r.Task.Against == "" {
		b.WriteString("then: as recorded · now: the policies in force here\n")
	} else {
		fmt.Fprintf(&b, "then: the policies in force here · now: with %s\n", strictjson.Visible(r.Task.Against))
	}
	for _, c := range replay.Changes() {
		n := sum.Count(c)
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %d\n", s.Strong(changeWords[c]), n)
		for _, policy := range sum.Policies(c) {
			t := sum.Changed[c][policy]
			if policy == "" {
				policy = "no policy"
			}
			fmt.Fprintf(&b, "  %s: %s\n", s.Name(strictjson.OneLine(policy)), tallyText(t))
			r.examples(&b, "    ", t, func(e replay.Entry) text { return entryText(s, e) })
		}
	}
	r.tally(&b, s, "could not answer", sum.Faults, func(e replay.Entry) string { return strings.Join(e.Now.Faults[:min(1, len(e.Now.Faults))], "") })
	r.tally(&b, s, "not replayable", sum.Lost, func(e replay.Entry) string { return e.Why })
	r.timesText(&b)
	for _, n := range r.notes() {
		fmt.Fprintf(&b, "note: %s\n", strictjson.Visible(n))
	}
	return b.String()
}

// tallyText is how many calls on how many machines.
func tallyText(t *replay.Tally) string {
	n, exact := t.Machines.Count()
	about := ""
	if !exact {
		about = "about "
	}
	return fmt.Sprintf("%d on %s%s", t.Calls, about, screen.Counted(int(n), "machine"))
}

// examples shows what the limit leaves of examples.
func (r *FleetReport) examples(b *strings.Builder, indent string, t *replay.Tally, say func(replay.Entry) text) {
	left := t.Calls
	for i, e := range t.Examples.Frequent() {
		if r.Limit > 0 && i >= r.Limit {
			break
		}
		said, times := say(e.Entry), ""
		if e.Calls > 1 {
			times = fmt.Sprintf("  (%d times)", e.Calls)
		}
		left -= e.Calls
		fmt.Fprintf(b, "%s%s%s\n%s", indent, said.line, times, said.about)
	}
	if left > 0 {
		fmt.Fprintf(b, "%s… and %d more\n", indent, left)
	}
}

func (r *FleetReport) tally(b *strings.Builder, s screen.Page, what string, t *replay.Tally, why func(replay.Entry) string) {
	if t.Calls == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %s\n", s.Strong(what), tallyText(t))
	r.examples(b, "  ", t, func(e replay.Entry) text {
		return text{line: callText(e.At, e.Tool, e.Call), about: "    " + strictjson.OneLine(why(e)) + "\n"}
	})
}

func (r *FleetReport) timesText(b *strings.Builder) {
	sum := r.Summary
	if len(sum.Now) == 0 {
		return
	}
	ms := func(t replay.Took, share float64) string {
		return fmt.Sprintf("%.2f", float64(t.At(share).Microseconds())/1000)
	}
	fmt.Fprintf(b, "\ntime of a decision, in ms: ")
	if len(sum.Then) == 0 {
		fmt.Fprintf(b, "median %s, p95 %s\n", ms(sum.Now, 0.5), ms(sum.Now, 0.95))
		return
	}
	fmt.Fprintf(b, "median %s → %s, p95 %s → %s\n", ms(sum.Then, 0.5), ms(sum.Now, 0.5), ms(sum.Then, 0.95), ms(sum.Now, 0.95))
}

func (r *FleetReport) notes() []string {
	var out []string
	sum := r.Summary
	if sum.Textless > 0 {
		out = append(out, fmt.Sprintf("%s came without text and facts, as at the level effects: they cannot be decided again, and are not among the calls", screen.Counted(int(sum.Textless), "record")))
	}
	if anew := sum.Decided - sum.Recorded; anew > 0 {
		out = append(out, fmt.Sprintf("the facts of %s are those of the call alone: no file and no variable was looked at", screen.Counted(int(anew), "call")))
	}
	if sum.Strangers > 0 {
		out = append(out, fmt.Sprintf("policies of a project took part in %s then, and do not now", screen.Counted(int(sum.Strangers), "decision")))
	}
	if whole := allWhole(sum); !whole {
		out = append(out, "examples are a sample of the calls that differ, by chance; numbers are of all")
	}
	return out
}

// allWhole reports that every example there is was kept.
func allWhole(s *replay.Summary) bool {
	for _, policies := range s.Changed {
		for _, t := range policies {
			if !t.Examples.Whole() {
				return false
			}
		}
	}
	return s.Faults.Examples.Whole() && s.Lost.Examples.Whole()
}

// Document is the report for programs.
func (r *FleetReport) Document() map[string]any {
	sum := r.Summary
	counts, changed, effects := map[string]any{}, []any{}, map[string]any{}
	for _, c := range replay.Changes() {
		counts[string(c)] = sum.Count(c)
		for _, policy := range sum.Policies(c) {
			doc := tallyDocument(sum.Changed[c][policy])
			doc["change"], doc["policy"] = string(c), document.OrNull(policy)
			changed = append(changed, doc)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sum.Effects)) {
		effects[strings.Replace(key, " ", " → ", 1)] = sum.Effects[key]
	}
	return map[string]any{
		"records": sum.Records, "calls": sum.Calls(), "decided": sum.Decided, "recorded_facts": sum.Recorded, "without_text": sum.Textless, "no_calls": sum.NoCalls,
		"against": document.OrNull(r.Task.Against), "counts": counts, "effects": effects, "changed": changed,
		"faults": tallyDocument(sum.Faults), "not_replayable": tallyDocument(sum.Lost), "notes": document.Strings(r.notes()),
		"time": map[string]any{"then": tookDocument(sum.Then), "now": tookDocument(sum.Now)},
	}
}

func tookDocument(t replay.Took) map[string]any {
	return timesDocument(replay.Times{Median: t.At(0.5), P95: t.At(0.95)})
}

func tallyDocument(t *replay.Tally) map[string]any {
	n, exact := t.Machines.Count()
	examples := []any{}
	for _, e := range t.Examples.Frequent() {
		doc := entryDocuments([]replay.Entry{e.Entry})[0].(map[string]any)
		doc["times"], doc["why"] = e.Calls, document.OrNull(e.Entry.Why)
		examples = append(examples, doc)
	}
	return map[string]any{"calls": t.Calls, "machines": n, "machines_exact": exact, "examples": examples, "examples_are_all": t.Examples.Whole()}
}
