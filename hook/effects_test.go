package hook_test

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gate/hook"
)

// kinds are those that have a schema: TestDescribed of package describe makes one
// for each struct.
func kinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../internal/policycheck/schema/effect/*.json")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return files
}

// TestMembers holds that the fields of each kind come in order, with their types
// alone when nothing is known, and come back from the document.
func TestMembers(t *testing.T) {
	for _, kind := range kinds(t) {
		e := hook.FactEffect{Command: 3, Is: hook.NewEffect(kind)}
		if e.Is == nil || e.Kind() != kind {
			t.Fatalf("%s: %v", kind, e.Is)
		}
		var names []string
		for name := range hook.Members(&e) {
			names = append(names, name)
		}
		doc := hook.Tree(&e)
		if !slices.IsSorted(names) || !slices.Equal(names, slices.Sorted(maps.Keys(doc))) {
			t.Errorf("%s: fields %q of %v", kind, names, doc)
		}
		facts := hook.Facts{Effects: []hook.FactEffect{e}}
		back, err := hook.FactsOf(facts.Document(), nil, "")
		if err != nil || !reflect.DeepEqual(back.Document(), facts.Document()) {
			t.Errorf("%s: %v\n got %v\nwant %v", kind, err, back, facts.Document())
		}
	}
}

// TestOwnEffect puts kind and command among fields of a kind that settings add.
func TestOwnEffect(t *testing.T) {
	for _, fields := range [][]string{nil, {"a"}, {"d"}, {"z"}, {"a", "d", "z"}, {"a", "b", "c", "l", "m"}} {
		own := &hook.OwnEffect{Name: "acme.deploy"}
		for _, f := range fields {
			own.Fields = append(own.Fields, hook.OwnField{Name: f, Value: f + "!"})
		}
		e := hook.FactEffect{Command: 1, Is: own}
		var names []string
		for name, at := range hook.Members(&e) {
			names = append(names, name)
			want := map[string]any{"kind": "acme.deploy", "command": 1}[name]
			if want == nil {
				want = name + "!"
			}
			if got := hook.Plain(at); got != want {
				t.Errorf("%s is %v", name, got)
			}
		}
		if !slices.IsSorted(names) || len(names) != len(fields)+2 {
			t.Errorf("%q with %q", names, fields)
		}
	}
}

// TestFactsOfOther refuses effects that are not as this version has them.
func TestFactsOfOther(t *testing.T) {
	for name, spoil := range map[string]func(map[string]any){
		"missing": func(e map[string]any) { delete(e, "force") },
		"more":    func(e map[string]any) { e["forced"] = true },
		"null":    func(e map[string]any) { e["branches"] = nil },
		"type":    func(e map[string]any) { e["remote"] = 1 },
		"element": func(e map[string]any) { e["branches"] = []any{nil} },
	} {
		doc := (&hook.Facts{Effects: []hook.FactEffect{{Is: &hook.GitPush{Branches: []string{"main"}}}}}).Document()
		if _, err := hook.FactsOf(doc, nil, ""); err != nil {
			t.Fatal(err)
		}
		spoil(doc["effects"].([]any)[0].(map[string]any))
		if _, err := hook.FactsOf(doc, nil, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
