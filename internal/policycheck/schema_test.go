package policycheck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"gate/adapters"
	"gate/facts"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// compiler knows all schemas by their file's name.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	err := fs.WalkDir(policycheck.Schemas(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(policycheck.Schemas(), name)
		if err != nil {
			return err
		}
		return c.AddResource("mem://schema/"+name, strings.NewReader(string(text)))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range moment.Every() {
		text := strictjson.Append(nil, policycheck.EventSchema(m))
		if err := c.AddResource("mem://schema/event/"+string(m.Name), bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func compiled(t *testing.T, c *jsonschema.Compiler, name string) *jsonschema.Schema {
	t.Helper()
	s, err := c.Compile("mem://schema/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document returns the facts of a spec of gate.event as a policy sees them.
func document(t *testing.T, spec any) map[string]any {
	t.Helper()
	ev, w, err := policytest.Event(spec)
	if err != nil {
		t.Fatalf("%v: %v", spec, err)
	}
	doc := facts.New(facts.World{
		Home: w.Home, User: w.User, OS: w.OS, Project: w.Project, Getenv: w.Getenv, Files: w,
	}).Of(ev).Document()
	return plain(t, doc).(map[string]any)
}

// TestFacts holds that the schemas of facts and effects are what package facts
// emits: for every line and tool call that other tests know, and for every row
// of its catalogue.
func TestFacts(t *testing.T) {
	c := compiler(t)
	schema := compiled(t, c, "facts.json")
	kinds := effectFields(t)
	seen, said := map[string]bool{}, map[string]bool{}
	complain := func(spec any, what string) {
		if !said[what] {
			said[what] = true
			t.Errorf("%v: %s", spec, what)
		}
	}
	for _, spec := range corpus(t) {
		doc := document(t, spec)
		for _, e := range doc["effects"].([]any) {
			kind := e.(map[string]any)["kind"].(string)
			seen[kind] = true
			if kinds[kind] == nil {
				complain(spec, kind+" has no schema")
			} else if err := compiled(t, c, "effect/"+kind+".json").Validate(e); err != nil {
				complain(spec, fmt.Sprintf("%#v", err))
			}
		}
		doc["effects"] = []any{}
		if err := schema.Validate(doc); err != nil {
			complain(spec, fmt.Sprintf("%#v", err))
		}
	}
	for kind, fields := range catalogue(t) {
		seen[kind] = true
		for field := range fields {
			if !slices.Contains(kinds[kind], field) {
				t.Errorf("the catalogue gives %s a field %s, which its schema does not have", kind, field)
			}
		}
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("there is a schema of %s, and nothing emits it", kind)
		}
	}
}

// effectFields returns the sorted fields of each kind of effect.
func effectFields(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	files, err := fs.Glob(policycheck.Schemas(), "effect/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no schemas of effects", err)
	}
	for _, file := range files {
		var s struct {
			Properties map[string]any
			Required   []string
		}
		text, err := fs.ReadFile(policycheck.Schemas(), file)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		fields := slices.Sorted(maps.Keys(s.Properties))
		always := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "image" }) // of containers that are started
		if slices.Sort(s.Required); !slices.Equal(always, s.Required) {
			t.Errorf("%s: %v are required, and every field is always there", file, s.Required)
		}
		out[strings.TrimSuffix(path.Base(file), ".json")] = fields
	}
	return out
}

// corpus is every shell line and tool call that the tests of policies and facts
// know.
func corpus(t *testing.T) []any {
	t.Helper()
	var specs []any
	line := func(text string) {
		specs = append(specs, map[string]any{"bash": text}, map[string]any{
			"bash": text, "files": map[string]any{"/home/dev/project/.git/HEAD": "ref: refs/heads/main\n"},
		})
	}
	for l := range strings.Lines(read(t, "../../policies/testdata/lines.txt")) {
		if verdict, text, ok := strings.Cut(strings.TrimSpace(l), " "); ok && verdict != "#" {
			line(text)
		}
	}
	for l := range strings.Lines(read(t, "../../facts/testdata/lines.txt")) {
		if text, ok := strings.CutPrefix(l, "$ "); ok {
			line(strings.TrimSpace(text))
		}
	}
	for _, file := range []string{"../../policies/testdata/cases.jsonl", "../../policies/testdata/tools.jsonl"} {
		for l := range strings.Lines(read(t, file)) {
			var call struct {
				Tool  string         `json:"tool_name"`
				Input map[string]any `json:"tool_input"`
			}
			if json.Unmarshal([]byte(l), &call) == nil && call.Tool != "" && call.Input != nil {
				specs = append(specs, map[string]any{"tool": call.Tool, "input": call.Input})
			}
		}
	}
	if len(specs) < 2000 {
		t.Fatalf("only %d events", len(specs))
	}
	return specs
}

// catalogue returns the fields that rows of the catalogue give each kind.
func catalogue(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for l := range strings.Lines(read(t, "../catalogue/catalogue.compact")) {
		names, row, _ := strings.Cut(l, " {")
		var r struct{ Effects []map[string]any }
		if err := json.Unmarshal([]byte("{"+row), &r); err != nil {
			t.Fatalf("%s: %v", names, err)
		}
		for _, e := range r.Effects {
			kind := fmt.Sprint(e["kind"])
			if out[kind] == nil {
				out[kind] = map[string]bool{}
			}
			for field := range e {
				if field != "if" {
					out[kind][field] = true
				}
			}
		}
	}
	return out
}

// TestEvents holds that the schemas describe what agents really send: the
// payloads that the adapters are tested with.
func TestEvents(t *testing.T) {
	c := compiler(t)
	common := fieldsOf(t, "common.json")
	for _, f := range moment.CommonFields() {
		common = append(common, f.Name)
	}
	files, err := filepath.Glob("../../adapters/testdata/payloads/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d payloads (%v)", len(files), err)
	}
	claude, _ := adapters.Lookup("claude")
	parsed := 0
	for _, file := range files {
		ev, err := claude.Parse([]byte(read(t, file)), "")
		if err != nil {
			continue // the adapter's tests say why
		}
		parsed++
		doc := ev.Document()
		properties, _ := policycheck.EventSchema(ev.Name.Moment())["properties"].(map[string]any)
		own := map[string]any{}
		for field, v := range doc {
			switch {
			case properties[field] != nil:
				own[field] = v
			case !slices.Contains(common, field):
				t.Errorf("%s: %s is not in the schema of %s", file, field, ev.Name)
			}
		}
		if err := compiled(t, c, "event/"+string(ev.Name)).Validate(plain(t, own)); err != nil {
			t.Errorf("%s: %#v", file, err)
		}
		if found := (facts.New(facts.World{Home: "/home/dev"})).Of(&ev); ev.Tool() == "" {
			files := ev.Name.Moment().File != ""
			if len(found.Effects)+len(found.Hosts)+len(found.Code) > 0 || found.Shell != nil || len(found.Paths) > 0 && !files {
				t.Errorf("%s has facts, and the check takes it that there are none", file)
			}
		}
		tool := "tool/" + ev.Tool() + ".json"
		if _, err := fs.Stat(policycheck.Schemas(), tool); err != nil {
			continue
		}
		call := map[string]any{}
		for _, field := range []string{"tool_name", "tool_input", "tool_response"} {
			if v, ok := doc[field]; ok {
				call[field] = v
			}
		}
		if err := compiled(t, c, tool).Validate(plain(t, call)); err != nil {
			t.Errorf("%s: %#v", file, err)
		}
	}
	if parsed < 40 {
		t.Errorf("only %d payloads could be read", parsed)
	}
}

// TestNames holds that gate's own part of the document is described in full.
func TestNames(t *testing.T) {
	ev := hook.Event{Gate: hook.Gate{OS: "linux", Labels: map[string]string{"team": "x"}}}
	if err := compiled(t, compiler(t), "gate.json").Validate(plain(t, ev.Document()["gate"])); err != nil {
		t.Errorf("%#v", err)
	}
	if got, want := slices.Sorted(maps.Keys(ev.Document()["gate"].(map[string]any))), fieldsOf(t, "gate.json"); !slices.Equal(got, want) {
		t.Errorf("input.gate has %v, its schema %v", got, want)
	}
}

func fieldsOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(policycheck.Schemas(), name)
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(name, err)
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

func plain(t *testing.T, v any) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(strictjson.Append(nil, v))) // options may be -c and -C, which no event may have
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
