package commands

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/rego"
	"gate/internal/setup"
	"gate/internal/sources"
)

// The lines that are measured: one that policies of every kind look at, and
// one that hardly any concerns.
const (
	harmful  = "git push --force origin main"
	harmless = "go test ./... | tail -n 20"
)

// BenchmarkProcess measures gate hook from start to exit, with the whole
// library, beside two other Go programs in the same rounds: what counts are
// the ratios, for the milliseconds are the machine's.
//
//	go test -run '^$' -bench Process -benchtime 100x ./cmd/internal/commands
func BenchmarkProcess(b *testing.B) {
	dir := builtFor(b, map[string]string{"gate": "gate/cmd/gate", "hello": "./testdata/bench/hello", "floor": "./testdata/bench/floor"})
	hookArgs := []string{"hook", "--agent", "claude", "--event", "PreToolUse",
		"--managed-dir", filepath.Join(dir, "m"), "--user-dir", filepath.Join(dir, "u"), "--state-dir", filepath.Join(dir, "s")}
	runs := []struct {
		name, program, line string
		args                []string
		status              int
	}{
		{"hello", "hello", harmless, nil, 0},
		{"floor", "floor", harmless, nil, 0},
		{"pass", "gate", harmless, hookArgs, 0},
		{"deny", "gate", harmful, hookArgs, 2},
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, r := range runs {
			cmd := exec.Command(filepath.Join(dir, r.program+".exe"), r.args...)
			cmd.Stdin = bash(r.line)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			start := time.Now()
			err := cmd.Run()
			took[r.name] = append(took[r.name], time.Since(start))
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != r.status {
				b.Fatalf("%s: %v\n%s%s", r.name, err, &stdout, &stderr)
			}
		}
	}
	middle := func(name string) float64 { return float64(median(took[name]).Microseconds()) / 1000 }
	for _, r := range runs {
		b.ReportMetric(middle(r.name), "ms/"+r.name)
	}
	b.ReportMetric(middle("pass")/middle("hello"), "pass/hello")
	b.ReportMetric(middle("deny")/middle("hello"), "deny/hello")
	b.ReportMetric(middle("pass")/middle("floor"), "pass/floor")
	b.ReportMetric(middle("deny")/middle("floor"), "deny/floor")
	b.ReportMetric(float64(len(benchGuard(b).Set.Policies())), "policies")
	b.ReportMetric(0, "ns/op")
}

// builtFor is a directory with programs, as releases have them, by their names.
func builtFor(b *testing.B, programs map[string]string) string {
	dir := b.TempDir()
	for name, pkg := range programs {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, name+".exe"), pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// BenchmarkStart measures what each program does before main, by the runtime's own
// account (GODEBUG=inittrace=1), beside the Go program that gate is measured against:
// the time that packages take to begin, and what they allocate, which is the same in
// every run. TestModules holds what gate links.
//
//	go test -run '^$' -bench Start -benchtime 50x ./cmd/internal/commands
func BenchmarkStart(b *testing.B) {
	programs := map[string]string{"gate-hook": "gate/cmd/gate-hook", "gate": "gate/cmd/gate", "gate-server": "gate/cmd/gate-server", "floor": "./testdata/bench/floor"}
	dir := builtFor(b, programs)
	took, allocated := map[string][]time.Duration{}, map[string]int{}
	for b.Loop() {
		for name := range programs {
			cmd := exec.Command(filepath.Join(dir, name+".exe"), "version")
			cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
			var said bytes.Buffer
			cmd.Stderr = &said
			cmd.Run() // not all of them know the command
			var sum time.Duration
			allocated[name] = 0
			for line := range strings.Lines(said.String()) {
				var pkg string
				var at, ms float64
				var bytes int
				if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &pkg, &at, &ms, &bytes); n == 4 {
					sum += time.Duration(ms * float64(time.Millisecond))
					allocated[name] += bytes
				}
			}
			took[name] = append(took[name], sum)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		b.ReportMetric(float64(median(took[name]).Microseconds())/1000, "ms/"+name)
		b.ReportMetric(float64(allocated[name])/1024, "KiB/"+name)
	}
	b.ReportMetric(0, "ns/op")
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// benchGuard is gate with the library and nothing else.
func benchGuard(b testing.TB) *setup.Gate {
	dir := b.TempDir()
	g, err := setup.New(setup.Options{
		For:  sources.For{Machine: core.Machine{Dirs: dirs{Managed: filepath.Join(dir, "m"), ManagedNamed: true, User: filepath.Join(dir, "u"), State: filepath.Join(dir, "s")}, Home: "/home/dev", Project: "/home/dev/project", LookupEnv: func(string) (string, bool) { return "", false }}},
		Rego: []rego.Option{rego.WithOutOfMemory(func() { b.Error("no memory left") })},
	})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkDecide measures one decision of a gate that is running already, with
// the whole library.
func BenchmarkDecide(b *testing.B) {
	g := benchGuard(b)
	adapter, _ := adapters.Lookup("claude")
	for _, line := range []string{harmless, harmful} {
		word, _, _ := strings.Cut(line, " ")
		b.Run(word, func(b *testing.B) {
			data := fmt.Appendf(nil, strings.Replace(bashEvent, "LINE", "%s", 1), quoteJSON(line))
			b.ReportAllocs()
			for b.Loop() {
				ev, err := adapter.Parse(data, "")
				if err != nil {
					b.Fatal(err)
				}
				if d := g.Decide(b.Context(), ev); (d.Effect == hook.Deny) != (line == harmful) {
					b.Fatalf("%s: %s", line, d.Effect)
				}
			}
		})
	}
}

// queried are the rules that speak of the harmful line, and what they have to be
// asked with OPA alone by somebody who knows that.
const queried = "deny := data.gate.git.push.deny; ask := data.gate.git.push.ask; tool := data.gate.tool.change.ask"

// BenchmarkQuery measures a decision about the harmful line, with the whole
// library, beside OPA's own prepared query of just the rules that match it: on
// the same document, with facts already in it, and with nothing made of the
// answer. The two take turns; what counts is the ratio.
func BenchmarkQuery(b *testing.B) {
	g := benchGuard(b)
	adapter, _ := adapters.Lookup("claude")
	data := fmt.Appendf(nil, strings.Replace(bashEvent, "LINE", "%s", 1), quoteJSON(harmful))
	decide := func() hook.Decision {
		ev, err := adapter.Parse(data, "")
		if err != nil {
			b.Fatal(err)
		}
		return g.Decide(b.Context(), ev)
	}
	query := handWritten(b, decide())
	var decisions, queries []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		decide()
		decisions = append(decisions, time.Since(start))
		start = time.Now()
		query()
		queries = append(queries, time.Since(start))
	}
	us := func(list []time.Duration) float64 { return float64(median(list).Nanoseconds()) / 1000 }
	b.ReportMetric(us(decisions), "us/decision")
	b.ReportMetric(us(queries), "us/query")
	b.ReportMetric(us(decisions)/us(queries), "decision/query")
	b.ReportMetric(testing.AllocsPerRun(20, func() { decide() }), "allocs/decision")
	b.ReportMetric(testing.AllocsPerRun(20, query), "allocs/query")
	b.ReportMetric(0, "ns/op")
}

// handWritten prepares the query, and sees to it that it asks what the decision
// asked: d holds the facts.
func handWritten(b *testing.B, d hook.Decision) func() {
	for _, step := range d.Steps {
		if !strings.Contains(queried, "data."+step.Hook.ID+".") {
			b.Fatalf("the decision asked %s, too: put it into the query", step.Hook.ID)
		}
	}
	options := []func(*opa.Rego){opa.Query(queried)}
	params := map[string]any{}
	for _, src := range benchGuard(b).Set.Sources() {
		values, err := rego.Params(*src)
		if err != nil {
			b.Fatal(err)
		}
		maps.Copy(params, values)
		for _, m := range src.Modules {
			options = append(options, opa.Module(m.File, m.Text))
		}
	}
	_, lib := sources.Library(hook.User)
	for _, m := range lib {
		options = append(options, opa.Module(m.File, m.Text))
	}
	options = append(options, opa.Store(inmem.NewFromObject(map[string]any{"gate": map[string]any{"params": params}})))
	prepared, err := opa.New(options...).PrepareForEval(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	ev := bashCall(b, d)
	document := ev.Document()
	return func() {
		results, err := prepared.Eval(b.Context(), opa.EvalInput(document))
		if err != nil || len(results) != 1 || len(results[0].Bindings["deny"].([]any)) == 0 {
			b.Fatalf("%v, %v", results, err)
		}
	}
}

// bashCall is the event that d decided about, as policies see it.
func bashCall(b *testing.B, d hook.Decision) hook.Event {
	adapter, _ := adapters.Lookup("claude")
	ev, err := adapter.Parse(fmt.Appendf(nil, strings.Replace(bashEvent, "LINE", "%s", 1), quoteJSON(harmful)), "")
	if err != nil {
		b.Fatal(err)
	}
	ev.Facts = d.Facts
	return ev
}
