package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// npmSource has what the wrapper package is made of: its manifest, with the name that all
// names of packages begin with, its page, and the program that starts gate.
const npmSource = "packaging/npm"

// An npmManifest is a package.json. The one in the tree has no version, and nothing that
// follows from the platforms.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Private     bool              `json:"private,omitempty"` // npm publish refuses it
	License     string            `json:"license"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	// PreferUnplugged has Yarn write the package to disk: a program does not start out of a zip.
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// npm writes a package for each platform, with the programs in it, and the wrapper that
// depends on all of them: npm installs the one that fits. No package has scripts, so that
// nothing runs before a person starts gate.
func npm(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	wrapper, err := r.npmManifest()
	if err != nil {
		return nil, err
	}
	wrapper.OptionalDependencies = make(map[string]string)
	sums := make(map[string]map[string]string)
	var made []string
	for _, s := range staged {
		platform, err := npmPlatform(s.Platform)
		if err != nil {
			return nil, err
		}
		p := npmProgramsPackage(wrapper, platform)
		wrapper.OptionalDependencies[p.Name] = p.Version // exactly this one
		sums[platform.String()] = npmSums(s)
		name, err := r.npmWrite(p, npmPrograms(p, s))
		if err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	files, err := r.npmWrapper(sums)
	if err != nil {
		return nil, err
	}
	name, err := r.npmWrite(wrapper, files)
	return append(made, name), err
}

// npmManifest is the wrapper's manifest in the tree, with the release's version.
func (r *Release) npmManifest() (npmManifest, error) {
	file := filepath.Join(r.Tree, npmSource, "package.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return npmManifest{}, err
	}
	var m npmManifest
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return npmManifest{}, fmt.Errorf("%s: %w", file, err)
	}
	if m.Version != "" || m.OptionalDependencies != nil {
		return npmManifest{}, fmt.Errorf("%s: version and optionalDependencies are the release's to fill in", file)
	}
	m.Version, err = r.npmVersion()
	return m, err
}

// npmOS and npmArch are Go's words in Node's: process.platform and process.arch.
var (
	npmOS   = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "freebsd": "freebsd", "openbsd": "openbsd"}
	npmArch = map[string]string{"amd64": "x64", "386": "ia32", "arm64": "arm64", "arm": "arm", "riscv64": "riscv64", "ppc64le": "ppc64", "s390x": "s390x"}
)

// npmPlatform returns a platform in Node's words.
func npmPlatform(p Platform) (Platform, error) {
	node := Platform{npmOS[p.OS], npmArch[p.Arch]}
	if node.OS == "" || node.Arch == "" {
		return Platform{}, fmt.Errorf("%s has no name that npm knows", p)
	}
	return node, nil
}

// npmProgramsPackage is the manifest of a platform's package. It names no libc: the
// programs are static.
func npmProgramsPackage(wrapper npmManifest, platform Platform) npmManifest {
	return npmManifest{
		Name:            wrapper.Name + "-" + platform.String(),
		Version:         wrapper.Version,
		Description:     "The programs of " + wrapper.Name + " for " + platform.String() + ".",
		Private:         wrapper.Private,
		License:         wrapper.License,
		OS:              []string{platform.OS},
		CPU:             []string{platform.Arch},
		PreferUnplugged: true,
	}
}

// npmSums are the checksums of a platform's programs by their files' names.
func npmSums(s Staged) map[string]string {
	sums := make(map[string]string)
	for _, f := range s.Files {
		if f.Kind == Program {
			sums[f.Path] = fmt.Sprintf("%x", sha256.Sum256(f.Data))
		}
	}
	return sums
}

// npmPrograms are the files of a platform's package: the programs in one directory, and
// the licences of what they link.
func npmPrograms(m npmManifest, s Staged) []File {
	page := fmt.Sprintf("# %s\n\n%s Install the package without the platform in its name.\n", m.Name, m.Description)
	files := []File{{Page, "README.md", 0o644, []byte(page)}}
	for _, f := range s.Files {
		switch f.Kind {
		case Program:
			f.Path = path.Join("bin", f.Path)
			files = append(files, f)
		case Licence:
			files = append(files, f)
		}
	}
	return files
}

// npmWrapper are the files of the wrapper package. It links nothing, so it has no licences
// of others.
func (r *Release) npmWrapper(sums map[string]map[string]string) ([]File, error) {
	list, err := npmJSON(sums)
	if err != nil {
		return nil, err
	}
	files := []File{{Page, "checksums.json", 0o644, list}}
	for _, f := range []File{
		{Kind: Page, Path: "README.md", Mode: 0o644},
		{Kind: Program, Path: "bin/gate.js", Mode: 0o755},
	} {
		if f.Data, err = os.ReadFile(filepath.Join(r.Tree, npmSource, path.Base(f.Path))); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// npmWrite writes a package as npm pack names it, below npm in the release, and returns
// its path there.
func (r *Release) npmWrite(m npmManifest, files []File) (string, error) {
	manifest, err := npmJSON(m)
	if err != nil {
		return "", err
	}
	files = append(files, File{Page, "package.json", 0o644, manifest})
	for i := range files {
		files[i].Path = path.Join("package", files[i].Path)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	if err := r.tarball(&b, files); err != nil {
		return "", err
	}
	name := path.Join("npm", strings.NewReplacer("@", "", "/", "-").Replace(m.Name)+"-"+m.Version+".tgz")
	if err := os.MkdirAll(filepath.Join(r.Out, "npm"), 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(r.Out, filepath.FromSlash(name)), b.Bytes(), 0o644)
}

// npmJSON writes a value as npm writes JSON. Keys of maps are sorted.
func npmJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
