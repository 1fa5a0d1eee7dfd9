package load_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/scopes"
)

const freeze = `# METADATA
# title: Freeze
# custom:
#   gate:
#     events: [PreToolUse]
package company.freeze

deny contains "frozen"
`

// openBundle loads a bundle named company with the usual roots.
func openBundle(files map[string]string) load.Configuration {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return load.Bundle(m, []string{"company", "gate/bundles/company"}, "b", scopes.Source{
		Name: "managed:company", Scope: hook.Policy, Authority: hook.Managed, Digest: "sha256:x", Order: 2, Bundle: &hook.Bundle{Name: "company"},
	})
}

func TestBundleIsOneSource(t *testing.T) {
	const settings = `{"settings": {"deadline": "20s"},
 "hooks": [{"id": "check", "events": ["PreToolUse"], "command": "/usr/bin/true"}],
 "schemas": {"Deploy": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}}}`
	for name, files := range map[string]map[string]string{
		"as people write it": {
			"company/freeze.rego": freeze, "company/data.json": `{"a": {"b": 1}}`, "gate/bundles/company/data.json": settings,
		},
		"as opa build writes it": {
			"company/freeze.rego": freeze, "data.json": `{"company": {"a": {"b": 1}}, "gate": {"bundles": {"company": ` + settings + `}}}`,
		},
		"in small pieces": {
			"company/freeze.rego": freeze, "company/a/data.json": `{"b": 1}`, "gate/data.json": `{"bundles": {"company": ` + settings + `}}`,
		},
	} {
		c := openBundle(files)
		src := c.Source
		if len(src.Faults) > 0 {
			t.Errorf("%s: %v", name, src.Faults)
			continue
		}
		if len(src.Hooks) != 2 || src.Hooks[0].ID != "company.freeze" || src.Hooks[1].ID != "check" || src.Digest != "sha256:x" {
			t.Errorf("%s: the source is %+v", name, src)
		}
		if company := src.Data["company"].(map[string]any); company["a"].(map[string]any)["b"] == nil {
			t.Errorf("%s: the data is %v", name, src.Data)
		}
		if len(c.Layers) != 1 || c.Layers[0].Bundle != "company" || c.Layers[0].Order != 2 || !strings.Contains(c.Layers[0].Pos("deadline"), "data.json:1") {
			t.Errorf("%s: the layers are %+v", name, c.Layers)
		}
		if c.Schemas.Check("Deploy", map[string]any{}) == nil || c.Schemas.Check("Deploy", map[string]any{"to": "x"}) != nil ||
			c.Schemas.Check("Other", map[string]any{}) != nil {
			t.Errorf("%s: the schemas are %v", name, c.Schemas)
		}
	}
}

func TestBundleIsWholeOrBroken(t *testing.T) {
	own := func(text string) map[string]string { return map[string]string{"gate/bundles/company/data.json": text} }
	for want, files := range map[string]map[string]string{
		"package other.freeze is not below a root":                     {"x.rego": strings.Replace(freeze, "company.freeze", "other.freeze", 1)},
		"packages under gate. are the product's":                       {"x.rego": strings.Replace(freeze, "company.freeze", "gate.bundles.company", 1)},
		"data.other is not below a root":                               {"other/data.json": `1`},
		"data.gate.bundles.team.settings is not ":                      {"gate/data.json": `{"bundles": {"team": {"settings": true}}}`},
		"data.company.a is given twice":                                {"company/data.json": `{"a": 1}`, "company/a/data.json": `2`},
		"unknown key setings":                                          own(`{"setings": {}}`),
		"data.json:2: unknown key dedline":                             own("{\"settings\": {\n\"dedline\": \"20s\"}}"),
		"deadline must be seconds":                                     own(`{"settings": {"deadline": "1h"}}`),
		"data.json:1: deadline: a bundle leaves each call 1s at least": own(`{"settings": {"deadline": "999ms"}}`),
		"the command hook lacks command":                               own(`{"hooks": [{"id": "x", "events": ["PreToolUse"], "type": "command"}]}`),
		"keyword oneOf":                                                own(`{"schemas": {"Deploy": {"oneOf": []}}}`),
		"keyword format":                                               own(`{"schemas": {"Deploy": {"properties": {"a": {"format": 3}}}}}`),
		"duplicate":                                                    {"company/data.json": `{"a": 1, "a": 2}`},
		"an object is wanted":                                          {"data.json": `[]`},
		"look alike":                                                   own(`{"settings": {"deadline": "20s", "Deadline": "30s"}}`),
	} {
		c := openBundle(files)
		text := ""
		for _, f := range c.Source.Faults {
			text += f.Error() + "\n"
		}
		if !strings.Contains(text, want) {
			t.Errorf("want %q, got %q", want, text)
		}
	}
}

func FuzzBundle(f *testing.F) {
	f.Add("gate/bundles/company/data.json", `{"settings": {"deadline": "20s"}, "hooks": {"Stop": []}, "schemas": {"X": {"type": "string"}}}`)
	f.Add("data.json", `{"company": {"A": 1, "a": 2}}`)
	f.Add("company/x/data.json", `1`)
	f.Fuzz(func(t *testing.T, name, text string) {
		if m := (fstest.MapFS{name: {Data: []byte(text)}}); fstest.TestFS(m, name) != nil {
			return // no name of a file
		}
		c := openBundle(map[string]string{name: text})
		if c.Source == nil || len(c.Source.Faults) == 0 && len(c.Layers) != 1 {
			t.Errorf("%s: %s: %+v", name, text, c)
		}
	})
}

// TestBundleParallel holds that a bundle may want its handlers to run side by side, and
// that what is neither true nor false is a mistake.
func TestBundleParallel(t *testing.T) {
	const hooks = `"hooks": [{"id": "a", "events": ["PreToolUse"], "command": "/bin/a"}, {"id": "b", "events": ["PreToolUse"], "command": "/bin/b"}]`
	for said, want := range map[string]bool{`true`: true, `false`: false} {
		src := openBundle(map[string]string{"company/freeze.rego": freeze, "gate/bundles/company/data.json": `{` + hooks + `, "parallel": ` + said + `}`}).Source
		if len(src.Faults)+len(src.Notes) > 0 || len(src.Hooks) != 3 {
			t.Fatalf("%s: %+v", said, src)
		}
		for _, h := range src.Hooks {
			if h.Parallel != (want && h.Kind != hook.Rego) {
				t.Errorf("%s: %s: %v", said, h.ID, h.Parallel)
			}
		}
	}
	src := openBundle(map[string]string{"gate/bundles/company/data.json": `{` + hooks + `, "parallel": 1}`}).Source
	if len(src.Faults) != 1 || !strings.Contains(src.Faults[0].Error(), "data.gate.bundles.company.parallel must be true or false") {
		t.Errorf("%v", src.Faults)
	}
}
