package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/artifact/build"
	"gate/internal/backtracking"
	"gate/internal/places"
	"gate/internal/plan"
	"gate/internal/plan/agree"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/policies"
	"gate/scopes"
)

// compareTime bounds how long both engines are asked what tests judge, and how
// long tests run for that alone.
const compareTime = 20 * time.Second

// inTests begins why a policy stays with OPA whose plan answered otherwise in a
// test.
const inTests = "in its tests the engines differ: "

// testsOf prepares the tests of a bundle.
func testsOf(files fs.FS, as scopes.Source) (*policytest.Suite, error) {
	library, lib := sources.Library(hook.User)
	as = scopes.Source{Name: as.Name, Scope: as.Scope, Authority: as.Authority, Data: as.Data}
	return policytest.Prepare(policytest.Options{
		Files: files, Untested: true, Source: as, Library: library, Lib: lib, Snapshot: policies.Snapshot(),
	})
}

// differing has both engines answer about the events of tests that ran, and
// returns why policies of the source stay with OPA, by their ids. compile makes
// the plan.
func differing(ctx context.Context, suite *policytest.Suite, src scopes.Source, compile build.Compiler) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	judged := suite.Judged(ctx)
	if len(judged) == 0 {
		return nil, nil
	}
	_, lib := sources.Library(hook.User)
	program, lacking, err := compile(lib, src)
	if err != nil || program == "" {
		return nil, nil // then all of them stay with OPA
	}
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{}, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		return nil, err
	}
	src = *set.Sources()[0]
	hooks := map[string]*hook.Hook{}
	for _, h := range src.Hooks {
		if h.Kind == hook.Rego && lacking[h.ID] == "" {
			hooks[h.ID] = h
		}
	}
	var list []agree.Question
	for _, j := range judged {
		q := agree.Question{Event: j.Event, At: j.At}
		for _, id := range j.Policies {
			if h := hooks[id]; h != nil {
				q.Hooks = append(q.Hooks, h)
			}
		}
		list = append(list, q)
	}
	byOPA := rego.New(lib, []scopes.Source{src}, rego.WithCompileTime(time.Minute), rego.WithMemory(2<<30, 4<<30))
	byPlan := plan.NewEvaluator([]plan.Source{{Source: &src, Section: program}})
	found := agree.Differences(ctx, byOPA, byPlan, list)
	for id, why := range found {
		found[id] = inTests + why
	}
	return found, nil
}

// A comparison is what both engines said in the tests of bundles: why policies
// stay with OPA, by the digest of the bundle and their ids. A digest that is not
// there was not compared.
type comparison map[string]map[string]string

// compiler returns the compiler of the managed directory: policies of bundles
// that differ from OPA in their own tests stay with OPA. Bundles that known does
// not have are compared now.
func (known comparison) compiler(p *places.Place, compile build.Compiler) build.Compiler {
	return func(lib []scopes.Module, src scopes.Source) (string, map[string]string, error) {
		program, lacking, err := compile(lib, src)
		if err != nil || src.Bundle == nil {
			return program, lacking, err
		}
		left, ok := known[src.Bundle.Digest]
		if !ok {
			if left, err = compareAgain(p, src, compile); err != nil {
				return "", nil, err
			}
		}
		lacking = maps.Clone(lacking)
		if lacking == nil {
			lacking = map[string]string{}
		}
		for id, why := range left {
			if lacking[id] == "" {
				lacking[id] = why
			}
		}
		return program, lacking, nil
	}
}

// compareAgain runs the tests of a bundle in force for what they judge. Whether
// they pass was asked when it came into force.
func compareAgain(p *places.Place, src scopes.Source, compile build.Compiler) (map[string]string, error) {
	files, err := bundleFiles(p, src.Bundle.Digest)
	if err != nil {
		return nil, err
	}
	suite, err := testsOf(files, src)
	if errors.Is(err, policytest.ErrNoTests) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its tests cannot be run: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), compareTime)
	defer cancel()
	if _, err := suite.Run(ctx, policytest.Selection{}); err != nil && ctx.Err() == nil && !errors.Is(err, policytest.ErrNoTests) {
		return nil, fmt.Errorf("its tests cannot be run: %w", err)
	}
	return differing(context.Background(), suite, src, compile)
}

// bundleFiles opens the files of a bundle in force, or on trial.
func bundleFiles(p *places.Place, digest string) (fs.FS, error) {
	current, err := sources.Current(p)
	if err != nil {
		return nil, err
	}
	used := current.All()
	i := slices.IndexFunc(used, func(a sync.Active) bool { return a.Digest == digest })
	if i < 0 {
		return nil, fmt.Errorf("%s is not in force", digest)
	}
	dir, err := p.Below(sync.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(p.Dir, sync.Dir), err)
	}
	return used[i].Open(dir)
}

// leftLines are policies that stay with OPA, a line each.
func leftLines(left map[string]string) (list []string) {
	for _, id := range slices.Sorted(maps.Keys(left)) {
		list = append(list, fmt.Sprintf("%s stays with OPA: %s", id, left[id]))
	}
	return list
}
