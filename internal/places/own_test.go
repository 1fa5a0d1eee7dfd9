package places

import (
	"os"
	"slices"
	"testing"
)

// TestOwn holds that all programs are gate's own, whichever of them asks, and so are their copies.
func TestOwn(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := AccountHome()
	if home == "" {
		t.Fatal("the account has no home directory")
	}
	var all []string
	for _, place := range Own(Dirs{Managed: "/etc/gate", User: "/home/dev/.config/gate", State: "/home/dev/.local/state/gate"}) {
		if place.Class != "self" {
			t.Errorf("%+v", place)
		}
		all = append(all, place.Patterns...)
	}
	for _, want := range []string{"/home/dev/.config/gate/**", "/etc/gate", exe, Beside(exe, "gate"), Beside(exe, "gate-hook"), Beside(exe, "gate-server"), Programs(home), Programs(home) + "/**"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not among %q", want, all)
		}
	}
}
