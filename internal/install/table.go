package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
)

// A table is one agent whose hooks stand in a file of a simple layout: where the
// files are, which events there are, and how an entry is written. tables.go has
// them all, and the code that reads them does not know one agent from another.
type table struct {
	id, title string
	resume    string       // the command that goes on in SESSION; "" if none is known
	programs  []string     // of the agent, beside the one that is named as it is
	traces    []string     // directories below the person's that show it is there, beside home
	home      string       // its own directory below the person's; AgentHome overrides it
	sessions  string       // the directory of transcripts, below home; "": it has none that tells when it was used
	user      string       // the file, below home; "" for no user scope
	project   string       // the file, below the project; "" for no project scope
	each      bool         // they are directories, with a program for each event
	managed   []systemFile // the machine's file; none for no managed scope
	format    format
	toml      format // of the managed scope, where it is another

	events  []string
	matcher string // that selects every call; "" for none
	command string // the field of the command line; "" is "command"
	wait    string // the field of the time-out; "" for none
	perSec  int    // the time-out's units in a second; 0 is 1
	more    []field

	in   string     // the field that the events are in; "" is "hooks"
	flat bool       // an event's list has handlers; else groups with a matcher and a list of handlers
	pins []pin      // settings beside the hooks
	off  []off      // settings that switch hooks off
	weak []weakness // what gate cannot help
	lax  bool       // the agent reads comments in JSON
	shut bool       // status 2 with a text on standard error stops a call, and a hook that does not start lets it run
	deny string     // the answer that stops a call with noAnswer, where status 2 does without a text; it stands in single quotes
	bars bool       // a hook that does not start stops prompts and ends of turns, and takes outputs away

	// beside looks at what else decides whether the hooks of a view run; nil: nothing does.
	beside func(t *table, m Machine, v *tableView)

	// plugins is the settings file, below home, that names plugins and marketplaces as
	// those of Claude Code do; "" for none. copies, below home, has the plugins by
	// marketplace and name, and markets are a marketplace's files, the first counts.
	plugins, copies string
	markets         []string

	// trustFile, below home, is where the agent keeps a person's trust in hooks of
	// their own and of projects; "" if it asks for none. trust returns its text with the trust in
	// gate's hooks of a file that has this text, or without it where text is nil.
	trustFile string
	trust     func(t *table, m Machine, hooksFile string, text []byte, path string, old []byte) ([]byte, error)
}

// A systemFile is a file below the root of an operating system.
type systemFile struct{ os, path string }

// A field is a member of an entry, its value as JSON.
type field struct{ name, value string }

// A pin is a setting that gate writes beside its hooks, value as JSON.
type pin struct {
	path    []string
	value   string
	managed bool // in the managed scope only
}

// An off is a setting that keeps hooks from running: one with this value, or a
// list that has it. A pin of the managed scope overrules the former.
type off struct {
	path  []string
	value string
	list  bool
}

// A weakness is what weakens gate whatever is installed, in the scopes that are
// named.
type weakness struct {
	id              string
	scopes          []Scope
	severity        Severity
	message, remedy string
}

// A format writes gate's entries into the text of a file and takes them out
// again, to the byte.
type format interface {
	// install returns the text with gate's entries brought up to date. old is
	// nil if there is no file.
	install(t *table, m Machine, s Scope, path string, old []byte) ([]byte, error)
	// uninstall returns the text without them, nil if the file came with gate.
	uninstall(t *table, path string, old []byte) ([]byte, error)
	// entries are gate's in a text.
	entries(t *table, m Machine, s Scope, path string, text []byte) ([]tableEntry, error)
	// switched reports which of the table's settings keep hooks from running.
	switched(t *table, text []byte) []switchedOff
}

// A tableEntry is an entry of gate's as it stands in a file.
type tableEntry struct {
	event string
	words []string
	line  int
	exact bool // as gate would write it
	sound bool // the same but for program and directories
}

type switchedOff struct {
	off  off
	line int
}

func (t *table) name() string { return t.id }

func (t *table) resumes() string { return t.resume }

// dir is the person's own directory of the agent.
func (t *table) dir(m Machine) string { return m.agentDir(t.id, t.home) }

// agentDir is the person's own directory of an agent, below their home directory
// unless the agent was told another; "" if nobody knows.
func (m Machine) agentDir(agent, below string) string {
	if dir := m.AgentHome[agent]; dir != "" || m.Home == "" {
		return dir
	}
	return filepath.Join(m.Home, filepath.FromSlash(below))
}

func (t *table) targets(m Machine, s Scope) []string {
	paths := t.files(m, s)
	if !t.each || len(paths) != 1 {
		return paths
	}
	var out []string
	for _, event := range t.events {
		out = append(out, filepath.Join(paths[0], event))
	}
	return out
}

// files are the files of a scope, or the directory that they are in.
func (t *table) files(m Machine, s Scope) []string {
	switch {
	case s == User && t.user != "" && t.dir(m) != "":
		return []string{filepath.Join(t.dir(m), filepath.FromSlash(t.user))}
	case s == Project && t.project != "" && m.Project != "":
		path := filepath.Join(m.Project, filepath.FromSlash(t.project))
		if slices.Equal([]string{path}, t.files(m, User)) {
			return nil // in the home directory it is the person's own
		}
		return []string{path}
	case s == Managed:
		for _, at := range t.managed {
			if at.os == m.OS {
				return []string{filepath.Join(m.root(), filepath.FromSlash(at.path))}
			}
		}
	}
	return nil
}

// formatOf is how the file of a scope is written.
func (t *table) formatOf(s Scope) format {
	if s == Managed && t.toml != nil {
		return t.toml
	}
	return t.format
}

// words are the program and arguments of the hook for an event.
func (t *table) words(m Machine, s Scope, event string) []string {
	words := append(slices.Clone(m.Command), "--agent", t.id)
	if event != "" {
		words = append(words, "--event", event)
	}
	return append(words, m.ownDirs(s)...)
}

// seconds is the time-out of an entry: as the agent has it by default, and not
// much longer than gate takes at most.
func (t *table) seconds(event string) time.Duration {
	wait := time.Minute
	if a, ok := adapters.Lookup(t.id); ok {
		wait = a.Deadline(hook.Name(event))
	}
	return min(wait, engine.Limit*5/4+2*time.Second).Truncate(time.Second)
}

// isGate recognises a command line of gate's for the agent, whatever version
// wrote it.
func (t *table) isGate(words []string) bool { return gateFor(words, t.id) }

func (t *table) install(m Machine, r Request, path string, old []byte) ([]byte, error) {
	if len(r.Also) > 0 {
		return nil, fmt.Errorf("%s: gate is asked on all events that it can judge already", t.title)
	}
	for _, word := range t.words(m, r.Scope, "") {
		if strings.ContainsAny(word, "$`\n\"") {
			return nil, fmt.Errorf("gate's command line: %q: agents and shells replace what it has in it; move it to another directory", word)
		}
	}
	if r.Scope == Managed {
		if err := m.checkManaged(path); err != nil {
			return nil, err
		}
	}
	return t.formatOf(r.Scope).install(t, m, r.Scope, path, old)
}

func (t *table) uninstall(_ Machine, s Scope, path string, old []byte) ([]byte, error) {
	return t.formatOf(s).uninstall(t, path, old)
}

// voids says what weakens gate in the file even so.
func (t *table) voids(s Scope, path string, text []byte) []Finding {
	var out []Finding
	for _, x := range t.formatOf(s).switched(t, text) {
		out = append(out, t.offFinding(x, s, path))
	}
	if f := t.strict(s, path, text); f != nil {
		out = append(out, *f)
	}
	for _, w := range t.weak {
		if slices.Contains(w.scopes, s) {
			out = append(out, Finding{ID: w.id, Severity: w.severity, Agent: t.id, Scope: s, File: path,
				Message: strings.ReplaceAll(w.message, "AGENT", t.title), Remedy: strings.ReplaceAll(w.remedy, "AGENT", t.title)})
		}
	}
	return out
}

// strict is the finding about a file that is nearly JSON, nil where that is enough
// for the agent. Codex 0.169.0 was seen to pass over one with a byte order mark.
func (t *table) strict(s Scope, path string, text []byte) *Finding {
	d, err := parse(text)
	if err != nil || !t.isJSON(s) || t.lax || d.root == nil || json.Valid(text) {
		return nil
	}
	f := Finding{ID: "settings.comments", Severity: Error, Agent: t.id, Scope: s, File: path, Remedy: "remove it"}
	what := "a comma behind the last item"
	switch {
	case d.comment >= 0:
		what, f.Line = "a comment", line(text, d.comment)
	case bytes.HasPrefix(text, []byte(byteOrderMark)):
		what, f.Remedy = "a byte order mark", "save the file as UTF-8 without one"
	}
	f.Message = what + " is no JSON: " + t.title + " may ignore the whole file"
	return &f
}

func (t *table) isJSON(s Scope) bool {
	_, ok := t.formatOf(s).(jsonHooks)
	return ok
}

func (t *table) offFinding(x switchedOff, s Scope, path string) Finding {
	what := strings.Join(x.off.path, ".")
	return Finding{ID: "hooks.disabled", Severity: Error, Agent: t.id, Scope: s, File: path, Line: x.line,
		Message: what + " switches gate off", Remedy: "remove it, or install gate in the managed scope"}
}

func (t *table) places(m Machine) []Path {
	var out []Path
	for _, s := range []Scope{Managed, User, Project} {
		for _, path := range t.targets(m, s) {
			out = append(out, Path{Path: path, What: t.title + "'s " + string(s) + " hooks"})
			text, err := m.system().ReadFile(path, maxFile)
			if err != nil {
				continue
			}
			entries, _ := t.formatOf(s).entries(t, m, s, path, text)
			for _, x := range entries {
				out = append(out, pathsOf(x.words)...)
			}
		}
	}
	return out
}
