package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// npmRelease is a release of this tree into a new directory.
func npmRelease(t *testing.T, version string) *Release {
	t.Helper()
	tree, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &Release{Tree: tree, Version: version, Out: t.TempDir(), Time: time.Date(2026, 11, 27, 3, 15, 0, 0, time.UTC)}
}

// npmStaged has a text in place of each program.
func npmStaged(p Platform, text string) Staged {
	s := Staged{Platform: p}
	for _, name := range p.programs() {
		s.Files = append(s.Files, File{Program, p.program(name), 0o755, []byte(text)})
	}
	s.Files = append(s.Files,
		File{Page, "README.md", 0o644, []byte("gate's own page\n")},
		File{Licence, "licences/example.org/m@v1.0.0/LICENSE", 0o644, []byte("do as you like\n")},
		File{Manual, "man/gate.1", 0o644, []byte(".TH\n")})
	return s
}

func npmOf(t *testing.T, r *Release, staged ...Staged) []string {
	t.Helper()
	made, err := npm(t.Context(), r, staged)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// An npmFile is one of an archive.
type npmFile struct {
	mode fs.FileMode
	data []byte
}

// npmUnpacked are the files of an archive, which all have its time.
func npmUnpacked(t *testing.T, r *Release, name string) map[string]npmFile {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join(r.Out, name))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]npmFile)
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(r.Time) || h.Typeflag != tar.TypeReg || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s: %s is of %s, type %c, owner %d %q", name, h.Name, h.ModTime, h.Typeflag, h.Uid, h.Uname)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = npmFile{fs.FileMode(h.Mode), data}
	}
}

func TestNPM(t *testing.T) {
	r := npmRelease(t, "v1.2.0")
	made := npmOf(t, r, npmStaged(Platform{"linux", "amd64"}, "one"), npmStaged(Platform{"windows", "arm64"}, "two"))
	want := map[string][]string{
		"npm/gate-guard-gate-linux-x64-1.2.0.tgz": {"-rw-r--r-- package/README.md", "-rwxr-xr-x package/bin/gate", "-rwxr-xr-x package/bin/gate-hook", "-rwxr-xr-x package/bin/gate-run", "-rwxr-xr-x package/bin/gate-server",
			"-rw-r--r-- package/licences/example.org/m@v1.0.0/LICENSE", "-rw-r--r-- package/package.json"},
		"npm/gate-guard-gate-win32-arm64-1.2.0.tgz": {"-rw-r--r-- package/README.md", "-rwxr-xr-x package/bin/gate-hook.exe", "-rwxr-xr-x package/bin/gate-server.exe", "-rwxr-xr-x package/bin/gate.exe",
			"-rw-r--r-- package/licences/example.org/m@v1.0.0/LICENSE", "-rw-r--r-- package/package.json"},
		"npm/gate-guard-gate-1.2.0.tgz": {"-rw-r--r-- package/README.md", "-rwxr-xr-x package/bin/gate.js", "-rw-r--r-- package/checksums.json", "-rw-r--r-- package/package.json"},
	}
	if got := slices.Sorted(slices.Values(made)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Fatal(got)
	}
	for _, name := range made {
		var got []string
		files := npmUnpacked(t, r, name)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			got = append(got, fmt.Sprint(files[path].mode, " ", path))
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s has\n%s", name, strings.Join(got, "\n"))
		}
	}
}

// TestNPMManifests holds what npm does with the packages: it chooses one by os and cpu, of
// exactly this version, and starts nothing.
func TestNPMManifests(t *testing.T) {
	r := npmRelease(t, "v1.2.0-3-gabc1234")
	made := npmOf(t, r, npmStaged(Platform{"linux", "amd64"}, "one"), npmStaged(Platform{"windows", "arm64"}, "two"))
	const version = "1.2.1-dev.3.gabc1234"
	for i, want := range []map[string]any{
		{"name": "@gate-guard/gate-linux-x64", "os": []any{"linux"}, "cpu": []any{"x64"}, "preferUnplugged": true},
		{"name": "@gate-guard/gate-win32-arm64", "os": []any{"win32"}, "cpu": []any{"arm64"}, "preferUnplugged": true},
		{"name": "@gate-guard/gate", "bin": map[string]any{"gate": "bin/gate.js"}, "engines": map[string]any{"node": ">=18"},
			"optionalDependencies": map[string]any{"@gate-guard/gate-linux-x64": version, "@gate-guard/gate-win32-arm64": version}},
	} {
		var got map[string]any
		if err := json.Unmarshal(npmUnpacked(t, r, made[i])["package/package.json"].data, &got); err != nil {
			t.Fatal(err)
		}
		// Nobody publishes a package of a gate without a licence by mistake.
		maps.Copy(want, map[string]any{"version": version, "private": true, "license": "UNLICENSED"})
		delete(got, "description")
		if a, b := fmt.Sprint(got), fmt.Sprint(want); a != b { // no "scripts", no "dependencies"
			t.Errorf("%s\nis   %s\nwant %s", made[i], a, b)
		}
	}
}

func TestNPMChecksums(t *testing.T) {
	r := npmRelease(t, "v1.2.0")
	made := npmOf(t, r, npmStaged(Platform{"linux", "amd64"}, "one"), npmStaged(Platform{"windows", "amd64"}, "two"))
	var sums map[string]map[string]string
	if err := json.Unmarshal(npmUnpacked(t, r, made[2])["package/checksums.json"].data, &sums); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, platform := range []string{"linux-x64", "win32-x64"} {
		for path, f := range npmUnpacked(t, r, made[i]) {
			file, ok := strings.CutPrefix(path, "package/bin/")
			if !ok {
				continue
			}
			n++
			if want := fmt.Sprintf("%x", sha256.Sum256(f.data)); sums[platform][file] != want {
				t.Errorf("%s %s: %q, not %s", platform, file, sums[platform][file], want)
			}
		}
	}
	if n != 4+3 || len(sums) != 2 || len(sums["linux-x64"]) != 4 {
		t.Errorf("%d programs, checksums %v", n, sums)
	}
}

func TestNPMSameBytes(t *testing.T) {
	var files [2]map[string]string
	for i := range files {
		r := npmRelease(t, "v1.2.0")
		files[i] = make(map[string]string)
		for _, name := range npmOf(t, r, npmStaged(Platform{"linux", "amd64"}, "one"), npmStaged(Platform{"darwin", "arm64"}, "two")) {
			data, err := os.ReadFile(filepath.Join(r.Out, name))
			if err != nil {
				t.Fatal(err)
			}
			files[i][name] = string(data)
		}
	}
	if len(files[0]) != 3 || !maps.Equal(files[0], files[1]) {
		t.Error("two releases of one commit differ")
	}
}

func TestNPMRefuses(t *testing.T) {
	r := npmRelease(t, "v1.2.0")
	if _, err := npm(t.Context(), r, []Staged{npmStaged(Platform{"plan9", "amd64"}, "")}); err == nil || err.Error() != "plan9-amd64 has no name that npm knows" {
		t.Error(err)
	}
	for _, manifest := range []string{
		`{"name": "gate", "scripts": {"postinstall": "node x.js"}}`,
		`{"name": "gate", "dependencies": {"x": "1"}}`,
		`{"name": "gate", "version": "1.0.0"}`,
		`{"name": "gate", "optionalDependencies": {}}`,
	} {
		r.Tree = t.TempDir()
		dir := filepath.Join(r.Tree, npmSource)
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644)); err != nil {
			t.Fatal(err)
		}
		if _, err := npm(t.Context(), r, nil); err == nil || !strings.Contains(err.Error(), "package.json: ") {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}
