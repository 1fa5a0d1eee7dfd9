package policycheck

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/moment"
	"gate/internal/rego"
	"gate/scopes"
)

// RegalConfig is the name of Regal's configuration among [EditorFiles].
const RegalConfig = ".regal/config.yaml"

// regalConfig is for policies of one's own.
//
//go:embed editor/config.yaml
var regalConfig embed.FS

// An EditorFile is one file that Regal, OPA's command line or an editor reads.
type EditorFile struct {
	Name string // slash-separated, below the directory that holds the policies
	Text []byte
}

// editorLibrary is where the library stands among [EditorFiles].
const editorLibrary = ".regal/library"

// EditorFiles returns what tools that know Rego need to know about gate:
// Regal's configuration, the builtins that policies may call as OPA's
// capabilities, a schema of input, and the packages of the library that policies
// import. extra are builtins that exist in tests only.
func EditorFiles(lib []scopes.Module, extra ...*ast.Builtin) ([]EditorFile, error) {
	config, err := regalConfig.ReadFile("editor/config.yaml")
	if err != nil {
		return nil, err
	}
	capabilities, err := pretty(capabilitiesWith(extra))
	if err != nil {
		return nil, err
	}
	input, err := inputSchema()
	if err != nil {
		return nil, err
	}
	files := []EditorFile{
		{RegalConfig, config},
		{".regal/capabilities.json", capabilities},
		{".regal/schemas/input.json", input},
	}
	for _, m := range lib {
		files = append(files, EditorFile{path.Join(editorLibrary, m.File), []byte(m.Text)})
	}
	return files, nil
}

// capabilitiesWith returns what policies below managed ones may use.
func capabilitiesWith(extra []*ast.Builtin) *ast.Capabilities {
	caps := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(ast.RegoV1))
	granted := map[string]bool{}
	for _, b := range rego.Builtins() {
		granted[b.Name] = b.Others
	}
	caps.Builtins = slices.DeleteFunc(caps.Builtins, func(b *ast.Builtin) bool { return !granted[b.Name] })
	caps.Builtins = append(caps.Builtins, ast.Print) // in tests; policies leave it out
	caps.Builtins = append(caps.Builtins, extra...)
	caps.AllowNet = []string{}
	return caps
}

func pretty(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// inputSchema returns one schema for the input of any event, complete in
// itself: OPA follows no references to files. A field that events have with
// different types may be anything.
func inputSchema() ([]byte, error) {
	fields := map[string]any{}
	add := func(doc map[string]any) {
		properties, _ := doc["properties"].(map[string]any)
		for field, p := range properties {
			old, there := fields[field]
			switch {
			case field == "hook_event_name":
				p = map[string]any{"type": "string"}
			case there && fmt.Sprint(old) != fmt.Sprint(p):
				p = map[string]any{}
			}
			fields[field] = p
		}
	}
	for _, m := range moment.Every() {
		add(EventSchema(m))
	}
	add(fieldsSchema(moment.CommonFields()))
	own, err := inlined("common.json")
	if err != nil {
		return nil, err
	}
	add(own)
	return pretty(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": "input of gate's policies", "type": "object",
		"properties": fields, "additionalProperties": false,
	})
}

// inlined reads a schema and puts those that it refers to in their places.
func inlined(name string) (map[string]any, error) {
	text, err := fs.ReadFile(Schemas(), name)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	v, err := inline(doc)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

func inline(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return inlined(ref)
		}
		if _, own := v["unknown"].(string); own { // and no field of that name
			delete(v, "unknown")
		}
		for key, e := range v {
			e, err := inline(e)
			if err != nil {
				return nil, err
			}
			v[key] = e
		}
		return v, nil
	case []any:
		for i := range v {
			e, err := inline(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = e
		}
		return v, nil
	}
	return v, nil
}
