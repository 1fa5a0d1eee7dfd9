package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/rogpeppe/go-internal/testscript"

	"gate/internal/sync"
)

// activate puts bundles into force in the script's managed directory, in the
// order in which they are named: activate [now=TIME] [trial] FILE...
func activate(ts *testscript.TestScript, neg bool, args []string) {
	r := sync.Rules{Now: time.Now(), Labels: map[string]string{"ring": "canary"}, Gate: "v1.0.0"}
	var offers []sync.Offer
	trial := false
	for _, arg := range args {
		if at, ok := strings.CutPrefix(arg, "now="); ok {
			var err error
			r.Now, err = time.Parse(time.RFC3339, at)
			ts.Check(err)
			continue
		}
		if arg == "trial" {
			trial = true
			continue
		}
		o := sync.Offer{Archive: []byte(ts.ReadFile(arg)), Trial: trial}
		if data, err := os.ReadFile(ts.MkAbs(arg + envelopeSuffix)); err == nil {
			o.Envelope = data
		}
		offers = append(offers, o)
		r.Order = append(r.Order, strings.TrimRight(strings.TrimSuffix(filepath.Base(arg), ".tar.gz"), "-0123456789"))
	}
	outcomes, err := sync.Store{Dir: ts.MkAbs("managed")}.Activate(context.Background(), offers, r)
	ts.Check(err)
	refused := ""
	for _, o := range outcomes {
		if o.Err != nil {
			refused += o.Err.Error() + "\n"
		}
	}
	if neg != (refused != "") {
		ts.Fatalf("refused: %q", refused)
	}
	ts.Check(os.WriteFile(ts.MkAbs("refused"), []byte(refused), 0o600))
}

// opatest runs the tests of bundles by OPA alone, and wants so many to pass:
// opatest FILE... N.
func opatest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: opatest file... number")
	}
	var files []string
	for _, arg := range args[:len(args)-1] {
		files = append(files, ts.MkAbs(arg))
	}
	passed, failed, err := byOPA(files...)
	ts.Check(err)
	if want := args[len(args)-1]; len(failed) > 0 || strconv.Itoa(passed) != want {
		ts.Fatalf("%d tests passed, want %s; failed: %q", passed, want, failed)
	}
}

// byOPA runs the tests of bundles as "opa test -b" does.
func byOPA(files ...string) (passed int, failed []string, err error) {
	found, err := tester.LoadBundlesWithRegoVersion(files, nil, ast.RegoV1)
	if err != nil {
		return 0, nil, err
	}
	ctx, store := context.Background(), inmem.New()
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return 0, nil, err
	}
	results, err := tester.NewRunner().SetStore(store).SetBundles(found).RunTests(ctx, txn)
	if err != nil {
		return 0, nil, err
	}
	for r := range results {
		if r.Pass() {
			passed++
		} else {
			failed = append(failed, fmt.Sprintf("%s.%s: %v", r.Package, r.Name, r.Error))
		}
	}
	return passed, failed, nil
}

// TestExamplesByOPA packs each example as a bundle of its own, and all of them as
// one: OPA passes what gate passes.
func TestExamplesByOPA(t *testing.T) {
	examples := filepath.Join(root, "examples", "company")
	list, err := os.ReadDir(examples)
	if err != nil || len(list) < 40 {
		t.Fatal(err, len(list))
	}
	whole := packed(t, "company", examples, "company")
	passed, failed, err := byOPA(whole)
	if err != nil || passed < 130 || len(failed) > 0 {
		t.Fatalf("%d passed, failed: %q, %v", passed, failed, err)
	}
	sum := 0
	for _, e := range list {
		n, failed, err := byOPA(packed(t, e.Name(), filepath.Join(examples, e.Name()), "company/"+e.Name()))
		if err != nil || len(failed) > 0 {
			t.Errorf("%s: failed: %q, %v", e.Name(), failed, err)
		}
		sum += n
	}
	if sum != passed {
		t.Errorf("%d tests one by one, and %d together", sum, passed)
	}
}

// packed builds a bundle of the policies in a directory, which is at in the bundle.
func packed(t *testing.T, name, policies, at string) (archive string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(filepath.Join(dir, filepath.FromSlash(at)), os.DirFS(policies)); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf(`{"roots": ["company", "gate/bundles/%[1]s"], "metadata": {"gate": {"name": "%[1]s", "version": 1}}}`, name)
	if err := os.WriteFile(filepath.Join(dir, ".manifest"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := process{args: []string{"bundle", "build", dir, "-o", dir + ".tar.gz"}, stdout: &out, stderr: &out, stdin: strings.NewReader("")}
	if status := run(t.Context(), p); status != exitOK || strings.Contains(out.String(), "note") {
		t.Fatalf("gate bundle build: status %d\n%s", status, out.String())
	}
	return dir + ".tar.gz"
}

// damage changes one byte of the first policy below a directory, which a pattern
// may name.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage directory")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("no directory %s", args[0])
	}
	done := false
	ts.Check(filepath.WalkDir(found[0], func(path string, d os.DirEntry, err error) error {
		if err != nil || done || d.IsDir() || !strings.HasSuffix(path, ".rego") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		done = true
		return os.WriteFile(path, append(data, '\n'), 0o600)
	}))
	if !done {
		ts.Fatalf("no policy below %s", args[0])
	}
}
