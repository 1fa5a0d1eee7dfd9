package policies_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/facts"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/policies"
	"gate/scopes"
)

// maxPolicies is how many policies this library may hold: each one costs every
// call of every user. Three of them, the budgets, take no part until somebody sets
// a limit, one is for agents that type into running programs only, one looks at the
// names of tools of attack, and three at what calls hand on to later ones: hardly any
// call has either. One looks at messages of MCP, which are no calls. Four allow, and take no part until somebody switches them on.
const maxPolicies = 25 + 3 + 5 + 1 + 4

// library loads the library as the product does.
func library(t testing.TB) (lib []scopes.Module, src scopes.Source) {
	t.Helper()
	lib, faults := load.Lib(policies.FS())
	src = load.Rego(policies.FS(), scopes.Source{
		Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true,
	})
	for _, f := range append(faults, src.Faults...) {
		t.Error(f.Error())
	}
	if t.Failed() {
		t.FailNow()
	}
	return lib, src
}

var updateIndex = flag.Bool("update", false, "write the compiled forms of the library anew")

// keep compares an embedded file with what it should be, or writes it anew.
func keep(t *testing.T, file, got string, want []byte) {
	t.Helper()
	if *updateIndex {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(want) {
		t.Errorf("%s is stale: run go test ./policies -run TestIndex -update", file)
	}
}

// factsIn works out facts in the world of a test.
func factsIn(w policytest.World, ev *hook.Event) *hook.Facts {
	return facts.New(facts.World{
		Home: w.Home, User: w.User, OS: w.OS, Project: w.Project, Getenv: w.Getenv, Files: w,
	}).Of(ev)
}

func TestRego(t *testing.T) {
	results, err := policytest.Run(context.Background(), policytest.Options{
		Files:  policies.FS(),
		Source: scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true},
		Facts:  factsIn,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Run(r.Name, func(t *testing.T) {
			switch {
			case r.Err != nil:
				t.Error(r.Err)
			case !r.Passed():
				t.Errorf("%s\n%s", r.Message, r.Output)
			}
		})
	}
}

func TestStrictlyCompiled(t *testing.T) {
	lib, src := library(t)
	for _, authority := range []hook.Authority{hook.Managed, hook.User} {
		src.Authority = authority
		if err := rego.Check(lib, src); err != nil {
			t.Errorf("as %s:\n%v", authority, err)
		}
	}
}

func TestShape(t *testing.T) {
	_, src := library(t)
	if n := len(src.Hooks); n == 0 || n > maxPolicies {
		t.Errorf("%d policies; at most %d", n, maxPolicies)
	}
	for _, h := range src.Hooks {
		last := h.ID[strings.LastIndexByte(h.ID, '.')+1:]
		if want := strings.ReplaceAll(h.ID, ".", "/") + "/" + last + ".rego"; h.File != want {
			t.Errorf("package %s stands in %s, not in %s", h.ID, h.File, want)
		}
		if h.Title == "" || h.Description == "" {
			t.Errorf("%s: no title or description", h.Pos())
		}
		for name, p := range h.Params {
			if p.Description == "" {
				t.Errorf("%s: parameter %s has no description", h.Pos(), name)
			}
		}
	}
}

func TestFormatted(t *testing.T) {
	err := fs.WalkDir(policies.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if path.Ext(name) != ".rego" {
			t.Errorf("%s: not a policy", name)
			return nil
		}
		text, err := fs.ReadFile(policies.FS(), name)
		if err != nil {
			return err
		}
		want, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			return err
		}
		if string(want) != string(text) {
			t.Errorf("%s: not formatted; run opa fmt", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sections are what each page answers, in this order.
var sections = []string{"What it stops", "Why", "What it lets through", "How to tune", "Limits"}

func TestPages(t *testing.T) {
	_, src := library(t)
	pages := map[string]bool{"README.md": true}
	for _, h := range src.Hooks {
		file := pageOf(h.ID)
		pages[file] = true
		text, err := os.ReadFile("../docs/policies/" + file)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := checkPage(h, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	entries, err := os.ReadDir("../docs/policies")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !pages[e.Name()] {
			t.Errorf("%s: no policy has this page", e.Name())
		}
	}
}

// pageOf names the page of a policy: gate.git.push has git-push.md.
func pageOf(id string) string {
	return strings.ReplaceAll(strings.TrimPrefix(id, "gate."), ".", "-") + ".md"
}

func checkPage(h *hook.Hook, text string) error {
	if want := fmt.Sprintf("# %s\n\n`%s`\n", h.Title, h.ID); !strings.HasPrefix(text, want) {
		return fmt.Errorf("begins with %.60q, not %q", text, want)
	}
	rest := text
	for _, s := range sections {
		_, after, found := strings.Cut(rest, "\n## "+s+"\n\n")
		if !found {
			return fmt.Errorf("section %q is missing or out of order", s)
		}
		rest = after
	}
	_, tune, _ := strings.Cut(text, "## How to tune")
	for name := range h.Params {
		if !strings.Contains(tune, "`"+name+"`") {
			return fmt.Errorf("parameter %s is not in %q", name, "How to tune")
		}
	}
	return nil
}
