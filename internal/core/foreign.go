package core

import (
	"path"
	"strings"

	"gate/hook"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// foreign adds the repositories that only untrusted text named, where a call has their code
// run here: it puts them into a tool's file of dependencies, or installs from them.
func (g *Gate) foreign(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	left := maxReplaced
	told := map[string]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		write, ok := e.Is.(*hook.FSWrite)
		if !ok || write.Path == nil || !fetches(*write.Path) || told[*write.Path] || left == 0 {
			continue
		}
		left--
		told[*write.Path] = true
		old := g.text(*write.Path) + replacedText(ev.ToolInput())
		for _, text := range newTexts(f, e.Command, *write.Path) {
			repositories(f, kept, old, text, e, write.Path)
			if e.Command > 0 && f.Shell != nil { // an editor is given the part that changes
				for _, name := range seen.Bare(text) {
					if was := strings.ToLower(old); strings.Contains(was, "github.com") && !strings.Contains(was, name) {
						addOnce(f, kept.OnlyCode("github.com/"+name, strings.Contains(was, "/"+path.Base(name))), foreignCode, e.Kind(), e.Command, write.Path)
					}
				}
			}
		}
	}
	if f.Shell == nil {
		return
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if e := g.installs(f, c); e != nil {
			had := ""
			if c.Dir != nil { // a line that replaces a module names it, too
				had = g.text(path.Join(*c.Dir, "go.mod"))
			}
			for _, w := range c.Words {
				if w.Value != nil {
					repositories(f, kept, had, *w.Value, e, nil)
				}
			}
		}
	}
}

// repositories adds the flows of those that a text names and an old one did not.
func repositories(f *hook.Facts, kept *seen.Seen, old, text string, e *hook.FactEffect, file *string) {
	had := seen.Repositories(old)
	list := seen.Repositories(text)
	if len(list) == 0 {
		return
	}
	replaces := hasAny(strings.ToLower(text), "[patch replace override resolutions insteadof fork") // the name is that of another one
	for _, r := range list {
		known, instead := false, replaces || strings.Contains(strings.ToLower(old), "/"+path.Base(r)) // of a registry
		for _, other := range append(had[:len(had):len(had)], list...) {
			instead = instead || other != r && path.Base(other) == path.Base(r)
		}
		for _, other := range had {
			known = known || other == r
		}
		if !known {
			addHit(f, kept.OnlyCode(r, instead), foreignCode, e.Kind(), e.Command, file)
		}
	}
}

// newTexts are what a call puts into a file: the text, or where an editor makes it the words of
// its line.
func newTexts(f *hook.Facts, command int, file string) (list []string) {
	for _, w := range f.Wrote {
		if w.Path == file {
			list = append(list, w.Text)
		}
	}
	if len(list) > 0 || f.Shell == nil || command == 0 {
		return list
	}
	for i := range f.Shell.Commands { // a pipe brings what another one makes
		if c := &f.Shell.Commands[i]; c.ID == command || len(f.Shell.Commands) <= maxPiped {
			for _, w := range c.Words {
				if w.Value != nil {
					list = append(list, substituted(*w.Value))
				}
			}
			if c.Stdin != nil && c.Stdin.Text != nil { // the program itself, or what it copies
				list = append(list, *c.Stdin.Text)
			}
		}
	}
	return list
}

// maxPiped is how many commands a line has of which each may make what one writes.
const maxPiped = 8

// installs is the effect by which a command makes code of a repository part of what runs here,
// nil for none.
func (g *Gate) installs(f *hook.Facts, c *hook.ShellCommand) *hook.FactEffect {
	for i := range f.Effects {
		if e := &f.Effects[i]; e.Command == c.ID && e.Kind() == "package.install" {
			return e
		}
	}
	if g.addsSource(c) {
		return &hook.FactEffect{Command: c.ID, Is: &hook.PackageInstall{}}
	}
	return nil
}

// fetches reports a file by which a tool knows whose code to fetch and run.
func fetches(file string) bool {
	base := strings.ToLower(path.Base(file))
	switch {
	case wordlist.Has(fetching, base), wordlist.Has(" .tf .cmake .nix .csproj .gradle .podspec .gemspec .cabal ", path.Ext(base)):
		return true
	case wordlist.Has(" .yml .yaml ", path.Ext(base)):
		dir := path.Dir(file)
		return strings.HasSuffix(dir, "/.github/workflows") || strings.HasSuffix(dir, "/.forgejo/workflows") || strings.HasSuffix(dir, "/.gitea/workflows") ||
			strings.HasSuffix(dir, "/.circleci") || strings.Contains(dir+"/", "/.github/actions/")
	}
	return strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt")
}

const fetching = " package.json pnpm-workspace.yaml pyproject.toml setup.cfg setup.py pipfile gemfile go.mod go.work cargo.toml composer.json environment.yml environment.yaml deno.json pom.xml " +
	"build.gradle build.gradle.kts settings.gradle settings.gradle.kts cmakelists.txt pubspec.yaml pubspec_overrides.yaml manifest.json podfile cartfile package.swift mix.exs rebar.config " +
	"flake.nix shard.yml conanfile.txt conanfile.py vcpkg.json west.yml platformio.ini .pre-commit-config.yaml .gitmodules .gitlab-ci.yml bitbucket-pipelines.yml azure-pipelines.yml .travis.yml " +
	"action.yml action.yaml dockerfile build.zig.zon foundry.toml chart.yaml galaxy.yml requirements.yml stack.yaml cabal.project project.toml makefile justfile "
