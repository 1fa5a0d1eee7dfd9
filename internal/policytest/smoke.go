package policytest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/core"
	"gate/internal/rego"
	"gate/internal/strictjson"
	"gate/scopes"
)

// smoke has events of all kinds, a spec of [Event] in each line: harmless and
// harmful ones, and some that no agent should send.
//
//go:embed smoke.jsonl
var smoke string

// Smoke asks the policies of a source, as its settings leave them, about a few
// events of all tools, and returns an error about those that cannot answer: what
// they say does not matter. The error of ctx means that it is not known.
func Smoke(ctx context.Context, lib []scopes.Module, src scopes.Source, settings ...scopes.Layer) error {
	asked := smoked(&src)
	if len(asked) == 0 {
		return nil
	}
	g, err := core.New(&core.Found{Sources: []scopes.Source{src}, Layers: settings}, core.Machine{Past: true}, backtracking.Compile,
		func(g *core.Gate) ([]engine.Option, engine.Evaluator, error) {
			return []engine.Option{
				engine.WithEvaluator(hook.Rego, rego.New(lib, g.InForce(), unhurried()...)),
				engine.WithValidator(adapters.CheckInput), engine.WithIDs(func() string { return "smoke" }),
			}, nil, nil
		})
	if err != nil {
		return err
	}
	found := map[string]error{}
	for line := range strings.Lines(smoke) {
		if err := smokeOne(ctx, g, strings.TrimSpace(line), found); err != nil {
			return err
		}
	}
	var errs []error
	for _, id := range asked {
		errs = append(errs, found[id])
	}
	return errors.Join(errs...)
}

// smoked returns the ids of the policies that are asked: no other hook is run here,
// and none that would ask the network.
func smoked(src *scopes.Source) (ids []string) {
	remote := map[string]bool{}
	for _, m := range src.Modules {
		if strings.Contains(m.Text, "http.send") || strings.Contains(m.Text, "net.lookup_ip_addr") {
			remote[m.File] = true
		}
	}
	own := slices.DeleteFunc(slices.Clone(src.Hooks), func(h *hook.Hook) bool { return h.Kind != hook.Rego })
	src.Hooks = slices.DeleteFunc(slices.Clone(own), func(h *hook.Hook) bool { return remote[h.File] })
	for _, h := range own {
		delete(remote, h.File)
	}
	if len(remote) > 0 { // what several share
		src.Hooks = nil
	}
	for _, h := range src.Hooks {
		ids = append(ids, h.ID)
	}
	return ids
}

// smokeOne notes what first went wrong with each policy, by its id.
func smokeOne(ctx context.Context, g *core.Gate, line string, found map[string]error) error {
	spec, err := strictjson.Object([]byte(line), strictjson.Limits{})
	if err != nil {
		return err
	}
	ev, w, err := Event(spec)
	if err != nil {
		return err
	}
	en, err := g.Seeing(func(ev *hook.Event) *hook.Facts { return realFacts(w, ev) })
	if err != nil {
		return err
	}
	d := en.Decide(ctx, *ev)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range d.Steps {
		// A machine that is busy, or has a handler elsewhere, says nothing about a policy.
		if f := s.Fault; f != nil && (f.Kind == hook.FaultEval || f.Kind == hook.FaultOutput) && found[s.Hook.ID] == nil {
			found[s.Hook.ID] = fmt.Errorf("%s cannot answer about %s: %w", s.Hook.ID, line, f)
		}
	}
	return nil
}
