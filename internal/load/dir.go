package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/scopes"
)

// Dir loads what a directory of gate's holds: the policies below policies/,
// and the other handlers in the one file hooks.json, hooks.toml or hooks.yaml,
// and in the files below hooks.d/, which other systems' hooks are written in.
// The argument into says whose they are, as for [Rego]. Positions are relative
// to the directory. The digest is of all that was read.
func Dir(fsys fs.FS, into scopes.Source) scopes.Source {
	return (*Kept)(nil).Dir(fsys, into)
}

// Place loads what stands in one of gate's directories: its settings, of a
// project the local ones too, and then what [Dir] loads, which is the last source
// whatever is in it. The argument into says whose they are, as for [Rego]; dir is
// where they lie, for people.
func Place(fsys fs.FS, dir string, into scopes.Source) (layers []scopes.Layer, sources []scopes.Source) {
	authorities := []hook.Authority{into.Authority}
	if into.Authority == hook.Project {
		authorities = append(authorities, hook.Local)
	}
	for _, a := range authorities {
		c := Settings(fsys, filepath.ToSlash(dir), a)
		layers = append(layers, c.Layers...)
		if c.Source != nil {
			c.Source.Trusted = into.Trusted
			sources = append(sources, *c.Source)
		}
	}
	return layers, append(sources, At(dir, Dir(fsys, into)))
}

// At has the faults of a source, whose positions are relative to a directory,
// say where that lies.
func At(dir string, s scopes.Source) scopes.Source {
	for i, f := range s.Faults {
		s.Faults[i] = *hook.Faultf(f.Kind, "%s%w", dir+string(filepath.Separator), f.Err)
	}
	return s
}

func (r *reader) add(name, text string) { r.files = append(r.files, file{name, text}) }

func (r *reader) done() scopes.Source {
	if r.parallel != "" {
		r.sideBySide()
	}
	if len(r.files) > 0 {
		r.src.Digest = digest(append([]file{{"policies", r.src.Digest}}, r.files...))
	}
	return r.src
}

// ParallelNote begins the note that parallel does nothing, behind its place.
const ParallelNote = "parallel changes nothing"

// sideBySide has the handlers of the source run on the same input. Where that
// changes nothing, somebody expects what does not happen.
func (r *reader) sideBySide() {
	type place struct {
		event    hook.Name
		priority int
	}
	handlers, several := map[place]int{}, false
	for _, h := range r.src.Hooks {
		if h.Kind == hook.Rego {
			continue
		}
		h.Parallel = true
		for _, event := range h.Events {
			at := place{event.Canonical(), h.Priority}
			handlers[at]++
			several = several || handlers[at] > 1 && event.Rewrites() != ""
		}
	}
	if !several {
		r.src.Notes = append(r.src.Notes, r.parallel+": "+ParallelNote+": no two handlers here have one priority and one event on which "+
			"something can be rewritten; remove it, or give them one priority")
	}
}

// policies adds the Rego files of a directory, if it is there.
func (r *reader) policies(dir string) {
	switch info, err := fs.Lstat(r.fsys, dir); {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		r.fault(fmt.Errorf("%s: %w", dir, hostfs.Reason(err)))
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
	src := r.kept.Rego(sub, into)
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
