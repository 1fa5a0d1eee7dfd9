package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// read returns all files of a release by their paths.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(below)] = data
		return err
	})
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
	for _, name := range []string{checksums, "gate-" + one.Version + "-linux-amd64.tar.gz", "gate-" + one.Version + "-windows-amd64.zip",
		"gate-" + one.Version + ".cdx.json", "gate-" + one.Version + ".provenance.json"} {
		if len(first[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	if len(second) != len(first) {
		t.Errorf("%d and %d files", len(first), len(second))
	}
	if strings.Contains(one.Version, "dirty") {
		t.Errorf("%s is said of a clean tree", one.Version)
	}
}

// TestComplete holds which names of releases and platforms are taken.
func TestComplete(t *testing.T) {
	tree := newTiny(t)
	tree.git("tag", "v1.2.0")
	tree.git("tag", "nightly")
	if r := tree.release("linux/amd64"); r.Version != "v1.2.0" || r.Commit != tree.git("rev-parse", "HEAD") || r.Dirty {
		t.Errorf("%+v", r)
	}
	tree.write("README.md", "# gate, again\n")
	tree.commit("two")
	if r := tree.release("linux/amd64"); r.Version != "v1.2.0-1-g"+tree.git("rev-parse", "HEAD")[:12] {
		t.Errorf("the version is %s", r.Version)
	}
	for _, test := range []struct{ version, platforms, want string }{
		{"v1 2", "linux/amd64", "becomes part of names"},
		{"../v1", "linux/amd64", "becomes part of names"},
		{"v1", "linux", "write GOOS/GOARCH"},
		{"v1", "linux/../x", "write GOOS/GOARCH"},
		{"v1", "", "no platform"},
	} {
		r := Release{Version: test.version}
		if err := r.complete(t.Context(), tree.dir, strings.Fields(test.platforms)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %q: %v", test.version, test.platforms, err)
		}
	}
	if err := (&Release{}).complete(t.Context(), t.TempDir(), []string{"linux/amd64"}); err == nil {
		t.Error("a release of nothing")
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
