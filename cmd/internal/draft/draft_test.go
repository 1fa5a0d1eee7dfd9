package draft_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/cmd/internal/draft"
	"gate/facts"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/policies"
	"gate/scopes"
)

// TestFiles writes a draft for every event and effect that there is a
// template for, and runs its own tests and cases.
func TestFiles(t *testing.T) {
	written := fstest.MapFS{}
	drafts := 0
	for _, event := range draft.Events() {
		for _, effect := range draft.Effects() {
			d := draft.Policy{ID: "acme." + strings.ToLower(event) + "_" + effect, Event: hook.Name(event), Effect: effect}
			files, err := d.Files()
			if err != nil {
				if effect != "modify" && effect != "allow" && effect != "confine" {
					t.Errorf("%s %s: %v", event, effect, err)
				}
				continue
			}
			name := strings.TrimPrefix(d.ID, "acme.")
			drafts++
			for _, f := range files {
				written["acme/"+name+"/"+name+f.Suffix] = &fstest.MapFile{Data: []byte(f.Text)}
				if strings.Contains(f.Text, "{{") || strings.Contains(f.Text, "[ID]") || strings.Contains(f.Text, "params.ID") {
					t.Errorf("%s%s has a place that was not filled in:\n%s", d.ID, f.Suffix, f.Text)
				}
				if !strings.HasSuffix(f.Suffix, ".rego") {
					continue
				}
				want, err := format.SourceWithOpts(f.Suffix, []byte(f.Text), format.Opts{RegoVersion: ast.RegoV1})
				if err != nil || !bytes.Equal(want, []byte(f.Text)) {
					t.Errorf("%s%s is not formatted: %v\n%s\nwant\n%s", d.ID, f.Suffix, err, f.Text, want)
				}
			}
		}
	}
	results := passes(t, written)
	lib, _ := load.Lib(policies.FS())
	report, err := policycheck.Check(policycheck.Options{Files: written, Lib: lib})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
	if len(report.Policies) != drafts || drafts < 100 || len(results) < 5*drafts {
		t.Errorf("%d drafts, %d results", drafts, len(results))
	}
}

// passes runs the tests and cases of drafts.
func passes(t *testing.T, written fstest.MapFS) []policytest.Result {
	t.Helper()
	lib, faults := load.Lib(policies.FS())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	results, err := policytest.Run(context.Background(), policytest.Options{
		Files: written, Lib: lib, Timeout: 10 * time.Minute,
		Source: scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User},
		Facts: func(w policytest.World, ev *hook.Event) *hook.Facts {
			return facts.New(facts.World{Home: w.Home, User: w.User, OS: w.OS, Project: w.Project, Getenv: w.Getenv, Files: w}).Of(ev)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed() {
			t.Errorf("%s:%d: %s: %s %v", r.File, r.Line, r.Name, r.Message, r.Err)
		}
	}
	return results
}

// TestFrom begins a policy with each of the examples, and runs its tests and cases.
func TestFrom(t *testing.T) {
	written := fstest.MapFS{}
	for _, example := range draft.Examples() {
		files, err := draft.From(example, "acme.my."+example+"2")
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: %d files, %v", example, len(files), err)
		}
		for _, f := range files {
			written["acme/my/"+example+"2/"+f.In(example+"2")] = &fstest.MapFile{Data: []byte(f.Text)}
			if strings.Contains(f.Text, "company."+example) {
				t.Errorf("%s%s has the name of the example", example, f.Suffix)
			}
			want, err := format.SourceWithOpts(f.Suffix, []byte(f.Text), format.Opts{RegoVersion: ast.RegoV1})
			if strings.HasSuffix(f.Suffix, ".rego") && (err != nil || !bytes.Equal(want, []byte(f.Text))) {
				t.Errorf("%s%s is not formatted: %v", example, f.Suffix, err)
			}
		}
	}
	if results := passes(t, written); len(results) < 150 {
		t.Errorf("only %d results", len(results))
	}
	for _, bad := range []string{"", ".", "..", "push_protected/x", "push_protect"} {
		if _, err := draft.From(bad, "acme.x"); err == nil || !strings.Contains(err.Error(), "there is no example") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestCheckName holds which names are refused, and that the message helps.
func TestCheckName(t *testing.T) {
	for _, good := range []string{"push_protected", "acme.push_protected", "a.b.c2"} {
		if err := draft.CheckName(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, hint := range map[string]string{
		"":                       "small letters",
		"Acme.Push":              "did you mean acme.push?",
		"acme.push-protected":    "did you mean acme.push_protected?",
		"../x":                   "small letters",
		"acme..x":                "small letters",
		"acme.x/y":               "small letters",
		"gate.git.push":          "product's own",
		"gate":                   "product's own",
		"acme.default":           "means something else",
		"acme.gate":              "means something else",
		"acme.push_test":         "tests",
		strings.Repeat("a", 101): "longer",
	} {
		if err := draft.CheckName(bad); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v, want %q", bad, err, hint)
		}
	}
}
