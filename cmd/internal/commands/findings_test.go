package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// TestElsewhere warns of a directory of gate's that only the environment leads to,
// and of nothing else.
func TestElsewhere(t *testing.T) {
	if _, err := (dirFlags{}).ForHook(); err != nil {
		t.Skip(err) // this account has no home directory
	}
	config := t.TempDir()
	p := process{env: []string{"HOME=" + config, "XDG_CONFIG_HOME=" + config}}
	if list := new(installFlags).elsewhereFindings(p); len(list) != 0 {
		t.Errorf("a directory that is not there: %v", list)
	}
	dir := filepath.Join(config, "gate")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if list := new(installFlags).elsewhereFindings(p); len(list) != 1 || list[0].File != dir {
		t.Errorf("got %v, want one about %s", list, dir)
	}
	named := installFlags{dirs: dirFlags{User: dir, State: config}}
	if list := named.elsewhereFindings(p); len(list) != 0 {
		t.Errorf("a directory that the command line names: %v", list)
	}
}
