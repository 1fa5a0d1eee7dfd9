package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"gate/internal/params"
	"gate/internal/setting"
	"gate/internal/verdict"
	"gate/scopes"
)

// A source holds what one scopes.Source brought and what was compiled of it.
type source struct {
	name    string
	own     bool // of the product itself: may define packages below gate
	files   *modules
	lib     *modules
	saved   *snapshot // of this source, nil if there is none
	grant   grant
	guards  *guardSet
	fused   bool // see fuse
	store   storage.Store
	params  *params.Params
	data    map[string]any // that the source brings along
	broken  error
	values  cache.InterQueryValueCache
	stuck   atomic.Int32  // evaluations left behind that still run
	hung    atomic.Bool   // one of them compiles
	compile chan struct{} // held by the one call that compiles

	schemas map[string]bool // packages whose METADATA has a schema, and perhaps no rule

	mu    sync.Mutex
	ready map[string]*policy // by package
	units int                // compiled sets alive in ready
}

// maxStuck is how many evaluations of a source may be left behind, still
// running, before its policies are no longer started: each of them eats a
// processor that other sources need.
const maxStuck = 4

// maxUnits is how many sets are kept side by side before everything asked for
// so far is compiled into one.
const maxUnits = 4

func newSource(s *scopes.Source, lib *modules) *source {
	src := &source{
		name:    s.Name,
		own:     s.Library,
		lib:     lib,
		grant:   grantOf(s),
		values:  newValueCache(grantOf(s)),
		compile: make(chan struct{}, 1),
		ready:   map[string]*policy{},
		schemas: map[string]bool{},
	}
	src.guards = newGuardSet(src.grant)
	src.fused = src.grant != grantManaged
	for _, h := range s.Hooks {
		src.schemas[h.ID] = verdict.InputSchema(h) != nil
	}
	src.files, src.broken = filesOf(s)
	src.params = params.Of(s)
	src.data = s.Data
	store, err := src.documents()
	src.store, src.broken = store, errors.Join(src.broken, err)
	return src
}

// documents returns the store with the data document that the policies see.
func (s *source) documents() (storage.Store, error) {
	all, err := s.params.Document(s.data)
	if err != nil {
		return nil, err
	}
	v, err := ast.InterfaceToValue(all)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	plain, err := ast.JSON(v) // in the types that the store knows
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return inmem.NewFromObjectWithOpts(plain.(map[string]any),
		inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true)), nil
}

// filesOf takes the source's files but for the shared library, which comes with
// the evaluator. A package that is the product's own spoils a foreign source:
// whoever tries that means no good.
func filesOf(s *scopes.Source) (*modules, error) {
	var errs []error
	files := make([]scopes.Module, 0, len(s.Modules))
	for _, m := range s.Modules {
		switch {
		case s.Library && setting.Shared(m.Package):
			continue
		case !s.Library && under(m.Package, "gate"):
			errs = append(errs, fmt.Errorf("%s: package %s: packages below gate are the product's own", m.File, m.Package))
		}
		files = append(files, m)
	}
	return newModules(files), errors.Join(errs...)
}

// under reports whether pkg is root or below it.
func under(pkg, root string) bool {
	return pkg == root || strings.HasPrefix(pkg, root+".")
}

// closure returns the files that pkgs need, themselves included: what they
// refer to in their own source and in the library, and so on. It stops at files
// that cannot be parsed and returns their errors.
func (s *source) closure(pkgs []string) (own, lib []*module, err error) {
	seen := map[*module]bool{}
	var queue []*module
	var errs []error
	add := func(list *[]*module) func(*module) {
		return func(m *module) {
			if !seen[m] {
				seen[m] = true
				*list = append(*list, m)
				queue = append(queue, m)
			}
		}
	}
	addOwn, addLib := add(&own), add(&lib)
	for _, pkg := range pkgs {
		each(s.files.ofPackage(pkg), addOwn)
	}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if err := m.parse(); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, ref := range m.refs {
			s.lib.touched(ref.path, addLib)
			s.files.touched(ref.path, addOwn)
		}
	}
	return own, lib, errors.Join(errs...)
}

// missing returns the packages that are not ready, sorted.
func (s *source) missing(pkgs []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, pkg := range pkgs {
		if s.ready[pkg] == nil {
			list = append(list, pkg)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// prepare makes pkgs ready. Only one call compiles; the others wait for it, at
// most until done.
func (s *source) prepare(done <-chan struct{}, pkgs []string) {
	if len(s.missing(pkgs)) == 0 {
		return
	}
	select {
	case s.compile <- struct{}{}:
	case <-done:
		return
	}
	defer func() { <-s.compile }()
	todo := s.missing(pkgs)
	if len(todo) == 0 {
		return
	}
	s.mu.Lock()
	if s.units >= maxUnits {
		for pkg := range s.ready {
			todo = append(todo, pkg)
		}
		slices.Sort(todo)
		s.units = 0
	}
	s.mu.Unlock()
	ready := s.build(todo)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.ready, ready)
	s.units++
}

// policy returns what is ready for pkg, nil if nothing is.
func (s *source) policy(pkg string) *policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready[pkg]
}
