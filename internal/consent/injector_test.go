package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/consent"
)

// TestInjectors holds that a grant is for one directory and one project, that a broken
// record grants nothing, and that it can be taken back.
func TestInjectors(t *testing.T) {
	k := newDesk(t)
	dir, project := t.TempDir(), t.TempDir()
	k.must(os.Chmod(dir, 0o755))
	k.must(os.Mkdir(filepath.Join(project, "in"), 0o755))
	none := func(when, want string) {
		t.Helper()
		list, err := k.store.Injectors()
		if len(list) > 0 || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", when, list, err)
		}
	}
	none("before", "")
	in, err := consent.InjectorOf(dir, project)
	k.must(err)
	if err := k.store.GrantInjector(nil, in); err != consent.NoTerminal {
		t.Errorf("nobody: %v", err)
	}
	k.must(k.store.GrantInjector(k.witness(), in))
	list, err := k.store.Injectors()
	if err != nil || len(list) != 1 || list[0].Dir != in.Dir || list[0].Project != in.Project || list[0].By == "" || list[0].At.IsZero() {
		t.Fatal(list, err)
	}
	record := k.path("injectors")
	data, err := os.ReadFile(record)
	k.must(err)
	for n := range data {
		k.must(os.WriteFile(record, data[:n], 0o600))
		none("cut short", record)
	}
	k.must(os.WriteFile(record, data, 0o600))
	other := filepath.Join(filepath.Dir(record), strings.Repeat("0", 64))
	k.must(os.Rename(record, other))
	none("renamed", "it was renamed")
	k.must(os.Rename(other, record))
	k.must(k.store.RevokeInjector(in))
	none("taken back", "")
	k.must(k.store.RevokeInjector(in))
	for _, c := range [][2]string{{filepath.Join(project, "in"), project}, {project, project}, {dir, "relative"}, {"relative", project}, {filepath.Join(dir, "gone"), project}} {
		if in, err := consent.InjectorOf(c[0], c[1]); err == nil {
			t.Errorf("%v can be granted: %+v", c, in)
		}
	}
}
