package policytest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/policytest"
	"gate/scopes"
)

var update = flag.Bool("update", false, "rewrite the expectations of testdata")

// TestRun runs testdata/*.txtar: a tree of policies and tests, and what comes
// out. The comment may say "library", "coverage", "facts" for real ones, and "run: PATTERN".
func TestRun(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := policytest.Options{Facts: oneEffect}
			for line := range strings.Lines(string(ar.Comment)) {
				if pattern, ok := strings.CutPrefix(strings.TrimSpace(line), "run: "); ok {
					o.Run = regexp.MustCompile(pattern)
				}
				if strings.TrimSpace(line) == "facts" {
					o.Facts = nil
				}
				if strings.TrimSpace(line) == "library" {
					o.Source = scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
				}
			}
			tree, want := fstest.MapFS{}, -1
			for i, f := range ar.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				tree[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			o.Files = tree
			got := outcome(o, strings.Contains(string(ar.Comment), "\ncoverage\n"))
			if *update {
				ar.Files[want].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(ar.Files[want].Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, ar.Files[want].Data)
			}
		})
	}
}

func outcome(o policytest.Options, coverage bool) string {
	if !coverage {
		return render(policytest.Run(context.Background(), o))
	}
	suite, err := policytest.Prepare(o)
	if err != nil {
		return render(nil, err)
	}
	results, covered, err := suite.Cover(context.Background(), policytest.Selection{Name: o.Run})
	text := render(results, err)
	for _, f := range covered.Files {
		text += fmt.Sprintf("%s covered %d, missed %d %v\n", f.File, f.Covered, f.Missed, f.Missing)
	}
	return text + fmt.Sprintf("%.1f %%\n", covered.Percent())
}

// oneEffect stands for package facts: one effect for a line that says push.
func oneEffect(w policytest.World, ev *hook.Event) *hook.Facts {
	line, _ := ev.ToolInput()["command"].(string)
	f := &hook.Facts{}
	if strings.Contains(line, "push") {
		branch, _ := w.Getenv("BRANCH")
		head, _ := w.ReadFile("/home/dev/project/.git/HEAD", 100)
		f.Effects = append(f.Effects, hook.FactEffect{Is: &hook.OwnEffect{Name: "git.push", Fields: []hook.OwnField{
			{Name: "branch", Value: branch}, {Name: "force", Value: strings.Contains(line, "-f")}, {Name: "head", Value: string(head)}, {Name: "home", Value: w.Home},
		}}})
	}
	return f
}

func render(results []policytest.Result, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	for _, r := range results {
		state := "pass"
		switch {
		case r.Err != nil:
			state = "error: " + r.Err.Error()
		case r.Failed:
			state = "fail: " + r.Message
		case r.Skipped:
			state = "skip"
		}
		fmt.Fprintf(&b, "%s:%d %s %s\n", r.File, r.Line, r.Name, state)
		for line := range strings.Lines(r.Output) {
			fmt.Fprintf(&b, "\t%s", line)
		}
	}
	return b.String()
}
