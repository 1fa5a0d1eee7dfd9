package tell

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// A Row is one line of a list of decisions: a call of a tool, or one decision about
// something that is none.
type Row struct {
	*audit.Record        // the decision that made the outcome
	Outcome       string // what became of it, in one word

	Review *audit.Review // what a person said of it, nil: nothing
}

// CallRow is the row of a call.
func CallRow(c *audit.Call) Row { return Row{c.Deciding(), string(c.Outcome()), c.Review} }

// RecordRow is the row of one record, with what a person said of it.
func RecordRow(r *audit.Record, said *audit.Review) Row {
	if r.Review != nil {
		return Row{r, "review", nil}
	}
	return Row{r, r.Effect.String(), said}
}

// Columns are the widths of the columns of a list of decisions.
type Columns struct{ event, tool, call int }

// widest are the columns at most, and where it is not known what is to come.
var widest = Columns{event: len(hook.PostToolUseFailure), tool: 24, call: 60}

// ColumnsOf makes room for what is in the list, and for more if more may come.
func ColumnsOf(list []Row, more bool) Columns {
	wide := Columns{event: len(hook.PreToolUse), tool: 5}
	width := func(text string, most int) int { return min(most, utf8.RuneCountInString(strictjson.OneLine(text))) }
	for _, r := range list {
		wide.event = max(wide.event, width(eventOf(r.Record), widest.event))
		wide.tool = max(wide.tool, width(r.Tool, widest.tool))
		wide.call = max(wide.call, width(callOf(r.Record), widest.call))
	}
	if more {
		wide.call = widest.call
	}
	return wide
}

// eventOf is what the decision was about.
func eventOf(r *audit.Record) string {
	switch {
	case r.Sync != nil:
		return "gate sync"
	case r.Review != nil:
		return "gate log review"
	}
	return string(r.Event)
}

// Asked is what was asked for, in one line.
func (r Row) Asked() string { return callOf(r.Record) }

// callOf is what was asked for, in one line.
func callOf(r *audit.Record) string {
	if r.Call != "" || r.Kept == nil {
		return r.Call
	}
	const most = 300 // bytes; a column shows less
	text := wholeCall(r)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Line is one row in one line.
func (wide Columns) Line(s screen.Page, r Row) string {
	line := fmt.Sprintf("%s  %-6s  %s  %s  %s  %s", s.Faint(r.Time.Local().Format("2006-01-02 15:04:05")), strictjson.OneLine(r.ID),
		s.Effect(r.Effect, fmt.Sprintf("%-8s", r.Outcome)), screen.Column(eventOf(r.Record), wide.event), screen.Column(r.Tool, wide.tool),
		screen.Column(callOf(r.Record), wide.call))
	line = strings.TrimRight(line+"  "+s.Name(strings.Join(objectors(r.Record), ", ")), " ")
	if r.Review != nil {
		line += "  [" + strictjson.OneLine(r.Review.Says.String()) + "]"
	}
	return line
}

// wouldText says what a policy would have done to a call that was let through, and
// what spared it: "would deny: trial".
func wouldText(p *audit.Policy) string {
	what := p.Would.Effect.String()
	if p.Would.Effect < hook.Ask {
		what = "change it"
	}
	return "would " + what + ": " + strictjson.OneLine(p.Would.Spared)
}

// An Objection is a policy that a decision is due to, or that changed the call, or that
// was not let do either.
type Objection struct {
	ID   string
	Note string // "" for the first kind, otherwise what it did: changed it, warned, would deny: trial
}

// Objections are those of a decision, each once.
func Objections(r *audit.Record) []Objection {
	var out []Objection
	add := func(id, note string) {
		if o := (Objection{id, note}); !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && r.Effect != hook.Pass {
			add(why.ID, "")
		}
	}
	for _, id := range r.Changed {
		add(id, "changed it")
	}
	for _, why := range r.Warned {
		add(why.ID, "warned")
	}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Objects() {
			add(p.ID, wouldText(p))
		}
	}
	return out
}

// objectors are a decision's objections and faults in words.
func objectors(r *audit.Record) []string {
	var out []string
	for _, o := range Objections(r) {
		id := o.ID
		if o.Note != "" {
			id += " (" + o.Note + ")"
		}
		out = append(out, strictjson.OneLine(id))
	}
	if len(r.Faults) > 0 {
		out = append(out, screen.Counted(len(r.Faults), "fault"))
	}
	return out
}
