package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/adapters"
	"gate/engine/rego"
	"gate/hook"
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
//	go test -run '^$' -bench Process -benchtime 100x ./cmd/gate
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	programs := map[string]string{
		"gate": ".", "hello": "./testdata/bench/hello", "floor": "./testdata/bench/floor",
	}
	for name, pkg := range programs {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, name+".exe"), pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
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
	b.ReportMetric(middle("pass")/middle("floor"), "pass/floor")
	b.ReportMetric(middle("deny")/middle("floor"), "deny/floor")
	b.ReportMetric(float64(len(benchGuard(b).set.Policies())), "policies")
	b.ReportMetric(0, "ns/op")
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// benchGuard is gate with the library and nothing else.
func benchGuard(b testing.TB) *guard {
	dir := b.TempDir()
	g, err := newGuard(setting{
		dirs: dirs{managed: filepath.Join(dir, "m"), managedNamed: true, user: filepath.Join(dir, "u"), state: filepath.Join(dir, "s")},
		home: "/home/dev", project: "/home/dev/project", env: func(string) (string, bool) { return "", false },
		rego: []rego.Option{rego.WithOutOfMemory(func() { b.Error("no memory left") })},
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
				ev, err := adapter.Parse(data)
				if err != nil {
					b.Fatal(err)
				}
				if d := g.decide(b.Context(), ev); (d.Effect == hook.Deny) != (line == harmful) {
					b.Fatalf("%s: %s", line, d.Effect)
				}
			}
		})
	}
}
