// Package framework is the table of published lists that policies name in their METADATA
// (custom.gate.serves): lists of risks, of techniques of attackers, and of requirements.
//
// It holds the items and what gate does about them beside policies. It is not for
// counting what is covered: package commands does that, from the policies in force.
// Start with [All].
package framework

import (
	"slices"
	"strings"
)

// A Framework is a published list. Source is where it stands, with the version that
// the items are of.
type Framework struct {
	Name   string // in METADATA and on the command line, such as owasp-mcp
	Title  string
	Source string
	// Open says that the published list has more items than stand here. Items that no
	// policy serves exactly are left out; they are no known gaps of gate's.
	Open  bool
	Items []Item
}

// An Item is a risk, a technique or a requirement.
type Item struct {
	ID    string // as published, such as MCP05
	Title string

	// Beside says what gate does about it beside policies, and Page where that is
	// described: a file below docs. Both are "" where it does nothing.
	Beside, Page string
	// Tests are the tests that prove Beside: files of gate's repository, and the name of
	// a Go test behind a colon.
	Tests []string
	// Lacks says what of the item stays open, whatever policies serve it; "" if nothing
	// is known. Where nothing serves it, it is the reason.
	Lacks string
}

// All returns the frameworks that gate knows, by name. The caller may change them.
func All() []Framework { return []Framework{aarm(), attack(), agentic(), mcp()} }

// Named returns a framework. False is for a name that is none of gate's, such as that
// of a company's own list.
func Named(name string) (Framework, bool) {
	for _, f := range All() {
		if f.Name == name {
			return f, true
		}
	}
	return Framework{}, false
}

// Names are the names of the frameworks, in order.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Item returns an item by its ID, as published.
func (f Framework) Item(id string) (Item, bool) {
	i := slices.IndexFunc(f.Items, func(i Item) bool { return i.ID == id })
	if i < 0 {
		return Item{}, false
	}
	return f.Items[i], true
}

// Takes reports whether a policy may name an item: one that stands in the table or, of
// an open list, one whose ID has the form of those.
func (f Framework) Takes(id string) bool {
	return slices.ContainsFunc(f.Items, func(i Item) bool { return i.ID == id || f.Open && form(i.ID) == form(id) })
}

// form is an ID with 0 for each digit.
func form(id string) string {
	return strings.Map(func(r rune) rune {
		if '1' <= r && r <= '9' {
			return '0'
		}
		return r
	}, id)
}

// IDs are the IDs of the items, in their order.
func (f Framework) IDs() []string {
	var ids []string
	for _, i := range f.Items {
		ids = append(ids, i.ID)
	}
	return ids
}

// Join writes an item as policies have it in memory: LIST:ITEM.
func Join(list, id string) string { return list + ":" + id }

// Split takes an item apart that Join wrote.
func Split(item string) (list, id string) {
	list, id, _ = strings.Cut(item, ":")
	return list, id
}

// Word reports whether a text can name a framework or an item: letters, digits and
// "-._", at most 64, and no space, so that it stands in a line by itself.
func Word(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") == ""
}
