package policytest_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/policytest"
)

// twoPolicies has a shared helper, and tests of one policy that never touch the
// other.
func twoPolicies() fstest.MapFS {
	files := fstest.MapFS{}
	add := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
	const metadata = "# METADATA\n# custom:\n#   gate:\n#     events: [PreToolUse]\n"
	add("shared.rego", "package acme.shared\n\nforced(push) if push.force\n")
	for _, name := range []string{"one", "two"} {
		add(name+".rego", metadata+"package acme."+name+`

import data.acme.shared

deny contains "no" if {
	some push in input.facts.effects
	push.kind == "git.push"
	shared.forced(push)
}
`)
		add(name+"_test.rego", "package acme."+name+"_test\n\nimport data.acme."+name+`

test_denies if count(`+name+`.deny) == 1 with input as gate.event("git push -f")

test_passes if count(`+name+`.deny) == 0 with input as gate.event("git push")
`)
	}
	return files
}

func TestSuite(t *testing.T) {
	var looked atomic.Int32
	suite, err := policytest.Prepare(policytest.Options{Files: twoPolicies(), Facts: func(w policytest.World, ev *hook.Event) *hook.Facts {
		looked.Add(1)
		return oneEffect(w, ev)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := suite.Policies(); !slices.Equal(got, []string{"one.rego", "shared.rego", "two.rego"}) {
		t.Errorf("policies %q", got)
	}
	for policy, want := range map[string][]string{
		"one.rego": {"one_test.rego"}, "shared.rego": {"one_test.rego", "two_test.rego"}, "none.rego": nil,
	} {
		if got := suite.Concerning(policy); !slices.Equal(got, want) {
			t.Errorf("%s concerns %q, not %q", policy, got, want)
		}
	}
	for range 3 {
		if got := states(t, suite, policytest.Selection{}); got != "one.denies one.passes two.denies two.passes" {
			t.Errorf("as written: %s", got)
		}
	}
	if n := looked.Load(); n > 4 { // two specs, and at most one race for each
		t.Errorf("facts were worked out %d times", n)
	}

	without := func(file, line string) *policytest.Suite {
		t.Helper()
		old := string(twoPolicies()[file].Data)
		text := strings.Replace(old, line, "", 1)
		if text == old {
			t.Fatalf("%s has no %q", file, line)
		}
		changed, err := suite.With(file, text)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	changed := without("one.rego", "\tshared.forced(push)\n")
	if got := states(t, changed, policytest.Selection{Files: changed.Concerning("one.rego")}); got != "one.denies !one.passes" {
		t.Errorf("changed: %s", got)
	}
	if got := states(t, changed, policytest.Selection{FirstFailure: true}); !strings.Contains(got, "!one.passes") {
		t.Errorf("to the first failure: %s", got)
	}
	if got := states(t, suite, policytest.Selection{}); strings.Contains(got, "!") {
		t.Errorf("the suite itself changed: %s", got)
	}
	unsafe := without("one.rego", "\tsome push in input.facts.effects\n")
	if _, err := unsafe.Run(context.Background(), policytest.Selection{}); err == nil || !strings.Contains(err.Error(), "unsafe") {
		t.Errorf("what does not compile runs: %v", err)
	}
}

func TestWithRefuses(t *testing.T) {
	suite, err := policytest.Prepare(policytest.Options{Files: twoPolicies(), Facts: oneEffect})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"none.rego": "package acme.none\n", "one_test.rego": "package acme.one_test\n",
		"one.rego": "package acme.other\n", "two.rego": "package",
	} {
		if _, err := suite.With(file, text); err == nil {
			t.Errorf("%s: %q is taken", file, text)
		}
	}
}

// states runs a selection and lists the tests, failed ones marked.
func states(t *testing.T, s *policytest.Suite, sel policytest.Selection) string {
	t.Helper()
	results, err := s.Run(context.Background(), sel)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, r := range results {
		word := strings.NewReplacer("acme.", "", "_test.test_", ".").Replace(r.Name)
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
		if r.Failed {
			word = "!" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
