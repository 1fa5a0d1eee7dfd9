// Package gate decides, before an AI agent's tool call runs, whether it may run, runs
// with another input, is put to a person, or is rejected.
//
// [New] sets a [Gate] up from directories, policies and functions that the program
// names; [Open] sets up the one that guards this machine. [Gate.Decide] answers one
// event. [Gate.Pipeline] runs the tools of an agent that is written in Go, with the
// memory of a session. Package hook explains the words.
//
// The Gate gives no approvals and keeps no log. Clients of language models and of MCP
// servers are linked only if the program names them. docs/go.md says what is stable.
package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/session"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/pipeline"
	"gate/scopes"
)

// An Event is one moment of an agent's work, such as a call of a tool.
type Event = hook.Event

// A Decision is the conclusion about one event: effect, reasons, rewrite. Its Result
// says what follows for the call.
type Decision = hook.Decision

// A Pipeline is one session of an agent whose tools run behind a Gate.
type Pipeline = pipeline.Pipeline

// Options say what decides. The zero Options are the library alone.
type Options struct {
	// Managed and User are directories as gate's own are laid out: settings, a
	// hook file, policies/, plugins/. What Managed holds binds what User holds;
	// signed bundles that are in force there count. A directory that is named must
	// be there; "": New takes none, Open the account's.
	Managed, User string

	// State is the directory of gate's memory: what a person granted, sessions, late
	// answers of handlers. "": New trusts no project, and late answers are lost; Open
	// takes the account's.
	State string

	// Project is the root of the agent's project. Its .gate may be missing, and only
	// tightens unless a person trusted it; "": it is not known.
	Project string

	// Policies are the program's own, such as an embed.FS, laid out as Managed is, and
	// bind as it does. A hook there names programs by absolute paths. nil: none.
	Policies fs.FS

	Hooks []Hook // functions of the program's own

	WithoutLibrary bool // the policies that gate brings are left out

	// Home is what ~ means to the agent's shell, Account whose it is, Getenv its
	// environment. Unknown, they make some calls opaque. Open takes the account's home
	// and name where they are "".
	Home, Account string
	Getenv        func(name string) (value string, ok bool)

	// Models is the Connect of package models, MCP that of package mcpclient. A
	// program that names them links them, and pays for their start. nil: hooks
	// that ask a language model or an MCP server are errors of New.
	Models judge.Models
	MCP    mcptool.Client

	// Supervisor starts the program gate as the parent of commands that hooks run, such
	// as {"/usr/bin/gate", "supervise"}: nothing that they start outlives it. nil:
	// commands run below this process.
	Supervisor []string
}

// A Hook is a Go function that judges events in the place of a program. Its ID,
// Events, Matcher, If, Priority, Timeout, OnFault, Once and Recheck count as in
// a hook file. It stands in Session scope and has the user's authority; with
// Authority Managed, in Policy scope and that. Func may be called by several
// goroutines at once, and keeps to its context.
type Hook struct {
	hook.Hook
	Func func(context.Context, *Event) (hook.Verdict, error)
}

// A Gate is gate set up. It is immutable and safe for concurrent use.
type Gate struct {
	gate *setup.Gate
}

// New loads everything once. It returns every mistake that keeps a call from
// being judged as somebody meant it; a broken project or plugin is left out, and
// decisions say so. It trusts the directories that o names: their files may be
// anybody's.
func New(o Options) (*Gate, error) {
	m := core.Machine{
		Dirs:    places.Dirs{Managed: o.Managed, User: o.User, State: o.State},
		Account: o.Account, Home: o.Home, Project: o.Project, LookupEnv: o.Getenv,
	}
	return o.gate(sources.For{Anyones: true, Machine: m})
}

// Open is New for what guards this machine: Managed, User, State, Home and Account are
// those of the account that runs the program, where o leaves them "". As with the
// command gate, files that other accounts may write are an error. A directory of the
// account need not be there.
func Open(o Options) (*Gate, error) {
	dirs, err := places.Flags{Managed: o.Managed, User: o.User, State: o.State}.ForHook()
	if err != nil {
		return nil, err
	}
	m := core.Machine{Dirs: dirs, Account: o.Account, Home: o.Home, Project: o.Project, LookupEnv: o.Getenv}
	if m.Account == "" {
		m.Account = places.AccountName()
	}
	if m.Home == "" {
		m.Home = places.AccountHome()
	}
	return o.gate(sources.For{Machine: m})
}

// gate sets up what For names.
func (o Options) gate(f sources.For) (*Gate, error) {
	errs := o.check()
	f.Foreign = true   // the program runs nothing of what plugins have for agents
	if len(errs) > 0 { // a directory that is not there may not be read in another's place
		f.Dirs, f.Project = places.Dirs{}, ""
	}
	s := setup.Options{Run: true, For: f, Handlers: handlers.Options{Models: o.Models, MCP: o.MCP, Supervisor: o.Supervisor}}
	l := sources.Load(f)
	if o.WithoutLibrary {
		l.Sources = slices.DeleteFunc(l.Sources, func(src scopes.Source) bool { return src.Library })
	}
	o.addPolicies(&l)
	inline, own, bad := functions(o.Hooks)
	s.Handlers.Inline, l.Sources = inline, append(l.Sources, own...)
	errs = append(errs, bad...)
	for i := range l.Sources {
		if src := &l.Sources[i]; src.Closes() {
			for j := range src.Faults {
				errs = append(errs, fmt.Errorf("%s: %w", src.Name, &src.Faults[j]))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	g, err := setup.Of(s, l)
	if err == nil {
		err = o.clientless(g.Set)
	}
	if err != nil {
		return nil, err
	}
	return &Gate{g}, nil
}

// check reports directories that are named and not there.
func (o Options) check() (errs []error) {
	for _, given := range []struct{ name, dir string }{
		{"managed directory", o.Managed}, {"user directory", o.User}, {"project", o.Project},
	} {
		if given.dir == "" {
			continue
		}
		if !filepath.IsAbs(given.dir) {
			errs = append(errs, fmt.Errorf("%s %s: the path must be absolute", given.name, given.dir))
			continue
		}
		root, err := hostfs.OpenDir(given.dir)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", given.name, err))
			continue
		}
		root.Close()
	}
	if o.State != "" && !filepath.IsAbs(o.State) {
		errs = append(errs, fmt.Errorf("state directory %s: the path must be absolute", o.State))
	}
	return errs
}

// clientless returns an error that names the hooks which ask whom the program gave no
// client for: as faults, most of them would let calls pass.
func (o Options) clientless(set *scopes.Set) error {
	var errs []error
	for _, src := range set.Sources() {
		if !src.Runs() || src.Inactive() || set.Off() != "" {
			continue
		}
		for _, h := range src.Hooks {
			models := h.Kind == hook.Prompt || h.Kind == hook.Agent
			switch {
			case models && o.Models == nil:
				errs = append(errs, fmt.Errorf("%s: the hook %s asks a language model, and Models is not given", src.Name, h.ID))
			case h.Kind == hook.MCPTool && o.MCP == nil:
				errs = append(errs, fmt.Errorf("%s: the hook %s asks an MCP server, and MCP is not given", src.Name, h.ID))
			}
		}
	}
	return errors.Join(errs...)
}

// functions makes sources of the program's own hooks.
func functions(hooks []Hook) (inline map[string]handlers.Inline, list []scopes.Source, errs []error) {
	inline = map[string]handlers.Inline{}
	above := scopes.Source{Name: "program policy", Scope: hook.Policy, Authority: hook.Managed}
	below := scopes.Source{Name: "program", Scope: hook.Session, Authority: hook.User}
	for i, given := range hooks {
		src := &below
		if given.Authority == hook.Managed {
			src = &above
		}
		h := given.Hook
		h.Kind, h.Scope, h.Authority, h.Source, h.Library = hook.Inline, src.Scope, src.Authority, src.Name, false
		h.Session = true // what a function looks at nobody knows
		switch {
		case h.ID == "" || given.Func == nil || len(h.Events) == 0:
			errs = append(errs, fmt.Errorf("hook %d (%q): it needs an ID, Events and a Func", i, h.ID))
		case inline[h.ID] != nil:
			errs = append(errs, fmt.Errorf("hook %d: there is another with the ID %q", i, h.ID))
		default:
			inline[h.ID], src.Hooks = given.Func, append(src.Hooks, &h)
		}
	}
	for _, src := range []scopes.Source{above, below} {
		if len(src.Hooks) > 0 {
			list = append(list, src)
		}
	}
	return inline, list, errs
}

// addPolicies adds the program's own, which make the library managed, as an
// administrator's do.
func (o Options) addPolicies(l *sources.Loaded) {
	if o.Policies == nil {
		return
	}
	for i := range l.Sources {
		if l.Sources[i].Library {
			l.Sources[i], _ = sources.Library(setting.LibraryAuthority(true))
		}
	}
	layers, own := load.Place(o.Policies, "", scopes.Source{Name: "program policies", Scope: hook.Policy, Authority: hook.Managed})
	l.Layers, l.Sources = append(l.Layers, layers...), append(l.Sources, own...)
}

// ToolCall returns the event of a call that an agent, whose working directory is dir,
// is about to make. Tools and fields of their input have Claude Code's names, such as
// Bash and command.
func ToolCall(dir, tool string, input map[string]any) Event {
	return Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": string(hook.PreToolUse), "cwd": dir, "tool_name": tool, "tool_input": input,
	}}
}

// Decide answers one event, without the memory of a session. It sets what gate itself
// adds to events, but for Now and Interactive. What goes wrong is a fault of the
// decision, which closes where nobody judged.
func (g *Gate) Decide(ctx context.Context, ev Event) Decision {
	return g.gate.Decide(ctx, g.of(ev))
}

// of is an event with what gate itself adds.
func (g *Gate) of(ev Event) Event {
	ev.Gate.User, ev.Gate.OS = g.gate.Account, runtime.GOOS
	return ev
}

// Pipeline returns a session whose tools run behind g. It reports all mistakes in the
// options at once.
func (g *Gate) Pipeline(o pipeline.Options) (*Pipeline, error) {
	return pipeline.New(func(check func(tool string, input map[string]any) error) (pipeline.Answer, error) {
		checked, err := g.gate.Checking(check)
		return (&Gate{checked}).answer, err
	}, o)
}

// answer decides about an event with the memory of its session, and keeps there what
// follows. Texts that wait for the session come with the decision, and hooks that hold
// for it have a say. rejected says whether the call that the event is about does not
// run after a decision. It is asked once, and not where ctx ended first or the memory
// could not be read; what is remembered and what comes with the decision is added
// after that.
func (g *Gate) answer(ctx context.Context, memory session.Kept, ev *Event, rejected func(*Decision) bool) Decision {
	*ev = g.of(*ev)
	s := g.gate.Options()
	s.Session, s.Event = core.RecallFrom(memory), ev
	one, err := g.gate.ForCall(s)
	var d Decision
	if err == nil {
		d, err = one.Answer(ctx, s.Session, ev, rejected)
	}
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	return d
}

// Memory returns the place below State where the memory of an agent's session is kept,
// for [pipeline.Options], which has the agent "generic". Without State it is an error.
func (g *Gate) Memory(agent, id string) (pipeline.Kept, error) {
	if g.gate.State == "" {
		return nil, errors.New("no State directory keeps the memory of sessions")
	}
	return g.gate.Sessions().Of(session.Key{Agent: agent, Session: id}), nil
}

// Inject has a text wait for an agent's session below State: for its next call of a
// tool that the text matches, or for its next prompt.
func (g *Gate) Inject(ctx context.Context, agent, id string, in pipeline.Injection) error {
	memory, err := g.Memory(agent, id)
	if err != nil {
		return err
	}
	return pipeline.Inject(ctx, memory, in, time.Now())
}
