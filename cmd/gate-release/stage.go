package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// programs are what a release for a platform has of programs. They belong into one
// directory: each finds the others there. Only Linux has what gate-run confines with.
func (p Platform) programs() []string {
	names := []string{"gate", "gate-hook", "gate-server"}
	if p.OS == "linux" {
		names = append(names, "gate-run")
	}
	return names
}

// A Kind says what a file is for, since each door puts kinds elsewhere.
type Kind string

const (
	Program    Kind = "program"    // gate, gate-hook, gate-server, gate-run
	Page       Kind = "page"       // README.md and docs
	Licence    Kind = "licence"    // texts of linked modules, and gate's own
	Manual     Kind = "manual"     // pages for man, section 1
	Completion Kind = "completion" // of shells
	Unit       Kind = "unit"       // of systemd, of a person
)

// A Staged is all that a release has for one platform, before any door.
type Staged struct {
	Platform Platform
	Files    []File // programs first
}

// A File is one file of a release.
type File struct {
	Kind Kind
	Path string      // with slashes, as archives have it: "gate", "docs/rego.md"
	Mode fs.FileMode // 0o755 or 0o644
	Data []byte
}

// Program returns the file of a program, such as "gate-hook".
func (s Staged) Program(name string) File {
	for _, f := range s.Files {
		if f.Kind == Program && f.Path == s.Platform.program(name) {
			return f
		}
	}
	return File{}
}

// program is the name of a program's file.
func (p Platform) program(name string) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// buildFlags are those of go build.
var buildFlags = []string{"-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid="}

// stage builds the programs for a platform and gathers what goes with them.
func (r *Release) stage(ctx context.Context, p Platform) (Staged, error) {
	dir, err := os.MkdirTemp("", "gate-release-")
	if err != nil {
		return Staged{}, err
	}
	defer os.RemoveAll(dir)
	args := append([]string{"build"}, buildFlags...)
	args = append(args, "-o", dir+string(filepath.Separator))
	for _, name := range p.programs() {
		args = append(args, "./cmd/"+name)
	}
	if _, err := r.run(ctx, []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch}, "go", args...); err != nil {
		return Staged{}, err
	}
	s := Staged{Platform: p}
	for _, name := range p.programs() {
		data, err := os.ReadFile(filepath.Join(dir, p.program(name)))
		if err != nil {
			return Staged{}, err
		}
		s.Files = append(s.Files, File{Program, p.program(name), 0o755, data})
	}
	licences := func() ([]File, error) { return r.licences(ctx, s.Files[:len(p.programs())]) }
	units := func() ([]File, error) { return r.units(p) }
	for _, more := range []func() ([]File, error){r.terms, licences, r.pages, r.described, units} {
		list, err := more()
		if err != nil {
			return Staged{}, err
		}
		s.Files = append(s.Files, list...)
	}
	return s, nil
}

// terms are those of gate itself: texts at the top of the tree, as soon as there are some.
func (r *Release) terms() ([]File, error) {
	entries, err := os.ReadDir(r.Tree)
	if err != nil {
		return nil, err
	}
	var list []File
	for _, e := range entries {
		if !e.Type().IsRegular() || !isText(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.Tree, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, File{Licence, e.Name(), 0o644, data})
	}
	return list, nil
}

// pages are the README and the docs of the tree.
func (r *Release) pages() ([]File, error) {
	var list []File
	for _, top := range []string{"README.md", "docs"} {
		err := filepath.WalkDir(filepath.Join(r.Tree, top), func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(r.Tree, name)
			list = append(list, File{Page, path.Clean(filepath.ToSlash(below)), 0o644, data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// units are what systemd starts for a person, on systems that may have it.
func (r *Release) units(p Platform) ([]File, error) {
	if p.OS != "linux" {
		return nil, nil
	}
	dir := filepath.Join(r.Tree, "packaging", "systemd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []File
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, File{Unit, "systemd/" + e.Name(), 0o644, data})
	}
	return list, nil
}
