package mutate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/facts"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/policytest/mutate"
)

func prepare(t *testing.T, files fs.FS) *policytest.Suite {
	t.Helper()
	suite, err := policytest.Prepare(policytest.Options{
		Files: files,
		Facts: func(w policytest.World, ev *hook.Event) *hook.Facts {
			return facts.New(facts.World{Home: w.Home, Project: w.Project, Getenv: w.Getenv, Files: w}).Of(ev)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

func tree(archive *txtar.Archive) fs.FS {
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return files
}

// TestRun runs testdata/run/*.txtar: policies, their tests, and what becomes of
// the mutants.
func TestRun(t *testing.T) {
	eachCase(t, "testdata/run/*.txtar", "report", func(t *testing.T, archive *txtar.Archive) string {
		tree := tree(archive)
		got := report(t, prepare(t, tree), mutate.Options{})
		if alone := report(t, prepare(t, tree), mutate.Options{Parallel: 1}); alone != got {
			t.Errorf("one at a time\n%s", alone)
		}
		return got
	})
}

func report(t *testing.T, suite *policytest.Suite, o mutate.Options) string {
	t.Helper()
	done, total := 0, 0
	o.Progress = func(d, n int) { done, total = d, n }
	r, err := mutate.Run(context.Background(), suite, o)
	if err != nil {
		return err.Error() + "\n"
	}
	sum := r.Total()
	if done != total || total != sum.Killed+sum.Survived+sum.Invalid || len(r.Survivors) != sum.Survived {
		t.Errorf("progress said %d of %d; the report has %d survivors of %+v", done, total, len(r.Survivors), sum)
	}
	var b strings.Builder
	for _, m := range r.Grouped() {
		fmt.Fprintf(&b, "%s\n\t%s\n", m, m.Advice())
	}
	for _, s := range r.Policies {
		fmt.Fprintf(&b, "%s: %d killed, %d survived, %d invalid: %.0f %%\n", s.File, s.Killed, s.Survived, s.Invalid, s.Percent())
	}
	return b.String()
}

// pushes is a policy with a test of each of its three conditions.
func pushes(t *testing.T) *policytest.Suite {
	return prepare(t, tree(txtar.Parse([]byte(`
-- push.rego --
# METADATA
# custom: {gate: {events: [PreToolUse]}}
package acme.push

deny contains "no" if input.force
-- push_test.rego --
package acme.push_test

import data.acme.push

test_denies if "no" in push.deny with input as {"force": true}

test_passes if count(push.deny) == 0 with input as {"force": false}
`))))
}

func TestTimeout(t *testing.T) {
	r, err := mutate.Run(context.Background(), pushes(t), mutate.Options{Timeout: time.Nanosecond})
	if err != nil || r.Total().Killed == 0 || len(r.Survivors) > 0 {
		t.Errorf("mutants without time: %+v, %v; they count as noticed", r, err)
	}
}

func TestCancel(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	_, err := mutate.Run(ctx, pushes(t), mutate.Options{Progress: func(int, int) { stop(stopped) }})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func TestFiles(t *testing.T) {
	_, err := mutate.Run(context.Background(), pushes(t), mutate.Options{Files: []string{"pull.rego"}})
	if err == nil || !strings.Contains(err.Error(), "push.rego") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		score mutate.Score
		want  float64
	}{
		{mutate.Score{}, 100},
		{mutate.Score{Invalid: 3}, 100},
		{mutate.Score{Killed: 3, Survived: 1, Invalid: 5}, 75},
		{mutate.Score{Survived: 1}, 0},
	} {
		if got := c.score.Percent(); got != c.want {
			t.Errorf("%+v: %v", c.score, got)
		}
	}
}
