package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/load"
)

// Settings behind a link out of their directory, a link that leads nowhere,
// and what is no file close; none of them counts as missing.
func TestSettingsBehindLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(outside, []byte(`{"disableAllHooks": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		make func(dir string) error
		says string // "" is read
	}{
		"a link out":          {func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "settings.json")) }, "symbolic link out of its directory"},
		"a link to nothing":   {func(dir string) error { return os.Symlink("gone.json", filepath.Join(dir, "settings.json")) }, "settings.json: "},
		"a loop":              {func(dir string) error { return os.Symlink("settings.json", filepath.Join(dir, "settings.json")) }, "settings.json: "},
		"a directory":         {func(dir string) error { return os.Mkdir(filepath.Join(dir, "settings.json"), 0o700) }, "not a regular file"},
		"a drop-in link out":  {func(dir string) error { return dropIn(dir, outside) }, "settings.d/10.json: a symbolic link out"},
		"drop-ins are a file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "settings.d"), nil, 0o600) }, "settings.d: "},
		"not for us to read": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "settings.json"), []byte("{\xff}"), 0o600)
		}, "not valid UTF-8"},
		"a link inside": {func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "v2.json"), []byte(`{"log": true}`), 0o600); err != nil {
				return err
			}
			return os.Symlink("v2.json", filepath.Join(dir, "settings.json"))
		}, ""},
	} {
		dir := t.TempDir()
		if err := row.make(dir); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := load.Settings(root.FS(), "/etc/gate", hook.Managed)
		root.Close()
		if row.says == "" {
			if c.Source != nil || len(c.Layers) != 1 {
				t.Errorf("%s: %+v", name, c)
			}
			continue
		}
		if c.Source == nil || len(c.Source.Faults) != 1 || !c.Source.Closes() || len(c.Layers) != 0 ||
			!strings.Contains(c.Source.Faults[0].Error(), row.says) {
			t.Errorf("%s: %+v", name, c.Source)
		}
	}
}

func dropIn(dir, to string) error {
	if err := os.Mkdir(filepath.Join(dir, "settings.d"), 0o700); err != nil {
		return err
	}
	return os.Symlink(to, filepath.Join(dir, "settings.d", "10.json"))
}
