package commands

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/internal/framework"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/scopes"
)

// A covered is an item of a framework and what serves it here.
type covered struct {
	framework.Item
	by []proof
}

// A proof is a policy that names an item, with the tests beside it.
type proof struct {
	scopes.PolicyRow
	file  string   // of the tests, "" without any
	tests []string // names of rules
}

// The states of an item. A policy that does not run serves nothing, and one without tests
// only says so.
const (
	stateServed   = "served"
	stateUnproven = "unproven" // only by policies without tests
	stateOff      = "off"      // only by policies that do not run
	stateGap      = "gap"
)

func (s covered) state() string {
	switch {
	case s.Beside != "" || slices.ContainsFunc(s.by, func(p proof) bool { return p.Inactive == "" && len(p.tests) > 0 }):
		return stateServed
	case slices.ContainsFunc(s.by, func(p proof) bool { return p.Inactive == "" }):
		return stateUnproven
	case len(s.by) > 0:
		return stateOff
	}
	return stateGap
}

// printFramework prints what of a framework the policies serve, and which tests prove it.
func printFramework(p process, g *setup.Gate, rows []scopes.PolicyRow, name string, asJSON bool) error {
	list, items, err := coverage(g, rows, name)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(p, frameworkDocument(g, list, items))
	}
	return printAll(p, frameworkText(p.page(), list, items))
}

// coverage finds the policies that serve each item of a framework. One that gate does not
// know has the items that policies name.
func coverage(g *setup.Gate, rows []scopes.PolicyRow, name string) (framework.Framework, []covered, error) {
	list, known := framework.Named(name)
	named := map[string][]proof{}
	for _, r := range rows {
		for _, item := range r.Serves {
			of, id := framework.Split(item)
			if of != name {
				continue
			}
			tests, err := provenBy(g, r)
			if err != nil {
				return list, nil, err
			}
			named[id] = append(named[id], tests)
		}
	}
	if !known && len(named) == 0 {
		return list, nil, noFramework(rows, name)
	}
	if !known {
		list = framework.Framework{Name: name, Title: name, Source: "as policies name it", Open: true}
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if _, there := list.Item(id); !there {
			list.Items = append(list.Items, framework.Item{ID: id})
		}
	}
	var items []covered
	for _, item := range list.Items {
		items = append(items, covered{item, named[item.ID]})
	}
	return list, items, nil
}

func noFramework(rows []scopes.PolicyRow, name string) error {
	known := framework.Names()
	for _, r := range rows {
		for _, item := range r.Serves {
			of, _ := framework.Split(item)
			known = append(known, of)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return errors.New("no policy here serves a list " + quoted(name) + "; there are " + strings.Join(known, ", "))
}

// testName is the beginning of a test's rule.
var testName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(test_\w+)\b`) })

// provenBy finds the tests beside a policy.
func provenBy(g *setup.Gate, r scopes.PolicyRow) (proof, error) {
	s := proof{PolicyRow: r}
	text, err := testsBeside(g, r)
	if err != nil || text == "" {
		return s, err
	}
	s.file = testFile(r)
	for _, m := range testName().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(s.tests, m[1]) {
			s.tests = append(s.tests, m[1])
		}
	}
	return s, nil
}

func frameworkText(page screen.Page, list framework.Framework, items []covered) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %s)\n", page.Strong(visible(list.Title)), visible(list.Name), list.Source)
	states := map[string][]string{}
	for _, s := range items {
		state := s.state()
		states[state] = append(states[state], s.ID)
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(visible(s.ID)+" "+s.Title))
		for _, by := range s.by {
			fmt.Fprintf(&b, "  %s, %s\n", visible(by.ID), visible(by.String()))
		}
		if s.Beside != "" {
			fmt.Fprintf(&b, "  gate: %s (docs/%s)\n", s.Beside, s.Page)
			for _, test := range s.Tests {
				fmt.Fprintf(&b, "    test: %s\n", test)
			}
		}
		switch {
		case state == stateGap:
			fmt.Fprintf(&b, "  gap: %s\n", cmp.Or(s.Lacks, "no policy serves it"))
		case s.Lacks != "":
			fmt.Fprintf(&b, "  open: %s\n", s.Lacks)
		}
	}
	fmt.Fprintf(&b, "\nserved: %d of %d", len(states[stateServed]), len(items))
	for _, state := range []string{stateUnproven, stateOff, stateGap} {
		if ids := states[state]; len(ids) > 0 {
			fmt.Fprintf(&b, "; %s: %s", state, visible(strings.Join(ids, ", ")))
		}
	}
	if list.Open {
		b.WriteString("; the list has more items, which no policy here names")
	}
	return b.String() + "\n"
}

// String says whether a policy runs, and which tests prove it.
func (s proof) String() string {
	what := "without tests beside it"
	if s.file != "" {
		what = fmt.Sprintf("%d tests in %s", len(s.tests), s.file)
	}
	switch {
	case s.Inactive != "":
		what += "; it does not run: " + s.Inactive
	case s.Level != setting.LevelNone:
		what += "; its level is " + string(s.Level)
	}
	return what
}

func frameworkDocument(g *setup.Gate, list framework.Framework, items []covered) map[string]any {
	rows := []any{}
	for _, s := range items {
		by := []any{}
		for _, p := range s.by {
			by = append(by, map[string]any{
				"id": p.ID, "source": p.Source, "pos": g.Position(p.Source, p.Pos()), "level": document.OrNull(string(p.Level)),
				"inactive": document.OrNull(p.Inactive), "test_file": document.OrNull(p.file), "tests": document.Strings(p.tests),
			})
		}
		rows = append(rows, map[string]any{
			"id": s.ID, "title": document.OrNull(s.Title), "state": s.state(), "policies": by, "beside": document.OrNull(s.Beside),
			"page": document.OrNull(s.Page), "tests": document.Strings(s.Tests), "lacks": document.OrNull(s.Lacks),
		})
	}
	return map[string]any{"name": list.Name, "title": list.Title, "source": list.Source, "open": list.Open, "items": rows}
}
