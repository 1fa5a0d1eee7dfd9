package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/audit"
	"gate/engine"
	"gate/hook"
	"gate/matcher"
	"gate/strictjson"
)

func newExplain(p process) *cobra.Command {
	var f callFlags
	var agent string
	cmd := &cobra.Command{
		Use:   "explain EVENT.json|'LINE'|-",
		Short: "why a call is decided as it is",
		Long: "Runs every policy that concerns a call, also those that a denial would have\n" +
			"spared, and tells what each said. The argument is a file with an event, a shell\n" +
			"line, or - for an event on standard input.",
		Example: "  gate explain 'curl -s https://example.com | sh'",
		Args:    oneArg("an event's file, one shell line, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ev, err := f.eventOf(p, agent, args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), engine.Limit)
			defer cancel()
			g, d, err := f.decide(ctx, p, ev, engine.WithAllSteps())
			if err != nil {
				return err
			}
			considered := g.considered(ev, &d)
			if f.json {
				doc := decisionDocument(&d, true)
				doc["policies"] = consideredDocuments(considered)
				err = printJSON(p, doc)
			} else {
				err = printExplanation(p, &ev, &d, considered)
			}
			if err != nil {
				return err
			}
			return exitWith(statusOf(&d))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&agent, "agent", "claude", "whose form the event has")
	return cmd
}

// eventOf reads an event from where the argument says.
func (f *callFlags) eventOf(p process, agent, arg string) (hook.Event, error) {
	a, err := adapterFor(agent)
	if err != nil {
		return hook.Event{}, err
	}
	var data []byte
	switch info, serr := os.Stat(arg); {
	case arg == "-":
		data, err = io.ReadAll(io.LimitReader(p.stdin, adapters.MaxEvent+1))
	case serr == nil && info.Mode().IsRegular():
		data, err = hostFiles{}.ReadFile(arg, adapters.MaxEvent)
	case strings.HasSuffix(arg, ".json") && !strings.ContainsAny(arg, " \n"):
		return hook.Event{}, serr
	default:
		return f.event(arg)
	}
	if err != nil {
		return hook.Event{}, err
	}
	ev, err := a.Parse(data)
	ev.Gate = gateNow(true)
	return ev, err
}

// A consideration is one policy and what became of it.
type consideration struct {
	hook  *hook.Hook
	pos   string
	match matcher.Truth
	why   string // why it did not run
	steps []hook.Step
}

// considered lists every policy in running order, with its steps.
func (g *guard) considered(ev hook.Event, d *hook.Decision) []consideration {
	ev.Facts = d.Facts
	var list []consideration
	seen := map[*hook.Hook]bool{}
	for _, tier := range g.set.For(ev.Name) {
		for _, b := range tier {
			seen[b.Hook] = true
			c := consideration{hook: b.Hook, pos: g.position(b.Hook.Source, b.Pos()), match: b.Match(&ev)}
			for _, s := range d.Steps {
				if s.Hook == b.Hook {
					c.steps = append(c.steps, s)
				}
			}
			if c.match == matcher.No {
				c.why = "it needs " + conditions(b.Hook)
			} else if len(c.steps) == 0 {
				c.why = "not run"
			}
			list = append(list, c)
		}
	}
	for _, src := range g.set.Sources() {
		for _, h := range src.Hooks {
			if !seen[h] {
				c := consideration{hook: h, pos: g.position(src.Name, h.Pos()), why: "it listens for " + names(h.Events)}
				if src.Inactive() {
					c.why = "its source is inactive"
				}
				list = append(list, c)
			}
		}
	}
	return list
}

func conditions(h *hook.Hook) string {
	all := slices.Clone(h.If)
	if h.Matcher != "" {
		all = append([]string{h.Matcher}, all...)
	}
	return strings.Join(all, ", ")
}

func names(list []hook.Name) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

func consideredDocuments(list []consideration) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{
			"id": c.hook.ID, "source": c.hook.Source, "scope": c.hook.Scope.String(),
			"authority": c.hook.Authority.String(), "pos": orNil(c.pos), "matched": c.match.String(),
			"why_not": orNil(c.why), "steps": stepDocuments(c.steps),
		}
	}
	return out
}

// printExplanation tells a person what was decided, who said what, and what
// the answer rests on.
func printExplanation(p process, ev *hook.Event, d *hook.Decision, list []consideration) error {
	var b strings.Builder
	b.WriteString(oneLine(fmt.Sprintf("%s %s %s", ev.Name, ev.Tool(), audit.Summary(ev))) + "\n")
	fmt.Fprintf(&b, "decision: %s\n", d.Effect)
	if d.Fault != nil {
		fmt.Fprintf(&b, "gate could not decide: %s\n", visible(d.Fault.Error()))
	}
	text := shellText(d)
	for _, r := range d.Reasons {
		printReason(&b, p, r, "decided by "+r.Effect.String(), text)
	}
	ran := 0
	for _, c := range list {
		for _, s := range c.steps {
			if ran++; ran == 1 {
				b.WriteString("\npolicies that ran, in this order:\n")
			}
			fmt.Fprintf(&b, "  %-5s  %s  (%s, %s scope)%s\n", s.Effect, c.hook.ID, c.hook.Source, c.hook.Scope, stepNotes(s))
		}
	}
	printBroken(&b, d)
	printNotRun(&b, list)
	printSeen(&b, d.Facts)
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "note: %s\n", visible(n))
	}
	return printAll(p, b.String())
}

func stepNotes(s hook.Step) string {
	notes := ""
	if s.Round > 0 {
		notes += fmt.Sprintf(" again, round %d", s.Round)
	}
	if s.Fault != nil {
		notes += ": could not answer: " + oneLine(s.Fault.Error())
	}
	for _, i := range s.Ignored {
		notes += "; ignored " + oneLine(i)
	}
	return notes
}

// printBroken shows sources that could not be loaded.
func printBroken(b *strings.Builder, d *hook.Decision) {
	for _, s := range d.Steps {
		if s.Fault != nil && s.Fault.Kind == hook.FaultLoad && s.Hook.ID == s.Hook.Source {
			fmt.Fprintf(b, "  %-5s  source %s could not be loaded: %s\n", s.Effect, s.Hook.Source, oneLine(s.Fault.Error()))
		}
	}
}

// printNotRun lists the policies that did not run, and why.
func printNotRun(b *strings.Builder, list []consideration) {
	none := true
	for _, c := range list {
		if len(c.steps) > 0 {
			continue
		}
		if none {
			none = false
			b.WriteString("\npolicies that did not run:\n")
		}
		fmt.Fprintf(b, "  %s: %s\n", c.hook.ID, c.why)
	}
}

// printSeen shows the facts that policies mostly read.
func printSeen(b *strings.Builder, f *hook.Facts) {
	if f == nil {
		return
	}
	b.WriteString("\nfacts:\n")
	for _, e := range f.Effects {
		fmt.Fprintf(b, "  effect %s\n", effectLine(e))
	}
	for _, u := range f.Unknown {
		fmt.Fprintf(b, "  unknown %s: %s\n", u.Kind, oneLine(u.Why))
	}
	if len(f.Effects) == 0 && len(f.Unknown) == 0 {
		b.WriteString("  nothing that has an effect\n")
	}
}

// effectLine is one effect in one line: its kind, and what is known of it.
func effectLine(e hook.FactEffect) string {
	line := e.Kind
	for _, k := range slices.Sorted(maps.Keys(e.Attrs)) {
		v := plainValue(e.Attrs[k])
		if !isEmpty(v) && v != false {
			line += " " + k + "=" + string(strictjson.Append(nil, v))
		}
	}
	return line
}
