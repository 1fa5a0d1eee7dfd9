package policycheck_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"

	"gate/internal/policycheck"
	"gate/internal/policytest"
)

// TestEditorFiles keeps the files in the repository's .regal what the code
// says: run go test ./internal/policycheck -run TestEditorFiles -update.
func TestEditorFiles(t *testing.T) {
	for _, f := range editorFiles(t) {
		file := filepath.Join("../..", filepath.FromSlash(f.Name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, f.Text, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got := read(t, file); got != string(f.Text) {
			t.Errorf("%s is stale", f.Name)
		}
	}
}

func editorFiles(t *testing.T) []policycheck.EditorFile {
	t.Helper()
	files, err := policycheck.EditorFiles(policytest.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEditorsCompile holds that OPA, told what the files say, takes a test that
// calls gate.event, refuses what policies may not call, and finds a misspelt
// field by the schema.
func TestEditorsCompile(t *testing.T) {
	files := map[string][]byte{}
	for _, f := range editorFiles(t) {
		files[f.Name] = f.Text
	}
	caps, err := ast.LoadCapabilitiesJSON(bytes.NewReader(files[".regal/capabilities.json"]))
	if err != nil {
		t.Fatal(err)
	}
	var input any
	if err := util.Unmarshal(files[".regal/schemas/input.json"], &input); err != nil {
		t.Fatal(err)
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.MustParseRef("schema.input"), input)
	for _, c := range []struct{ body, want string }{
		{`x if { input.facts.effects[_].kind == "git.push" }`, ""},
		{`x if { input.facts.unknown[_].kind == "program" }`, ""},
		{`x if { input.tool_input.anything == 1 }`, ""},
		{`x if { data.p.y with input as gate.event("git push -f") }`, ""},
		{`x if { input.facts.efects[_].kind == "git.push" }`, "efects"},
		{`x if { input.tool_nam == "Bash" }`, "tool_nam"},
		{`x if { http.send({"method": "get", "url": "http://x"}) }`, "http.send"},
	} {
		text := "# METADATA\n# scope: package\n# schemas:\n#   - input: schema.input\npackage p\n\n" + c.body + "\n"
		m, err := ast.ParseModuleWithOpts("p.rego", text, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		compiler := ast.NewCompiler().WithCapabilities(caps).WithSchemas(schemas).WithUseTypeCheckAnnotations(true)
		compiler.Compile(map[string]*ast.Module{"p.rego": m})
		got := ""
		if compiler.Failed() {
			got = compiler.Errors.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.body, got, c.want)
		}
	}
}

// TestRegalConfig holds that Regal is told of gate.event as it is declared.
func TestRegalConfig(t *testing.T) {
	var config struct {
		Capabilities struct {
			Plus struct {
				Builtins []struct {
					Name   string
					Decl   struct{ Args []struct{ Type string } }
					Result struct{ Type string }
				}
			}
		}
		Rules map[string]map[string]struct{ Level string }
	}
	if err := yaml.Unmarshal(editorFiles(t)[0].Text, &config); err != nil {
		t.Fatal(err)
	}
	plus, event := config.Capabilities.Plus.Builtins, policytest.Builtin()
	if len(plus) != 1 || plus[0].Name != event.Name || len(plus[0].Decl.Args) != event.Decl.Arity() || plus[0].Result.Type != "object" {
		t.Errorf("Regal is told of %+v, and tests know %s %s", plus, event.Name, event.Decl)
	}
	if len(config.Rules) == 0 {
		t.Error("the configuration has no rules")
	}
}
