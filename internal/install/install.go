// Package install puts gate in front of coding agents: it edits their
// configuration files, takes the edits back to the byte, and says what guards
// a machine and what weakens that.
//
// It is a library of values. It touches nothing but the files under the
// directories of a [Machine], reads no environment, no clock and no terminal,
// and runs nothing. It does not decide about calls, and it is no part of the
// hot program. Start with a Machine: [Machine.Install] and [Machine.Uninstall]
// return a [Plan] that has done nothing yet; its diff is the dry run and
// [Plan.Apply] does it. [Machine.Status], [Machine.Doctor] and
// [Machine.Paths] only look.
//
// Claude Code is a family of files of this package, claude*.go; the other agents
// are rows of tables.go, which table*.go, json_hooks*.go, toml_hooks.go,
// own_file.go and event_files.go bring to life. docs/architecture.md has the rules
// that it keeps: 4, 5, 6 and 11.
package install

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/spelling"
)

// A Scope says whose configuration files are meant.
type Scope string

const (
	Project Scope = "project" // of a repository, for everybody who works in it
	Local   Scope = "local"   // of a repository, for one person
	User    Scope = "user"    // of one person, in all projects
	Managed Scope = "managed" // of the machine: no user, project or flag can switch it off
)

// Scopes lists the scopes from the weakest to the strongest.
func Scopes() []Scope { return []Scope{Project, Local, User, Managed} }

// A Machine says where things are. All paths are absolute, and native ones.
type Machine struct {
	OS      string // "linux", "darwin" or "windows"
	Root    string // in front of the system's own directories; "" is the real system, others are for tests
	Home    string // of the person whose agents are meant
	Project string // project root; "" for none: then there are no project and local scopes

	// AgentHome names an agent's own directory in the home where the person
	// moved it, such as CLAUDE_CONFIG_DIR for "claude".
	AgentHome map[string]string

	// Command starts gate's hook program, without flags: an absolute path
	// and what comes first, such as "/usr/local/bin/gate-hook", or
	// "/usr/local/bin/gate", "hook".
	Command []string

	// Program is gate itself where Command starts another program, which
	// hands over to it. "" means that Command starts it.
	Program string

	// Source is the program gate that was started, where Program and Command are to be
	// copies of it and its neighbours, which [Machine.MakeCopies] makes. "" for none.
	Source string

	// Copies is gate's own directory for such copies; "" where there can be none,
	// and NoCopies says why. Path are the directories of PATH, Temp those of
	// temporary files. Version is gate's own, such as "v1.2.3".
	Copies, NoCopies string
	Path, Temp       []string
	Version          string

	// UserDir and StateDir are gate's own directories of the person. They
	// are written into the command lines of the user and local scopes.
	// Project and managed files serve several people: there the account
	// database decides, unless DirsNamed says that the caller insists.
	UserDir, StateDir string
	DirsNamed         bool
	ManagedDir        string // the administrator's directory

	// PluginRoot is the directory of the plugin that started the hook; "" if none says
	// so. It counts for [Machine.Gone] alone.
	PluginRoot string

	UID    int    // of the person; files of other accounts but root are suspect. -1 if unknown
	System System // nil is the real file system
}

// A Request says what to install where.
type Request struct {
	Agent string // one of Agents, such as "claude"
	Scope Scope

	// Also adds events to the agent's default ones.
	Also []hook.Name

	// KeepBypass leaves the modes that ask for nothing, such as Claude
	// Code's bypassPermissions, as they are: to the users, unless they are
	// forbidden already. It counts in the managed scope.
	KeepBypass bool

	// TrustHooks stores a person's trust in what is installed, where the agent
	// runs nothing without. Whoever sets it has asked that person.
	TrustHooks bool
}

// Agents lists the agents that gate can be installed for, in alphabetical order.
func Agents() []string {
	var names []string
	for _, a := range agents() {
		names = append(names, a.name())
	}
	return names
}

// Resume is the command by which a person goes on in a session of an agent, "" where none
// is known, or where the session's name is not one plain word.
func Resume(name, session string) string {
	plain := func(c rune) bool {
		return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if session == "" || session[0] == '-' || strings.ContainsFunc(session, func(c rune) bool { return !plain(c) }) {
		return ""
	}
	for _, a := range agents() {
		if a.name() == name {
			return strings.Replace(a.resumes(), "SESSION", session, 1)
		}
	}
	return ""
}

// An agent is one coding agent and knows all about it: where its configuration is, what gate writes
// there, and what weakens it.
type agent interface {
	name() string
	// resumes is the command that goes on in SESSION, "" if none is known.
	resumes() string
	// signs are what shows that the agent is on the machine: names of its programs, and
	// directories of its own.
	signs(m Machine) (programs, dirs []string)
	// targets returns the files that belong to a scope, the one that gate
	// is installed to first. None means that there is no such scope here.
	targets(m Machine, s Scope) []string
	// install returns the target's new text. old is nil if there is no file.
	install(m Machine, r Request, path string, old []byte) ([]byte, error)
	// voids reports why the agent would ignore a target with this text.
	voids(s Scope, path string, text []byte) []Finding
	// uninstall returns a target's text without gate; nil removes the file.
	uninstall(m Machine, s Scope, path string, old []byte) ([]byte, error)
	// inspect looks at all scopes.
	inspect(m Machine) AgentStatus
	// places lists the files that decide about the agent.
	places(m Machine) []Path
	// transcripts is the directory below which the agent writes its sessions down; "" if
	// none is known.
	transcripts(m Machine) string
}

func agents() []agent {
	out := []agent{claude{}}
	for _, t := range tables() {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b agent) int { return strings.Compare(a.name(), b.name()) })
	return out
}

func lookup(name string) (agent, error) {
	for _, a := range agents() {
		if a.name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q%s", name, meant(name, Agents()))
}

// Install plans what puts gate in front of an agent. Where gate is installed
// already only its own entries are brought up to date, and the plan is empty
// if they are. Everything else in the file stays as it is, to the byte.
//
// It refuses a file that it cannot read, with file and line, and a target that
// somebody else controls.
func (m Machine) Install(r Request) (Plan, error) {
	a, paths, err := m.target(r)
	if err != nil {
		return Plan{}, err
	}
	if err := m.checkCommand(r.Scope); err != nil {
		return Plan{}, err
	}
	plan := Plan{Agent: r.Agent, Scope: r.Scope, system: m.system()}
	t, ok := a.(*table)
	if !ok || !t.each {
		paths = paths[:1] // the others are where older versions wrote
	}
	var text []byte
	for _, path := range paths {
		if err := m.checkPlace(path, r.Scope); err != nil {
			return Plan{}, err
		}
		f, err := m.open(path)
		if err != nil {
			return Plan{}, err
		}
		if text, err = a.install(m, r, f.path, f.text); err != nil {
			return Plan{}, err
		}
		plan.add(m, f, text, r.Scope)
		if ok && t.each {
			plan.executable(f)
		}
		if path == paths[0] {
			plan.Findings = a.voids(r.Scope, f.path, text)
		}
	}
	if r.TrustHooks {
		plan.Findings = slices.DeleteFunc(plan.Findings, func(f Finding) bool { return f.ID == "gate.trust" })
		err = m.planTrust(a, r.Scope, paths[0], text, &plan)
	}
	return plan, err
}

// planTrust plans what an agent's record of trust needs to have, or to lose where
// text is nil.
func (m Machine) planTrust(a agent, s Scope, hooksFile string, text []byte, plan *Plan) error {
	t, ok := a.(*table)
	if !ok || t.trust == nil || s == Managed || t.dir(m) == "" {
		if text == nil {
			return nil
		}
		return fmt.Errorf("%s asks for no trust in hooks of the %s scope", a.name(), s)
	}
	path := filepath.Join(t.dir(m), t.trustFile)
	if err := m.checkPlace(path, User); err != nil {
		return err
	}
	f, err := m.open(path)
	if err != nil {
		return err
	}
	if text == nil && f.text == nil {
		return nil
	}
	after, err := t.trust(t, m, hooksFile, text, f.path, f.text)
	if err == nil {
		plan.add(m, f, after, User)
	}
	return err
}

// Uninstall plans what takes gate out of a scope. Where nothing but gate was
// changed since, the files are byte for byte what they were before, and files
// that gate created are gone. It refuses nothing but files that it cannot
// read, and links out of the project.
func (m Machine) Uninstall(r Request) (Plan, error) {
	a, paths, err := m.target(r)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Agent: r.Agent, Scope: r.Scope, system: m.system()}
	var errs []error
	for _, path := range paths {
		errs = append(errs, m.uninstall(a, r.Scope, path, &plan))
	}
	errs = append(errs, m.planTrust(a, r.Scope, paths[0], nil, &plan))
	return plan, errors.Join(errs...)
}

func (m Machine) uninstall(a agent, s Scope, path string, plan *Plan) error {
	if s == Project || s == Local { // a project must not lead to gate elsewhere
		if err := m.checkPlace(path, s); err != nil {
			return err
		}
	}
	f, err := m.open(path)
	if err != nil || f.text == nil {
		return err
	}
	text, err := a.uninstall(m, s, f.path, f.text)
	if err == nil {
		plan.add(m, f, text, s)
	}
	return err
}

// target finds the agent and its files.
func (m Machine) target(r Request) (agent, []string, error) {
	a, err := lookup(r.Agent)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(Scopes(), r.Scope) {
		var known []string
		for _, s := range Scopes() {
			known = append(known, string(s))
		}
		return nil, nil, fmt.Errorf("unknown scope %q%s", r.Scope, meant(string(r.Scope), known))
	}
	paths := a.targets(m, r.Scope)
	if len(paths) == 0 {
		var there []string
		for _, s := range Scopes() {
			if len(a.targets(m, s)) > 0 {
				there = append(there, string(s))
			}
		}
		return nil, nil, errScope(fmt.Sprintf("there is no %s scope for %s here; there is: %s", r.Scope, r.Agent, cmp.Or(strings.Join(there, ", "), "none")))
	}
	return a, paths, nil
}

// An errScope is the text of an ErrScope.
type errScope string

func (e errScope) Error() string        { return string(e) }
func (e errScope) Is(target error) bool { return target == ErrScope }

// checkCommand refuses command lines that would not start gate everywhere.
func (m Machine) checkCommand(s Scope) error {
	if len(m.Command) == 0 || !filepath.IsAbs(m.Command[0]) {
		return fmt.Errorf("gate's program: %q is no absolute path", first(m.Command))
	}
	for _, word := range append(slices.Clone(m.Command), m.UserDir, m.StateDir) {
		if !utf8.ValidString(word) {
			return fmt.Errorf("gate's command line: %q is no text that JSON can hold", word)
		}
		if strings.Contains(word, "${") {
			return fmt.Errorf("gate's command line: %q: agents replace ${…}; move it to another directory", word)
		}
	}
	for _, dir := range []string{m.UserDir, m.StateDir} {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("gate's directories: %q is no absolute path", dir)
		}
	}
	program := m.Command[0]
	if m.Source != "" {
		program = m.Source // the copy may be still to be made
	}
	info, err := m.stat(program)
	switch {
	case err != nil:
		return fmt.Errorf("gate's program: %w", err)
	case info.IsDir():
		return fmt.Errorf("gate's program: %s is a directory", program)
	case s == Managed && m.Copies != "" && inside(m.Command[0], m.Copies):
		return fmt.Errorf("gate's program: every account starts it in the managed scope, and %s is one account's own: install gate for the whole machine first", m.Copies)
	}
	return nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// meant ends a message about a word with the known one that was probably meant,
// or with all of them.
func meant(word string, known []string) string {
	if right := spelling.Nearest(word, known); right != "" {
		return fmt.Sprintf("; did you mean %q?", right)
	}
	return "; known are: " + strings.Join(known, ", ")
}
