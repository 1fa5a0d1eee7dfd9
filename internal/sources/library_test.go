package sources_test

import (
	"reflect"
	"testing"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/sources"
	"gate/policies"
	"gate/scopes"
)

// TestLibrary holds that the library is what its files say, under either authority.
func TestLibrary(t *testing.T) {
	wantLib, faults := load.Lib(policies.FS())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, a := range []hook.Authority{hook.Managed, hook.User} {
		got, lib := sources.Library(a)
		want := load.Rego(policies.FS(), scopes.Source{Name: "library", Scope: hook.Policy, Authority: a, Library: true})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the source is\n%+v\nits files say\n%+v", a, got, want)
		}
		if !reflect.DeepEqual(lib, wantLib) {
			t.Errorf("%s: data.gate.lib is not what its file says", a)
		}
	}
}
