package main

import (
	"context"
	"sync/atomic"

	"gate/cmd/internal/hookpath"
	"gate/cmd/internal/places"
	"gate/cmd/internal/sources"
	"gate/engine/rego"
)

// runHook answers one event of an agent.
func runHook(ctx context.Context, p process) int {
	if p.brief != nil {
		p.brief()
	}
	var about atomic.Pointer[hookpath.Machine] // the deadline may come first
	status := hookpath.Run(ctx, hookpath.Process{
		Args: p.args[1:], Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, LookupEnv: p.lookupEnv, Exit: p.exit, Account: places.Self,
	}, func(c *hookpath.Call) (*hookpath.Guard, error) {
		about.Store(&c.Machine)
		g, err := p.load(c)
		if err != nil {
			return nil, err
		}
		if g.forms != nil {
			about.Store(nil) // there is nothing to compile
		}
		return g.Guard, nil
	})
	if m := about.Load(); m != nil && handedOver(p.args[1:]) {
		p.compileLater(*m)
	}
	return status
}

// load sets gate up for one call, from the compiled forms of what hooks and
// settings come from if these are good for it, else from the files.
func (p process) load(c *hookpath.Call) (*guard, error) {
	s := p.setting(c)
	if !p.filesOnly {
		if g, err := s.fromForms(c); err == nil {
			return g, nil
		}
	}
	return newGuard(s)
}

// setting is what the guard for a call is built from.
func (p process) setting(c *hookpath.Call) setting {
	return setting{
		For:      sources.For{Dirs: c.Dirs, Home: c.Home, Project: c.Project, Env: c.LookupEnv, Live: true, Foreign: !c.RunsHooks, Session: c.Session, Event: c.Event},
		handling: handling{batch: c.Batch, supervisor: p.supervisor(), envFile: c.EnvFile},
		rego:     []rego.Option{rego.WithOutOfMemory(c.OutOfMemory)},
	}
}
