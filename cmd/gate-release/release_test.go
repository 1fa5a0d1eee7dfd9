package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// read returns all files of a release by their names.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range list {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestReproducible holds that the same commit gives the same bytes in another directory,
// whatever the machine is set to.
func TestReproducible(t *testing.T) {
	tree := newTiny(t)
	platforms := []string{"linux/amd64", "windows/amd64"}
	one := tree.release(platforms...)
	if err := one.Make(t.Context()); err != nil {
		t.Fatal(err)
	}

	above := t.TempDir()
	tree.git("clone", "-q", tree.dir, filepath.Join(above, "tree"))
	if err := os.WriteFile(filepath.Join(above, "go.work"), []byte("go 1.26.0\n\nuse ./elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"GOFLAGS": "-buildvcs=false -race -tags=other", "GOAMD64": "v3", "GOOS": "plan9", "GOEXPERIMENT": "jsonv2", "CGO_ENABLED": "1",
		"GOWORK": filepath.Join(above, "go.work"), "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "GIT_DIR": "/nowhere",
	} {
		t.Setenv(name, value)
	}
	defer narrow()()
	other := tiny{t: t, dir: filepath.Join(above, "tree")}.release(platforms...)
	if err := other.Make(t.Context()); err != nil {
		t.Fatal(err)
	}

	first, second := read(t, one.Out), read(t, other.Out)
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s differs: %s and %s", name, digest(data), digest(second[name]))
		}
	}
	if len(first) != len(platforms)+3 || len(second) != len(first) {
		t.Errorf("%d and %d files", len(first), len(second))
	}
	if strings.Contains(one.Version, "dirty") {
		t.Errorf("%s is said of a clean tree", one.Version)
	}
}

// TestProvenance holds what a release says of its making, and that a tree with changes
// is called so, in the name of the release too.
func TestProvenance(t *testing.T) {
	tree := newTiny(t)
	for _, test := range []struct {
		change string
		dirty  bool
	}{{"", false}, {"docs/rego.md", true}, {"docs/new.md", true}} {
		tree.git("checkout", "-q", "--", ".")
		if test.change != "" {
			tree.write(test.change, "changed\n")
		}
		r := tree.release("linux/amd64")
		if err := r.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(r.Version, "-dirty") != test.dirty {
			t.Errorf("%q: the version is %s", test.change, r.Version)
		}
		files := read(t, r.Out)
		name := "gate-" + r.Version + ".provenance.json"
		var s statement
		if err := json.Unmarshal(files[name], &s); err != nil {
			t.Fatal(err)
		}
		b := s.Predicate.BuildDefinition
		source := b.Dependencies[0]
		if source.Digest["gitCommit"] != tree.git("rev-parse", "HEAD") || source.Digest["gitTree"] != tree.git("rev-parse", "HEAD^{tree}") {
			t.Errorf("the source is %+v", source)
		}
		if (source.Annotations["dirty"] != "") != test.dirty || b.InternalParameters["dirty"] != test.dirty {
			t.Errorf("%q: dirty is %v, %+v", test.change, b.InternalParameters["dirty"], source)
		}
		if b.Dependencies[1].Annotations["version"] != runtime.Version() || b.ExternalParameters["version"] != r.Version {
			t.Errorf("%+v", b)
		}
		var subjects []string
		for _, a := range s.Subject {
			subjects = append(subjects, a.Name)
			if a.Digest["sha256"] != digest(files[a.Name]) {
				t.Errorf("%s has another digest", a.Name)
			}
		}
		delete(files, name)
		delete(files, checksums)
		for file := range files {
			if !slices.Contains(subjects, file) {
				t.Errorf("%s is no subject", file)
			}
		}
		if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" || len(subjects) != len(files) {
			t.Errorf("%s", files[name])
		}
	}
}
