package load

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/hostfs"
	"gate/internal/moment"
	"gate/internal/setting"
	"gate/matcher"
	"gate/scopes"
)

// HooksDir holds hook files of other systems: hooks.d/DIALECT/NAME.toml is
// written in that dialect, hooks.d/NAME.toml in the one that it names, or else
// the only one that accepts it.
const HooksDir = "hooks.d"

// A Foreign is a hook file in the terms of gate.
type Foreign struct {
	Dialect hook.Dialect // "" is gate's own
	Hooks   []*hook.Hook

	// Parallel says that all handlers of the file's source run side by side. Only
	// gate's own form says so.
	Parallel bool

	// Notes say what gate reads otherwise than the system does, each as
	// file:line: text.
	Notes []string

	// Doubts are what somebody may have meant otherwise: a dialect that nobody named,
	// matchers that no tool's name can meet, and events that no agent sends. Each is as
	// file:line: text.
	Doubts []string
}

// ReadHooks reads a hook file in a dialect: the name of one, gate for gate's
// own, or "" to take the one that the file names, else the only one that accepts
// it. A file in Markdown is read for its frontmatter. src says whose hooks they
// are. The error holds every mistake, each as file:line.
func ReadHooks(file string, data []byte, name string, src scopes.Source) (Foreign, error) {
	d, err := decodeHooks(file, data)
	if err != nil {
		return Foreign{}, err
	}
	t := tongue{fixed: name}
	f, errs := d.hooksIn(t, src)
	return f, errors.Join(inOrder(errs)...)
}

func decodeHooks(file string, data []byte) (*document, error) {
	if path.Ext(file) != ".md" {
		return decode(file, data)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxFile)
	}
	d, _, err := frontmatter(file, data)
	if err == nil && d == nil {
		err = fmt.Errorf("%s:1: it has no frontmatter", file)
	}
	return d, err
}

// A tongue is what is known of a file's dialect before it is read.
type tongue struct {
	fixed string // by where the file lies, or by who asks; ""
	own   bool   // it is gate's own if it can be
}

// hooksIn reads the hooks of a file in the dialect that is fixed, that the file
// names, or that alone accepts it.
func (d *document) hooksIn(t tongue, src scopes.Source) (Foreign, []error) {
	if named, ok := d.value["dialect"]; ok {
		name, isText := named.(string)
		switch {
		case !isText:
			return Foreign{}, []error{d.errorf("/dialect", "dialect must be one of %s", strings.Join(Dialects(), ", "))}
		case t.fixed != "" && name != t.fixed:
			return Foreign{}, []error{d.errorf("/dialect", "dialect is %q, but the file is to be read as %s", name, t.fixed)}
		}
		t.fixed = name
		c := *d
		c.value = maps.Clone(d.value)
		delete(c.value, "dialect")
		d = &c
	}
	if t.fixed != "" {
		lang, err := dialectOf(t.fixed)
		if err != nil {
			return Foreign{}, []error{d.errorf("/dialect", "%w", err)}
		}
		return d.readAs(lang, src, false)
	}
	own, mistakes := d.readAs(nil, src, false)
	if t.own && len(mistakes) == 0 {
		return own, nil
	}
	return d.guess(t, own, mistakes, src)
}

// ErrDialect is the error of a file that must say what it is written in.
var ErrDialect = errors.New("say which with the key dialect")

// guess finds the one dialect that accepts a file.
func (d *document) guess(t tongue, own Foreign, mistakes []error, src scopes.Source) (Foreign, []error) {
	var accepted []string
	var found Foreign
	if len(mistakes) == 0 {
		accepted, found = []string{OwnDialect}, own
	}
	for _, lang := range dialects() {
		if f, errs := d.readAs(lang, src, true); len(errs) == 0 {
			accepted, found = append(accepted, string(lang.name)), f
		}
	}
	switch {
	case len(accepted) == 1:
		if found.Dialect != "" {
			found.Doubts = append(found.Doubts, d.errorf("", "nobody says what the file is written in, and gate reads it as %s's; "+
				"write dialect: %[1]s, or, if it is meant as gate's own, mend: %s", found.Dialect, withoutPlace(mistakes)).Error())
		}
		return found, nil
	case len(accepted) > 1:
		return Foreign{}, []error{d.errorf("", "the file could be of dialect %s: %w, or by its place, such as %s/%s/",
			strings.Join(accepted, " or "), ErrDialect, HooksDir, accepted[0])}
	case t.own:
		return Foreign{}, mistakes
	}
	return Foreign{}, []error{d.errorf("", "no dialect accepts the file: %w, or by its place, such as %s/%s/, and the mistakes in it are listed",
		ErrDialect, HooksDir, dialects()[0].name)}
}

// withoutPlace is the first mistake of a file, whose name is said already.
func withoutPlace(mistakes []error) string {
	if len(mistakes) == 0 {
		return "nothing"
	}
	text := inOrder(mistakes)[0].Error()
	if _, after, ok := strings.Cut(text, ": "); ok {
		return after
	}
	return text
}

// neverMeets reports matchers of another system's that hold a condition of gate's:
// there they are names, and no tool has such a name.
func (f *Foreign) neverMeets() {
	plain := strings.NewReplacer("[(]", "(", "[)]", ")", "[ ]", " ", "[*]", "*")
	for _, h := range f.Hooks {
		text, literal := strings.CutPrefix(h.Matcher, "glob:")
		if f.Dialect == "" || !literal {
			continue
		}
		if _, err := matcher.Compile(plain.Replace(text), backtracking.Compile); err != nil && strings.Contains(err.Error(), "never matches a tool") {
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s: %v, in a file of gate's own form", h.Pos(), err))
		}
	}
}

// neverAsked reports hooks of another system's on events that only that system sends.
// Its question about its shell has a meaning elsewhere, too.
func (f *Foreign) neverAsked() {
	if f.Dialect == "" {
		return
	}
	for _, h := range f.Hooks {
		if n := h.Events[0]; n != moment.ShellEnv && n.Canonical().Moment().Name == "" {
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s: %s never runs under an agent that gate knows: none sends %s; "+
				"leave it out, unless a program asks gate hook --agent generic on that event", h.Pos(), h.ID, n))
		}
	}
}

// readAs reads the hooks of a file in one dialect; nil is gate's own.
func (d *document) readAs(lang *dialect, src scopes.Source, guess bool) (Foreign, []error) {
	if lang == nil {
		errs := d.validate(hooksSchema)
		hooks, more := d.hooks(src, d.value["hooks"], "/hooks")
		parallel, _ := d.value["parallel"].(bool)
		return Foreign{Hooks: hooks, Parallel: parallel}, append(errs, more...)
	}
	r := &dialectReader{document: d, dialect: lang, src: src, guess: guess, ids: map[string]bool{}}
	lang.read(r)
	f := Foreign{Dialect: lang.name, Hooks: r.hooks}
	for _, note := range inOrder(r.notes) {
		f.Notes = append(f.Notes, note.Error())
	}
	return f, r.errs
}

// hooksDir adds the hooks of HooksDir.
func (r *reader) hooksDir() {
	for _, e := range r.entries(HooksDir) {
		name := path.Join(HooksDir, e.Name())
		if !e.IsDir() {
			r.hookFile(name, "")
			continue
		}
		if _, err := dialectOf(e.Name()); err != nil {
			r.fault(fmt.Errorf("%s: %w", path.Join(r.where, name), err))
			continue
		}
		for _, inner := range r.entries(name) {
			r.hookFile(path.Join(name, inner.Name()), e.Name())
		}
	}
}

// entries lists a directory, if it is there.
func (r *reader) entries(dir string) []fs.DirEntry {
	list, err := fs.ReadDir(r.fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		r.fault(fmt.Errorf("%s: %w", path.Join(r.where, dir), hostfs.Reason(err)))
		return nil
	case len(list) > maxDropIns:
		r.fault(fmt.Errorf("%s: more than %d files", path.Join(r.where, dir), maxDropIns))
		return nil
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
}

// hookFile adds the hooks of one file. A name that is not a hook file's is a
// mistake: somebody thinks that it counts.
func (r *reader) hookFile(name, dialect string) {
	text, err := readText(r.fsys, name, path.Join(r.where, name))
	if err != nil {
		r.fault(err)
		return
	}
	r.add(name, text)
	d, err := decodeHooks(path.Join(r.where, name), []byte(text))
	if err != nil {
		r.fault(err)
		return
	}
	r.takeHooks(d, tongue{fixed: dialect})
}

// takeHooks takes the hooks of a file in, all or none.
func (r *reader) takeHooks(d *document, t tongue) {
	f, errs := d.hooksIn(t, r.src)
	if len(errs) > 0 {
		r.fault(inOrder(errs)...)
		return
	}
	f.neverMeets()
	f.neverAsked()
	if f.Parallel {
		r.parallel = d.pos("/parallel")
	}
	r.src.HookFiles = append(r.src.HookFiles, setting.HookFile{File: d.file, Dialect: f.Dialect, Hooks: len(f.Hooks), Parallel: f.Parallel})
	r.src.Hooks, r.src.Notes = append(r.src.Hooks, f.Hooks...), append(r.src.Notes, f.Doubts...)
}
