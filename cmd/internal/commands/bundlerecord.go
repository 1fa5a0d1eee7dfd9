package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/internal/sealed"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A bundleRecord is what OPA needs in a bundle in the place of what only gate has: the
// library, the values of parameters, what gate.event said in the tests.
type bundleRecord struct {
	name, dir string            // of the bundle, and of what is its own in it
	files     map[string][]byte // to add, and the bundle's own that refer to them
	passed    map[string]bool   // the tests that gate passes, by name
}

// recordOf makes the record of a bundle, whose tests have run. It holds no
// file where the bundle refers to nothing that only gate has.
func recordOf(files fs.FS, c *sealed.Contents, t trying) (*bundleRecord, error) {
	name := c.Manifest.Gate.Name
	r := &bundleRecord{name: name, dir: path.Join("gate", "bundles", name), files: map[string][]byte{}, passed: map[string]bool{}}
	src := t.source
	said, err := r.said(t)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, f := range c.Files {
		if !strings.HasSuffix(f.Name, ".rego") {
			continue
		}
		needed, err := r.add(files, f.Name, said)
		if err != nil {
			return nil, err
		}
		parts = append(parts, needed...)
	}
	if said.Module != "" {
		r.files[path.Join(r.dir, "recorded_test.rego")] = []byte(said.Module)
	}
	if err := r.library(parts); err != nil {
		return nil, err
	}
	if slices.Contains(parts, load.RecordedParams) {
		values, err := rego.Params(src)
		if err != nil {
			return nil, err
		}
		r.files[path.Join(r.dir, load.RecordKey, load.RecordedParams, sealed.DataFile)] = []byte(strictjson.Indent(values))
	}
	roots := c.Manifest.Roots
	if len(r.files) > 0 && !slices.ContainsFunc(roots, func(root string) bool { return root == "" || strings.HasPrefix(r.dir+"/", root+"/") }) {
		return nil, fmt.Errorf("the roots of .manifest lack %s", r.dir)
	}
	return r, nil
}

// said returns what gate.event said in the tests of a bundle, and notes which passed.
func (r *bundleRecord) said(t trying) (said policytest.Record, err error) {
	if t.suite == nil {
		return said, nil
	}
	for _, one := range t.results {
		r.passed[one.Name] = one.Kind == policytest.RegoTest && one.Passed()
	}
	if said = t.suite.Record(r.name); len(said.Files) > 0 && said.Module == "" {
		return said, errors.New("gate.event says too much in its tests")
	}
	return said, nil
}

// add takes a Rego file in, if OPA needs another one than gate, and returns the parts
// of data.gate that it refers to.
func (r *bundleRecord) add(files fs.FS, name string, said policytest.Record) ([]string, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	plain, importing := load.Unrecorded(string(text)), "\n"+said.Import // the directory may be a bundle, unpacked
	if said.Import != "" {
		plain = strings.TrimSuffix(plain, importing)
	}
	packed, parts, err := load.Recorded(r.name, name, plain)
	if err != nil {
		return nil, err
	}
	if said.Files[name] {
		packed += importing
	}
	if packed != string(text) {
		r.files[name] = []byte(packed)
	}
	return parts, nil
}

// library adds the parts of gate's library that are needed, and those that these need.
// Its files are named as those of tests are, so that gate takes none of them for the
// bundle's own.
func (r *bundleRecord) library(needed []string) error {
	_, lib := sources.Library(hook.User)
	for done := 0; done < len(needed); done++ {
		part := needed[done]
		i := slices.IndexFunc(lib, func(m scopes.Module) bool { return m.Package == "gate."+part })
		file := path.Join(r.dir, load.RecordKey, part+"_test.rego")
		if i < 0 || r.files[file] != nil {
			continue
		}
		m := lib[i]
		text, parts, err := load.Recorded(r.name, m.File, m.Text)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(load.RecordRef(r.name).String(), "data.") + "." + part
		r.files[file] = []byte(strings.Replace(text, "\npackage "+m.Package+"\n", "\npackage "+pkg+"\n", 1))
		needed = append(needed, parts...)
	}
	return nil
}

// check runs the tests of a packed bundle by OPA alone, and returns an error about
// those that gate passes and OPA does not.
func (r *bundleRecord) check(ctx context.Context, archive []byte) error {
	b, err := bundle.NewCustomReader(bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")).
		WithSkipBundleVerification(true).WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	store := inmem.New()
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return err
	}
	defer store.Abort(ctx, txn)
	results, err := tester.NewRunner().SetStore(store).SetBundles(map[string]*bundle.Bundle{r.name: &b}).RunTests(ctx, txn)
	if err != nil {
		return err
	}
	var differ []string
	for t := range results {
		if name := strings.TrimPrefix(t.Package, "data.") + "." + t.Name; r.passed[name] && !t.Pass() {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("%s pass in gate only: %s", screen.Counted(len(differ), "test"), strings.Join(differ[:min(3, len(differ))], ", "))
	}
	return nil
}
