package catalogue

import (
	"maps"
	"slices"
	"strings"
)

// Names are the programs that have rows, or, of a program, the verbs that do; sorted. It
// reads all names, which is for people who look and not for a call.
func (c *Catalogue) Names(program string) []string {
	found := map[string]bool{}
	add := func(names string) {
		for name := range strings.SplitSeq(names, ",") {
			head, verb, _ := strings.Cut(name, " ")
			switch {
			case program == "":
				found[head] = true
			case head == program && verb != "":
				found[verb] = true
			}
		}
	}
	for line := range strings.Lines(compactRows) {
		if names, _, ok := strings.Cut(line, " {"); ok {
			add(names)
		}
	}
	for names := range c.own {
		if !strings.HasPrefix(names, "let ") {
			add(names)
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// OptionNames are the canonical names of a program's own options and of its verbs',
// sorted.
func (c *Catalogue) OptionNames(program string) []string {
	found := map[string]bool{}
	names := []string{program}
	for _, verb := range c.Names(program) {
		names = append(names, program+" "+verb)
	}
	for _, name := range names {
		row, ok := c.Lookup(name)
		if !ok || row.Options == nil {
			continue
		}
		for _, o := range row.Options.names {
			found[o.option.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
