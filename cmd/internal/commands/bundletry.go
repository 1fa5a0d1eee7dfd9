package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/scopes"
)

// testTime bounds what the own tests of a bundle take, all together: whoever signs
// it must not hold up the sync of the others.
const testTime = 5 * time.Minute

// A trying is what came of a bundle that was loaded and tested as a machine does it
// before it puts one in force.
type trying struct {
	source  scopes.Source
	suite   *policytest.Suite // nil of a bundle without tests
	results []policytest.Result
}

// tried loads a bundle as a call would, runs its own tests, and asks its policies
// about a few events. The error says why no machine would put it in force.
func tried(ctx context.Context, files fs.FS, m bundles.Manifest, digest string) (t trying, err error) {
	as := scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed,
		Bundle: &hook.Bundle{Name: m.Gate.Name, Version: m.Gate.Version, Digest: digest}}
	c := load.Bundle(files, m.Roots, m.Gate.Name, as)
	t.source = *c.Source
	var errs []error
	for _, f := range c.Source.Faults {
		errs = append(errs, f.Err)
	}
	if len(errs) > 0 {
		return t, errors.Join(errs...)
	}
	if t.suite, t.results, err = runTests(ctx, files, t.source, testTime); err != nil {
		return t, err
	}
	within, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	_, lib := sources.Library(hook.User)
	err = policytest.Smoke(within, lib, t.source, c.Layers...)
	if within.Err() != nil && ctx.Err() == nil {
		return t, fmt.Errorf("its policies take longer than %s about a few events", testTime)
	}
	return t, err
}

// runTests runs the tests of a bundle, for no longer than limit. There is no suite
// of a bundle without tests.
func runTests(ctx context.Context, files fs.FS, as scopes.Source, limit time.Duration) (*policytest.Suite, []policytest.Result, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	suite, err := testsOf(files, as)
	var results []policytest.Result
	if err == nil {
		results, err = suite.Run(within, policytest.Selection{})
	}
	switch {
	case within.Err() != nil && ctx.Err() == nil:
		return nil, nil, fmt.Errorf("its own tests take longer than %s", limit)
	case err != nil && !errors.Is(err, policytest.ErrNoTests):
		return nil, nil, err
	}
	var failed []string
	for _, r := range results {
		if r.Failed || r.Err != nil {
			failed = append(failed, r.Name)
		}
	}
	if len(failed) > 0 {
		return nil, nil, fmt.Errorf("%d of its %d tests fail: %s", len(failed), len(results), strings.Join(failed[:min(3, len(failed))], ", "))
	}
	return suite, results, nil
}

// unfit says why no machine would put a bundle in force that is well-formed, and
// ends the command.
func unfit(p process, path string, asJSON bool, err error) error {
	if err == nil || len(bundles.Refusals(err)) > 0 {
		return refused(p, path, asJSON, err)
	}
	if asJSON {
		return errors.Join(printAll(p, strictjson.Indent(map[string]any{
			"file": path, "ok": false, "refusals": []any{map[string]any{
				"reason": unfitWord, "sentence": "no machine would put it in force", "hint": unfitHint, "file": "", "detail": visible(err.Error()),
			}},
		})), exitWith(exitRefused))
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(p.stderr, "gate: %s: refused: no machine would put it in force: %s\n", visible(path), oneLine(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprintf(p.stderr, "gate: hint: %s\n", unfitHint)
	return exitWith(exitRefused)
}

const (
	unfitWord = "unfit" // in the place of a refusal's word
	unfitHint = "mend its policies: gate check and gate test say more about their directory"
)
