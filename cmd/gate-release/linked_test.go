package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLicences holds that every platform's files have the licence texts of each module
// that its programs link, Go's, and gate's own where there is one.
func TestLicences(t *testing.T) {
	tree := newTiny(t)
	tree.write("LICENSE", "as you like\n")
	tree.commit("terms")
	r := tree.release("linux/amd64", "windows/amd64")
	for _, p := range r.Platforms {
		s, err := r.stage(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, f := range s.Files {
			if f.Kind == Licence {
				texts[f.Path] = string(f.Data)
			}
		}
		has := func(path, word string) {
			t.Helper()
			if !strings.Contains(texts[path], word) {
				t.Errorf("%s: %s is %.40q", p, path, texts[path])
			}
		}
		for _, name := range p.programs() {
			info, list, err := linked(s.Program(name))
			if err != nil || len(list) != 1 || list[0].path != "golang.org/x/sync" {
				t.Fatalf("%s links %v %v", name, list, err)
			}
			has("licences/go@"+info.GoVersion+"/LICENSE", "Redistribution")
			has("licences/"+list[0].String()+"/LICENSE", "Redistribution")
			has("licences/"+list[0].String()+"/PATENTS", "patent")
		}
		has("LICENSE", "as you like")
	}
}

// TestLicenceMissing holds that a module without a text of its own stops a release.
func TestLicenceMissing(t *testing.T) {
	text := &fstest.MapFile{Data: []byte("the terms\n")}
	for name, tree := range map[string]fstest.MapFS{
		"nothing":      {"a.go": text},
		"empty":        {"LICENSE": {Data: []byte(" \n")}},
		"a notice":     {"NOTICE": text},
		"a program":    {"licence.go": text, "license.yml": text},
		"further down": {"internal/x/LICENSE": text},
	} {
		if list, err := licenceTexts(tree, "licences/m@v1", true); !errors.Is(err, errNoLicence) {
			t.Errorf("%s: %v %v", name, list, err)
		}
	}
	for _, name := range []string{"LICENSE", "LICENCE", "License.txt", "LICENSE-APACHE-2.0.txt", "COPYING", "COPYING.md", "UNLICENSE"} {
		list, err := licenceTexts(fstest.MapFS{name: text, "internal/x/LICENSE": text, "NOTICE": text, "testdata/LICENSE": text, "main.go": text}, "licences/m@v1", true)
		var paths []string
		for _, f := range list {
			paths = append(paths, f.Path)
		}
		slices.Sort(paths)
		want := []string{"licences/m@v1/" + name, "licences/m@v1/NOTICE", "licences/m@v1/internal/x/LICENSE"}
		slices.Sort(want)
		if err != nil || !slices.Equal(paths, want) {
			t.Errorf("%s: %v %v", name, paths, err)
		}
	}
}

// TestLicenceUnknown holds that no text of another source stands in for a module's.
func TestLicenceUnknown(t *testing.T) {
	tree := newTiny(t)
	r := tree.release("linux/amd64")
	m := module{"golang.org/x/sync", tree.version, "h1:AAAA"}
	if dirs, err := r.sources(t.Context(), []module{m}); err == nil || !strings.Contains(err.Error(), "h1:AAAA") {
		t.Errorf("%v %v", dirs, err)
	}
}
