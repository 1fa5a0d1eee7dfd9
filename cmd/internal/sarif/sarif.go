// Package sarif writes what gate check finds in the form that code-scanning pages and
// editors read: SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.
//
// It has the part of the format that gate needs, and no more. The same findings give the
// same bytes: there is no time, no random identifier, and no path of the machine for what
// lies in the tree. Start with [Run].
package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/policycheck"
	"gate/internal/strictjson"
)

// A Run is what one run of gate check says.
type Run struct {
	Version  string                // of gate
	Policies int                   // how many were looked at
	Findings []policycheck.Finding // files as a person in Dir would write them
	Notes    []string              // what was read, such as hook files and whose form they have
	Failed   error                 // why gate could not look at everything; nil: it did
	Status   int                   // what gate exits with

	// Root is the top of the tree, and Dir the directory that names of files begin at:
	// absolute paths. Files below Root are named relative to it.
	Root, Dir string
}

// schemaURI names the format to whoever reads the file.
const schemaURI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// treeBase stands for the top of the tree, wherever the reader has it. GitHub's page
// knows this name.
const treeBase = "%SRCROOT%"

// The kinds of notifications: what is said about the run and not about a policy.
const (
	notChecked    = "not-checked"
	partlyChecked = "partly-checked"
	fileRead      = "file-read"
)

// Text is the run as a file of SARIF.
func (r Run) Text() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(log{Schema: schemaURI, Version: "2.1.0", Runs: []run{r.run()}})
	return b.String(), err
}

func (r Run) run() run {
	d := driver{Name: "gate", FullName: "gate check", Version: r.Version, Notifications: []descriptor{
		{ID: notChecked, Short: &message{Text: "gate could not look at everything that it was given."}},
		{ID: partlyChecked, Short: &message{Text: "gate could not load all of a file, so checks that need it whole may have missed something there."}},
		{ID: fileRead, Short: &message{Text: "gate read this hook file."}},
	}}
	var ids []string
	for _, rule := range policycheck.Rules() {
		ids = append(ids, rule.ID)
		d.Rules = append(d.Rules, ruleDescriptor(rule))
	}
	out := run{
		Tool: tool{d}, ColumnKind: "unicodeCodePoints", Results: []result{}, Properties: map[string]any{"policies": r.Policies},
		Bases: map[string]base{treeBase: {Description: message{Text: "The top of the tree that was checked."}}},
	}
	for _, f := range r.Findings {
		out.Results = append(out.Results, result{
			Rule: f.Rule, Index: slices.Index(ids, f.Rule), Level: string(f.Severity), Message: message{Text: textOf(f)}, Locations: r.locations(f),
		})
	}
	out.Invocations = []invocation{r.invocation()}
	return out
}

// ruleDescriptor describes a kind of findings, with its cases as help.
func ruleDescriptor(r policycheck.Rule) descriptor {
	var text, table strings.Builder
	text.WriteString(r.Says + "\n")
	table.WriteString(r.Says + "\n\n| example | instead |\n|---|---|\n")
	for _, c := range r.Cases {
		fmt.Fprintf(&text, "\n- %s. Instead: %s", c.Wrong, c.Instead)
		fmt.Fprintf(&table, "| %s | %s |\n", c.Wrong, c.Instead)
	}
	return descriptor{ID: r.ID, Name: r.ID, Short: &message{Text: r.Says}, Help: &message{Text: text.String(), Markdown: table.String()}}
}

// textOf is a finding without its place. Messages of SARIF have links, written
// [text](target), and a name in a policy shall be none.
func textOf(f policycheck.Finding) string {
	f.File = ""
	return strings.ReplaceAll(strictjson.OneLine(f.String()), "](", "] (")
}

func (r Run) locations(f policycheck.Finding) []location {
	if f.File == "" {
		return nil
	}
	at := physical{Artifact: r.artifact(f.File)}
	if f.Line > 0 {
		at.Region = &region{Line: f.Line, Column: f.Column}
	}
	return []location{{at}}
}

// artifact names a file by its path below the top of the tree, or as a whole where it
// lies outside.
func (r Run) artifact(file string) artifact {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Dir, file)
	}
	below, err := filepath.Rel(r.Root, file)
	if err == nil && filepath.IsLocal(below) {
		u := url.URL{Path: filepath.ToSlash(below)}
		return artifact{URI: strings.ReplaceAll(u.EscapedPath(), ":", "%3A"), Base: treeBase} // before a colon stands a scheme
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return artifact{URI: (&url.URL{Scheme: "file", Path: path}).String()}
}

// invocation says how the run went: what a page without results does not mean.
func (r Run) invocation() invocation {
	in := invocation{Successful: r.Failed == nil, Status: r.Status, Notifications: []notification{}}
	say := func(kind, level, text string, at []location) {
		in.Notifications = append(in.Notifications, notification{Descriptor: reference{kind}, Level: level, Message: message{Text: text}, Locations: at})
	}
	if r.Failed != nil {
		say(notChecked, "error", strictjson.OneLine(r.Failed.Error()), nil)
	}
	said := map[string]bool{}
	for _, f := range r.Findings {
		if f.Rule == policycheck.LoadRule && f.Severity == policycheck.Error && f.File != "" && !said[f.File] {
			said[f.File] = true
			say(partlyChecked, "warning", "gate could not load all of this; the other checks may have missed something in it", r.locations(policycheck.Finding{File: f.File}))
		}
	}
	for _, note := range r.Notes {
		say(fileRead, "note", strictjson.OneLine(note), nil)
	}
	return in
}
