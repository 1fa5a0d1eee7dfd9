package policytest

import (
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// A Coverage says which lines of the policies the tests evaluated, file by
// file. Lines without a rule or condition do not count.
type Coverage struct {
	Files []FileCoverage
}

// A FileCoverage is the coverage of one file.
type FileCoverage struct {
	File    string
	Covered int // lines
	Missed  int // lines
	Missing []Lines
}

// Lines are lines of a file, both ends included, counted from 1.
type Lines struct{ First, Last int }

// Percent is the share of the lines that were evaluated, from 0 to 100; 100
// where there is none.
func (c Coverage) Percent() float64 {
	var sum FileCoverage
	for _, f := range c.Files {
		sum.Covered += f.Covered
		sum.Missed += f.Missed
	}
	return sum.Percent()
}

// Percent is [Coverage.Percent] of one file.
func (f FileCoverage) Percent() float64 {
	if f.Covered+f.Missed == 0 {
		return 100
	}
	return 100 * float64(f.Covered) / float64(f.Covered+f.Missed)
}

// Cover is [Suite.Run] and says what of the policies was evaluated. Event cases
// count like Rego tests.
func (s *Suite) Cover(ctx context.Context, sel Selection) ([]Result, Coverage, error) {
	tracer := cover.New()
	sel.cover = tracer
	results, err := s.Run(ctx, sel)
	if err != nil {
		return nil, Coverage{}, err
	}
	if err := s.coverCases(ctx, s.selected(sel), tracer); err != nil {
		return nil, Coverage{}, err
	}
	modules := map[string]*ast.Module{}
	for _, name := range s.Policies() {
		modules[name] = s.files[name].module
	}
	report := tracer.Report(modules)
	var c Coverage
	for _, name := range s.Policies() {
		c.Files = append(c.Files, fileCoverage(name, report.Files[name]))
	}
	return results, c, nil
}

func fileCoverage(name string, r *cover.FileReport) FileCoverage {
	f := FileCoverage{File: name}
	if r == nil {
		return f
	}
	rows := map[int]bool{}
	for _, missed := range r.NotCovered {
		for row := missed.Start.Row; row <= missed.End.Row; row++ {
			if !r.IsCovered(row) {
				rows[row] = true
			}
		}
	}
	f.Covered, f.Missed = r.CoveredLines, len(rows)
	for row := range rows {
		f.Missing = append(f.Missing, Lines{row, row})
	}
	slices.SortFunc(f.Missing, func(a, b Lines) int { return a.First - b.First })
	f.Missing = slices.Collect(joinLines(f.Missing))
	return f
}

// joinLines makes one range of neighbours.
func joinLines(sorted []Lines) func(func(Lines) bool) {
	return func(yield func(Lines) bool) {
		for len(sorted) > 0 {
			run := sorted[0]
			for sorted = sorted[1:]; len(sorted) > 0 && sorted[0].First == run.Last+1; sorted = sorted[1:] {
				run.Last = sorted[0].Last
			}
			if !yield(run) {
				return
			}
		}
	}
}

// coverCases evaluates what decided about cases once more under a tracer: the
// engine has none.
func (s *Suite) coverCases(ctx context.Context, cases []Case, tracer *cover.Cover) error {
	if len(cases) == 0 {
		return nil
	}
	compiler, guards := rego.TestCompiler(s.source.Authority, s.source.Library)
	policies := map[string]*ast.Module{}
	for name, f := range s.files {
		if !f.test {
			policies[name] = f.module
		}
	}
	if compiler.Compile(policies); compiler.Failed() {
		return compiler.Errors
	}
	for i := range cases {
		p, err := s.pipeline(&cases[i])
		if err != nil {
			continue // the case has failed for it
		}
		for m, err := range s.moments(ctx, p, &cases[i]) {
			if err != nil {
				continue
			}
			events := []hook.Event{*m.event}
			if field := m.event.Name.Rewrites(); m.decision.Inside() != nil && field != "" {
				events = append(events, m.event.With(field, m.decision.Inside()))
			}
			if err := s.coverEvents(ctx, tracer, compiler, wrapped(wrap(guards)), p, &m.decision, events); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// coverEvents evaluates, for each event, the tested policies that had a say.
func (s *Suite) coverEvents(ctx context.Context, tracer *cover.Cover, c *ast.Compiler, guards []func(*opa.Rego),
	p *pipeline, d *hook.Decision, events []hook.Event) error {
	for _, src := range p.Set.Sources() {
		ran := ranOf(d, src)
		if len(ran) == 0 {
			continue
		}
		params, err := rego.Params(*src)
		if err != nil {
			continue // its policies could not answer
		}
		store := inmem.NewFromObjectWithOpts(map[string]any{"gate": map[string]any{"params": params}}, inmem.OptRoundTripOnWrite(false))
		for i := range events {
			ev := &events[i]
			if ev.Facts == nil {
				ev.Facts = d.Facts
			}
			input, err := ast.InterfaceToValue(ev.Document())
			if err != nil {
				return err
			}
			for _, query := range s.queries(ran) {
				opts := append([]func(*opa.Rego){
					opa.Compiler(c), opa.Store(store), opa.ParsedInput(input), opa.QueryTracer(tracer), opa.Query(query),
				}, guards...)
				// A fault has failed the case already.
				_, _ = opa.New(opts...).Eval(ctx)
			}
		}
	}
	return ctx.Err()
}

// ranOf returns the policies of a source that were asked.
func ranOf(d *hook.Decision, src *scopes.Source) []*hook.Hook {
	var list []*hook.Hook
	for _, step := range d.Steps {
		if slices.Contains(src.Hooks, step.Hook) && !slices.Contains(list, step.Hook) {
			list = append(list, step.Hook)
		}
	}
	return list
}

// queries names the rules by which policies of the suite speak.
func (s *Suite) queries(policies []*hook.Hook) []string {
	var list []string
	for _, h := range policies {
		f := s.files[h.File]
		if f == nil || !f.policy {
			continue
		}
		for _, r := range f.module.Rules {
			query := strings.Join([]string{"data", h.ID, ruleName(r)}, ".")
			if rego.IsRule(ruleName(r)) && !slices.Contains(list, query) {
				list = append(list, query)
			}
		}
	}
	return list
}
