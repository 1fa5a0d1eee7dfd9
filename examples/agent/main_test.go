package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata")

// TestRun holds what the agent prints, for a person who says no and then yes.
func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tool Bash needs a POSIX shell")
	}
	const file = "testdata/session.txt"
	var out bytes.Buffer
	if err := run(t.Context(), t.TempDir(), strings.NewReader("no\nyes\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`\(gate [0-9a-z]{6}\)`).ReplaceAllString(out.String(), "(gate ID)")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("it prints:\n%s\nnot as %s says; run: go test ./examples/agent -update", got, file)
	}
}
