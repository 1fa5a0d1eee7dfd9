package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/facts"
	"gate/hook"
	"gate/policycheck"
	"gate/policytest"
	"gate/scopes"
)

// TestNewPolicy writes a draft for every event and effect that there is a
// template for, and runs its own tests and cases.
func TestNewPolicy(t *testing.T) {
	dir := t.TempDir()
	drafts := 0
	for _, event := range draftEvents() {
		for _, effect := range draftEffects() {
			d := draft{id: "acme." + strings.ToLower(event) + "_" + effect, event: hook.Name(event), effect: effect}
			files, err := d.files()
			if err != nil {
				if effect != "modify" && effect != "allow" {
					t.Errorf("%s %s: %v", event, effect, err)
				}
				continue
			}
			parts := strings.Split(d.id, ".")
			if _, err := writeNew(filepath.Join(dir, filepath.Join(parts...)), parts[1], files); err != nil {
				t.Fatal(err)
			}
			drafts++
			for _, f := range files {
				if strings.Contains(f.text, "{{") || strings.Contains(f.text, "ID") && !strings.Contains(f.text, "METADATA") {
					t.Errorf("%s%s has a place that was not filled in:\n%s", d.id, f.suffix, f.text)
				}
				if !strings.HasSuffix(f.suffix, ".rego") {
					continue
				}
				want, err := format.SourceWithOpts(f.suffix, []byte(f.text), format.Opts{RegoVersion: ast.RegoV1})
				if err != nil || !bytes.Equal(want, []byte(f.text)) {
					t.Errorf("%s%s is not formatted: %v\n%s\nwant\n%s", d.id, f.suffix, err, f.text, want)
				}
			}
		}
	}
	_, lib := library(hook.User)
	results, err := policytest.Run(context.Background(), policytest.Options{
		Files: os.DirFS(dir), Lib: lib, Timeout: 10 * time.Minute,
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
	report, err := policycheck.Check(policycheck.Options{Files: os.DirFS(dir), Lib: lib})
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

// TestPolicyNames holds which names are refused, and that the message helps.
func TestPolicyNames(t *testing.T) {
	for _, good := range []string{"push_protected", "acme.push_protected", "a.b.c2"} {
		if err := checkPolicyName(good); err != nil {
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
		if err := checkPolicyName(bad); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v, want %q", bad, err, hint)
		}
	}
}
