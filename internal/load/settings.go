package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/setting"
	"gate/scopes"
)

// Names of the files in a directory of gate's.
const (
	SettingsStem      = "settings"       // settings.json, .toml or .yaml
	LocalSettingsStem = "settings.local" // the project's own uncommitted ones
	SettingsDir       = "settings.d"     // managed only: more of them, by name
	HooksStem         = "hooks"          // hooks.json, .toml or .yaml
	PoliciesDir       = "policies"       // *.rego
)

// A Configuration is what the settings files of one authority, or a signed
// bundle, say.
type Configuration struct {
	// Layers are the files that were read without a mistake, for
	// setting.Combine.
	Layers []scopes.Layer

	// Source holds the hooks that stand in them, and what could not be read;
	// nil if there is neither. Broken managed and user settings close every
	// event through it, others are announced.
	Source *scopes.Source

	// Schemas are those of tools that a bundle brings.
	Schemas ToolSchemas
}

// Settings reads the settings of one authority in fsys: the one settings file
// and, for managed settings, those of settings.d; for local settings the file
// settings.local. where is the directory's name for people and stands before
// each position. A missing file says nothing; a file with a mistake says
// nothing either, and is a fault with every mistake in it.
func Settings(fsys fs.FS, where string, a hook.Authority) Configuration {
	r := reader{fsys: fsys, where: where, src: scopes.Source{
		Name: a.String() + " settings", Scope: hook.Session, Authority: a,
	}}
	switch a {
	case hook.Managed:
		r.src.Scope = hook.Policy
		r.one(SettingsStem)
		r.dropIns()
	case hook.Local:
		r.one(LocalSettingsStem)
	default:
		r.one(SettingsStem)
	}
	c := Configuration{Layers: r.layers}
	r.src.Digest = digest(r.files)
	if len(r.src.Hooks)+len(r.src.Faults) > 0 {
		c.Source = &r.src
	}
	return c
}

// A reader collects what settings and hook files say.
type reader struct {
	fsys   fs.FS
	where  string
	src    scopes.Source
	kept   *Kept // nil: nothing is kept
	layers []scopes.Layer
	files  []file // as read, for the digest

	parallel string // where a file says that the source's handlers run side by side; ""
}

func (r *reader) fault(errs ...error) { r.src.Faults = append(r.src.Faults, loadFaults(errs...)...) }

func (r *reader) one(stem string) {
	d, data, err := find(r.fsys, stem, r.where)
	r.take(d, data, err)
}

// dropIns reads settings.d. A name that is not a settings file is a mistake:
// somebody thinks that it counts.
func (r *reader) dropIns() {
	entries, err := fs.ReadDir(r.fsys, SettingsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.fault(fmt.Errorf("%s: %w", path.Join(r.where, SettingsDir), hostfs.Reason(err)))
		return
	}
	if len(entries) > maxDropIns {
		r.fault(fmt.Errorf("%s: more than %d files", path.Join(r.where, SettingsDir), maxDropIns))
		return
	}
	stems := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		shown := path.Join(r.where, SettingsDir, name)
		ext := path.Ext(name)
		switch {
		case strings.HasPrefix(name, "."):
			continue
		case !slices.Contains(formats, ext):
			r.fault(fmt.Errorf("%s: neither JSON nor TOML nor YAML by its name", shown))
			continue
		}
		stem := strings.TrimSuffix(name, ext)
		if other := stems[stem]; other != "" {
			r.fault(fmt.Errorf("%s: there is also %s; keep one", shown, other))
			continue
		}
		stems[stem] = name
		d, data, err := read(r.fsys, path.Join(SettingsDir, name), r.where)
		r.take(d, data, err)
	}
}

const maxDropIns = 1000

// take takes a settings file in, whole or not at all.
func (r *reader) take(d *document, data []byte, err error) {
	if data != nil {
		r.files = append(r.files, file{strconv.Itoa(len(r.files)), string(data)})
	}
	if err != nil {
		r.fault(err)
		return
	}
	if d == nil {
		return
	}
	errs := d.validate(settingsSchema)
	l, more := d.layer(r.src.Authority)
	hooks, evenMore := d.hooks(r.src, d.value["hooks"], "/hooks")
	if errs = append(append(errs, more...), evenMore...); len(errs) > 0 {
		r.fault(inOrder(errs)...)
		return
	}
	r.layers = append(r.layers, l)
	r.src.Hooks = append(r.src.Hooks, hooks...)
	if len(hooks) > 0 {
		r.src.HookFiles = append(r.src.HookFiles, setting.HookFile{File: d.file, Hooks: len(hooks)})
	}
}
