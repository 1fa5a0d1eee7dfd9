//go:build linux || darwin

package build_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gate/internal/artifact"
	"gate/internal/artifact/build"
)

// BenchmarkPlace reads and compiles a directory with OPA, as gate build does, by
// the number of policies.
func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{25, 100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := opened(b, artifact.User, company(b, n))
			make := builder()
			make.Compile = build.Plan
			size := 0
			for b.Loop() {
				c, err := make.Place(p)
				if err != nil || c.Refused != "" {
					b.Fatal(err, c.Refused)
				}
				data, err := artifact.Encode(&c)
				if err != nil {
					b.Fatal(err)
				}
				size = len(data)
			}
			b.ReportMetric(float64(size), "file-bytes")
		})
	}
}

// BenchmarkFresh looks whether anything has changed, which each call pays for, by
// the number of files.
func BenchmarkFresh(b *testing.B) {
	for _, n := range []int{25, 100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := company(b, n)
			a := place(b, opened(b, artifact.User, dir))
			for b.Loop() {
				if err := a.Fresh(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// company writes n policies, like those of a company, below one directory.
func company(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "place")
	for i := range n {
		name := filepath.Join(dir, "policies", fmt.Sprintf("team%d", i%20), fmt.Sprintf("p%d.rego", i))
		text := policy(fmt.Sprintf("acme.team%d.p%d", i%20, i), "matcher: Bash") + fmt.Sprintf(`
deny contains msg if {
	some command in input.facts.shell.commands
	command.program == "tool%d"
	regex.match("^prod-[a-z]+%d$", command.subcommand)
	msg := sprintf("%%s is not for agents", [command.program])
}
`, i, i)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}
