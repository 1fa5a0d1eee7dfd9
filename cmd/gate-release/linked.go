package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// A module is one that a program links: the one that stands in the place of another, if
// there is such.
type module struct {
	path, version string
	sum           string // the checksum of go.sum, "h1:…"
}

func (m module) String() string { return m.path + "@" + m.version }

// linked returns what a program says of its build, and the modules in it.
func linked(program File) (*debug.BuildInfo, []module, error) {
	info, err := buildinfo.Read(bytes.NewReader(program.Data))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", program.Path, err)
	}
	var list []module
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if dep.Sum == "" {
			return nil, nil, fmt.Errorf("%s links %s, which is no version with a checksum", program.Path, dep.Path)
		}
		list = append(list, module{dep.Path, dep.Version, dep.Sum})
	}
	return info, list, nil
}

// licences are the texts of all that programs link, Go's own and the modules', below
// licences/MODULE@VERSION. A module without one is an error: nobody may pass it on.
func (r *Release) licences(ctx context.Context, programs []File) ([]File, error) {
	var all []module
	var goes string
	for _, p := range programs {
		info, list, err := linked(p)
		if err != nil {
			return nil, err
		}
		all, goes = append(all, list...), info.GoVersion
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.String(), b.String()) })
	all = slices.Compact(all)
	dirs, err := r.sources(ctx, all)
	if err != nil {
		return nil, err
	}
	root, err := r.run(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	// Everything in Go's own tree that programs link is under the texts at its top.
	files, err := licenceTexts(os.DirFS(strings.TrimSpace(string(root))), "licences/go@"+goes, false)
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", goes, err)
	}
	for _, m := range all {
		texts, err := licenceTexts(os.DirFS(dirs[m]), "licences/"+m.String(), true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		files = append(files, texts...)
	}
	return files, nil
}

// sources are the directories of modules in the module cache.
func (r *Release) sources(ctx context.Context, modules []module) (map[module]string, error) {
	dirs := map[module]string{}
	if len(modules) == 0 {
		return dirs, nil
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.String())
	}
	out, err := r.run(ctx, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var found struct{ Path, Version, Sum, Dir string }
		if err := d.Decode(&found); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		dirs[module{found.Path, found.Version, found.Sum}] = found.Dir
	}
	for _, m := range modules {
		if dirs[m] == "" {
			return nil, fmt.Errorf("%s: the module cache has no source with the checksum %s, which the programs state", m, m.sum)
		}
	}
	return dirs, nil
}

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e([-.].*)?$|^copying([-.].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents|copyright)([-.].*)?$`)
)

var errNoLicence = errors.New("there is no licence text at its top: find out under what terms it may be passed on")

// licenceTexts are the texts of a source tree, put below a directory: licences, and what
// they want to be passed on with them. A licence at the top must be there; one further
// down is of something that the module took over.
func licenceTexts(tree fs.FS, below string, deep bool) ([]File, error) {
	var list []File
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (!deep || strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata"):
			return fs.SkipDir
		case e.IsDir() || !isText(e.Name()):
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		list = append(list, File{Licence, path.Join(below, filepath.ToSlash(name)), 0o644, data})
		return err
	})
	if err != nil {
		return nil, err
	}
	top := func(f File) bool {
		return path.Dir(f.Path) == below && licenceName.MatchString(path.Base(f.Path)) && len(bytes.TrimSpace(f.Data)) > 0
	}
	if !slices.ContainsFunc(list, top) {
		return nil, errNoLicence
	}
	return list, nil
}

// isText reports the name of a licence or a notice: of a text, and of no program about it.
func isText(name string) bool {
	if slices.Contains([]string{".go", ".json", ".yml", ".yaml", ".js", ".py", ".sh"}, strings.ToLower(path.Ext(name))) {
		return false
	}
	return licenceName.MatchString(name) || noticeName.MatchString(name)
}
