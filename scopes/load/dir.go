package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gate/hook"
	"gate/scopes"
	"gate/strictjson"
)

// Dir loads what a directory of gate's holds: the policies below policies/,
// and the other handlers in the one file hooks.json, hooks.toml or hooks.yaml,
// and in the files below hooks.d/, which other systems' hooks are written in.
// The argument into says whose they are, as for [Rego]. Positions are relative
// to the directory. The digest is of all that was read.
func Dir(fsys fs.FS, into scopes.Source) scopes.Source {
	r := reader{fsys: fsys, src: into}
	r.src.Hooks, r.src.Modules, r.src.Faults, r.src.Digest = nil, nil, nil, ""
	r.policies(PoliciesDir)
	r.hooksFile()
	r.hooksDir()
	return r.done()
}

// Plugin loads a plugin for gate: the key gate of its manifest (plugin.json or
// .claude-plugin/plugin.json), which holds hooks as a hook file does, or its
// directory gate, laid out as [Dir] says. name is what settings enabled it by;
// the manifest must agree. Whether it is enabled, and trusted, is for the
// caller to say.
func Plugin(fsys fs.FS, name string, trusted bool) scopes.Source {
	r := reader{fsys: fsys, src: scopes.Source{
		Name: "plugin:" + name, Scope: hook.Plugin, Authority: hook.PluginAuthor, Trusted: trusted,
	}}
	found := 0
	for _, file := range []string{"plugin.json", ".claude-plugin/plugin.json"} {
		if _, err := fs.Lstat(fsys, file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found++
		r.manifest(file, name)
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
		r.fault(fmt.Errorf("gate: %w", plain(err)))
	}
	return r.done()
}

// Skill loads the hooks of a skill or agent from the frontmatter of its file,
// such as SKILL.md: the key gate holds them as a hook file does. Other keys are
// the host's own and passed over.
func Skill(file string, data []byte, name string, trusted bool) scopes.Source {
	r := reader{src: scopes.Source{
		Name: "skill:" + name, Scope: hook.Skill, Authority: hook.SkillAuthor, Trusted: trusted,
	}}
	r.add(file, string(data))
	front, err := frontmatter(file, data)
	if err != nil || front == nil {
		r.fault(err)
		return r.done()
	}
	r.foreign(front)
	return r.done()
}

func (r *reader) add(name, text string) { r.files = append(r.files, file{name, text}) }

func (r *reader) done() scopes.Source {
	if len(r.files) > 0 {
		r.src.Digest = digest(append([]file{{"policies", r.src.Digest}}, r.files...))
	}
	return r.src
}

// policies adds the Rego files of a directory, if it is there.
func (r *reader) policies(dir string) {
	switch info, err := fs.Lstat(r.fsys, dir); {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		r.fault(fmt.Errorf("%s: %w", dir, plain(err)))
		return
	case !info.IsDir():
		r.fault(fmt.Errorf("%s: not a directory", dir))
		return
	}
	sub, err := fs.Sub(r.fsys, dir)
	if err != nil {
		r.fault(fmt.Errorf("%s: %w", dir, err))
		return
	}
	into := r.src
	src := Rego(sub, into)
	for _, h := range src.Hooks {
		h.File = path.Join(dir, h.File)
	}
	for i := range src.Modules {
		src.Modules[i].File = path.Join(dir, src.Modules[i].File)
	}
	for i, f := range src.Faults {
		src.Faults[i] = *hook.Faultf(f.Kind, "%s/%w", dir, f.Err)
	}
	src.Faults = append(r.src.Faults, src.Faults...)
	src.Hooks = append(r.src.Hooks, src.Hooks...)
	r.src = src
}

// hooksFile adds the hooks of the one hook file.
func (r *reader) hooksFile() {
	d, data, err := find(r.fsys, HooksStem, r.where)
	if data != nil {
		r.add(HooksStem, string(data))
	}
	if err != nil || d == nil {
		r.fault(err)
		return
	}
	r.takeHooks(d, tongue{own: true})
}

// manifest reads a plugin's manifest, which is its host's but for one key.
func (r *reader) manifest(name, want string) {
	d, data, err := read(r.fsys, name, r.where)
	if data != nil {
		r.add(name, string(data))
	}
	if err != nil {
		r.fault(err)
		return
	}
	if got, _ := d.value["name"].(string); got != want {
		r.fault(d.errorf("/name", "the manifest is of %q, and the plugin was enabled as %q", got, want))
		return
	}
	r.foreign(d)
}

// foreign takes the key gate out of a file that somebody else defines.
func (r *reader) foreign(d *document) {
	for key := range d.value {
		if key != "gate" && strictjson.Fold(key) == "gate" {
			r.fault(d.errorf(below("", key), "unknown key %s; write gate", key))
		}
	}
	v, ok := d.value["gate"]
	if !ok {
		return
	}
	own, ok := v.(map[string]any)
	if !ok {
		r.fault(d.errorf("/gate", "gate must be an object with hooks"))
		return
	}
	part := &document{file: d.file, value: own, lines: map[string]int{"": d.lines["/gate"]}}
	for pointer, line := range d.lines {
		if rest, ok := strings.CutPrefix(pointer, "/gate/"); ok {
			part.lines["/"+rest] = line
		}
	}
	errs := part.validate(hooksSchema)
	hooks, more := part.hooks(r.src, own["hooks"], "/hooks")
	if errs = append(errs, more...); len(errs) > 0 {
		r.fault(inOrder(errs)...)
		return
	}
	r.src.Hooks = append(r.src.Hooks, hooks...)
}

// frontmatter returns the YAML between the two lines of dashes that a file
// begins with, nil if it begins otherwise.
func frontmatter(file string, data []byte) (*document, error) {
	first, rest, found := bytes.Cut(data, []byte("\n"))
	if !found || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, nil
	}
	if len(rest) > maxFile {
		rest = rest[:maxFile]
	}
	end := -1
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			end = at
			break
		}
		at += len(line) + 1
	}
	if end < 0 {
		return nil, fmt.Errorf("%s:1: the frontmatter does not end", file)
	}
	if len(bytes.TrimSpace(rest[:end])) == 0 {
		return nil, nil
	}
	d := &document{file: file, lines: map[string]int{}}
	// One line in front stands for the dashes, so that lines are the file's.
	if err := d.yaml(append([]byte("\n"), rest[:end]...)); err != nil {
		return nil, err
	}
	return d, nil
}
