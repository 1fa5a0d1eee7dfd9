package tell

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/story"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// Chain tells people of the calls that led to a decision, the oldest first, each with its
// words marked. Without links it is "".
func Chain(p screen.Page, r *audit.Record, links []story.Link, whole bool) string {
	if len(links) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("what led to it:\n")
	shown := []*audit.Record{}
	for i := range links {
		for _, end := range []*audit.Record{links[i].From, links[i].To} {
			if end == nil {
				fmt.Fprintf(&b, "  an earlier call, %s, which the log does not have\n", strictjson.OneLine(links[i].Call))
				continue
			}
			if !slices.Contains(shown, end) {
				shown = append(shown, end)
				chained(&b, p, r, end, links)
			}
		}
	}
	if !whole {
		b.WriteString("  the log is long: what came before was not looked for\n")
	}
	return b.String()
}

// chained is one call of a chain.
func chained(b *strings.Builder, p screen.Page, r, one *audit.Record, links []story.Link) {
	who := one.Agent
	if one.Session != r.Session || one.Agent != r.Agent {
		who += ", session " + one.Session
	}
	at := one.Time.Local().Format(time.DateTime)
	if one == r {
		fmt.Fprintf(b, "  %s  %s  this call\n", at, p.Effect(one.Effect, one.Effect.String()))
	} else {
		fmt.Fprintf(b, "  %s  %s  %s of %s, %s\n", at, p.Effect(one.Effect, one.Effect.String()), strictjson.OneLine(one.Tool), strictjson.OneLine(who), p.Faint(strictjson.OneLine(one.ID)))
	}
	text := story.Marked(one, links)
	if len(text.Marks) == 0 {
		fmt.Fprintf(b, "    %s\n", screen.Short(strictjson.OneLine(text.Text), screen.LineWidth))
	} else {
		for line := range strings.Lines(p.Marked(one.Effect, text.Text, text.Marks)) {
			b.WriteString("  " + line)
		}
	}
	for i := range links {
		if l := &links[i]; l.To == one {
			fmt.Fprintf(b, "    %s\n", cameBy(within(p, one), l))
		}
	}
}

// cameBy says in one line by what a call got data of an earlier one.
func cameBy(short func(string) string, l *story.Link) string {
	what := l.What
	switch {
	case what != "":
	case l.Origin == "untrusted":
		what = "untrusted text"
	case l.Origin == "secret":
		what = "a secret"
	default:
		what = "what was written"
	}
	by := "by what the agent saw"
	switch {
	case l.Path != "":
		by = "by " + short(l.Path)
	case l.How == "seen" && l.Host != "":
		what += " " + l.Host
	case l.Host != "":
		by = "by the host " + l.Host
	case l.How == "sequence":
		by = "only because it came after"
	}
	from := "of an earlier call"
	if l.From != nil {
		from = "of " + l.From.ID
	}
	return strictjson.OneLine(what + " " + from + ", " + by)
}

// Session tells people what happened in a session. holds are files that hold a secret
// now, by their paths, with its kind.
func Session(p screen.Page, s *story.Session, holds map[string]string) string {
	var b strings.Builder
	first, last := &s.Steps[0], &s.Steps[len(s.Steps)-1]
	r := first.Record
	fmt.Fprintf(&b, "session %s of %s in %s, %s to %s\n", strictjson.OneLine(r.Session), strictjson.OneLine(r.Agent), strictjson.OneLine(p.Tilde(r.Project)),
		r.Time.Local().Format(time.DateTime), last.Record.Time.Local().Format(time.TimeOnly))
	fmt.Fprintf(&b, "%s\n\n", tally(s))
	if s.Left > 0 {
		fmt.Fprintf(&b, "%s before these are left out\n", screen.Counted(s.Left, "step"))
	}
	for i := range s.Steps {
		step(&b, p, s, &s.Steps[i])
	}
	if len(holds) > 0 {
		b.WriteString("\nfiles that hold a secret now:\n")
		for _, path := range slices.Sorted(maps.Keys(holds)) {
			fmt.Fprintf(&b, "  %s  %s\n", strictjson.OneLine(p.Tilde(path)), strictjson.OneLine(holds[path]))
		}
	}
	if !s.Whole {
		b.WriteString("\nthe log is long: what came before was not looked for in all of it\n")
	}
	return b.String()
}

// tally counts the calls of a session by what became of them.
func tally(s *story.Session) string {
	count := map[audit.Outcome]int{}
	calls := 0
	for i := range s.Steps {
		if o := s.Steps[i].Outcome; o != "" {
			calls++
			count[o]++
		}
	}
	text := screen.Counted(calls, "call")
	for _, o := range []audit.Outcome{audit.CallDenied, audit.CallAsked, audit.CallApproved, audit.CallChanged, audit.CallAllowed} {
		if count[o] > 0 {
			text += fmt.Sprintf(", %d %s", count[o], o)
		}
	}
	return text
}

// step is one step of a story: what it was, what it did, what came of it.
func step(b *strings.Builder, p screen.Page, s *story.Session, one *story.Step) {
	r := one.Record
	word, what := string(one.Outcome), r.Tool
	if one.Outcome == "" {
		word, what = "", string(r.Event)
		if one.Decided.HeldBack() {
			word = one.Decided.Effect.String()
		}
	}
	if id := subAgent(r); id != "" && one.Outcome != "" {
		what += " (sub-agent " + id + ")"
	}
	short, text := within(p, r), one.Text()
	if r.Tool != "Bash" && filepath.IsAbs(text) { // the path of a tool for files
		text = short(text)
	}
	fmt.Fprintf(b, "%s  %s  %s  %s\n", r.Time.Local().Format(time.TimeOnly), p.Effect(one.Decided.Effect, screen.Column(word, 8)),
		p.Faint(screen.Column(strictjson.OneLine(r.ID), 6)), strictjson.OneLine(strings.TrimSpace(what+"  "+screen.Short(strictjson.OneLine(text), screen.LineWidth))))
	line := func(format string, args ...any) {
		fmt.Fprintf(b, "          %s\n", strictjson.OneLine(fmt.Sprintf(format, args...)))
	}
	if text := deeds(short, &one.Deeds); text != "" && one.Outcome == audit.CallDenied {
		line("did not run: %s", text)
	} else if text != "" {
		line("%s", text)
	}
	if one.Decided.HeldBack() {
		for _, why := range one.Decided.Reasons {
			if why.Effect == one.Decided.Effect {
				line("%s: %s (%s)", one.Decided.Effect, why.Reason, why.ID)
			}
		}
	}
	for _, l := range s.To(one) {
		line("has %s", cameBy(short, &l))
	}
	for _, l := range s.From(one) {
		line("led to %s (%s, %s)", l.To.ID, l.To.Time.Local().Format(time.TimeOnly), l.To.Effect)
	}
}

// deeds says in one line what a call does that others may follow from.
func deeds(short func(string) string, d *story.Deeds) string {
	var list []string
	say := func(verb string, names []string) {
		const most = 6
		var shown []string
		for _, name := range names[:min(len(names), most)] {
			shown = append(shown, short(name))
		}
		if n := len(names) - most; n > 0 {
			shown = append(shown, fmt.Sprintf("%d more", n))
		}
		if len(shown) > 0 {
			list = append(list, verb+" "+strings.Join(shown, ", "))
		}
	}
	var secrets []string
	for _, s := range d.Secrets {
		secrets = append(secrets, strings.TrimSpace(s.What+" "+short(s.Path)))
	}
	say("reads", secrets)
	say("fetches from", d.Fetches)
	say("writes", d.Writes)
	say("deletes", d.Deletes)
	say("runs", d.Runs)
	say("sends to", d.Sends)
	return strings.Join(list, "; ")
}

// within shortens paths of a record: those below its project are relative to it.
func within(p screen.Page, r *audit.Record) func(string) string {
	return func(path string) string {
		if rest, below := strings.CutPrefix(path, filepath.ToSlash(r.Project)+"/"); below && r.Project != "" {
			return rest
		}
		return p.Tilde(path)
	}
}

// subAgent is the sub-agent whose call a record is about, "" for none.
func subAgent(r *audit.Record) string {
	if r.Kept == nil {
		return ""
	}
	id, _ := r.Kept.Input["agent_id"].(string)
	return id
}
