package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pluginKinds are the agents with a plugin, by directory of packaging/plugins: the file by
// which an archive is a marketplace, and where the programs lie in the plugin.
var pluginKinds = []struct{ agent, market, bin string }{
	{"claude", ".claude-plugin/marketplace.json", "bin"},
	{"copilot", ".github/plugin/marketplace.json", "bin"},
	{"cursor", "", ""}, // files to be copied, without programs: gate install cursor names one
}

// plugins writes an archive of each agent's plugin for each platform, with the programs
// inside, and one without programs, which needs sh. Their names do not begin as those of
// the release's archives do: a set-up script takes the one archive with its platform.
func plugins(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	var made []string
	for _, kind := range pluginKinds {
		write := func(platform, ending string, files []File) error {
			name := kind.agent + "-plugin-gate-" + r.Version + "-" + platform + ending
			pack := r.tarball
			if ending == ".zip" {
				pack = r.zip
			}
			slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
			var b bytes.Buffer
			if err := pack(&b, files); err != nil {
				return err
			}
			made = append(made, name)
			return os.WriteFile(filepath.Join(r.Out, name), b.Bytes(), 0o644)
		}
		for _, s := range staged {
			if kind.bin == "" {
				break
			}
			windows := s.Platform.OS == "windows"
			files, err := r.plugin(kind.agent, kind.market, windows)
			if err != nil {
				return nil, err
			}
			for _, f := range s.Files {
				if f.Kind == Program || f.Kind == Licence {
					f.Path = path.Join(pluginBelow(kind.market), kind.bin, f.Path)
					files = append(files, f)
				}
			}
			ending := ".tar.gz"
			if windows {
				ending = ".zip"
			}
			if err := write(s.Platform.String(), ending, files); err != nil {
				return nil, err
			}
		}
		bare, err := r.plugin(kind.agent, kind.market, false)
		if err != nil {
			return nil, err
		}
		if err := write("none", ".tar.gz", bare); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// pluginBelow is where a plugin lies in its archive: below the marketplace, if it has one.
func pluginBelow(market string) string {
	if market == "" {
		return ""
	}
	return "gate"
}

// plugin gathers an agent's plugin of the tree, without programs. For Windows it has
// other hooks and no launcher.
func (r *Release) plugin(agent, market string, windows bool) ([]File, error) {
	dir := filepath.Join(r.Tree, "packaging", "plugins", agent)
	if windows {
		dir = filepath.Join(r.Tree, "packaging", "plugins", "windows", agent)
	}
	var files []File
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f := File{Page, path.Join(pluginBelow(market), filepath.ToSlash(below)), 0o644, data}
		switch path.Base(f.Path) {
		case "gate-hook", "setup.sh":
			f.Mode = 0o755
		case "plugin.json":
			f.Data, err = r.versioned(data)
		}
		files = append(files, f)
		return err
	})
	if err != nil || market == "" {
		return files, err
	}
	data, err := r.marketplace(market)
	return append(files, File{Page, market, 0o644, data}), err
}

// versioned is a plugin's manifest with the release's version: agents update by it.
func (r *Release) versioned(manifest []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(manifest), "{\n")
	if !ok || !json.Valid(manifest) {
		return nil, fmt.Errorf("a plugin's manifest begins otherwise than it was written: %.40q", manifest)
	}
	return fmt.Appendf(nil, "{\n  \"version\": %q,\n%s", strings.TrimPrefix(r.Version, "v"), text), nil
}

// marketplace is the marketplace file of the tree, for a plugin that lies beside it.
func (r *Release) marketplace(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(r.Tree, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	var list struct{ Plugins []struct{ Source string } }
	if err := json.Unmarshal(data, &list); err != nil || len(list.Plugins) != 1 {
		return nil, fmt.Errorf("%s: it names %d plugins where one is wanted (%v)", name, len(list.Plugins), err)
	}
	return bytes.Replace(data, []byte(list.Plugins[0].Source), []byte("./gate"), 1), nil
}
