// Package release compares two releases of a policy bundle by meaning: the calls that
// the new one holds back less, and more. It compares policies and rules in compiled
// form, and settings by their effect. A difference of text alone does not count.
//
// It verifies nothing and decides about no call. Start with [Read], twice, and
// then [Compare].
package release

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/bundles"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/sealed"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A Release is a bundle as it is compared with another one. Nothing of it was
// verified.
type Release struct {
	Path     string // of the archive or directory, as it was named
	Manifest bundles.Manifest
	Digest   string // of the archive; of a directory's, as it would be packed
	Source   scopes.Source
	Layers   []scopes.Layer
	Schemas  load.ToolSchemas

	data     map[string]any // without hooks and settings
	settings map[string]any // in normal form
	program  *program
	tests    map[string]*ast.Module // by the names of their files
}

// maxBundle bounds an archive, packed and unpacked file by file, in bytes.
const maxBundle = 64 << 20

// Read reads a bundle's archive, or a directory that one is built from. lib is
// data.gate.lib, which its policies may import. Whatever is wrong with it is an
// error: no machine would take it.
func Read(name string, lib []scopes.Module) (*Release, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	var archive []byte
	if info.IsDir() {
		archive, err = bundles.Pack(os.DirFS(name), func(m *bundles.Metadata) { m.Version = max(m.Version, 1) })
	} else {
		archive, err = hostfs.Files{}.ReadFile(filepath.ToSlash(name), maxBundle)
	}
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	c, err := sealed.Inspect(archive, nil, bundles.Limits{})
	if err != nil {
		return nil, err
	}
	r := &Release{Path: name, Manifest: c.Manifest, Digest: c.Digest}
	if err := r.read(archive); err != nil {
		return nil, err
	}
	if r.program, err = compile(r.Source, lib); err != nil {
		return nil, err
	}
	return r, nil
}

// read takes the archive apart, within the limits that Inspect holds.
func (r *Release) read(archive []byte) error {
	loader := bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")
	b, err := bundle.NewCustomReader(loader).WithSkipBundleVerification(true).WithSizeLimitBytes(maxBundle).
		WithProcessAnnotations(true).WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return err
	}
	files := fstest.MapFS{}
	r.tests = map[string]*ast.Module{}
	for _, m := range b.Modules {
		name := strings.TrimPrefix(path.Clean(filepath.ToSlash(m.Path)), "/")
		files[name] = &fstest.MapFile{Data: m.Raw}
		if !strings.HasSuffix(name, testSuffix) {
			continue
		}
		test, err := ast.ParseModuleWithOpts(name, load.Unrecorded(string(m.Raw)), ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		if err != nil {
			return err
		}
		if test = policytest.WithoutRecord(test); test != nil {
			r.tests[name] = test
		}
	}
	if len(b.Data) > 0 {
		files["data.json"] = &fstest.MapFile{Data: strictjson.Append(nil, b.Data)}
	}
	if r.data, err = strictjson.Object(strictjson.Append(nil, b.Data), strictjson.Limits{Bytes: maxBundle, Keys: 1_000_000}); err != nil {
		return err
	}
	bundles := object(object(r.data["gate"])["bundles"])
	for _, key := range []string{"settings", "hooks", load.RecordKey} { // compared by what they say, or OPA's
		delete(object(bundles[r.Manifest.Gate.Name]), key)
	}
	gate := r.Manifest.Gate
	loaded := load.Bundle(files, r.Manifest.Roots, filepath.ToSlash(r.Path), scopes.Source{
		Name: hook.Bundle{Name: gate.Name}.Source(), Scope: hook.Policy, Authority: hook.Managed, Digest: r.Digest, Order: 1,
		Bundle: &hook.Bundle{Name: gate.Name, Version: gate.Version, Digest: r.Digest},
	})
	r.Source, r.Layers, r.Schemas = *loaded.Source, loaded.Layers, loaded.Schemas
	r.settings = r.Layers[0].Tree()
	var errs []error
	for i := range r.Source.Faults {
		errs = append(errs, r.Source.Faults[i].Err)
	}
	return errors.Join(errs...)
}
