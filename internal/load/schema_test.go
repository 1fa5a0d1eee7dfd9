package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"gate/internal/strictjson"
)

// standard is what the whole of JSON Schema says of our schemas.
func standard(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("no schema %s", url) }
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := schemas.ReadFile("schema/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(schemaBase+e.Name(), strings.NewReader(string(text))); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource(schemaBase+"settings.json", strings.NewReader(strictjson.Indent(settings))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaBase + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// places lists where the standard's reading finds a value wrong, and by which
// keyword.
func places(err error) (list []string) {
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		return nil
	}
	for _, c := range e.Causes {
		list = append(list, places(c)...)
	}
	if len(e.Causes) == 0 {
		at, err := url.PathUnescape(e.InstanceLocation)
		if err != nil {
			at = e.InstanceLocation
		}
		list = append(list, unnamed(at)+" "+e.AbsoluteKeywordLocation[strings.LastIndexByte(e.AbsoluteKeywordLocation, '/')+1:])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unnamed leaves keys out that are empty: the library does not count them.
func unnamed(pointer string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(pointer, "/"), func(key string) bool { return key == "" }), "/")
}

// agree compares our reading of a schema with the standard's.
func agree(t *testing.T, s *schema, std *jsonschema.Schema, v any) {
	t.Helper()
	var got []string
	s.check(v, func(v violation) { got = append(got, unnamed(v.at)+" "+v.keyword) })
	slices.Sort(got)
	got = slices.Compact(got)
	if want := places(std.Validate(v)); !reflect.DeepEqual(got, want) {
		text, _ := json.Marshal(v)
		t.Errorf("%s\nwrong at %q\nstandard %q", text, got, want)
	}
}

var samples = map[string]string{
	"settings.json": `{"version": 1, "policies": {"gate.git": "warn"}, "params": {"a.b": {"c": [1, "x"]}}, "disableAllHooks": true,
 "allowManagedHooksOnly": 3, "exceptions": [{"policy": "a.b", "if": ["Bash(x)"], "project": "/w", "until": "2027-01-31", "owner": "o", "reason": "r"}],
 "delegate": ["a"], "deadline": 3, "faults": "deny", "approvals": {"enabled": true, "minutes": 5, "keyRequired": false, "keys": ["k"]},
 "labels": {"a/b": "c~d"}, "log": true, "plugins": {"p": true}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "x"}]}]}}`,
	"hooks.json": `{"version": 1, "hooks": [{"id": "a.b", "title": "t", "events": ["Stop"], "matcher": "", "if": "Bash(x)", "priority": 3, "type": "webhook",
 "timeout": "3s", "once": true, "on_fault": "ask", "args": ["a"], "env": ["B"], "url": "u", "method": "PUT", "headers": {"h": "v"}, "input": {"x": 1}}]}`,
}

// TestSchemas puts something else in every place of two files, and takes every
// key away and adds one: what is wrong then must be what the standard says.
func TestSchemas(t *testing.T) {
	others := []any{
		nil, true, json.Number("0"), json.Number("1"), json.Number("1.0"), json.Number("61"), json.Number("1.5"), json.Number("-2000000"), int64(5), 2.5,
		"", "x", "x y", "deny", []any{}, []any{"a", json.Number("1")}, map[string]any{}, map[string]any{"z y": true},
	}
	for name, text := range samples {
		s, err := map[string]func() (*schema, error){"settings.json": settingsSchema, "hooks.json": hooksSchema}[name]()
		if err != nil {
			t.Fatal(err)
		}
		std := standard(t, name)
		root, err := strictjson.Object([]byte(text), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, s, std, root)
		visit(root, func(change func(any)) {
			for _, other := range others {
				change(other)
				agree(t, s, std, root)
			}
		})
	}
}

// visit gives each place of a value to change, one after another, and puts back
// what was there.
func visit(v any, at func(change func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			was := v[key]
			delete(v, key)
			at(func(any) {})
			at(func(other any) { v[key] = other })
			v[key] = was
			v[key+"s"] = was
			at(func(any) {})
			delete(v, key+"s")
			visit(was, at)
		}
	case []any:
		for i, was := range v {
			at(func(other any) { v[i] = other })
			v[i] = was
			visit(was, at)
		}
	}
}

// TestKeywords holds that the schemas say nothing that check would pass over.
func TestKeywords(t *testing.T) {
	s, err := settingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	var rules func(at string, v any)
	rules = func(at string, v any) {
		m, ok := v.(map[string]any)
		if !ok && v != true && !strings.HasSuffix(at, "/additionalProperties") {
			t.Errorf("%s: check takes %v for true", at, v)
		}
		for key, part := range m {
			if !slices.Contains(keywords, key) {
				t.Errorf("%s: keyword %s", at, key)
			}
			switch key {
			case "properties", "$defs":
				for name, below := range part.(map[string]any) {
					rules(at+"/"+key+"/"+name, below)
				}
			case "items", "additionalProperties", "propertyNames":
				rules(at+"/"+key, part)
			}
		}
	}
	for url, text := range s.texts {
		rules(url, text)
	}
}

var exponent = regexp.MustCompile(`[0-9][eE]`)

func FuzzSchema(f *testing.F) {
	settings, err := settingsSchema()
	if err != nil {
		f.Fatal(err)
	}
	std := standard(f, "settings.json")
	f.Add(samples["settings.json"])
	f.Add(`{"hooks": [{"hooks": []}], "x": 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := strictjson.Object([]byte(text), strictjson.Limits{Depth: maxDepth})
		if err != nil || exponent.MatchString(text) { // the library writes out what an exponent stands for
			return
		}
		agree(t, settings, std, v)
	})
}
