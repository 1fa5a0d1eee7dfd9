package sources

import (
	"io/fs"

	"gate/hook"
	"gate/internal/artifact"
	"gate/policies"
	"gate/scopes"
)

// Library returns the policies that gate brings, and data.gate.lib. A program that
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
// files stand by their packages.
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
	for _, h := range src.Hooks {
		add(&src.Modules, h.ID, h.File)
	}
	add(&lib, "gate.lib", "gate/lib/lib.rego")
	return src, lib, err
}
