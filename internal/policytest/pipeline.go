package policytest

import (
	"context"
	"path"
	"regexp"
	"slices"
	"sync"
	"time"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/core"
	"gate/internal/rego"
	"gate/internal/setup"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A pipeline is gate set up for one shape of world.
type pipeline struct {
	*core.Gate
	modify bool // some policy has a modify rule
}

// pipelines keeps one pipeline a shape of world, so that a thousand cases
// compile their policies once.
type pipelines struct {
	mu    sync.Mutex
	known map[string]*pipeline
	libs  *libraries
}

// libraries keeps the evaluators of gate's own policies, which all suites of
// one Prepare share.
type libraries struct {
	mu    sync.Mutex
	known map[string]engine.Evaluator
}

func newPipelines(libs *libraries) *pipelines {
	return &pipelines{known: map[string]*pipeline{}, libs: libs}
}

// pipeline returns what decides in the world of a case.
func (s *Suite) pipeline(c *Case) (*pipeline, error) {
	key := s.shape(c)
	s.pipelines.mu.Lock()
	defer s.pipelines.mu.Unlock()
	if p := s.pipelines.known[key]; p != nil {
		return p, nil
	}
	p, err := s.build(c)
	if err == nil {
		s.pipelines.known[key] = p
	}
	return p, err
}

// shape identifies what of a case decides which hooks there are.
func (s *Suite) shape(c *Case) string {
	sources := map[string]any{}
	for whose, dirs := range c.World.Sources {
		sources[whose] = anyList(dirs)
	}
	return string(strictjson.Append(nil, map[string]any{
		"dir": path.Dir(c.File), "as": c.World.As, "library": c.World.library(), "trusted": c.World.trusted(),
		"settings": anyMap(c.World.Setting), "sources": sources,
	}))
}

func (w *CaseWorld) library() bool { return w.Library == nil || *w.Library }

func (w *CaseWorld) trusted() bool { return w.Trusted != nil && *w.Trusted }

// managed reports that the machine of a case has an administrator.
func (w *CaseWorld) managed() bool {
	return w.As == "managed" || w.Setting["managed"] != nil || w.Sources["managed"] != nil
}

func (s *Suite) build(c *Case) (*pipeline, error) {
	layers, err := c.World.layers()
	if err != nil {
		return nil, err
	}
	sources, err := s.sources(c)
	if err != nil {
		return nil, err
	}
	p := &pipeline{}
	found := core.Found{Sources: sources, Layers: layers}
	p.Gate, err = core.New(&found, core.Machine{Past: true}, backtracking.Compile, func(g *core.Gate) ([]engine.Option, engine.Evaluator, error) {
		var own, others []scopes.Source
		for _, src := range g.InForce() {
			if src.Library {
				own = append(own, src)
			} else {
				others = append(others, src)
			}
			p.modify = p.modify || slices.ContainsFunc(src.Modules, func(m scopes.Module) bool { return modifies().MatchString(m.Text) })
		}
		return []engine.Option{
			engine.WithEvaluator(hook.Rego, split{own: s.libraryEvaluator(own), others: rego.New(s.current(s.lib), others, unhurried()...)}),
			engine.WithValidator(adapters.CheckInput), engine.WithIDs(func() string { return "tested" }), setup.Foretell(g, defaultHome, defaultProject),
		}, nil, nil
	})
	return p, err
}

// modifies finds the text of a modify rule; finding one too many costs little.
var modifies = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^modify\s+contains\b`) })

// split asks gate's own policies and the others apart, so that the former are
// compiled once for all.
type split struct{ own, others engine.Evaluator }

func (e split) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	if len(hooks) > 0 && hooks[0].Library {
		return e.own.Evaluate(ctx, hooks, ev)
	}
	return e.others.Evaluate(ctx, hooks, ev)
}

// unhurried are the limits where nobody waits for an answer and other tests use
// the processor and the heap, too.
func unhurried() []rego.Option {
	return []rego.Option{rego.WithCompileTime(time.Minute), rego.WithMemory(2<<30, 4<<30)}
}

// libraryEvaluator returns what runs gate's own policies as settings leave them.
func (s *Suite) libraryEvaluator(own []scopes.Source) engine.Evaluator {
	if s.source.Library { // they are what is tested
		return rego.New(s.current(s.lib), own, unhurried()...)
	}
	key := ""
	for _, src := range own {
		params := map[string]any{}
		for id, values := range src.Params {
			params[id] = values
		}
		if len(src.Hooks) == 0 {
			return rego.New(nil, own) // nobody asks it
		}
		key += src.Authority.String() + string(strictjson.Append(nil, params))
	}
	libs := s.pipelines.libs
	libs.mu.Lock()
	defer libs.mu.Unlock()
	if libs.known[key] == nil {
		options := unhurried()
		if s.options.Snapshot != "" {
			options = append(options, rego.WithSnapshot(s.options.Snapshot))
		}
		libs.known[key] = rego.New(s.lib, own, options...)
	}
	return libs.known[key]
}
