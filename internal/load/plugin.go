package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
	"gate/scopes"
)

// Plugin loads a plugin for gate: the key gate of its manifest (plugin.json or
// .claude-plugin/plugin.json), which holds hooks as a hook file does, or its
// directory gate, laid out as [Dir] says. name is what settings enabled it by;
// the manifest must agree; "" is any. The plugin's hooks for its agent, in hooks/hooks.json
// and where the manifest says, are read as Claude Code reads them where foreign
// says that the agent does not run them itself. Whether it is enabled, and
// trusted, is for the caller to say.
func Plugin(fsys fs.FS, name string, trusted, foreign bool) scopes.Source {
	r := reader{fsys: fsys, src: scopes.Source{
		Name: "plugin:" + name, Scope: hook.Plugin, Authority: hook.PluginAuthor, Trusted: trusted,
	}}
	found := 0
	for _, file := range []string{"plugin.json", ".claude-plugin/plugin.json"} {
		if _, err := fs.Lstat(fsys, file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found++
		r.manifest(file, name, foreign)
	}
	switch {
	case found == 0:
		r.fault(fmt.Errorf("plugin.json: %w", fs.ErrNotExist))
	case found > 1:
		r.fault(errors.New("plugin.json: there is also .claude-plugin/plugin.json; keep one"))
	}
	if info, err := fs.Stat(fsys, "gate"); err == nil && info.IsDir() {
		r.policies("gate/" + PoliciesDir)
		if sub, err := fs.Sub(fsys, "gate"); err == nil {
			r.fsys, r.where = sub, "gate"
			r.hooksFile()
			r.hooksDir()
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.fault(fmt.Errorf("gate: %w", hostfs.Reason(err)))
	}
	return r.done()
}

// manifest reads a plugin's manifest, which is its host's but for one key.
func (r *reader) manifest(name, want string, foreign bool) {
	d, data, err := read(r.fsys, name, r.where)
	if data != nil {
		r.add(name, string(data))
	}
	if err != nil {
		r.fault(err)
		return
	}
	if got, _ := d.value["name"].(string); got != want && want != "" {
		r.fault(d.errorf("/name", "the manifest is of %q, and the plugin was enabled as %q", got, want))
		return
	}
	r.gateKey(d)
	if foreign {
		r.pluginHooks(d)
	}
}

// pluginFile holds a plugin's hooks for its agent, whatever its manifest says.
const pluginFile = "hooks/hooks.json"

// pluginHooks reads what the agent would run of a plugin: its file of hooks,
// and what the manifest names besides, files or hooks themselves.
func (r *reader) pluginHooks(d *document) {
	var files []string
	if _, err := fs.Lstat(r.fsys, pluginFile); !errors.Is(err, fs.ErrNotExist) {
		files = append(files, pluginFile)
	}
	switch v := d.value["hooks"].(type) {
	case nil:
	case map[string]any:
		if inner, ok := v["hooks"].(map[string]any); ok {
			v = inner
		}
		r.hostHooks(d, v)
	default:
		named := strictjson.Texts(v)
		if named == nil {
			r.fault(d.errorf("/hooks", "hooks must be hooks by event, or name files of them"))
		}
		for _, file := range named {
			file = path.Clean(file)
			if !fs.ValidPath(file) || path.Ext(file) != ".json" {
				r.fault(d.errorf("/hooks", "hooks: %q is no JSON file of the plugin", file))
			} else if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		r.pluginHooksFile(file)
	}
}

func (r *reader) pluginHooksFile(file string) {
	d, data, err := read(r.fsys, file, r.where)
	if data != nil {
		r.add(file, string(data))
	}
	if err != nil {
		r.fault(err)
		return
	}
	hooks, ok := d.value["hooks"].(map[string]any)
	if !ok {
		r.fault(d.errorf("/hooks", "hooks must be hooks by event"))
		return
	}
	r.hostHooks(d, hooks)
}
