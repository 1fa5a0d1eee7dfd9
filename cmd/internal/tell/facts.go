package tell

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// Facts shows a person what gate sees: the line with a number under each
// program, then the commands as they lie in each other, with what each does.
func Facts(p screen.Page, ev *hook.Event, f *hook.Facts) string {
	t := &sight{Page: p, ev: ev, facts: f}
	if f.Shell != nil {
		t.line()
		for i := range f.Shell.Commands {
			t.command(&f.Shell.Commands[i])
		}
	} else {
		fmt.Fprintf(t, "%s\n", strictjson.OneLine(audit.Summary(ev)))
	}
	t.belonging(0, "")
	if t.nothing() {
		t.WriteString("nothing that has an effect\n")
	}
	return t.String()
}

// A sight is facts on their way to a person.
type sight struct {
	strings.Builder
	screen.Page
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
		fmt.Fprintf(t, "  %s\n", screen.Short(strictjson.OneLine(t.facts.Shell.Text), screen.LineWidth))
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
	fmt.Fprintf(t, "%s%d  %s%s\n", indent, c.ID, t.Strong(commandWords(c)), commandPlace(t.Page, c, t.ev.Dir()))
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
		fmt.Fprintf(t, "%ssets     %s=%s\n", indent, strictjson.Visible(name), known(c.Env[name]))
	}
	t.belonging(c.ID, indent)
}

// belonging shows the facts of one command; 0 stands for the call itself.
func (t *sight) belonging(command int, indent string) {
	f := t.facts
	for _, c := range f.Code {
		if c.Command == command {
			fmt.Fprintf(t, "%s%-8s (%s) %s\n", indent, strictjson.Visible(c.Language), strictjson.Visible(c.Source), known(c.Text))
		}
	}
	for _, p := range f.Paths {
		if p.Command == command {
			fmt.Fprintf(t, "%s%-8s %s\n", indent, strictjson.Visible(p.Access), t.path(&p))
		}
	}
	for _, h := range f.Hosts {
		if h.Command == command {
			fmt.Fprintf(t, "%s%-8s %s", indent, strictjson.Visible(h.Access), known(h.Host))
			if h.URL != nil {
				fmt.Fprintf(t, " (%s)", known(h.URL))
			}
			t.WriteString("\n")
		}
	}
	for _, e := range f.Effects {
		if e.Command == command {
			fmt.Fprintf(t, "%s%s %s\n", indent, t.Name("effect  "), effectLine(hook.Tree(&e)))
		}
	}
	for i := range f.Flow {
		if f.Flow[i].Command == command {
			fmt.Fprintf(t, "%s%s %s\n", indent, t.Name("flow    "), t.flow(&f.Flow[i]))
		}
	}
	for _, u := range f.Unknown {
		if u.Command == command {
			fmt.Fprintf(t, "%s%s %s: %s\n", indent, t.Effect(hook.Ask, "unknown "), strictjson.Visible(u.Kind), strictjson.OneLine(u.Why))
			if u.Span != nil && f.Shell != nil && command == 0 {
				t.WriteString(t.Marked(hook.Ask, f.Shell.Text, []explain.Mark{{Span: *u.Span}}))
			}
		}
	}
}

// flow is where the data of an effect came from, in one line.
func (t *sight) flow(f *hook.Flow) string {
	s := f.Effect + ": "
	switch {
	case f.What != nil:
		s += *f.What
	case f.Origin == "untrusted":
		s += "text of the network"
	default:
		s += f.Origin
	}
	for _, from := range []*string{f.Path, f.Host} {
		if from != nil {
			s += " from " + t.Tilde(*from)
		}
	}
	for i, file := range f.Via {
		s += map[bool]string{true: " through ", false: ", "}[i == 0] + t.Tilde(file)
	}
	switch {
	case f.Coarse:
		s += ", or another file there"
	case f.How == "seen":
		s += ", which the agent saw"
	case f.How == "sequence":
		s += ", by the order of calls alone"
	}
	return strictjson.OneLine(s)
}

// path is a path as a person reads it: where it lies, and where links lead.
func (t *sight) path(p *hook.Path) string {
	if p.Path == nil {
		return "an unknown path"
	}
	s := screen.Short(strictjson.OneLine(t.Tilde(*p.Path)), screen.LabelWidth)
	if p.Glob {
		s += ", a pattern"
	}
	if p.Resolved != nil && *p.Resolved != *p.Path {
		s += ", a link to " + screen.Short(strictjson.OneLine(t.Tilde(*p.Resolved)), screen.LabelWidth)
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
	return screen.Short(strictjson.OneLine(*s), screen.LabelWidth)
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
	return screen.Short(strictjson.OneLine(strings.Join(list, " ")), screen.LabelWidth)
}

// commandPlace says through what a command is run, and where, if that is not
// dir.
func commandPlace(p screen.Page, c *hook.ShellCommand, dir string) string {
	s := ""
	if len(c.Via) > 0 {
		s = ", run by " + strictjson.OneLine(strings.Join(c.Via, ", "))
	}
	switch {
	case c.Dir == nil:
		return s + ", in an unknown directory"
	case *c.Dir != dir:
		return s + ", in " + strictjson.OneLine(p.Tilde(*c.Dir))
	}
	return s
}

// effectLine is the document of one effect in one line: its kind, and what is
// known of it.
func effectLine(doc map[string]any) string {
	line, _ := doc["kind"].(string)
	for _, k := range slices.Sorted(maps.Keys(doc)) {
		v := document.Value(doc[k])
		if k != "kind" && k != "command" && !isEmpty(v) && v != false && v != "" {
			line += " " + k + "=" + string(strictjson.Append(nil, v))
		}
	}
	return screen.Short(strictjson.OneLine(line), 2*screen.LabelWidth)
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
