package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/bundles"
	"gate/hook"
	"gate/hostfs"
	"gate/scopes"
	"gate/scopes/load"
	"gate/strictjson"
)

// A release is a bundle as it is compared with another one. Nothing of it was
// verified.
type release struct {
	path     string
	manifest bundles.Manifest
	digest   string // of the archive; of a directory's, as it would be packed
	source   scopes.Source
	layers   []scopes.Layer
	schemas  load.ToolSchemas
	data     map[string]any // without hooks and settings
	settings map[string]any // as they stand in the data
	program  *program
	tests    map[string]*ast.Module // by the names of their files
}

// readRelease reads a bundle's archive, or a directory that one is built from.
// Whatever is wrong with it is an error: no machine would take it.
func readRelease(name string) (*release, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	var archive []byte
	if info.IsDir() {
		archive, err = bundles.Pack(os.DirFS(name), func(m *bundles.Metadata) { m.Version = max(m.Version, 1) })
	} else {
		archive, err = readFile(name, maxArchive)
	}
	if err != nil {
		return nil, err
	}
	c, err := bundles.Inspect(archive, nil, bundles.Limits{})
	if err != nil {
		return nil, err
	}
	r := &release{path: name, manifest: c.Manifest, digest: c.Digest}
	if err := r.read(archive); err != nil {
		return nil, err
	}
	if r.program, err = compileRelease(r.source); err != nil {
		return nil, err
	}
	return r, nil
}

// read takes the archive apart, within the limits that Inspect holds.
func (r *release) read(archive []byte) error {
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
		if strings.HasSuffix(name, testSuffix) {
			r.tests[name] = m.Parsed
		}
	}
	if len(b.Data) > 0 {
		files["data.json"] = &fstest.MapFile{Data: strictjson.Append(nil, b.Data)}
	}
	if r.data, err = strictjson.Object(strictjson.Append(nil, b.Data), strictjson.Limits{Bytes: maxBundle, Keys: 1_000_000}); err != nil {
		return err
	}
	bundles := object(object(r.data["gate"])["bundles"])
	r.settings = object(object(bundles[r.manifest.Gate.Name])["settings"])
	for _, key := range []string{"settings", "hooks"} { // compared by what they say
		delete(object(bundles[r.manifest.Gate.Name]), key)
	}
	gate := r.manifest.Gate
	loaded := load.Bundle(files, r.manifest.Roots, filepath.ToSlash(r.path), scopes.Source{
		Name: "managed:" + gate.Name, Scope: hook.Policy, Authority: hook.Managed, Digest: r.digest, Order: 1,
		Bundle: &hook.Bundle{Name: gate.Name, Version: gate.Version, Digest: r.digest},
	})
	r.source, r.layers, r.schemas = *loaded.Source, loaded.Layers, loaded.Schemas
	var errs []error
	for i := range r.source.Faults {
		errs = append(errs, r.source.Faults[i].Err)
	}
	return errors.Join(errs...)
}

// proposal puts the release into the place of the bundle of its name.
func (r *release) proposal() *proposal {
	return &proposal{source: r.source, layers: r.layers, schemas: r.schemas, dir: r.path}
}

// title names a release for people.
func (r *release) title() string {
	return fmt.Sprintf("%s: %s version %d", r.path, orNameless(r.manifest.Gate.Name), r.manifest.Gate.Version)
}

func (r *release) document() map[string]any {
	doc := manifestDocument(r.manifest)
	doc["file"], doc["digest"] = r.path, r.digest
	return doc
}
