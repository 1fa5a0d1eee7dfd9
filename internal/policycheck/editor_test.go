package policycheck_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"

	"gate/examples"
	"gate/hook"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/internal/sources"
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
	files, err := policycheck.EditorFiles(nil, policytest.Builtin())
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
	var except struct {
		Rules struct {
			Imports struct {
				Import struct {
					Names []string `yaml:"except-imports"`
				} `yaml:"unresolved-import"`
				Reference struct {
					Names []string `yaml:"except-paths"`
				} `yaml:"unresolved-reference"`
			}
		}
	}
	if err := yaml.Unmarshal(editorFiles(t)[0].Text, &except); err != nil {
		t.Fatal(err)
	}
	_, lib := sources.Library(hook.User)
	for _, m := range lib {
		if !slices.Contains(except.Rules.Imports.Import.Names, "data."+m.Package) || !slices.Contains(except.Rules.Imports.Reference.Names, "data."+m.Package+".*") {
			t.Errorf("Regal does not know data.%s", m.Package)
		}
	}
}

const harmlessPush = `# METADATA
# scope: package
# schemas:
#   - input: schema.input
package acme.harmless

import data.gate.lib
import data.gate.proof

deny contains "pushes" if {
	some push in lib.effects("git.push")
	push.force
}

allow contains "only looks" if {
	count(input.facts.shell.commands) > 0
	every c in input.facts.shell.commands {
		proof.looks(c)
	}
}
`

// TestEditorsImport holds that OPA, told what the files say and pointed at the directory
// as "opa check" is, takes all examples with their tests, and a policy that imports the
// library; that it evaluates such a one; and that it refuses what the library does not have.
func TestEditorsImport(t *testing.T) {
	_, lib := sources.Library(hook.User)
	files, err := policycheck.EditorFiles(lib, policytest.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, examples.FS()); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("harmless.rego", harmlessPush)
	for _, f := range files {
		put(f.Name, string(f.Text))
	}
	compiler, wrong := opaCheck(t, dir)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if len(compiler.Modules) < len(lib)+50 {
		t.Fatalf("OPA reads %d files", len(compiler.Modules))
	}
	for text, want := range map[string]string{
		`{"facts": {"effects": [{"kind": "git.push", "force": true}]}}`:  `["pushes"]`,
		`{"facts": {"effects": [{"kind": "git.push", "force": false}]}}`: `[]`,
	} {
		input, err := ast.ValueFromReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := rego.New(rego.Compiler(compiler), rego.Query("data.acme.harmless.deny"), rego.ParsedInput(input)).Eval(t.Context())
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if text, _ := json.Marshal(got[0].Expressions[0].Value); string(text) != want {
			t.Errorf("deny is %s, want %s", text, want)
		}
	}
	put("harmless.rego", strings.ReplaceAll(harmlessPush, "lib.effects(", "lib.efects("))
	if _, wrong := opaCheck(t, dir); wrong == nil || !strings.Contains(wrong.Error(), "undefined function data.gate.lib.efects") {
		t.Errorf("a misspelt function: %v", wrong)
	}
	put("harmless.rego", harmlessPush)
	if err := os.RemoveAll(filepath.Join(dir, ".regal", "library")); err != nil {
		t.Fatal(err)
	}
	if _, wrong := opaCheck(t, dir); wrong == nil || !strings.Contains(wrong.Error(), "undefined function data.gate.lib.effects") {
		t.Errorf("without the library: %v", wrong)
	}
}

// opaCheck is "opa check --strict --capabilities .regal/capabilities.json --schema
// .regal/schemas" of a directory.
func opaCheck(t *testing.T, dir string) (*ast.Compiler, error) {
	t.Helper()
	caps, err := ast.LoadCapabilitiesFile(filepath.Join(dir, ".regal", "capabilities.json"))
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := loader.Schemas(filepath.Join(dir, ".regal", "schemas"))
	if err != nil {
		t.Fatal(err)
	}
	noRego := func(_ string, info fs.FileInfo, _ int) bool {
		return !info.IsDir() && filepath.Ext(info.Name()) != ".rego"
	}
	found, err := loader.NewFileLoader().WithRegoVersion(ast.RegoV1).WithProcessAnnotation(true).WithCapabilities(caps).Filtered([]string{dir}, noRego)
	if err != nil {
		t.Fatal(err)
	}
	compiler := ast.NewCompiler().SetErrorLimit(100).WithCapabilities(caps).WithSchemas(schemas).
		WithEnablePrintStatements(true).WithStrict(true).WithUseTypeCheckAnnotations(true)
	if compiler.Compile(found.ParsedModules()); compiler.Failed() {
		return nil, compiler.Errors
	}
	return compiler, nil
}
