package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/consent"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// setFlags are the flags of gate set.
type setFlags struct {
	placeFlags
	scope string
	unset bool
}

func newSet(p process) *cobra.Command {
	var f setFlags
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "change one setting",
		Long: "Changes one key of a settings file and keeps the rest of it, comments too. The value is\n" +
			"JSON; gate takes any other value as text. The command writes a tighter value at once,\n" +
			"in scripts too. For a looser one a person must type the code that it shows at a\n" +
			"terminal. It refuses to run within an agent's session.\n\n" +
			"  policies.POLICY      off, record, warn, confine, ask or deny; also of a group of policies\n" +
			"  params.POLICY.NAME   a parameter's value\n" +
			"  quiet                on or off: allows of what is harmless; quiet.look is one of them\n" +
			"  plugins.NAME         true or false, or the directory of a plugin that is on\n" +
			"  and the keys of docs/settings.md, such as deadline, log, approvals, disableAllHooks",
		Example: "  gate set policies.gate.git.push ask\n" +
			"  gate set params.gate.git.push.protected '[\"main\", \"release\"]'\n" +
			"  gate set policies.gate.git.push --unset\n" +
			"  gate set quiet on",
		Args: func(_ *cobra.Command, args []string) error {
			want := 2
			if f.unset {
				want = 1
			}
			if len(args) != want {
				return usageError("give a key and a value, or a key and --unset")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(p, args) },
	}
	cmd.ValidArgsFunction = f.complete(p)
	f.add(cmd)
	cmd.Flags().StringVar(&f.scope, "scope", "user", "the settings to change: user, project, local")
	offer(cmd, "scope", func() []string { return scopesOf(layerFiles(dirs{}, "")) })
	cmd.Flags().BoolVar(&f.unset, "unset", false, "remove the key")
	return cmd
}

func (f *setFlags) run(p process, args []string) error {
	d, project, err := f.places()
	if err != nil {
		return err
	}
	a, dir, stem, err := f.target(d, project)
	if err != nil {
		return err
	}
	// A script may set things up; an agent may not.
	if err := consent.Refuse(true, p.lookupEnv, p.ancestors()...); err != nil {
		return err
	}
	edits, err := f.edits(p, args)
	if err != nil {
		return err
	}
	file, before, err := readSettings(dir, stem)
	if err != nil {
		return err
	}
	after := before
	for _, e := range edits {
		if after, err = load.Edit(filepath.ToSlash(file), after, a, e.value, e.key...); err != nil {
			return err
		}
	}
	if string(after) != string(before) {
		change := loosening{file, a, load.Said(filepath.ToSlash(file), before, a), load.Said(filepath.ToSlash(file), after, a)}
		if err := change.write(p, d, after, change.question()); err != nil {
			return err
		}
	}
	return f.report(p, a, file, edits)
}

// A settingEdit is one value of a settings file; nil takes it away.
type settingEdit struct {
	key   []string
	value any
}

// edits are the values that the command line means.
func (f *setFlags) edits(p process, args []string) ([]settingEdit, error) {
	if top, name, _ := strings.Cut(args[0], "."); top == "quiet" {
		return f.quiet(p, name, args[1:])
	}
	e := settingEdit{key: settingKey(args[0])}
	if !f.unset {
		e.value = settingValue(args[1])
		if err := f.takes(p, e.key, e.value); err != nil {
			return nil, err
		}
	}
	return []settingEdit{e}, nil
}

// quiet switches the policies that allow on or off: one, by its name within the group, or
// all. To switch a policy off sets its level, which only tightens.
func (f *setFlags) quiet(p process, name string, values []string) ([]settingEdit, error) {
	g, err := f.gate(p)
	if err != nil {
		return nil, err
	}
	group, names := setting.Quiet, []string{}
	for _, r := range g.Set.Policies() {
		if short, ok := strings.CutPrefix(r.ID, setting.Quiet+"."); ok && r.Hook.Library {
			names = append(names, short)
		}
	}
	if name != "" && !slices.Contains(names, name) {
		return nil, fmt.Errorf("there is no %s.%s; there are: %s", setting.Quiet, visible(name), strings.Join(names, ", "))
	}
	if name != "" {
		group, names = setting.Quiet+"."+name, []string{name}
	}
	switch {
	case !f.unset && values[0] == "off":
		return []settingEdit{{[]string{setting.KeyPolicies, group}, "off"}}, nil
	case !f.unset && values[0] != "on":
		return nil, usageError("quiet is on or off")
	}
	var edits []settingEdit
	for _, short := range names {
		on := settingEdit{key: []string{setting.KeyParams, setting.Quiet + "." + short, "on"}}
		if !f.unset {
			on.value = true
		}
		edits = append(edits, on, settingEdit{key: []string{setting.KeyPolicies, setting.Quiet + "." + short}})
	}
	return append(edits, settingEdit{key: []string{setting.KeyPolicies, setting.Quiet}}), nil
}

// target returns whose settings are meant and where they are.
func (f *setFlags) target(d dirs, project string) (a hook.Authority, dir, stem string, err error) {
	files := layerFiles(d, project)
	for _, x := range files {
		if x.scope == f.scope {
			return x.authority, x.dir, x.stem, nil
		}
	}
	if f.scope == hook.Managed.String() {
		return 0, "", "", fmt.Errorf("only the administrator changes managed settings, in %s", d.Managed)
	}
	return 0, "", "", usageError("unknown scope " + quoted(f.scope) + "; give " + either(scopesOf(files)))
}

// A layerFile is where the settings of a scope are.
type layerFile struct {
	scope     string
	authority hook.Authority
	dir, stem string
}

// layerFiles are those that gate set changes.
func layerFiles(d dirs, project string) []layerFile {
	inside := filepath.Join(project, places.ProjectDir)
	return []layerFile{
		{"user", hook.User, d.User, load.SettingsStem},
		{"project", hook.Project, inside, load.SettingsStem},
		{"local", hook.Local, inside, load.LocalSettingsStem},
	}
}

func scopesOf(files []layerFile) (scopes []string) {
	for _, x := range files {
		scopes = append(scopes, x.scope)
	}
	return scopes
}

// settingKey splits a key where its parts end: policies have dots in their
// names.
func settingKey(s string) []string {
	top, rest, found := strings.Cut(s, ".")
	if !found {
		return []string{s}
	}
	if top == "params" {
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			return []string{top, rest[:i], rest[i+1:]}
		}
	}
	return []string{top, rest}
}

func settingValue(s string) any {
	if v, err := strictjson.Decode([]byte(s), strictjson.Limits{}); err == nil && v != nil {
		return v
	}
	return s
}

// takes refuses what a policy of this place cannot take: a parameter that it does not
// have, or a value of another type. The policy could not answer while that stands. What
// no policy here is called may be meant for another place, and is only noted.
func (f *setFlags) takes(p process, key []string, value any) error {
	if len(key) != 3 || key[0] != "params" {
		return nil
	}
	g, err := f.gate(p)
	if err != nil {
		return nil // settings that contradict each other are to be mended by this
	}
	for _, r := range g.Set.Policies() {
		if r.ID != key[1] {
			continue
		}
		known := slices.Sorted(maps.Keys(r.Hook.Params))
		param, has := r.Hook.Params[key[2]]
		switch {
		case !has && len(known) == 0:
			return fmt.Errorf("%s has no parameters", key[1])
		case !has:
			return fmt.Errorf("%s has no parameter %s; it has: %s", key[1], quoted(key[2]), strings.Join(known, ", "))
		}
		if err := param.Check(value); err != nil {
			return hintedError{fmt.Errorf("%s cannot take this: %w", strings.Join(key, "."), err), "its default is " + document.Line(param.Default)}
		}
		return nil
	}
	return nil
}

// readSettings finds the one settings file of a directory, in whatever format,
// or the name of a new one.
func readSettings(dir, stem string) (file string, data []byte, err error) {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return "", nil, fmt.Errorf("%s: not a directory itself; edit its settings by hand", dir)
	}
	var found []string
	for _, ext := range []string{".json", ".toml", ".yaml", ".yml"} {
		file := filepath.Join(dir, stem+ext)
		switch info, err := os.Lstat(file); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", nil, err
		case !info.Mode().IsRegular():
			return "", nil, fmt.Errorf("%s: a link; edit the file that it leads to by hand", file)
		default:
			found = append(found, file)
		}
	}
	switch len(found) {
	case 0:
		return filepath.Join(dir, stem+".json"), nil, nil
	case 1:
		data, err = hostfs.Files{}.ReadFile(found[0], maxSettings)
		return found[0], data, err
	}
	return "", nil, fmt.Errorf("%s: there is also %s; keep one", found[0], filepath.Base(found[1]))
}

// maxSettings is more than gate reads of a settings file.
const maxSettings = 4 << 20

// replaceFile puts new settings in the place of old ones. What is new is the
// user's alone, or the project's for everybody to read.
func replaceFile(file string, data []byte, a hook.Authority) error {
	perm, dirPerm := fs.FileMode(0o600), fs.FileMode(0o700)
	if a != hook.User {
		perm, dirPerm = 0o644, 0o755
	}
	if info, err := os.Stat(file); err == nil {
		perm = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), dirPerm); err != nil {
		return err
	}
	return hostfs.Replace(file, data, perm)
}

// report says what became of the setting.
func (f *setFlags) report(p process, a hook.Authority, file string, edits []settingEdit) error {
	var b strings.Builder
	g, err := f.gate(p)
	if err != nil {
		return fmt.Errorf("%s is written; but now no call passes: %w", file, err)
	}
	for _, e := range edits {
		if f.unset {
			fmt.Fprintf(&b, "%s is no longer set in %s\n", visible(strings.Join(e.key, ".")), visible(p.tilde(file)))
		}
	}
	for _, r := range g.Set.Explain() {
		under := slices.ContainsFunc(edits, func(e settingEdit) bool {
			key := strings.Join(e.key, ".")
			return e.value != nil && (r.Key == key || strings.HasPrefix(r.Key, key+"."))
		})
		if !under || r.Authority != a {
			continue
		}
		fmt.Fprintf(&b, "%s = %s (%s)\n", visible(r.Key), document.Line(r.Value), visible(p.tilde(r.Pos)))
		why := r.Why
		if name, tunes := strings.CutPrefix(r.Key, "policies."); tunes {
			if _, err := policyRows(g, []string{name}); err != nil {
				why = err.Error()
			}
		}
		if !r.Counts {
			fmt.Fprintf(&b, "note: it does not count: %s\n", visible(p.page().Tildes(why)))
		}
	}
	for _, fault := range settingsFaults(g) {
		fmt.Fprintf(&b, "error: %s\n", visible(fault.Error()))
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "%s is written\n", visible(p.tilde(file)))
	}
	return printAll(p, b.String())
}
