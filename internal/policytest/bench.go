package policytest

import (
	"context"
	"errors"
	"strings"
	"testing"

	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"gate/internal/rego"
)

// A Benchmark is what one test costs. Facts and events are made once and do not
// count.
type Benchmark struct {
	Name        string
	File        string
	Line        int
	Runs        int
	NsPerOp     int64
	BytesPerOp  int64
	AllocsPerOp int64
	Err         error // the test could not be run, or did not pass
}

// Bench runs the selected tests one after the other, each for about a second,
// count times.
func (s *Suite) Bench(ctx context.Context, sel Selection, count int) ([]Benchmark, error) {
	list, err := s.benches(ctx, sel)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, noTests(sel)
	}
	var out []Benchmark
	for range count {
		for _, b := range list {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			out = append(out, b.measure())
		}
	}
	return out, nil
}

// A bench is something to measure; op does it once.
type bench struct {
	Benchmark
	op func() error
}

func (b bench) measure() Benchmark {
	if b.Err = b.op(); b.Err != nil { // and everything is compiled
		return b.Benchmark
	}
	r := testing.Benchmark(func(t *testing.B) {
		t.ReportAllocs()
		for t.Loop() {
			if err := b.op(); err != nil {
				b.Err = err
				t.FailNow()
			}
		}
	})
	b.Runs, b.NsPerOp, b.BytesPerOp, b.AllocsPerOp = r.N, r.NsPerOp(), r.AllocedBytesPerOp(), r.AllocsPerOp()
	return b.Benchmark
}

// benches lists what a selection measures: its tests, and the calls of its cases.
func (s *Suite) benches(ctx context.Context, sel Selection) ([]bench, error) {
	tests, broken, err := s.testQueries(ctx, sel)
	if err != nil {
		return nil, err
	}
	var list []bench
	for _, r := range broken {
		list = append(list, bench{Benchmark: Benchmark{Name: r.Name, File: r.File, Line: r.Line}, op: func() error { return r.Err }})
	}
	for _, t := range tests {
		list = append(list, bench{
			Benchmark: Benchmark{Name: t.name, File: t.file, Line: t.line},
			op:        func() error { return passes(ctx, t.query) },
		})
	}
	return append(list, s.benchCases(ctx, sel)...), nil
}

// A testQuery is a test that is ready to be asked again and again.
type testQuery struct {
	name, file string
	line       int
	query      opa.PreparedEvalQuery
}

// testQueries prepares the selected tests, but for those that are skipped, and returns
// results of the files that do not compile.
func (s *Suite) testQueries(ctx context.Context, sel Selection) (list []testQuery, broken []Result, err error) {
	event := eventBuiltin{s.events}
	compiler, guards := rego.TestCompiler(s.source.Authority, s.source.Library, event.declaration())
	compiler.WithEnablePrintStatements(false)
	if compiler.Compile(s.modules(sel.Files)); compiler.Failed() {
		broken, rest, err := s.notCompiled(sel, compiler.Errors)
		if err != nil {
			return nil, nil, err
		}
		list, more, err := s.testQueries(ctx, rest)
		return list, append(broken, more...), err
	}
	store := inmem.NewFromObjectWithOpts(s.data(), inmem.OptRoundTripOnWrite(false))
	for _, name := range s.testsOf(sel) {
		for _, r := range testRules(s.files[name].module) {
			query := s.files[name].module.Package.Path.String() + "." + ruleName(r)
			if sel.Name != nil && !sel.Name.MatchString(query) || strings.HasPrefix(ruleName(r), tester.SkipTestPrefix) {
				continue
			}
			t := testQuery{name: query[len("data."):], file: name, line: r.Location.Row}
			opts := append([]func(*opa.Rego){opa.Compiler(compiler), opa.Store(store), opa.Query(query), event.builtin().Func}, wrapped(wrap(guards))...)
			if t.query, err = opa.New(opts...).PrepareForEval(ctx); err != nil {
				return nil, nil, err
			}
			list = append(list, t)
		}
	}
	return list, nil, nil
}

func passes(ctx context.Context, q opa.PreparedEvalQuery) error {
	set, err := q.Eval(ctx)
	switch {
	case err != nil:
		return plain(err)
	case len(set) == 0 || set[0].Expressions[0].Value == false:
		return errors.New("the test fails")
	}
	return nil
}

func (s *Suite) benchCases(ctx context.Context, sel Selection) []bench {
	var list []bench
	for _, c := range s.selected(sel) {
		whole := c
		whole.Lines = nil
		each := []Case{whole}
		if c.Lines != nil {
			each = c.eachLine()
		}
		for i := range each {
			b := bench{Benchmark: Benchmark{Name: s.fullName(&c), File: c.File, Line: c.Line}}
			if c.Lines != nil {
				b.Name += ": " + c.Lines[i]
			}
			b.op = func() error { return s.meets(ctx, &each[i]) }
			list = append(list, b)
		}
	}
	return list
}

// meets reports why a case does not meet what it expects.
func (s *Suite) meets(ctx context.Context, c *Case) error {
	p, err := s.pipeline(c)
	if err != nil {
		return err
	}
	for m, err := range s.moments(ctx, p, c) {
		if err != nil {
			return err
		}
		if len(m.differences()) > 0 {
			return errors.New("the case fails")
		}
	}
	return nil
}

// wrapped are the builtins of gate's in the form that queries take.
func wrapped(builtins []*tester.Builtin) []func(*opa.Rego) {
	list := make([]func(*opa.Rego), len(builtins))
	for i, b := range builtins {
		list[i] = b.Func
	}
	return list
}
