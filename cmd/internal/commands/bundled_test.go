package commands

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/rogpeppe/go-internal/testscript"

	"gate/internal/sync"
)

// activate puts bundles into force in the script's managed directory, in the
// order in which they are named: activate [now=TIME] [record] FILE...
func activate(ts *testscript.TestScript, neg bool, args []string) {
	r := sync.Rules{Now: time.Now(), Labels: map[string]string{"ring": "canary"}, Gate: "v1.0.0"}
	var offers []sync.Offer
	record := false
	for _, arg := range args {
		if at, ok := strings.CutPrefix(arg, "now="); ok {
			var err error
			r.Now, err = time.Parse(time.RFC3339, at)
			ts.Check(err)
			continue
		}
		if arg == "record" {
			record = true
			continue
		}
		o := sync.Offer{Archive: []byte(ts.ReadFile(arg)), Record: record}
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
	found, err := tester.LoadBundlesWithRegoVersion(files, nil, ast.RegoV1)
	ts.Check(err)
	ctx, store := context.Background(), inmem.New()
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	ts.Check(err)
	results, err := tester.NewRunner().SetStore(store).SetBundles(found).RunTests(ctx, txn)
	ts.Check(err)
	passed := 0
	for r := range results {
		if !r.Pass() {
			ts.Fatalf("%s: %v", r.Name, r.Error)
		}
		passed++
	}
	if want := args[len(args)-1]; strconv.Itoa(passed) != want {
		ts.Fatalf("%d tests passed, want %s", passed, want)
	}
}

// damage changes one byte of the first policy below a directory.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage directory")
	}
	done := false
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
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
