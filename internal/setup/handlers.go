package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/handlers"
	"gate/internal/handlers/judge"
	"gate/matcher"
	"gate/scopes"
)

// handlerKinds are the hooks that do things: they run programs, or ask others.
var handlerKinds = []hook.Kind{hook.Command, hook.Prompt, hook.Agent, hook.Webhook, hook.MCPTool}

// runHandlers has the Gate run handlers, and returns what the engine needs for
// it, and what answers the inline hooks of a program, nil if there are none. Only calls that are about to be made have handlers run, or those for which
// somebody asked for it; of others the decision says so.
func (g *Gate) runHandlers(s Options) (run []engine.Option, inline engine.Evaluator) {
	if !s.Live && !s.Run {
		return unrun(), nil
	}
	o := s.Handlers
	o.Dirs, o.Project = g.Where, s.Project
	if o.Getenv == nil {
		o.Getenv = s.LookupEnv
	}
	if o.LateDir == "" && s.State != "" {
		o.LateDir = s.Late()
	}
	if o.Version == "" {
		o.Version = Version()
	}
	if o.EnvFile == nil {
		o.EnvFile = g.envFile(s.EnvFile)
	}
	if o.Judge == nil {
		o.Judge = g.judge(s)
	}
	if o.MCPServers == nil {
		o.MCPServers = g.Set.Settings().MCPServers
	}
	g.handlers = handlers.New(o)
	for _, kind := range handlerKinds {
		run = append(run, engine.WithEvaluator(kind, g.handlers.Evaluator(kind)))
	}
	if len(o.Inline) > 0 {
		inline = g.handlers.Evaluator(hook.Inline)
	}
	return run, inline
}

// judge asks the providers of language models that settings name. It connects
// to nobody before it is asked.
func (g *Gate) judge(s Options) *judge.Judge {
	dir := ""
	if s.State != "" {
		dir = filepath.Join(s.State, "judge")
	}
	return judge.New(judge.Options{
		Settings: g.Set.Settings(), Getenv: s.LookupEnv, Dir: dir, Models: s.Handlers.Models,
		Secret: func(path string) bool { return g.Reader.Secret(filepath.ToSlash(path)) != "" },
	})
}

// AsksOutside reports whether a hook may run for an event that asks a language model or
// an MCP server: it listens for the event, or a policy that does may consult it. Too
// often is no mistake.
func (g *Gate) AsksOutside(ev *hook.Event) bool {
	outside := func(h *hook.Hook) bool {
		return slices.Contains([]hook.Kind{hook.Prompt, hook.Agent, hook.MCPTool}, h.Kind)
	}
	if !slices.ContainsFunc(g.Set.Sources(), func(src *scopes.Source) bool { return slices.ContainsFunc(src.Hooks, outside) }) {
		return false
	}
	for _, tier := range g.Set.For(ev.Name) {
		for _, b := range tier {
			if (outside(b.Hook) || b.Consults) && b.Match(ev) != matcher.No {
				return true
			}
		}
	}
	return false
}

// unrun has the engine go on without the handlers.
func unrun() (options []engine.Option) {
	for _, kind := range handlerKinds {
		options = append(options, engine.WithEvaluator(kind, mute{}))
	}
	return options
}

// A mute says nothing in the place of handlers, which may do things.
type mute struct{}

func (mute) Evaluate(_ context.Context, hooks []*hook.Hook, _ *hook.Event) []engine.Answer {
	return make([]engine.Answer, len(hooks))
}

// WithoutHandlers is an engine whose decisions have no side effects. Where
// handlers have a part in a decision, it decides otherwise.
func (g *Gate) WithoutHandlers() (*engine.Engine, error) {
	return engine.New(g.Set, append(unrun(),
		engine.WithEvaluator(hook.Rego, g.Rego), engine.WithFacts(g.Reader.Of), engine.WithSpelling(g.Reader.Respell), engine.WithValidator(adapters.CheckInput))...)
}

// Mutes reports whether hooks of a kind are passed over.
func (g *Gate) Mutes(k hook.Kind) bool { return g.handlers == nil && slices.Contains(handlerKinds, k) }

// notRun says which handlers had no part in a decision that they would have.
func (g *Gate) notRun(d *hook.Decision) (notices []string) {
	for i := range d.Steps {
		h := d.Steps[i].Hook
		text := fmt.Sprintf("the %s hook %s was not run; --run-handlers runs it", h.Kind, h.ID)
		if g.Mutes(h.Kind) && !slices.Contains(notices, text) {
			notices = append(notices, text)
		}
	}
	return notices
}

// unasked says which hooks cannot answer because no settings name whom they ask.
func (g *Gate) unasked() (notices []string) {
	for _, src := range g.Set.Sources() {
		if !src.Runs() || src.Inactive() {
			continue
		}
		for _, h := range src.Hooks {
			if err := g.Set.Settings().Asks(h); err != nil {
				notices = append(notices, fmt.Sprintf("the %s hook %s of %s cannot answer: %v", h.Kind, h.ID, src.Name, err))
			}
		}
	}
	return notices
}

// Late adds what handlers have said since earlier calls of the session went on
// without them.
func (g *Gate) Late(ev *hook.Event, d *hook.Decision) {
	if g.handlers == nil {
		return
	}
	for _, l := range g.handlers.Late(ev) {
		for _, text := range l.Context {
			d.Context = append(d.Context, hook.Context{Text: text, Hook: l.Hook})
		}
		for _, text := range l.Notices {
			d.Notices = append(d.Notices, l.Hook+": "+text)
		}
	}
	if ev.Name.Canonical() == hook.SessionStart {
		g.handlers.SweepLate()
	}
}

// envFile is the file of the agent's shell for those hooks that may decide what
// later commands mean: those of sources whose rewrites count.
func (g *Gate) envFile(path string) func(*hook.Hook) string {
	return func(h *hook.Hook) string {
		for _, src := range g.Set.Sources() {
			if settings := g.Set.Settings(); src.Name == h.Source && src.Loosens() && settings.HoldsRewrites(src) == "" {
				return path
			}
		}
		return ""
	}
}
