package mutate_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/policytest/mutate"
	"gate/policies"
)

// maxFuzzed is how many bytes are mutated: each mutant is a copy of them all.
const maxFuzzed = 2 << 10

// FuzzMutants holds that every mutant differs from its module, can be written
// and read again, and leaves the module as it was.
func FuzzMutants(f *testing.F) {
	f.Add("package p\n\nallow if {\n\tsome i\n\tinput.a[i] == [1, {\"x\": {2, \"y\"}}]\n\tnot input.b with input.c as 3\n} else := x if x := 1 + 2\n")
	f.Add("package p\n\nf(1) := y if {\n\t[y, _] := [input.a, {z: w | some z, w in input.b; w > 0}]\n}\n\nq[x].r contains s if {\n\tx := 1\n\ts := $\"{x} a\"\n}\n")
	err := fs.WalkDir(policies.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".rego") || strings.HasSuffix(name, "_test.rego") {
			return err
		}
		text, err := fs.ReadFile(policies.FS(), name)
		if len(text) <= maxFuzzed {
			f.Add(string(text))
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	opts := ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxFuzzed {
			return
		}
		m, err := ast.ParseModuleWithOpts("p.rego", text, opts)
		if err != nil || m == nil {
			return
		}
		original := m.String()
		if _, err := ast.ParseModuleWithOpts("p.rego", original, opts); err != nil {
			return // OPA cannot read what it wrote
		}
		for mutant := range mutate.Of(m) {
			if mutant.Line < 1 || mutant.Column < 1 || mutant.Text == "" || strings.Contains(mutant.Text, "\n") || mutant.Advice() == "" {
				t.Fatalf("%+v", mutant)
			}
			changed := mutant.Module.String()
			if changed == original {
				t.Errorf("%s: nothing changed", mutant)
			}
			if _, err := ast.ParseModuleWithOpts("p.rego", changed, opts); err != nil {
				t.Errorf("%s: %v\n%s", mutant, err, changed)
			}
		}
		if m.String() != original {
			t.Errorf("the module itself was changed:\n%s", m)
		}
	})
}
