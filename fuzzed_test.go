package gate_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFuzzed holds that .ci/fuzzed, which counts the CPU seconds spent on each fuzz
// target, has a line for every target and no other.
func TestFuzzed(t *testing.T) {
	targets := map[string]bool{}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range target.FindAllSubmatch(text, -1) {
			targets[path.Join("gate", path.Dir(name))+" "+string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := os.ReadFile(".ci/fuzzed")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(counts)) {
		words := strings.Fields(line)
		if len(words) != 4 {
			t.Fatalf("not package, target, seconds, runs: %s", line)
		}
		for _, number := range words[2:] {
			if n, err := strconv.Atoi(number); err != nil || n < 0 {
				t.Errorf("no count: %s", line)
			}
		}
		name := words[0] + " " + words[1]
		if !targets[name] {
			t.Errorf("%s is no target", name)
		}
		delete(targets, name)
	}
	for name := range targets {
		t.Errorf("%s has no line", name)
	}
}
