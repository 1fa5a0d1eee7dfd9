package sources_test

import (
	"slices"
	"testing"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/sources"
	"gate/policies"
	"gate/scopes"
)

// TestLibrary holds that what is taken from the compiled form has the same files as what
// is read: policies need those that are none.
func TestLibrary(t *testing.T) {
	got, lib := sources.Library(hook.User)
	want := load.Rego(policies.FS(), scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true})
	names := func(list []scopes.Module) (out []string) {
		for _, m := range list {
			out = append(out, m.Package+" "+m.File+" "+m.Text)
		}
		slices.Sort(out)
		return out
	}
	if len(got.Faults) > 0 || !slices.Equal(names(got.Modules), names(want.Modules)) {
		t.Errorf("%d files, want %d; %v", len(got.Modules), len(want.Modules), got.Faults)
	}
	wantLib, _ := load.Lib(policies.FS())
	if !slices.Equal(names(lib), names(wantLib)) {
		t.Errorf("%d files of the library's helpers, want %d", len(lib), len(wantLib))
	}
}
