//go:build linux || darwin

package commands

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/load"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/scopes"
)

// lying compiles another text than the policies have.
func lying(was, is string) build.Compiler {
	return func(lib []scopes.Module, src scopes.Source) (string, map[string]string, error) {
		modules := src.Modules
		src.Modules = nil
		for _, m := range modules {
			m.Text = strings.ReplaceAll(m.Text, was, is)
			src.Modules = append(src.Modules, m)
		}
		return build.Plan(lib, src)
	}
}

// TestDiffering holds that a policy whose plan answers otherwise in a test or in a
// case is found, by the test, and no other.
func TestDiffering(t *testing.T) {
	policy := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("# METADATA\n# title: A\n# description: B.\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage acme." + name +
			"\n\ndeny contains \"" + name + " never\" if {\n\tsome c in input.facts.shell.commands\n\tc.program == \"" + name + "\"\n}\n")}
	}
	test := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package acme." + name + "_test\n\nimport data.acme." + name +
			"\n\ntest_denies if \"" + name + " never\" in " + name + ".deny with input as gate.event(\"" + name + " now\")\n")}
	}
	files := fstest.MapFS{
		"one/one.rego": policy("one"), "one/one_test.rego": test("one"), "two/two.rego": policy("two"), "two/two_test.rego": test("two"),
		"three/three.rego":       policy("three"),
		"three/three_cases.yaml": {Data: []byte("cases:\n  - name: three\n    event: {hook_event_name: PreToolUse, tool_name: Bash, tool_input: {command: three now}}\n    expect: {effect: deny}\n")},
	}
	src := load.Rego(files, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed})
	suite, _, err := runTests(t.Context(), files, src, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ was, is, id, want string }{
		{"never", "never", "", ""},
		{"one never", "one always", "acme.one", `one/one_test.rego:5: its plan says deny (of 1) "one always", OPA deny (of 1) "one never"`},
		{`== "two"`, `== "too"`, "acme.two", "two/two_test.rego:5: its plan says pass"},
		{"three never", "no", "acme.three", "three/three_cases.yaml:2: its plan says deny"},
	} {
		left, err := differing(t.Context(), suite, src, lying(c.was, c.is))
		if err != nil {
			t.Fatal(err)
		}
		if c.id == "" && len(left) != 0 || c.id != "" && (len(left) != 1 || !strings.Contains(left[c.id], c.want)) {
			t.Errorf("%s: got %q", c.is, left)
		}
	}
}

// TestDowngrade holds that a bundle in force is compared when it is compiled, unless it
// was before, and that what differs is in the program no more for whoever asks.
func TestDowngrade(t *testing.T) {
	dir, keys, private := keyedMachine(t)
	known := comparison{}
	offers := []sync.Offer{{Name: "company", Archive: benchBundle(t, 1, 3, true, keys, private)}}
	out, err := sync.Store{Dir: dir}.Activate(t.Context(), offers, sync.Rules{Now: time.Now(), Try: known.try})
	if err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	digest := out[0].After.Digest
	if left, ok := known[digest]; !ok || len(left) != 0 {
		t.Errorf("compared: %t, differing: %v", ok, left)
	}
	at := compilable{kind: artifact.Managed, dir: dir}
	at.dirs.Managed, at.dirs.ManagedNamed, at.dirs.State = dir, true, t.TempDir()
	place, err := at.open()
	if err != nil {
		t.Fatal(err)
	}
	defer place.Close()
	list, _, err := bundlesIn(place.Place, false, func(string) {})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	told := inTests + "told"
	_, lib := sources.Library(hook.User)
	for _, c := range []struct {
		name  string
		known comparison
		want  string
	}{
		{"compared now", nil, inTests + "company/p1/policy_test.rego:5: its plan says pass"},
		{"compared before", comparison{digest: {"company.p1": told}}, told},
		{"agreed before", comparison{digest: nil}, ""},
	} {
		_, left, err := c.known.compiler(place.Place, lying("p1-0", "q"))(lib, list[0].Source)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := left["company.p1"]; !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || left["company.p0"] != "" {
			t.Errorf("%s: got %q", c.name, left)
		}
	}
	form := at.buildKnowing(comparison{digest: {"company.p1": told}}, false)
	if form.err != nil || form.Refused != "" {
		t.Fatal(form.err, form.Refused)
	}
	if planned, _ := form.counts(); planned != 2 {
		t.Errorf("%d policies compiled, not 2", planned)
	}
	want := "company.p1 stays with OPA: " + told
	if got := at.differs(); len(got) != 1 || got[0] != want {
		t.Errorf("what doctor says: %q", got)
	}
	var said strings.Builder
	s := &syncer{process: process{stdout: &said}, flags: &syncFlags{}}
	b := synced{Outcome: out[0], left: map[string]string{"company.p1": told}}
	if err := s.report([]synced{b}); err != nil || !strings.HasSuffix(said.String(), "\n  "+want+"\n") {
		t.Errorf("what sync says: %q, %v", said.String(), err)
	}
}
