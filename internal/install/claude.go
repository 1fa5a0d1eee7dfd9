package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/moment"
)

// claude is Claude Code: JSON settings with a hooks object, as its contract
// records them for version 2.1.329 (sections 2, 5, 6, 9, 10).
type claude struct{}

func (claude) name() string { return "claude" }

func (claude) resumes() string { return "claude --resume SESSION" }

const (
	claudeDropIns = "managed-settings.d"
	// claudeOwn is gate's own managed file. Files are read in alphabetical
	// order and a later one wins.
	claudeOwn = "90-gate.json"
)

// An event of Claude Code as gate registers for it.
type claudeEvent struct {
	name    hook.Name
	matcher bool // the event has something to match on
	// block is set where a hook that fails, or is not there, stops an
	// action. Not on prompts and compaction: a person must be able to talk
	// while gate is broken. The client ignores it elsewhere.
	block bool
	// timeout is what the client waits, in seconds. gate answers within four
	// fifths of the client's default, and within 55 s.
	timeout float64
}

const (
	claudeWait   = 70 // 55 s are four fifths of it, rounded up
	claudeAtOnce = 5  // the client's default at the end of a session is too short to start a program
)

// claudeEvents is the set that gate registers for: all of the table but those
// that a request has to name, and those that gate never registers for.
// MessageDisplay is left to those who ask for it: nothing there stops an action,
// and it would start a process for every piece of text.
func claudeEvents() []claudeEvent {
	var events []claudeEvent
	for _, m := range moment.Moments() {
		if e, ok := claudeEventOf(m.Name); ok && !e.extra() {
			events = append(events, e)
		}
	}
	return events
}

// extra reports an event that only a request adds.
func (e claudeEvent) extra() bool { return e.name == moment.MessageDisplay }

// claudeEventOf is how gate registers for an event. ok is false where it never
// does: a hook for WorktreeCreate replaces git, and the matcher of FileChanged is
// a watch list.
func claudeEventOf(n hook.Name) (e claudeEvent, ok bool) {
	m := n.Moment()
	if m.Name == "" || isMessage(n) || n == moment.WorktreeCreate || n == moment.FileChanged {
		return claudeEvent{}, false
	}
	agent, _ := adapters.Lookup("claude")
	wait := min(claudeWait, max(claudeAtOnce, agent.Deadline(n).Seconds()))
	return claudeEvent{n, m.Matches != "", m.Closes == moment.ClosesAlways, wait}, true
}

// isMessage reports an event that no agent sends.
func isMessage(n hook.Name) bool {
	return slices.ContainsFunc(moment.Messages(), func(m moment.Moment) bool { return m.Name == n })
}

// dir is the person's own directory.
func (claude) dir(m Machine) string { return m.agentDir("claude", ".claude") }

// managedDir is where the client looks for what an administrator decides.
func (claude) managedDir(m Machine) string {
	if m.OS == "linux" {
		return filepath.Join(m.systemDir(""), "claude-code")
	}
	return filepath.Join(m.systemDir(""), "ClaudeCode")
}

func (c claude) targets(m Machine, s Scope) []string {
	switch {
	case s == Managed:
		own := filepath.Join(c.managedDir(m), claudeDropIns, claudeOwn)
		others := slices.DeleteFunc(c.managedFiles(m), func(path string) bool { return path == own })
		return append([]string{own}, others...)
	case s == User && c.dir(m) != "":
		return []string{filepath.Join(c.dir(m), "settings.json")}
	case s == Project && m.Project != "":
		path := filepath.Join(m.Project, ".claude", "settings.json")
		if slices.Equal([]string{path}, c.targets(m, User)) {
			return nil // in the home directory it is the person's own
		}
		return []string{path}
	case s == Local && m.Project != "":
		return []string{filepath.Join(m.Project, ".claude", "settings.local.json")}
	}
	return nil
}

// managedFiles lists the managed files that there are, in the order in which
// they are merged.
func (c claude) managedFiles(m Machine) []string {
	var out []string
	dir := c.managedDir(m)
	if base := filepath.Join(dir, "managed-settings.json"); m.exists(base) {
		out = append(out, base)
	}
	entries, _ := m.system().ReadDir(filepath.Join(dir, claudeDropIns)) // in order of names
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			out = append(out, filepath.Join(dir, claudeDropIns, name))
		}
	}
	return out
}

func (m Machine) exists(path string) bool {
	_, err := m.system().Lstat(path)
	return err == nil
}

// shell is the shell's program that starts gate for an event, "" where the client
// does. Before a prompt it tells the person how to repair a gate that is missing.
// It takes a millisecond, which no call of a tool should pay: there onFailure
// closes without it.
func (claude) shell(m Machine, n hook.Name) string {
	if n == moment.UserPromptSubmit && m.OS != "windows" {
		return elseTell
	}
	return ""
}

// line returns the program and arguments of the entry for an event.
func (c claude) line(m Machine, s Scope, n hook.Name) []string {
	words := c.command(m, s, n)
	if program := c.shell(m, n); program != "" {
		return behindShell(program, words)
	}
	return words
}

// command returns the program and arguments of the hook for an event.
func (claude) command(m Machine, s Scope, n hook.Name) []string {
	words := append(slices.Clone(m.Command), "--agent", "claude", "--event", string(n))
	if n == moment.ConfigChange { // gate looks whether it still stands there
		words = append(words, "--scope", string(s))
	}
	return append(words, m.ownDirs(s)...)
}

func (c claude) install(m Machine, r Request, path string, old []byte) ([]byte, error) {
	events, err := c.wanted(r)
	if err != nil {
		return nil, err
	}
	if r.Scope == Managed {
		if err := m.checkManaged(path); err != nil {
			return nil, err
		}
		return c.installOwn(m, r, path, old, events)
	}
	return c.merge(m, r.Scope, path, old, events)
}

// wanted returns the events of a request.
func (claude) wanted(r Request) ([]claudeEvent, error) {
	events := claudeEvents()
	for _, n := range r.Also {
		e, ok := claudeEventOf(n)
		switch {
		case n == moment.WorktreeCreate:
			return nil, fmt.Errorf("%s: a hook there replaces git, gate does not", n)
		case n == moment.FileChanged:
			return nil, fmt.Errorf("%s: it needs a list of files to watch; write that entry by hand", n)
		case !ok:
			return nil, fmt.Errorf("%q is no event of Claude Code", n)
		case !slices.Contains(events, e):
			events = append(events, e)
		}
	}
	return events, nil
}
