package commands

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// editedPolicies is how many policies the directory holds that is edited.
const editedPolicies = 300

// BenchmarkEdited measures what a call costs right after one policy of many was
// edited, beside a call that is answered from the compiled form: the first call
// after the edit, the dearest one, and how many there are until a form is back.
// What counts are the ratios.
//
//	go test -run '^$' -bench Edited -benchtime 20x ./cmd/internal/commands
func BenchmarkEdited(b *testing.B) {
	dir := builtFor(b, map[string]string{"gate": "gate/cmd/gate", "gate-hook": "gate/cmd/gate-hook"})
	for _, name := range []string{"gate", "gate-hook"} { // the names that hand over to each other
		if err := os.Rename(filepath.Join(dir, name+".exe"), filepath.Join(dir, name)); err != nil {
			b.Fatal(err)
		}
	}
	user := filepath.Join(dir, "u")
	for i := range editedPolicies {
		writePlace(b, user, i, "")
	}
	flags := []string{"--managed-dir", filepath.Join(dir, "m"), "--user-dir", user, "--state-dir", filepath.Join(dir, "s")}
	build := exec.Command(filepath.Join(dir, "gate"), append([]string{"build"}, flags...)...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	call := func() time.Duration {
		cmd := exec.Command(filepath.Join(dir, "gate-hook"), append([]string{"--agent", "claude", "--event", "PreToolUse"}, flags...)...)
		cmd.Stdin = bash("rm -f /srv/place7/x")
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		start := time.Now()
		cmd.Run()
		took := time.Since(start)
		if cmd.ProcessState.ExitCode() != exitReject || !bytes.Contains(said.Bytes(), []byte("place 7 must stay")) {
			b.Fatalf("exit status %d\n%s", cmd.ProcessState.ExitCode(), &said)
		}
		return took
	}
	var settled, first, dearest []time.Duration
	slow := 0
	for round := 0; b.Loop(); round++ {
		usual := min(call(), call(), call())
		settled = append(settled, usual)
		writePlace(b, user, 7, fmt.Sprintf("# edition %d\n", round))
		at := call()
		first = append(first, at)
		worst := at
		for at > 3*usual {
			slow++
			time.Sleep(100 * time.Millisecond)
			at = call()
			worst = max(worst, at)
		}
		dearest = append(dearest, worst)
	}
	ms := func(list []time.Duration) float64 { return float64(median(list).Microseconds()) / 1000 }
	b.ReportMetric(ms(settled), "ms/settled")
	b.ReportMetric(ms(first), "ms/first")
	b.ReportMetric(ms(dearest), "ms/dearest")
	b.ReportMetric(ms(first)/ms(settled), "first/settled")
	b.ReportMetric(float64(slow)/float64(b.N), "slow-calls/edit")
	b.ReportMetric(0, "ns/op")
}

// writePlace writes one of many policies that a deletion concerns.
func writePlace(b *testing.B, user string, i int, end string) {
	at := filepath.Join(user, "policies", fmt.Sprintf("p%d", i))
	if err := os.MkdirAll(at, 0o700); err != nil {
		b.Fatal(err)
	}
	text := fmt.Sprintf(`# METADATA
# title: Place %[1]d stays as it is
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     if: effect(fs.delete)
package acme.p%[1]d

deny contains {"reason": msg} if {
	some e in input.facts.effects
	e.kind == "fs.delete"
	startswith(e.path, "/srv/place%[1]d/")
	msg := sprintf("place %[1]d must stay: %%s", [e.path])
}
%[2]s`, i, end)
	if err := os.WriteFile(filepath.Join(at, "p.rego"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}
