package sarif_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"gate/cmd/internal/sarif"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/policies"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write testdata anew")

// valid holds a text to the schema of the format, and returns it read.
func valid(t *testing.T, text string) map[string]any {
	t.Helper()
	file, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("sarif.json", file); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%#v", err)
	}
	return doc
}

func text(t *testing.T, r sarif.Run) string {
	t.Helper()
	text, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestExamples holds that what is said about policies without and with mistakes is as
// the format wants it.
func TestExamples(t *testing.T) {
	lib, _ := load.Lib(policies.FS())
	broken := fstest.MapFS{
		"a.rego": {Data: []byte("package")},
		"b.rego": {Data: []byte("package acme.b\n\nleft := 1\n\ndeny contains \"no\" if input.tool_inputt\n")},
	}
	for name, o := range map[string]policycheck.Options{
		"company": {Files: os.DirFS("../../../examples")},
		"library": {Files: policies.FS(), Source: scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}},
		"broken":  {Files: broken},
	} {
		t.Run(name, func(t *testing.T) {
			o.Lib = lib
			report, err := policycheck.Check(o)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := len(report.Findings) > 0; wrong != (name == "broken") {
				t.Errorf("findings: %v", report.Findings)
			}
			r := sarif.Run{Version: "v1.2.3", Policies: len(report.Policies), Findings: report.Findings, Root: filepath.FromSlash("/tree"), Dir: filepath.FromSlash("/tree")}
			doc := valid(t, text(t, r))
			results := doc["runs"].([]any)[0].(map[string]any)["results"].([]any)
			if len(results) != len(report.Findings) {
				t.Errorf("%d results of %d findings", len(results), len(report.Findings))
			}
		})
	}
}

// TestText compares a run that has everything with what was written last.
func TestText(t *testing.T) {
	r := sarif.Run{
		Version: "v1.2.3", Policies: 2, Status: 1,
		Root: filepath.FromSlash("/tree"), Dir: filepath.FromSlash("/tree/sub"),
		Notes: []string{"hooks.yaml: 1 hook"},
		Findings: []policycheck.Finding{
			{File: filepath.FromSlash("push.rego"), Line: 11, Column: 5, Severity: policycheck.Error, Rule: "field", Message: "no field \"commnd\"", Hint: "did you mean \"command\"?"},
			{File: filepath.FromSlash("../a b:%é#?.rego"), Line: 3, Severity: policycheck.Warning, Rule: "unused", Message: "nothing uses x"},
			{File: filepath.FromSlash("../x:y.rego"), Severity: policycheck.Error, Rule: "load", Message: "a [link](https://evil.example) \x1b[31m\u202e and\nanother line"},
			{File: filepath.FromSlash("../x:y.rego"), Line: 4, Severity: policycheck.Error, Rule: "load", Message: "again"},
			{File: filepath.FromSlash("../../elsewhere/z.rego"), Line: 1, Severity: policycheck.Error, Rule: "format", Message: "not formatted"},
			{Severity: policycheck.Error, Rule: "load", Message: "of no file"},
		},
		Failed: errors.New("nowhere: no such file or directory"),
	}
	got := text(t, r)
	valid(t, got)
	_, got, _ = strings.Cut(got, `"notifications"`) // what is before it are the rules
	if again := text(t, r); !strings.HasSuffix(again, got) {
		t.Error("the second time it is another text")
	}
	const golden = "testdata/run.json"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got %s", got)
	}
}

// TestRefuses holds that the schema is one that refuses.
func TestRefuses(t *testing.T) {
	good := text(t, sarif.Run{})
	for _, change := range [][2]string{{`"2.1.0"`, `"2.0.0"`}, {`"name": "gate"`, `"nom": "gate"`}, {`"exitCode": 0`, `"exitCode": "0"`}} {
		bad := strings.Replace(good, change[0], change[1], 1)
		c := jsonschema.MustCompile("testdata/sarif-schema-2.1.0.json")
		var doc any
		if err := json.Unmarshal([]byte(bad), &doc); err != nil || bad == good {
			t.Fatal(err, change)
		}
		if c.Validate(doc) == nil {
			t.Errorf("%s was accepted", change[1])
		}
	}
}
