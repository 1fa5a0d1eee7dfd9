package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gate/audit"
	"gate/cmd/internal/document"
	"gate/cmd/internal/places"
	"gate/cmd/internal/screen"
	"gate/explain"
	"gate/hook"
	"gate/strictjson"
)

func newFacts(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "facts 'LINE'",
		Short: "what gate sees in a call",
		Long: "Shows what gate works out about a call without running anything: its commands,\n" +
			"what each of them reads, writes and reaches, and what is not known. With --json\n" +
			"it prints input.facts as policies read it; docs/facts.md describes the fields.",
		Example: "  gate facts 'cd /srv && sudo rm -rf data'",
		Args:    oneArg("one shell line, or what --tool takes"),
		RunE: func(_ *cobra.Command, args []string) error {
			ev, err := f.event(args[0])
			if err != nil {
				return err
			}
			d, err := f.dirs.ForPeople(p.lookupEnv)
			if err != nil {
				return err
			}
			g, err := newGuard(setting{
				dirs: d, home: p.home(), project: places.ProjectRoot("", ev.Dir()), env: p.lookupEnv,
			})
			if err != nil {
				return err
			}
			facts := g.Reader.Of(&ev)
			if f.json {
				return printJSON(p, document.Value(facts.Document()))
			}
			return printFacts(p, &ev, facts)
		},
	}
	f.add(cmd)
	return cmd
}

// printFacts shows a person what gate sees: the line with a number under each
// program, then the commands as they lie in each other, with what each does.
func printFacts(p process, ev *hook.Event, f *hook.Facts) error {
	t := &sight{Style: p.style(), p: p, ev: ev, facts: f}
	if f.Shell != nil {
		t.line()
		for i := range f.Shell.Commands {
			t.command(&f.Shell.Commands[i])
		}
	} else {
		fmt.Fprintf(t, "%s\n", oneLine(audit.Summary(ev)))
	}
	t.belonging(0, "")
	if t.nothing() {
		t.WriteString("nothing that has an effect\n")
	}
	return printAll(p, t.String())
}

// A sight is facts on their way to a person.
type sight struct {
	strings.Builder
	screen.Style
	p     process
	ev    *hook.Event
	facts *hook.Facts
}

// line shows the shell line with the number of each command under its program.
func (t *sight) line() {
	var marks []explain.Mark
	for _, c := range t.facts.Shell.Commands {
		if len(c.Words) > 0 && c.Words[0].Span != nil {
			marks = append(marks, explain.Mark{Span: *c.Words[0].Span, Label: strconv.Itoa(c.ID)})
		}
	}
	if len(marks) == 0 {
		fmt.Fprintf(t, "  %s\n", screen.Short(oneLine(t.facts.Shell.Text), screen.LineWidth))
		return
	}
	t.WriteString(t.Marked(hook.Pass, t.facts.Shell.Text, marks))
}

// command shows one command, and below it what belongs to it.
func (t *sight) command(c *hook.ShellCommand) {
	deep := max(0, c.Depth-len(c.Via)) // wrappers are named, not shown as a tree
	if len(c.Words) > 0 && c.Words[0].Span == nil {
		deep++ // it stands inside a text
	}
	indent := strings.Repeat("  ", min(deep, 10))
	fmt.Fprintf(t, "%s%d  %s%s\n", indent, c.ID, t.Strong(commandWords(c)), commandPlace(t.p, c, t.ev.Dir()))
	indent += "     "
	if s := c.Stdin; s != nil {
		from := s.From
		if s.Command > 0 {
			from = fmt.Sprintf("the output of %d", s.Command)
		}
		if s.Text != nil {
			from += ": " + inShort(*s.Text)
		}
		fmt.Fprintf(t, "%sreads    %s\n", indent, from)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(t, "%ssets     %s=%s\n", indent, visible(name), known(c.Env[name]))
	}
	t.belonging(c.ID, indent)
}

// belonging shows the facts of one command; 0 stands for the call itself.
func (t *sight) belonging(command int, indent string) {
	f := t.facts
	for _, c := range f.Code {
		if c.Command == command {
			fmt.Fprintf(t, "%s%-8s (%s) %s\n", indent, visible(c.Language), visible(c.Source), known(c.Text))
		}
	}
	for _, p := range f.Paths {
		if p.Command == command {
			fmt.Fprintf(t, "%s%-8s %s\n", indent, visible(p.Access), t.path(&p))
		}
	}
	for _, h := range f.Hosts {
		if h.Command == command {
			fmt.Fprintf(t, "%s%-8s %s", indent, visible(h.Access), known(h.Host))
			if h.URL != nil {
				fmt.Fprintf(t, " (%s)", known(h.URL))
			}
			t.WriteString("\n")
		}
	}
	for _, e := range f.Effects {
		if e.Command == command {
			fmt.Fprintf(t, "%s%s %s\n", indent, t.Name("effect  "), effectLine(e))
		}
	}
	for _, u := range f.Unknown {
		if u.Command == command {
			fmt.Fprintf(t, "%s%s %s: %s\n", indent, t.Effect(hook.Ask, "unknown "), visible(u.Kind), oneLine(u.Why))
			if u.Span != nil && f.Shell != nil && command == 0 {
				t.WriteString(t.Marked(hook.Ask, f.Shell.Text, []explain.Mark{{Span: *u.Span}}))
			}
		}
	}
}

// path is a path as a person reads it: where it lies, and where links lead.
func (t *sight) path(p *hook.Path) string {
	if p.Path == nil {
		return "a path that is not known"
	}
	s := screen.Short(oneLine(t.p.tilde(*p.Path)), screen.LabelWidth)
	if p.Glob {
		s += ", a pattern"
	}
	if p.Resolved != nil && *p.Resolved != *p.Path {
		s += ", a link to " + screen.Short(oneLine(t.p.tilde(*p.Resolved)), screen.LabelWidth)
	}
	switch {
	case p.InProject == nil:
		return s
	case *p.InProject:
		return s + ", in the project"
	}
	return s + ", outside the project"
}

func (t *sight) nothing() bool {
	f := t.facts
	return len(f.Effects)+len(f.Paths)+len(f.Hosts)+len(f.Unknown)+len(f.Code) == 0
}

// known is a text that may not be known.
func known(s *string) string {
	if s == nil {
		return "not known"
	}
	return screen.Short(oneLine(*s), screen.LabelWidth)
}

// commandWords are a command's words in one line, as far as they are known.
func commandWords(c *hook.ShellCommand) string {
	var list []string
	for _, w := range c.Words {
		switch {
		case w.Value == nil:
			list = append(list, "?")
		case *w.Value == "" || strings.ContainsAny(*w.Value, " \t\n"):
			list = append(list, "'"+*w.Value+"'")
		default:
			list = append(list, *w.Value)
		}
	}
	return screen.Short(oneLine(strings.Join(list, " ")), screen.LabelWidth)
}

// commandPlace says through what a command is run, and where, if that is not
// dir.
func commandPlace(p process, c *hook.ShellCommand, dir string) string {
	s := ""
	if len(c.Via) > 0 {
		s = ", run by " + oneLine(strings.Join(c.Via, ", "))
	}
	switch {
	case c.Dir == nil:
		return s + ", in a directory that is not known"
	case *c.Dir != dir:
		return s + ", in " + oneLine(p.tilde(*c.Dir))
	}
	return s
}

// effectLine is one effect in one line: its kind, and what is known of it.
func effectLine(e hook.FactEffect) string {
	line := e.Kind
	for _, k := range slices.Sorted(maps.Keys(e.Attrs)) {
		v := document.Value(e.Attrs[k])
		if !isEmpty(v) && v != false && v != "" {
			line += " " + k + "=" + string(strictjson.Append(nil, v))
		}
	}
	return screen.Short(oneLine(line), 2*screen.LabelWidth)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
