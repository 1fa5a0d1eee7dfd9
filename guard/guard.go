// Package guard is the door for programs that embed gate: it sets the one Gate up for
// directories and Go functions that the program names, and has it decide.
//
// It trusts the directories that it is told to read: whose files they are it
// does not ask, as the command gate does before it lets them decide for other
// people's agents. It gives no approvals and keeps no log. Start with [New], and
// give the Gate to package pipeline, or ask it yourself.
package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"gate/engine/handlers"
	"gate/hook"
	"gate/hostfs"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/scopes"
	"gate/session"
)

// Options say what decides. The zero Options are the library alone.
type Options struct {
	// Managed and User are directories as gate's own are laid out: settings, a
	// hook file, policies/, plugins/. What Managed holds binds what User holds;
	// signed bundles that are in force there count.
	// A directory that is named must be there; "": none.
	Managed, User string

	// State is the directory where gate keeps what a person granted and what handlers
	// say late. "": nobody trusted a project, and what comes late is lost.
	State string

	// Project is the root of the project that the agent works in. Its .gate
	// may be missing, and only tightens unless a person trusted it; "": it is not known.
	Project string

	Hooks []Hook // functions of the program's own

	WithoutLibrary bool // the policies that gate brings are left out

	// Home is what ~ means to the agent's shell, Account whose it is, Getenv
	// its environment. Unknown, they make some calls opaque.
	Home, Account string
	Getenv        func(name string) (value string, ok bool)

	// Handlers is what the other hooks may use. Inline, Dirs and Project are
	// set here, and Judge and MCPServers unless they are given: those are the
	// providers and the servers that settings name. A program whose hooks ask them
	// gives Models (judge/models.Connect) and MCP (mcptool/client.Connect), and pays
	// for these clients; without them such hooks are errors of New.
	Handlers handlers.Options
}

// A Hook is a Go function that judges events in the place of a program. Its ID,
// Events, Matcher, If, Priority, Timeout, OnFault, Once and Recheck count as in
// a hook file. It stands in Session scope and has the user's authority; with
// Authority Managed, in Policy scope and that.
type Hook struct {
	hook.Hook
	Func handlers.Inline
}

// A Gate is gate set up. It is immutable and safe for concurrent use.
type Gate struct {
	gate *setup.Gate
}

// New loads everything once. It returns every mistake that keeps a call from
// being judged as somebody meant it; a broken project or plugin is left out, and
// decisions say so.
func New(o Options) (*Gate, error) {
	errs := o.check()
	s := setup.Options{Run: true, Handlers: o.Handlers, For: sources.For{
		Anyones: true, Foreign: true, // the program runs nothing of what plugins have for agents
		Machine: core.Machine{
			Dirs:    places.Dirs{Managed: o.Managed, User: o.User, State: o.State},
			Account: o.Account, Home: o.Home, Project: o.Project, LookupEnv: o.Getenv,
		},
	}}
	if len(errs) > 0 { // a directory that is not there may not be read in another's place
		s.Dirs, s.Project = places.Dirs{}, ""
	}
	l := sources.Load(s.For)
	if o.WithoutLibrary {
		l.Sources = slices.DeleteFunc(l.Sources, func(src scopes.Source) bool { return src.Library })
	}
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
			case models && o.Handlers.Models == nil && o.Handlers.Judge == nil && !o.Handlers.Batch:
				errs = append(errs, fmt.Errorf("%s: the hook %s asks a language model, and Handlers.Models is not given", src.Name, h.ID))
			case h.Kind == hook.MCPTool && o.Handlers.MCP == nil:
				errs = append(errs, fmt.Errorf("%s: the hook %s asks an MCP server, and Handlers.MCP is not given", src.Name, h.ID))
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

// Settings are those in force.
func (g *Gate) Settings() scopes.Settings { return g.gate.Set.Settings() }

// Decide answers one event, without the memory of a session. It sets what gate itself
// adds to events, but for Now and Interactive.
func (g *Gate) Decide(ctx context.Context, ev hook.Event) hook.Decision {
	return g.gate.Decide(ctx, g.of(ev))
}

// of is an event with what gate itself adds.
func (g *Gate) of(ev hook.Event) hook.Event {
	ev.Gate.User, ev.Gate.OS = g.gate.Account, runtime.GOOS
	return ev
}

// Answer decides about an event with the memory of its session, and keeps there what
// follows. Texts that wait for the session come with the decision, and hooks that hold
// for it have a say. rejected says whether the call that the event is about does not
// run after a decision. It is asked once, and not where ctx ended first or the memory
// could not be read; what is remembered and what comes with the decision is added
// after that.
func (g *Gate) Answer(ctx context.Context, memory session.Kept, ev *hook.Event, rejected func(*hook.Decision) bool) hook.Decision {
	*ev = g.of(*ev)
	s := g.gate.Options()
	s.Session, s.Event = core.RecallFrom(memory), ev
	one, err := g.gate.ForCall(s)
	var d hook.Decision
	if err == nil {
		d, err = one.Answer(ctx, s.Session, ev, rejected)
	}
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	return d
}

// Checking returns a Gate that holds rewritten inputs of tools against check, in place
// of what gate knows of agents' tools.
func (g *Gate) Checking(check func(tool string, input map[string]any) error) (*Gate, error) {
	checked, err := g.gate.Checking(check)
	return &Gate{checked}, err
}
