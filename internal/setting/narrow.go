package setting

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/matcher"
)

// Narrowest returns conditions that cover a call and as little more as conditions can
// name: the very words of each of its commands, or each path and host of another tool.
// The error says why there are none.
func Narrowest(ev *hook.Event) ([]string, error) {
	list, err := namesOf(ev)
	if err != nil {
		return nil, err
	}
	var conditions []matcher.Condition
	for _, text := range list {
		c, err := matcher.ParseCondition(text)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	if !matcher.Covers(conditions, ev) {
		return nil, errors.New("an exception covers no command with variables, a wrapper, a path to its program or output to a file")
	}
	return list, nil
}

// namesOf names each part of a call.
func namesOf(ev *hook.Event) ([]string, error) {
	f := ev.Facts
	switch {
	case f == nil || f.Opaque || len(f.Unknown) > 0:
		return nil, errors.New("gate did not understand all of the call, and an exception covers only what it understood")
	case f.Shell != nil:
		return nameCommands(ev.Tool(), f.Shell.Commands)
	}
	var list []string
	for _, p := range f.Paths {
		if p.Path == nil || p.Glob || !strings.HasPrefix(*p.Path, "/") {
			return nil, errors.New("the call names a path that is not absolute or not known")
		}
		tool := "Write"
		if p.Access == "read" || p.Access == "list" {
			tool = "Read"
		}
		list = append(list, tool+"(/"+literal(*p.Path)+")") // two slashes: from the root on
	}
	for _, h := range f.Hosts {
		switch {
		case h.URL != nil && !strings.HasPrefix(*h.URL, "domain:"):
			list = append(list, "WebFetch("+literal(*h.URL)+")")
		case h.Host != nil:
			list = append(list, "WebFetch(domain:"+literal(*h.Host)+")")
		default:
			return nil, errors.New("the call reaches a host that is not known")
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no condition names one call of %s: it is no command, and names neither a path nor a host", ev.Tool())
	}
	return once(list), nil
}

// nameCommands names commands by their words, but for those that only go to a directory.
func nameCommands(tool string, commands []hook.ShellCommand) ([]string, error) {
	if tool != "PowerShell" {
		tool = "Bash"
	}
	var list []string
	for i := range commands {
		c := &commands[i]
		if matcher.GoesOnly(c) {
			continue
		}
		words := []*string{c.Program}
		for _, w := range c.Words[min(1, len(c.Words)):] {
			words = append(words, w.Value)
		}
		var line []string
		for _, w := range words {
			switch {
			case w == nil:
				return nil, errors.New("an exception covers no command with a word that is known only when it runs")
			case *w == "" || strings.ContainsAny(*w, "* \t\r\n"):
				return nil, fmt.Errorf("no condition names the word %q by itself: it is empty, or has blanks or a star in it", *w)
			}
			line = append(line, *w)
		}
		list = append(list, tool+"("+strings.Join(line, " ")+")")
	}
	if len(list) == 0 {
		return nil, errors.New("the line only goes to a directory")
	}
	return once(list), nil
}

// literal writes a text as the pattern that matches nothing else.
func literal(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`*?[]{}\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func once(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
