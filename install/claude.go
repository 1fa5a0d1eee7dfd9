package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
	"gate/strictjson"
)

// claude is Claude Code: JSON settings with a hooks object, as its contract
// records them for version 2.1.329 (sections 2, 5, 6, 9, 10).
type claude struct{}

func (claude) name() string { return "claude" }

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
	// while gate is broken (DESIGN 9). The client ignores it elsewhere.
	block bool
	// timeout is what the client waits, in seconds. gate answers within four
	// fifths of the client's default, and within 55 s.
	timeout float64
}

const claudeWait = 70 // 55 s are four fifths of it, rounded up

// claudeEvents is the listed set. WorktreeCreate is never in it, because a hook
// there replaces git, nor FileChanged, whose matcher is a watch list.
// MessageDisplay is left to those who ask for it: nothing there stops an
// action, and it would start a process for every piece of text.
var claudeEvents = [...]claudeEvent{
	{hook.SessionStart, true, false, claudeWait},
	{hook.Setup, true, false, claudeWait},
	{hook.UserPromptSubmit, false, false, 30},
	{hook.UserPromptExpansion, true, true, claudeWait},
	{hook.PreToolUse, true, true, claudeWait},
	{hook.PermissionRequest, true, true, claudeWait},
	{hook.PermissionDenied, true, false, claudeWait},
	{hook.PostToolUse, true, false, claudeWait},
	{hook.PostToolUseFailure, true, false, claudeWait},
	{hook.PostToolBatch, false, false, claudeWait},
	{hook.Notification, true, false, claudeWait},
	{hook.SubagentStart, true, false, claudeWait},
	{hook.SubagentStop, true, false, claudeWait},
	{hook.TaskCreated, false, true, claudeWait},
	{hook.TaskCompleted, false, false, claudeWait},
	{hook.Stop, false, false, claudeWait},
	{hook.StopFailure, true, false, claudeWait},
	{hook.TeammateIdle, false, false, claudeWait},
	{hook.InstructionsLoaded, true, false, claudeWait},
	{hook.ConfigChange, true, true, claudeWait},
	{hook.CwdChanged, false, false, claudeWait},
	{hook.DirectoryAdded, true, false, claudeWait},
	{hook.WorktreeRemove, false, false, claudeWait},
	{hook.PreCompact, true, false, claudeWait},
	{hook.PostCompact, true, false, claudeWait},
	{hook.PreModelSwitch, true, true, 30},
	{hook.PostModelSwitch, true, false, 30},
	{hook.Elicitation, true, true, claudeWait},
	{hook.ElicitationResult, true, true, claudeWait},
	{hook.SessionEnd, true, false, 5},
}

// claudeExtra holds the events that a request can add.
var claudeExtra = [...]claudeEvent{
	{hook.MessageDisplay, false, false, 10},
}

func claudeEventOf(n hook.Name) (claudeEvent, bool) {
	for _, list := range [][]claudeEvent{claudeEvents[:], claudeExtra[:]} {
		for _, e := range list {
			if e.name == n {
				return e, true
			}
		}
	}
	return claudeEvent{}, false
}

// dir is the person's own directory.
func (claude) dir(m Machine) string {
	if dir := m.AgentHome["claude"]; dir != "" {
		return dir
	}
	if m.Home == "" {
		return ""
	}
	return filepath.Join(m.Home, ".claude")
}

// managedDir is contract section 10's.
func (claude) managedDir(m Machine) string {
	if m.OS == "linux" {
		return filepath.Join(m.systemDir(), "claude-code")
	}
	return filepath.Join(m.systemDir(), "ClaudeCode")
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
		return []string{filepath.Join(m.Project, ".claude", "settings.json")}
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

// command returns the program and arguments of the hook for an event.
func (claude) command(m Machine, s Scope, n hook.Name) []string {
	words := append(slices.Clone(m.Command), "--agent", "claude", "--event", string(n))
	if s != Project && s != Managed || m.DirsNamed {
		if m.UserDir != "" {
			words = append(words, "--user-dir", m.UserDir)
		}
		if m.StateDir != "" {
			words = append(words, "--state-dir", m.StateDir)
		}
	}
	return words
}

// group renders gate's entry for an event on one line. The exec form (args)
// needs no shell and no quoting (contract section 6).
func (c claude) group(m Machine, s Scope, e claudeEvent, st style) string {
	words := c.command(m, s, e.name)
	b := &lineWriter{blank: st.blank}
	b.open('{')
	if e.matcher {
		b.key("matcher").text("*")
	}
	b.key("hooks").open('[').open('{')
	b.key("type").text("command")
	b.key("command").text(words[0])
	b.key("args").open('[')
	for _, w := range words[1:] {
		b.text(w)
	}
	b.close(']')
	b.key("timeout").raw(fmt.Sprint(e.timeout))
	if e.block {
		b.key("onFailure").text("block")
	}
	b.close('}').close(']').close('}')
	return b.String()
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
	events := claudeEvents[:]
	for _, n := range r.Also {
		e, ok := claudeEventOf(n)
		switch {
		case n == hook.WorktreeCreate:
			return nil, fmt.Errorf("%s: a hook there replaces git, gate does not", n)
		case n == hook.FileChanged:
			return nil, fmt.Errorf("%s: it needs a list of files to watch; write that entry by hand", n)
		case !ok:
			return nil, fmt.Errorf("%q is no event of Claude Code", n)
		case !slices.Contains(events, e):
			events = append(slices.Clone(events), e)
		}
	}
	return events, nil
}

// merge brings gate's entries in a text up to date, one edit at a time.
func (c claude) merge(m Machine, s Scope, path string, old []byte, events []claudeEvent) ([]byte, error) {
	text := old
	if old == nil {
		text = []byte{}
	}
	d, err := c.parse(path, text)
	if err != nil {
		return nil, err
	}
	for _, e := range c.kept(d, events) {
		d, err := c.parse(path, text)
		if err != nil {
			return nil, err
		}
		if text, err = c.put(m, s, path, d, e); err != nil {
			return nil, err
		}
	}
	if old == nil {
		text = append(text, '\n')
	}
	return text, nil
}

// kept adds the extra events that gate is registered for already.
func (c claude) kept(d *document, events []claudeEvent) []claudeEvent {
	for _, e := range claudeExtra {
		there := slices.ContainsFunc(c.entries(d), func(x claudeEntry) bool { return x.event == e.name })
		if there && !slices.Contains(events, e) {
			events = append(slices.Clone(events), e)
		}
	}
	return events
}

// put returns d's text with exactly one entry of gate for the event.
func (c claude) put(m Machine, s Scope, path string, d *document, e claudeEvent) ([]byte, error) {
	st := d.style()
	group := func(string) string { return c.group(m, s, e, st) }
	list := d.root.member("hooks").member(string(e.name))
	var found []claudeEntry
	for _, entry := range c.entries(d) {
		if entry.event == e.name {
			found = append(found, entry)
		}
	}
	want := c.command(m, s, e.name)
	current := func(x claudeEntry) bool { return x.current(d, want, e) }
	switch keep := max(slices.IndexFunc(found, current), 0); {
	case len(found) > 1:
		return c.without(m, s, path, d, e, found[(keep+1)%len(found)])
	case len(found) == 0:
	case current(found[0]):
		return d.text, nil
	case found[0].alone():
		return apply(d.text, splice{found[0].group.start, found[0].group.end, group("")}), nil
	default:
		return c.without(m, s, path, d, e, found[0])
	}
	member := func(indent string) string {
		return jsonText(string(e.name)) + ":" + st.blank + around(st, indent, '[', group)
	}
	hooks := func(indent string) string { return `"hooks":` + st.blank + around(st, indent, '{', member) }
	switch {
	case d.root == nil:
		return append(bytes.Clone(d.text), around(st, "", '{', hooks)...), nil
	case list != nil:
		return d.insert(list, st, group), nil
	case d.root.member("hooks") != nil:
		return d.insert(d.root.member("hooks"), st, member), nil
	}
	return d.insert(d.root, st, hooks), nil
}

// without takes an entry of gate away first.
func (c claude) without(m Machine, s Scope, path string, d *document, e claudeEvent, entry claudeEntry) ([]byte, error) {
	text, _ := entry.remove(d)
	d, err := c.parse(path, text)
	if err != nil {
		return nil, err
	}
	return c.put(m, s, path, d, e)
}

// around renders a new container with one item.
func around(st style, indent string, bracket byte, item func(indent string) string) string {
	if st.newline == "" {
		return string(bracket) + item("") + string(bracket+2)
	}
	inner := indent + st.indent
	return string(bracket) + st.newline + inner + item(inner) + st.newline + indent + string(bracket+2)
}

// parse reads settings and refuses what nothing can be merged into.
func (claude) parse(path string, text []byte) (*document, error) {
	d, err := parse(text)
	if err != nil {
		e := err.(*syntaxError)
		return nil, fmt.Errorf("%s:%d:%d: %s; correct the file first", path, e.line, e.column, e.msg)
	}
	wrong := func(n *node, what, want string) error {
		return fmt.Errorf("%s:%d: %s is %s where %s is wanted; correct it first", path, d.line(n), what, n.typeName(), want)
	}
	if d.root == nil {
		return d, nil
	}
	if !d.root.is('{') {
		return nil, wrong(d.root, "the file", "an object")
	}
	hooks := d.root.member("hooks")
	if hooks == nil {
		return d, nil
	}
	if !hooks.is('{') {
		return nil, wrong(hooks, `"hooks"`, "an object")
	}
	for _, it := range hooks.items {
		if !it.value.is('[') {
			return nil, wrong(it.value, fmt.Sprintf("%q", it.key.str), "an array")
		}
	}
	return d, nil
}

func (c claude) voids(s Scope, path string, text []byte) []Finding {
	v := &claudeView{scope: s, path: path, exists: true}
	c.readView(v, text)
	for i := range v.findings {
		v.findings[i].Agent = c.name()
	}
	return v.findings
}

func (c claude) uninstall(_ Machine, s Scope, path string, old []byte) ([]byte, error) {
	if s == Managed && filepath.Base(path) == claudeOwn && c.ownsAll(old) {
		return nil, nil
	}
	text := old
	for {
		d, err := c.parse(path, text)
		if err != nil {
			return nil, err
		}
		found := c.entries(d)
		if len(found) == 0 {
			return text, nil
		}
		var gone bool
		text, gone = found[len(found)-1].remove(d)
		if gone {
			return c.left(d, text), nil
		}
	}
}

// left decides what becomes of a text whose object came with gate: the file is
// gone if it did, too, which its line end tells.
func (claude) left(d *document, text []byte) []byte {
	if d.root.start == 0 && string(text) == "\n" {
		return nil
	}
	return text
}

// checkManaged refuses a place that others than the administrator write to
// (threat model 55).
func (m Machine) checkManaged(path string) error {
	for at := path; inside(at, m.systemDir()); at = filepath.Dir(at) {
		info, err := m.system().Lstat(at)
		if err != nil {
			continue // to be made
		}
		if why := m.suspect(info, true); why != "" {
			return fmt.Errorf("%s: %s; managed settings must be the administrator's alone", at, why)
		}
	}
	return nil
}

// A lineWriter writes JSON on one line.
type lineWriter struct {
	strings.Builder
	blank string // after colons and commas
	next  bool   // a comma comes before the next item
}

func (b *lineWriter) open(bracket byte) *lineWriter {
	b.comma()
	b.WriteByte(bracket)
	b.next = false
	return b
}

func (b *lineWriter) close(bracket byte) *lineWriter {
	b.WriteByte(bracket)
	b.next = true
	return b
}

func (b *lineWriter) comma() {
	if b.next {
		b.WriteString("," + b.blank)
	}
	b.next = true
}

func (b *lineWriter) key(name string) *lineWriter {
	b.comma()
	b.WriteString(jsonText(name) + ":" + b.blank)
	b.next = false
	return b
}

func (b *lineWriter) text(s string) *lineWriter { return b.raw(jsonText(s)) }

func (b *lineWriter) raw(s string) *lineWriter {
	b.comma()
	b.WriteString(s)
	return b
}

func jsonText(s string) string { return string(strictjson.Append(nil, s)) }
