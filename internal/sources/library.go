package sources

import (
	"cmp"
	"io/fs"
	"path"
	"strings"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/setting"
	"gate/policies"
	"gate/scopes"
)

// Library returns the policies that gate brings, and what every source may import of
// it. A program that
// lost them has a source that closes.
func Library(a hook.Authority) (scopes.Source, []scopes.Module) {
	src, lib, err := library(artifact.As{Managed: a == hook.Managed})
	if err != nil {
		src = scopes.Source{Name: "library", Scope: hook.Policy, Authority: a, Library: true}
		src.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "the library: %w", err)}
	}
	return src, lib
}

// library takes the hooks from the compiled form, so that no Rego is parsed. The
// files stand by their packages: those of policies, and those that every source may
// import.
func library(as artifact.As) (src scopes.Source, lib []scopes.Module, err error) {
	form, err := artifact.Open(policies.Plan(), artifact.LibraryMaker, artifact.Library)
	if err != nil {
		return src, nil, err
	}
	parts, err := form.All(as)
	if err != nil {
		return src, nil, err
	}
	add := func(list *[]scopes.Module, pkg, file string) {
		text, readErr := fs.ReadFile(policies.FS(), file)
		if readErr != nil {
			err = readErr
		}
		*list = append(*list, scopes.Module{File: file, Package: pkg, Text: string(text)})
	}
	src = parts[0].Source
	walkErr := fs.WalkDir(policies.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".rego") || strings.HasSuffix(file, "_test.rego") {
			return err
		}
		list, pkg := &src.Modules, strings.ReplaceAll(path.Dir(file), "/", ".")
		if setting.Shared(pkg) {
			list = &lib
		}
		add(list, pkg, file)
		return nil
	})
	return src, lib, cmp.Or(err, walkErr)
}
