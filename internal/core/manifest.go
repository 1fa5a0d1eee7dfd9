package core

import (
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// manifest reports a file in the directory of a command by whose name a tool reads it to
// know from where it installs. Others the line names.
func manifest(tool, base string) bool {
	names := ""
	switch tool {
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx":
		names = " package.json .npmrc .yarnrc .yarnrc.yml pnpm-workspace.yaml .pnpmfile.cjs bunfig.toml "
	case "pip", "pip3", "pipx", "uv", "uvx", "poetry", "pipenv", "pdm":
		names = " pyproject.toml pipfile setup.cfg setup.py uv.toml poetry.toml pip.conf "
	case "bundle", "bundler", "gem":
		names = " gemfile "
	case "go":
		names = " go.mod "
	case "cargo":
		names = " cargo.toml "
	case "composer":
		names = " composer.json "
	case "conda", "mamba", "micromamba":
		names = " environment.yml environment.yaml .condarc "
	case "deno":
		names = " deno.json deno.jsonc package.json "
	case "mvn", "gradle":
		names = " pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts "
	}
	return wordlist.Has(names, strings.ToLower(base))
}

// Limits of the manifests of one call.
const (
	maxManifests = 16
	maxManifest  = 64 << 10 // bytes of one
)

// sources adds to facts where a call installs from by files that agents wrote, as far as
// only untrusted text names it.
func (g *Gate) sources(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	installs := func(e hook.FactEffect) bool { return e.Kind() == "package.install" }
	ledger, known := g.origins()
	if !known || !slices.ContainsFunc(f.Effects, installs) {
		return
	}
	written, _ := ledger.Open(keyOf(ev)).Written() // an error closes what facts make of it
	left := maxManifests
	for i := range f.Effects {
		e := &f.Effects[i]
		if !installs(*e) {
			continue
		}
		for _, file := range written {
			if left == 0 || !reads(f, e, file) {
				continue
			}
			left--
			hits := kept.Names(g.text(file))
			for n := range hits {
				hits[n].Call = "" // the file says more
				addHit(f, &hits[n], "", e.Kind(), e.Command, &file)
			}
		}
	}
}

// reads reports a file that the command of an effect reads to know from where it installs.
func reads(f *hook.Facts, e *hook.FactEffect, file string) bool {
	command := e.Command
	for i := range f.Paths {
		if p := &f.Paths[i]; p.Command == command && p.Path != nil && *p.Path == file && p.Access != "write" {
			return true
		}
	}
	install, ok := e.Is.(*hook.PackageInstall)
	if !ok || f.Shell == nil || command < 1 || command > len(f.Shell.Commands) || !manifest(install.Tool, path.Base(file)) {
		return false
	}
	dir := f.Shell.Commands[command-1].Dir
	return dir != nil && path.Dir(file) == *dir
}

// text is what a file has, "" for one that cannot be read or has more than 64 KiB.
func (g *Gate) text(file string) string { return g.textOf(file, maxManifest) }

// textOf is [Gate.text] with another limit, in bytes.
func (g *Gate) textOf(file string, limit int) string {
	var files interface {
		ReadFile(name string, limit int) ([]byte, error)
	} = hostfs.Files{}
	if g.Files != nil {
		files = g.Files
	}
	text, err := files.ReadFile(file, limit)
	if err != nil {
		return ""
	}
	return string(text)
}
