package policies_test

import (
	"os"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/policytest/attack"
)

// The files of testdata/corpus are multiplied: each harmful core in each
// disguise is stopped, each harmful core that is only mentioned and each
// harmless one in ordinary surroundings passes.

// corpus returns the lines of a file, with ⏎ for a line break within one.
// Comments begin with ##, because a shell's own begin with #.
func corpus(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "## ") {
			continue
		}
		list = append(list, strings.ReplaceAll(line, "⏎", "\n"))
	}
	if len(list) == 0 {
		t.Fatalf("%s holds no line", name)
	}
	return list
}

// harmfulCores returns verdicts and lines.
func harmfulCores(t *testing.T, name string) (verdicts, cores []string) {
	for _, line := range corpus(t, name) {
		verdict, core, _ := strings.Cut(line, " ")
		verdicts, cores = append(verdicts, verdict), append(cores, core)
	}
	return verdicts, cores
}

func TestCorpusPlain(t *testing.T) {
	decide := decider(t)
	verdicts, cores := harmfulCores(t, "harmful.txt")
	for i, core := range cores {
		if d := decide(core); d.Effect.String() != verdicts[i] {
			t.Errorf("%s: got %s, want %s: %q", core, d.Effect, verdicts[i], said(d))
		}
	}
}

// TestProbe runs the lines by which guards were compared.
func TestProbe(t *testing.T) {
	decide := decider(t)
	verdicts, lines := harmfulCores(t, "probe.txt")
	for i, line := range lines {
		if d := decide(line); (verdicts[i] == "stop") != (d.Effect >= hook.Ask) {
			t.Errorf("%s: got %s, want %s: %q", line, d.Effect, verdicts[i], said(d))
		}
	}
}

func TestCorpusDisguised(t *testing.T) {
	decide := decider(t)
	_, cores := harmfulCores(t, "harmful.txt")
	for _, template := range attack.Disguises() {
		for _, core := range cores {
			line := attack.Fill(template, core)
			if d := decide(line); d.Effect < hook.Ask {
				t.Errorf("passes: %s", line)
			}
		}
	}
}

func TestCorpusMentioned(t *testing.T) {
	decide := decider(t)
	_, cores := harmfulCores(t, "harmful.txt")
	for _, template := range attack.Mentions() {
		for _, core := range cores {
			line := attack.Fill(template, core)
			if d := decide(line); d.Effect >= hook.Ask {
				t.Errorf("%s is only mentioned: %s: %q", line, d.Effect, said(d))
			}
		}
	}
}

func TestCorpusHarmless(t *testing.T) {
	decide := decider(t)
	cores := corpus(t, "harmless.txt")
	for _, template := range corpus(t, "surroundings.txt") {
		for _, core := range cores {
			line := attack.Fill(template, core)
			if d := decide(line); d.Effect >= hook.Ask {
				t.Errorf("%s is harmless: %s: %q", line, d.Effect, said(d))
			}
		}
	}
}
