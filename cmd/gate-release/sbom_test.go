package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// TestSBOM holds that the list has each program of each platform with its digest, and all
// that it links with the checksums of go.sum, in the form of CycloneDX.
func TestSBOM(t *testing.T) {
	tree := newTiny(t)
	r := tree.release("linux/amd64", "windows/amd64")
	if err := r.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(r.Out, "gate-"+r.Version+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, data)
	var bom cyclonedx.BOM
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	if bom.Metadata.Timestamp != "2030-01-02T03:04:05Z" || bom.Metadata.Component.Version != r.Version {
		t.Errorf("%+v", bom.Metadata)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]cyclonedx.Component{}
	for _, c := range *bom.Components {
		parts[c.BOMRef] = c
	}
	module := parts["pkg:golang/golang.org/x/sync@"+tree.version]
	if module.Properties == nil || !strings.Contains(string(sums), module.Name+" "+module.Version+" "+(*module.Properties)[0].Value+"\n") {
		t.Errorf("the module is %+v", module)
	}
	programs := 0
	for _, p := range r.Platforms {
		programs += len(p.programs())
		s, err := r.stage(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range s.Platform.programs() {
			f := s.Program(name)
			ref := p.String() + "/" + f.Path
			if c := parts[ref]; c.Hashes == nil || (*c.Hashes)[0].Value != digest(f.Data) {
				t.Errorf("%s is %+v", ref, c)
			}
			i := slices.IndexFunc(*bom.Dependencies, func(d cyclonedx.Dependency) bool { return d.Ref == ref })
			if i < 0 || !slices.Contains(*(*bom.Dependencies)[i].Dependencies, module.BOMRef) || len(*(*bom.Dependencies)[i].Dependencies) != 2 {
				t.Errorf("%s does not link what it does: %+v", ref, *bom.Dependencies)
			}
		}
	}
	if len(parts) != programs+2 {
		t.Errorf("%d parts", len(parts))
	}
}

// conforms holds a list against the schema that CycloneDX publishes; a copy of it comes
// with the library.
func conforms(t *testing.T, data []byte) {
	t.Helper()
	dir, err := (&Release{Tree: "."}).run(t.Context(), nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6.schema.json": "", "spdx.schema.json": "", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		file, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "schema", cmp.Or(file, name)))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, file); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%#v", err)
	}
	value.(map[string]any)["version"] = "one"
	if schema.Validate(value) == nil {
		t.Error("the schema takes anything")
	}
}

// TestPurl holds the form of names of modules.
func TestPurl(t *testing.T) {
	for m, want := range map[module]string{
		{path: "mvdan.cc/sh/v3", version: "v3.14.1"}:                              "pkg:golang/mvdan.cc/sh/v3@v3.14.1",
		{path: "github.com/BurntSushi/toml", version: "v1.4.0"}:                   "pkg:golang/github.com/burntsushi/toml@v1.4.0",
		{path: "github.com/google/flatbuffers", version: "v25.2.10+incompatible"}: "pkg:golang/github.com/google/flatbuffers@v25.2.10%2Bincompatible",
	} {
		if got := m.purl(); got != want {
			t.Errorf("%s is %s, not %s", m, got, want)
		}
	}
}
