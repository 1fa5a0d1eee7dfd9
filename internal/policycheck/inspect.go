package policycheck

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/load"
	"gate/scopes"
)

// An Inspection knows what stands where in policies, for editors: [Examine] makes it.
// It is never changed, and safe for concurrent use.
type Inspection struct{ c *checker }

// A View is one file of an inspection as its text stands now, which need not be a whole
// policy. It is for one question: Start with [Inspection.View].
type View struct {
	c    *checker
	unit *unit
	text string
}

// maxRepairs bounds the lines that are left out of a text until it parses.
const maxRepairs = 8

// View looks at a file with this text. A line that cannot be parsed is left out. The
// result is nil where nothing is left.
func (i *Inspection) View(file, text string) *View {
	if len(text) > MaxFile {
		return nil
	}
	module, whole := repaired(file, text, nil)
	if module == nil {
		return nil
	}
	return i.view(file, text, whole, module)
}

func (i *Inspection) view(file, text, whole string, module *ast.Module) *View {
	c := *i.c
	c.findings, c.said, c.memo = nil, map[string]bool{}, map[string]value{}
	c.calls, c.wrappers, c.rows, c.skip = map[string][]call{}, nil, nil, nil
	c.stopped = func() bool { return false }
	c.byName = maps.Clone(c.byName)
	for pkg, u := range c.byName {
		own := *u
		own.checker, own.handled = &c, maps.Clone(u.handled)
		c.byName[pkg] = &own
	}
	u := newUnit(scopes.Module{File: file, Package: strings.TrimPrefix(module.Package.Path.String(), "data."), Text: whole}, module, false)
	u.checker = &c
	if old := c.byName[u.pkg]; strings.HasSuffix(file, "_test.rego") {
		u.input = c.schema.input(nil)
		if old != nil { // tests read the rules of their package
			for name, rules := range old.rules {
				u.rules[name] = append(u.rules[name], rules...)
			}
		}
	} else {
		u.lib = old != nil && old.file == file && old.lib
		if u.hook = hookOf(file, whole, i.c); u.hook == nil && old != nil && old.file == file {
			u.hook = old.hook // as it was before the mistake
		}
		u.input = c.schema.input(u.hook)
		c.byName[u.pkg] = u
	}
	c.access = map[string][]pair{}
	c.units = []*unit{u}
	c.findAccess()
	return &View{&c, u, text}
}

// hookOf is the hook that the METADATA of a file describes, nil if there is none.
func hookOf(file, text string, c *checker) *hook.Hook {
	into := c.src
	into.Hooks, into.Modules, into.Faults, into.Data = nil, nil, nil, nil
	for _, h := range load.Rego(oneFile{path.Base(file), text}, into).Hooks {
		if h.Kind == hook.Rego {
			return h
		}
	}
	return nil
}

// repaired parses a text, less lines that cannot be parsed, and returns what was parsed.
// keep says what is to stand in the place of a line, from 1; nil: blanks.
func repaired(file, text string, keep map[int]string) (*ast.Module, string) {
	for range maxRepairs {
		module, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		if err == nil {
			return module, text
		}
		var list ast.Errors
		if !errors.As(err, &list) || len(list) == 0 || list[0].Location == nil {
			return nil, ""
		}
		lines, row := strings.Split(text, "\n"), list[0].Location.Row
		if row > len(lines) || row < 1 {
			return nil, ""
		}
		now := strings.Repeat(" ", len(lines[row-1]))
		if other, ok := keep[row]; ok {
			now = other
			delete(keep, row)
		}
		if strings.TrimSpace(lines[row-1]) == "" || lines[row-1] == now {
			// The parser notices too late: an open brace, or half a rule above.
			row = lastBefore(lines, row)
			if row == 0 {
				return nil, ""
			}
			now = strings.Repeat(" ", len(lines[row-1]))
		}
		lines[row-1] = now
		text = strings.Join(lines, "\n")
	}
	return nil, ""
}

// lastBefore is the nearest line above with something in it, from 1; 0 if there is none.
func lastBefore(lines []string, row int) int {
	for row = row - 1; row > 0 && strings.TrimSpace(lines[row-1]) == ""; row-- {
	}
	return row
}

// A look is what an editor asks of the walk over a file.
type look struct {
	mark string // a name that stands where something is to be completed; "": none
	at   int    // the offset of the term that is asked about, if there is no mark

	scope *scope // where that stands
	skip  any    // as in checker: a name is not explained by what it is compared with
	seen  bool
	of    value     // what the field with that name is to be of
	ref   ast.Ref   // how that is written
	texts value     // what the text with that mark is compared with
	left  *ast.Term // how that is written
}

// looked notes the scope of a term.
func (c *checker) looked(s *scope, t *ast.Term) {
	l := c.look
	if l == nil || l.scope != nil && l.mark == "" || t.Location == nil {
		return
	}
	if l.mark == "" && t.Location.Offset == l.at || l.mark != "" && marked(t, l.mark) {
		l.scope, l.skip = s, c.skip
	}
}

// lookedField notes what a field is looked up in.
func (c *checker) lookedField(s *scope, of ast.Ref, name string, before value) {
	if l := c.look; l != nil && l.mark != "" && strings.Contains(name, l.mark) {
		l.seen, l.of, l.ref, l.scope = true, before, of, s
	}
}

// lookedText notes what a text is compared with.
func (c *checker) lookedText(s *scope, left *ast.Term, a value, right *ast.Term) {
	l := c.look
	if l == nil || l.mark == "" {
		return
	}
	if text, ok := right.Value.(ast.String); ok && strings.Contains(string(text), l.mark) {
		l.seen, l.texts, l.left, l.scope = true, a, left, s
	}
}

func marked(t *ast.Term, mark string) bool {
	v, ok := t.Value.(ast.Var)
	return ok && strings.Contains(string(v), mark)
}

// walk goes over the rules of a view, and notes what l asks for.
func (v *View) walk(l *look) {
	v.c.look = l
	for _, v.c.pass = range []pass{reading, reporting} {
		for _, r := range v.unit.module.Rules {
			v.c.work = 0
			v.c.walkRule(v.unit, r)
		}
	}
	v.c.look = nil
}

// A oneFile is a tree with one file in it.
type oneFile struct{ name, text string }

// Open opens the file, or the directory that holds it.
func (f oneFile) Open(name string) (fs.File, error) {
	switch name {
	case ".":
		return &oneOpen{f, true, strings.NewReader("")}, nil
	case f.name:
		return &oneOpen{f, false, strings.NewReader(f.text)}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// A oneOpen is the file or the directory, opened; and what is known of it.
type oneOpen struct {
	of  oneFile
	dir bool
	io.Reader
}

func (o *oneOpen) Stat() (fs.FileInfo, error) { return o, nil }
func (o *oneOpen) Close() error               { return nil }
func (o *oneOpen) Size() int64                { return int64(len(o.of.text)) }
func (o *oneOpen) ModTime() time.Time         { return time.Time{} }
func (o *oneOpen) IsDir() bool                { return o.dir }
func (o *oneOpen) Sys() any                   { return nil }

func (o *oneOpen) Name() string {
	if o.dir {
		return "."
	}
	return o.of.name
}

func (o *oneOpen) Mode() fs.FileMode {
	if o.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ReadDir lists the directory.
func (o *oneOpen) ReadDir(int) ([]fs.DirEntry, error) {
	file := &oneOpen{o.of, false, nil}
	return []fs.DirEntry{fs.FileInfoToDirEntry(file)}, nil
}
