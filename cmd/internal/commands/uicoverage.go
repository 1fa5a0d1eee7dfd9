package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/cmd/internal/targets"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/page"
	"gate/internal/policytest"
	"gate/internal/setup"
	"gate/policies"
	"gate/scopes"
)

// Limits of a measurement of coverage.
const (
	coverLimit   = 20 * time.Second // for one policy, with the time that it waits for others
	mostUncover  = 200              // lines that are shown
	mostUnpassed = 20               // tests that are shown
)

// coverage runs the tests of a policy, one policy at a time for all who look, and says
// which of its lines they evaluate: what gate test --coverage says.
func (v viewer) coverage(turn chan struct{}) func(ctx context.Context, project, id string) (page.Document, error) {
	return func(ctx context.Context, project, id string) (page.Document, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, coverLimit, fmt.Errorf("measuring took more than %s; gate test --coverage takes the time that it needs", coverLimit))
		defer cancel()
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		_, g, _, err := v.at(project)
		if err != nil {
			return nil, err
		}
		r, err := policyNamed(g, id)
		if err != nil {
			return nil, err
		}
		doc, err := v.covered(ctx, g, r)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return doc, err
	}
}

// policyNamed is the one policy of a name.
func policyNamed(g *setup.Gate, id string) (scopes.PolicyRow, error) {
	rows, err := policyRows(g, []string{id})
	if err != nil {
		return scopes.PolicyRow{}, saying{page.ErrNotFound, err.Error()}
	}
	at := slices.IndexFunc(rows, func(r scopes.PolicyRow) bool { return r.ID == id })
	if at < 0 {
		return scopes.PolicyRow{}, saying{page.ErrNotFound, quoted(id) + " is a group; the list has its policies"}
	}
	return rows[at], nil
}

// covered measures one policy.
func (v viewer) covered(ctx context.Context, g *setup.Gate, r scopes.PolicyRow) (page.Document, error) {
	doc := page.Document{"id": r.ID, "source": r.Source, "file": r.File, "tested": false, "short": "no tests"}
	if r.Kind != hook.Rego {
		doc["short"], doc["why"] = "not Rego", "It is no Rego policy but a "+string(r.Kind)+" hook, of which nothing can be covered."
		return doc, nil
	}
	t, err := openedTests(g, r)
	if err != nil {
		return nil, err
	}
	defer targets.CloseTests([]*targets.Tests{t})
	began := time.Now()
	options := (&testFlags{as: standingOf(r.Authority)}).options(t)
	options.Untested = true // which is said below
	suite, err := policytest.Prepare(options)
	if errors.Is(err, policytest.ErrNoTests) {
		return untested(doc), nil
	}
	if err != nil {
		return nil, err
	}
	sel, files, err := t.Selection(suite)
	if err != nil {
		return nil, err
	}
	results, c, err := suite.Cover(ctx, sel)
	if errors.Is(err, policytest.ErrNoTests) {
		return untested(doc), nil
	}
	if err != nil {
		return nil, err
	}
	c.Files = slices.DeleteFunc(c.Files, func(f policytest.FileCoverage) bool { return !slices.Contains(files, f.File) })
	doc["took_us"] = time.Since(began).Microseconds()
	addResults(doc, results)
	addCoverage(doc, c, strings.Split(textOf(g, r), "\n"))
	return doc, nil
}

// untested says that nothing can be measured.
func untested(doc page.Document) page.Document {
	doc["why"] = "It has no tests: neither Rego tests nor event cases stand beside it."
	return doc
}

// openedTests opens the tests that stand beside a policy.
func openedTests(g *setup.Gate, r scopes.PolicyRow) (*targets.Tests, error) {
	if r.Library {
		return targets.LibraryTests(policies.FS(), r.File), nil
	}
	dir := g.Where[r.Source]
	if dir == "" {
		return nil, fmt.Errorf("%s is of %s, whose files do not lie in a directory", r.ID, r.Source)
	}
	list, err := targets.OpenTests([]string{filepath.Join(dir, filepath.FromSlash(r.File))})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// standingOf is whose policies those of an authority are, in the words of gate test --as.
func standingOf(a hook.Authority) string {
	switch a {
	case hook.Managed:
		return "managed"
	case hook.Project:
		return "project"
	}
	return "user"
}

// addResults adds how many tests passed, and those that did not.
func addResults(doc page.Document, results []policytest.Result) {
	m := audit.NewMasker(&hook.Event{})
	passed, unpassed := 0, []any{}
	failed := 0
	for i := range results {
		r := &results[i]
		switch {
		case r.Passed():
			passed++
		case !r.Skipped:
			failed++
			why := r.Message
			if r.Err != nil {
				why = r.Err.Error()
			}
			if len(unpassed) < mostUnpassed {
				unpassed = append(unpassed, page.Document{"name": r.Name, "file": r.File, "line": r.Line, "message": document.OrNull(m.Text(why))})
			}
		}
	}
	doc["tested"], doc["passed"], doc["failed"], doc["not_passed"] = passed+failed > 0, passed, failed, unpassed
}

// addCoverage adds the share of lines that the tests evaluated, and the other lines.
func addCoverage(doc page.Document, c policytest.Coverage, text []string) {
	m := audit.NewMasker(&hook.Event{})
	covered, missed, lines := 0, 0, []any{}
	for _, f := range c.Files {
		covered, missed = covered+f.Covered, missed+f.Missed
		for _, part := range f.Missing {
			for n := part.First; n <= part.Last && len(lines) < mostUncover; n++ {
				line := ""
				if n <= len(text) {
					line = m.Text(text[n-1])
				}
				lines = append(lines, page.Document{"line": n, "text": line})
			}
		}
	}
	doc["covered"], doc["missed"], doc["all"], doc["percent"], doc["lines"] = covered, missed, covered+missed, c.Percent(), lines
	doc["short"] = fmt.Sprintf("%.1f %%", c.Percent())
	if failed, _ := doc["failed"].(int); failed > 0 {
		doc["short"] = fmt.Sprintf("%.1f %%, %d not passed", c.Percent(), failed)
	}
}
