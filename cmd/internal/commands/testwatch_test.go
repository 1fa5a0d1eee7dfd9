package commands

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTestWatch changes files while gate test --watch runs, and ends it.
func TestTestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.rego", "# METADATA\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage acme.a\n\ndeny contains \"no\" if input.tool_name == \"Never\"\n")
	write("a_cases.yaml", "cases:\n  - {name: one, bash: ls, expect: pass}\n")
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int)
	go func() {
		status := run(ctx, process{args: []string{"test", "--watch", dir}, stdout: in, stderr: in, stdin: strings.NewReader("")})
		in.Close()
		ended <- status
	}()
	lines := bufio.NewScanner(out)
	until := func(part string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return
			}
		}
		t.Fatalf("it never said %q", part)
	}
	until("PASS   1 passed")
	until("waiting for a change")
	write("a_cases.yaml", "cases:\n  - {name: one, bash: ls, expect: deny}\n")
	until("gate: " + filepath.Join(dir, "a_cases.yaml") + " changed")
	until("FAIL   1 failed")
	until("waiting for a change")
	write("a_cases.yaml", "cases:\n  - {nam: one, bash: ls, expect: deny}\n")
	until(`did you mean "name"?`)
	until("waiting for a change")
	write("b_cases.yaml", "cases:\n  - {name: two, bash: ls, expect: pass}\n")
	write("a_cases.yaml", "cases:\n  - {name: one, bash: ls, expect: pass}\n")
	until("b_cases.yaml is new")
	until("PASS   2 passed")
	until("waiting for a change")
	if err := os.Remove(filepath.Join(dir, "b_cases.yaml")); err != nil {
		t.Fatal(err)
	}
	until("gate: " + filepath.Join(dir, "b_cases.yaml") + " is gone")
	until("PASS   1 passed")
	cancel()
	for lines.Scan() {
		continue // so that it can write what it has to say
	}
	if status := <-ended; status != exitOK {
		t.Errorf("status %d", status)
	}
}

// TestOwnPolicies runs gate test on the policies and examples of this
// repository.
func TestOwnPolicies(t *testing.T) {
	for _, dir := range []string{"policies", "examples"} {
		var out strings.Builder
		p := process{args: []string{"test", filepath.Join(root, dir)}, stdout: &out, stderr: &out, stdin: strings.NewReader("")}
		if status := run(t.Context(), p); status != exitOK || !strings.HasPrefix(out.String(), "PASS ") {
			t.Errorf("gate test %s: status %d\n%s", dir, status, out.String())
		}
	}
}
