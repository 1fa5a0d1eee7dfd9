package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// A recipe is what templates of packaging may say about the release.
type recipe struct {
	Home, Summary, Licence string
	Number                 string // the version as lists of packages have it, without "v"
	Semver                 string
	Systems                []recipeSystem
}

// A recipeSystem is one operating system that there are archives for.
type recipeSystem struct {
	Brew     string // Homebrew's word for it
	Archives []recipeArchive
}

// A recipeArchive is an archive of the release for one processor.
type recipeArchive struct {
	Brew, Nix string // Homebrew's word for the processor, Nix' for the platform
	URL, Sum  string // where it will be published, its SHA-256 in hexadecimal
}

// brewWords are Homebrew's for what Go calls otherwise; platforms outside have no recipe.
var brewWords = map[string]string{"linux": "linux", "darwin": "macos", "amd64": "intel", "arm64": "arm"}

// nixWords are Nix' for processors.
var nixWords = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// recipe gathers what templates need, of archives that are made before.
func (r *Release) recipe(staged []Staged) (recipe, error) {
	v := recipe{Home: home, Summary: summary, Licence: noLicence, Number: strings.TrimPrefix(r.Version, "v"), Semver: r.packageVersion().semver()}
	for _, goos := range []string{"darwin", "linux"} {
		system := recipeSystem{Brew: brewWords[goos]}
		for _, s := range staged {
			arch := s.Platform.Arch
			if s.Platform.OS != goos || brewWords[arch] == "" {
				continue
			}
			name := r.base(s.Platform) + ".tar.gz"
			data, err := os.ReadFile(filepath.Join(r.Out, name))
			if errors.Is(err, fs.ErrNotExist) {
				return recipe{}, fmt.Errorf("%s is not there: archives are made before recipes", name)
			}
			if err != nil {
				return recipe{}, err
			}
			system.Archives = append(system.Archives, recipeArchive{
				Brew: brewWords[arch], Nix: nixWords[arch] + "-" + goos, URL: r.download(name), Sum: fmt.Sprintf("%x", sha256.Sum256(data)),
			})
		}
		if len(system.Archives) > 0 {
			v.Systems = append(v.Systems, system)
		}
	}
	return v, nil
}

// filled is a template below packaging, filled in.
func (r *Release) filled(name string, v recipe) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.Tree, "packaging", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	t, err := template.New(path.Base(name)).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

// recipes writes what other systems build packages from: a formula of Homebrew's and a flake
// of Nix'. A release for neither macOS nor Linux has none.
func recipes(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	v, err := r.recipe(staged)
	if err != nil || len(v.Systems) == 0 {
		return nil, err
	}
	var made []string
	for _, f := range []struct{ from, to string }{{"homebrew/gate.rb.tmpl", "homebrew/gate.rb"}, {"nix/flake.nix.tmpl", "nix/flake.nix"}} {
		data, err := r.filled(f.from, v)
		if err != nil {
			return nil, err
		}
		to := filepath.Join(r.Out, filepath.FromSlash(f.to))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return nil, err
		}
		made = append(made, f.to)
	}
	return made, nil
}

// feature writes a feature of development containers, with the programs for every processor
// inside, since the one of the container is known only there.
func feature(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	staged = linux(staged)
	if len(staged) == 0 {
		return nil, nil
	}
	about, err := r.filled("devcontainer/devcontainer-feature.json.tmpl", recipe{Home: home, Summary: summary, Semver: r.packageVersion().semver()})
	if err != nil {
		return nil, err
	}
	script, err := os.ReadFile(filepath.Join(r.Tree, "packaging", "devcontainer", "install.sh"))
	if err != nil {
		return nil, err
	}
	files := []File{{Page, "devcontainer-feature.json", 0o644, about}, {Program, "install.sh", 0o755, script}}
	licences := map[string]bool{}
	for _, s := range staged {
		for _, f := range s.Files {
			switch {
			case f.Kind == Program:
				f.Path = s.Platform.String() + "/" + f.Path
			case f.Kind != Licence || licences[f.Path]:
				continue
			default:
				licences[f.Path] = true
			}
			files = append(files, f)
		}
	}
	const name = "devcontainer-feature-gate.tgz"
	var b bytes.Buffer
	if err := r.tarball(&b, files); err != nil {
		return nil, err
	}
	return []string{name}, os.WriteFile(filepath.Join(r.Out, name), b.Bytes(), 0o644)
}
