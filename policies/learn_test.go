package policies_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/learn"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/scopes"
)

// honestLines are a thousand calls that a person lets through, of kinds for which there
// are proposals.
func honestLines() (lines []string) {
	for i := range 200 {
		lines = append(lines,
			fmt.Sprintf("mkdir -p src/part%d/x", i), fmt.Sprintf("touch src/part%d/a.go", i), fmt.Sprintf("gofmt -w src/part%d/a.go", i),
			[]string{"rm -rf node_modules", "rm -rf dist", "rm -r web/coverage"}[i%3], fmt.Sprintf("cat /home/dev/shared/docs/part%d.md", i))
	}
	return lines
}

// question is a call that a person let through, by the facts of a world.
func question(t *testing.T, spec any) learn.Question {
	t.Helper()
	ev, w, err := policytest.Event(spec)
	if err != nil {
		t.Fatal(err)
	}
	ev.Facts = factsIn(w, ev)
	return learn.Question{Event: ev, Project: w.Project}
}

// proposed compiles proposals as a user's policies, with nobody beside them to object.
func proposed(t *testing.T, proposals []learn.Proposal) func(spec any) hook.Decision {
	t.Helper()
	files := fstest.MapFS{}
	for i := range proposals {
		list, err := proposals[i].Files(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			files[path.Join(learn.Root, proposals[i].Name, file.Name)] = &fstest.MapFile{Data: []byte(file.Text)}
		}
	}
	src := load.Rego(files, scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User, Trusted: true})
	for _, fault := range src.Faults {
		t.Fatal(fault.Error())
	}
	lib, _ := library(t)
	if err := rego.Check(lib, src); err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	evaluator := rego.New(lib, []scopes.Source{src}, rego.WithCompileTime(time.Minute))
	return func(spec any) hook.Decision {
		t.Helper()
		ev, w, err := policytest.Event(spec)
		if err != nil {
			t.Fatal(err)
		}
		en, err := engine.New(set, engine.WithFacts(func(ev *hook.Event) *hook.Facts { return factsIn(w, ev) }), engine.WithEvaluator(hook.Rego, evaluator))
		if err != nil {
			t.Fatal(err)
		}
		return en.Decide(t.Context(), *ev)
	}
}

// TestLearnPoisoned marks every harmful call of the tree's collections as let through,
// among a thousand honest ones. No proposal may allow any of them, although nobody
// beside the proposals objects.
func TestLearnPoisoned(t *testing.T) {
	var list []learn.Question
	for _, line := range honestLines() {
		list = append(list, question(t, at(map[string]any{"bash": line})))
	}
	harmful := harmfulCalls(t)
	for _, spec := range harmful {
		list = append(list, question(t, spec))
	}
	proposals, refusals := learn.Propose(list)
	if len(proposals) == 0 || len(proposals) > learn.MaxProposals || len(harmful) < 2000 {
		t.Fatalf("%d proposals of %d harmful calls", len(proposals), len(harmful))
	}
	decide := proposed(t, proposals)
	for _, spec := range harmful {
		if d := decide(spec); d.Effect == hook.Allow {
			t.Errorf("%v %v: %s", spec["bash"], spec["input"], d.Reasons[0].ID)
		}
	}
	allowed := 0
	for _, line := range honestLines()[:25] {
		if decide(at(map[string]any{"bash": line})).Effect == hook.Allow {
			allowed++
		}
	}
	if allowed != 25 {
		t.Errorf("of 25 honest calls %d are allowed", allowed)
	}
	for _, p := range proposals {
		if p.Name == "look_at_home" {
			t.Error("a wide place swallowed the narrow ones")
		}
		t.Logf("%s: %d calls", p.Name, len(p.Calls))
	}
	for _, r := range refusals {
		t.Logf("%d: %s", len(r.Calls), r.Reason)
	}
}

// TestLearnWritesWhatItSays holds that no name of a place or program gets into the text
// of a policy as anything but a name.
func TestLearnWritesWhatItSays(t *testing.T) {
	q := question(t, at(map[string]any{"bash": "cat '/home/dev/x\npackage evil\nallow contains \"x\"/a.md'"}))
	if proposals, refusals := learn.Propose([]learn.Question{q}); len(proposals) != 0 || len(refusals) != 1 || !strings.Contains(refusals[0].Reason, "characters") {
		t.Errorf("%+v %+v", proposals, refusals)
	}
}
