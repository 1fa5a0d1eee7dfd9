package policytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"gate/adapters"
	"gate/engine"
	"gate/engine/rego"
	"gate/hook"
	"gate/scopes"
	"gate/scopes/load"
	"gate/strictjson"
)

// A pipeline is the ordered hooks of one shape of world and what runs them.
type pipeline struct {
	set       *scopes.Set
	evaluator engine.Evaluator
	modify    bool // some policy has a modify rule
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
		"dir": path.Dir(c.File), "as": c.World.As, "library": c.World.library(), "trusted": c.World.Trusted,
		"settings": anyMap(c.World.Setting), "sources": sources,
	}))
}

func (w *CaseWorld) library() bool { return w.Library == nil || *w.Library }

// managed reports that the machine of a case has an administrator.
func (w *CaseWorld) managed() bool {
	return w.As == "managed" || w.Setting["managed"] != nil || w.Sources["managed"] != nil
}

func (s *Suite) build(c *Case) (*pipeline, error) {
	layers, err := c.World.layers()
	if err != nil {
		return nil, err
	}
	settings, err := scopes.Combine(layers...)
	if err != nil {
		return nil, err
	}
	sources, err := s.sources(c)
	if err != nil {
		return nil, err
	}
	set, err := scopes.New(sources, settings)
	if err != nil {
		return nil, err
	}
	p := &pipeline{set: set}
	var own, others []scopes.Source
	for _, src := range set.Sources() {
		if src.Library {
			own = append(own, *src)
		} else {
			others = append(others, *src)
		}
		for _, m := range src.Modules {
			p.modify = p.modify || modifies().MatchString(m.Text)
		}
	}
	p.evaluator = split{own: s.libraryEvaluator(own), others: rego.New(s.current(s.lib), others, unhurried()...)}
	return p, nil
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

// layers reads the settings of a case's world.
func (w *CaseWorld) layers() ([]scopes.Layer, error) {
	var layers []scopes.Layer
	var errs []error
	for _, whose := range authorities {
		if said := w.Setting[whose]; said != nil {
			c := readSettings(whose, said)
			layers = append(layers, c.Layers...)
			if c.Source != nil {
				errs = append(errs, joined(c.Source.Faults))
			}
		}
	}
	return layers, errors.Join(errs...)
}

func readSettings(whose string, said map[string]any) load.Configuration {
	name := load.SettingsStem + ".json"
	if whose == "local" {
		name = load.LocalSettingsStem + ".json"
	}
	files := fstest.MapFS{name: {Data: strictjson.Append(nil, said)}}
	_, authority := standing(whose)
	return load.Settings(files, whose+" settings of the case", authority)
}

// settingsProblems says what is wrong with the settings of a case.
func settingsProblems(whose string, said map[string]any) []string {
	var list []string
	if c := readSettings(whose, said); c.Source != nil {
		for _, f := range c.Source.Faults {
			list = append(list, inSettings().ReplaceAllString(f.Error(), ""))
		}
		if len(c.Source.Hooks) > 0 {
			list = append(list, "hooks other than policies are not run in event cases; remove them")
		}
	}
	return list
}

// inSettings is the position within settings that stand in a case.
var inSettings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+ settings of the case/settings[a-z.]*:\d+: `) })

// standing returns where the sources of a word such as user stand.
func standing(whose string) (hook.Scope, hook.Authority) {
	switch whose {
	case "managed":
		return hook.Policy, hook.Managed
	case "project":
		return hook.Session, hook.Project
	case "local":
		return hook.Session, hook.Local
	case "", "user":
		return hook.Session, hook.User
	}
	return hook.Plugin, hook.PluginAuthor
}

// sources returns the sources of a case: gate's own policies, the tested ones
// and what its world adds.
func (s *Suite) sources(c *Case) ([]scopes.Source, error) {
	w := &c.World
	library := s.options.Library
	if s.source.Library {
		library = s.source
	}
	library.Modules = s.current(library.Modules)
	library.Name, library.Scope, library.Library = "library", hook.Policy, true
	library.Authority = scopes.LibraryAuthority(w.managed())
	library.Hooks = s.patient(library, func(*hook.Hook) bool { return w.library() || s.source.Library })
	list := []scopes.Source{library}
	foreign, err := s.further(c)
	if err != nil || s.source.Library {
		return append(list, foreign...), err
	}
	tested := s.source
	tested.Name = w.As
	if tested.Name == "" {
		tested.Name = "user"
	}
	tested.Scope, tested.Authority = standing(w.As)
	tested.Trusted, tested.Modules = w.Trusted, s.current(tested.Modules)
	tested.Hooks = s.patient(tested, func(h *hook.Hook) bool { return beside(h.File, c) })
	if len(tested.Hooks) == 0 && len(foreign) == 0 {
		return nil, fmt.Errorf("no policy lies beside %s or below; put the cases where the policies are", c.File)
	}
	return append(append(list, tested), foreign...), nil
}

// beside reports whether a policy is tested by the cases of a file: it lies in
// its directory or below, and not where the world takes further policies from.
func beside(file string, c *Case) bool {
	within := func(dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
	if !within(path.Dir(c.File)) {
		return false
	}
	for _, dirs := range c.World.Sources {
		for _, dir := range dirs {
			if within(path.Join(path.Dir(c.File), dir)) {
				return false
			}
		}
	}
	return true
}

// patient returns copies of a source's hooks that keep is true for, each of the
// source's standing and with the time that a test has.
func (s *Suite) patient(src scopes.Source, keep func(*hook.Hook) bool) []*hook.Hook {
	var list []*hook.Hook
	for _, h := range src.Hooks {
		if !keep(h) {
			continue
		}
		c := *h
		c.Source, c.Scope, c.Authority, c.Library = src.Name, src.Scope, src.Authority, src.Library
		c.Timeout = max(c.Timeout, s.timeout())
		list = append(list, &c)
	}
	return list
}

func (s *Suite) timeout() time.Duration {
	if s.options.Timeout > 0 {
		return s.options.Timeout
	}
	return 5 * time.Second
}

// further loads the policies that the world of a case adds.
func (s *Suite) further(c *Case) ([]scopes.Source, error) {
	var list []scopes.Source
	var errs []error
	for _, whose := range slices.Sorted(maps.Keys(c.World.Sources)) {
		for _, dir := range c.World.Sources[whose] {
			at := path.Join(path.Dir(c.File), dir)
			src := scopes.Source{Name: whose + " " + at, Trusted: c.World.Trusted}
			src.Scope, src.Authority = standing(whose)
			if !fs.ValidPath(at) {
				errs = append(errs, fmt.Errorf("sources: %s leads out of the tested directory", dir))
				continue
			}
			src, err := s.fromDir(at, src)
			errs = append(errs, err)
			list = append(list, src)
		}
	}
	return list, errors.Join(errs...)
}

func (s *Suite) fromDir(dir string, into scopes.Source) (scopes.Source, error) {
	if info, err := fs.Stat(s.options.Files, dir); err != nil || !info.IsDir() {
		return into, fmt.Errorf("sources: there is no directory %s", dir)
	}
	sub, err := fs.Sub(s.options.Files, dir)
	if err != nil {
		return into, err
	}
	src := load.Rego(sub, into)
	if len(src.Hooks)+len(src.Faults) == 0 {
		return src, fmt.Errorf("sources: %s holds no policy", dir)
	}
	for i := range src.Modules {
		src.Modules[i].File = path.Join(dir, src.Modules[i].File)
	}
	src.Hooks = s.patient(src, func(h *hook.Hook) bool {
		h.File = path.Join(dir, h.File)
		return true
	})
	return src, joined(src.Faults)
}

// engine returns what decides about one call.
func (p *pipeline) engine(facts func(*hook.Event) *hook.Facts) (*engine.Engine, error) {
	return engine.New(p.set,
		engine.WithEvaluator(hook.Rego, p.evaluator),
		engine.WithFacts(facts),
		engine.WithValidator(adapters.CheckInput),
		engine.WithIDs(func() string { return "tested" }),
	)
}
