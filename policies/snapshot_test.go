package policies_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/policies"
	"gate/scopes"
)

// TestIndexSnapshot keeps the compiled form of the library, which the program
// asks, equal to the files.
func TestIndexSnapshot(t *testing.T) {
	lib, src := library(t)
	want, err := rego.Snapshot(lib, src)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, policies.SnapshotFile, policies.Snapshot(), want)
}

// TestSnapshotDecides holds that every policy says the same from the snapshot as
// from its text, about every call of the cases, with all steps compared.
func TestSnapshotDecides(t *testing.T) {
	lib, src := library(t)
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	engineOf := func(opts ...rego.Option) *engine.Engine {
		en, err := engine.New(set, engine.WithAllSteps(), engine.WithEvaluator(hook.Rego, rego.New(lib, []scopes.Source{src}, opts...)))
		if err != nil {
			t.Fatal(err)
		}
		return en
	}
	fromText, fromSnapshot := engineOf(), engineOf(rego.WithSnapshot(policies.Snapshot()))
	n := 0
	for _, spec := range everyCase(t) {
		ev, w, err := policytest.Event(spec)
		if err != nil {
			t.Fatal(err)
		}
		ev.Facts = factsIn(w, ev)
		want, got := comparable(fromText.Decide(context.Background(), *ev)), comparable(fromSnapshot.Decide(context.Background(), *ev))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v\nfrom the snapshot: %+v\nfrom the text:     %+v", spec, got, want)
		}
		n += len(want.Reasons)
	}
	if n == 0 {
		t.Error("no policy said anything")
	}
}

// everyCase lists the calls of all files below testdata.
func everyCase(t *testing.T) []any {
	var specs []any
	for _, file := range []string{"testdata/cases.jsonl", "testdata/tools.jsonl"} {
		for _, c := range judgedCases(t, file) {
			spec := map[string]any{"tool": c.Tool, "input": c.Input}
			if c.Dir != "" {
				spec["cwd"] = c.Dir
			}
			specs = append(specs, spec)
		}
	}
	for _, line := range oneOfEach {
		specs = append(specs, line)
	}
	for _, l := range judgedLines(t) {
		specs = append(specs, l.shell)
	}
	return specs
}

// comparable takes away what differs between two decisions about one event.
func comparable(d hook.Decision) hook.Decision {
	d.ID = ""
	d.Took = 0
	for i := range d.Steps {
		d.Steps[i].Took = time.Duration(0)
	}
	return d
}
