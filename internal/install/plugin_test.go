package install_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"gate/internal/install"
)

const (
	pluginDir = "../../packaging/plugins"
	setupFile = "../../packaging/cloud/setup.sh"
)

// TestPlugins holds the plugins in the tree to the tables that gate install writes from.
func TestPlugins(t *testing.T) {
	for _, agent := range install.Plugins() {
		for _, windows := range []bool{false, true} {
			files, err := install.PluginFiles(agent, windows)
			must(t, err)
			dir := filepath.Join(pluginDir, agent)
			if windows {
				dir = filepath.Join(pluginDir, "windows", agent)
			} else {
				at := "setup.sh"
				if agent == "cursor" {
					at = "gate/setup.sh"
				}
				files = append(files, install.PluginFile{Path: at, Text: read(t, setupFile)})
			}
			for _, f := range files {
				golden(t, filepath.Join(dir, filepath.FromSlash(f.Path)), f)
			}
		}
	}
}

func golden(t *testing.T, path string, f install.PluginFile) {
	t.Helper()
	mode := os.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(f.Text), mode))
		must(t, os.Chmod(path, mode))
	}
	if got := read(t, path); got != f.Text {
		t.Errorf("%s is not what gate makes now; run go test ./internal/install -run TestPlugins -update", path)
	}
	info, err := os.Stat(path)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode()&0o111 != mode&0o111 {
		t.Errorf("%s has mode %v, want %v", path, info.Mode(), mode)
	}
}
