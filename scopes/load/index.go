package load

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/scopes"
	"gate/strictjson"
)

// Index returns what [Rego] and [Lib] find in fsys as text, so that a program
// that carries the same files can start without parsing them: lines of a key and
// a value, where a hook and its parameters hold what follows them. It returns an
// error when a file has a mistake.
func Index(fsys fs.FS) ([]byte, error) {
	s := Rego(fsys, scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true})
	lib, faults := Lib(fsys)
	for _, f := range append(s.Faults, faults...) {
		return nil, f.Err
	}
	var w indexWriter
	w.line("digest", s.Digest)
	for _, m := range lib {
		w.line("lib", m.Package+" "+m.File)
	}
	for _, m := range s.Modules {
		w.line("module", m.Package+" "+m.File)
	}
	for _, h := range s.Hooks {
		w.hook(h)
	}
	return w.text, nil
}

type indexWriter struct{ text []byte }

// line writes what is not empty.
func (w *indexWriter) line(key, value string) {
	if value == "" {
		return
	}
	if strings.ContainsAny(value, "\n\r") || value[0] == '"' {
		value = strconv.Quote(value)
	}
	w.text = fmt.Appendf(w.text, "%s %s\n", key, value)
}

func (w *indexWriter) number(key string, n int64) {
	if n != 0 {
		w.line(key, strconv.FormatInt(n, 10))
	}
}

func (w *indexWriter) hook(h *hook.Hook) {
	w.line("hook", h.ID)
	w.line("title", h.Title)
	w.line("description", h.Description)
	w.line("file", h.File)
	w.number("line", int64(h.Line))
	for _, e := range h.Events {
		w.line("event", string(e))
	}
	w.line("matcher", h.Matcher)
	for _, c := range h.If {
		w.line("if", c)
	}
	w.number("priority", int64(h.Priority))
	w.number("timeout", int64(h.Timeout))
	w.line("on_fault", string(h.OnFault))
	if h.Opaque {
		w.line("opaque", "true")
	}
	if h.Session {
		w.line("session", "true")
	}
	for _, name := range h.WhenSet {
		w.line("when_set", name)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		p := h.Params[name]
		w.line("param", name)
		w.line("type", p.Type)
		w.line("default", string(strictjson.Append(nil, p.Default)))
		w.line("about", p.Description)
	}
}

// Indexed is [Rego] and [Lib] for files that were indexed when the program was
// built. It reads the texts and parses none. The index must be as trusted as
// the program itself: nothing in it is checked against the files.
func Indexed(fsys fs.FS, index string, into scopes.Source) (scopes.Source, []scopes.Module) {
	s := into
	s.Hooks, s.Modules, s.Faults = nil, nil, nil
	r := indexReader{files: fsys, source: &s}
	var err error
	n := 0
	for line := range strings.Lines(index) {
		n++
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(value, `"`) {
			value, err = strconv.Unquote(value)
		}
		if err == nil {
			err = r.line(key, value)
		}
		if err != nil {
			err = fmt.Errorf("line %d: %s: %w", n, key, err)
			break
		}
	}
	if err == nil && len(s.Hooks) == 0 {
		err = fmt.Errorf("no hooks")
	}
	if err != nil {
		s.Hooks, s.Modules = nil, nil
		s.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "index of the library: %w", err)}
		return s, nil
	}
	return s, r.lib
}

// An indexReader reads an index line by line.
type indexReader struct {
	files  fs.FS
	source *scopes.Source
	lib    []scopes.Module
	hook   *hook.Hook // the last one
	param  string     // its last parameter
	part   [4 << 10]byte
}

func (r *indexReader) line(key, value string) (err error) {
	switch key {
	case "digest":
		r.source.Digest = value
		return nil
	case "lib":
		return r.module(&r.lib, value)
	case "module":
		return r.module(&r.source.Modules, value)
	case "hook":
		s := r.source
		r.hook = &hook.Hook{ID: value, Kind: hook.Rego, Scope: s.Scope, Authority: s.Authority, Library: s.Library, Source: s.Name}
		r.param = ""
		s.Hooks = append(s.Hooks, r.hook)
		return nil
	}
	if r.hook == nil {
		return fmt.Errorf("before the first hook")
	}
	if r.param != "" && key != "param" {
		return r.parameter(key, value)
	}
	return r.field(key, value)
}

func (r *indexReader) field(key, value string) (err error) {
	h := r.hook
	switch key {
	case "title":
		h.Title = value
	case "description":
		h.Description = value
	case "file":
		h.File = value
	case "line":
		h.Line, err = strconv.Atoi(value)
	case "event":
		h.Events = append(h.Events, hook.Name(value))
	case "matcher":
		h.Matcher = value
	case "if":
		h.If = append(h.If, value)
	case "priority":
		h.Priority, err = strconv.Atoi(value)
	case "timeout":
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		h.Timeout = time.Duration(n)
	case "on_fault":
		h.OnFault = hook.OnFault(value)
	case "opaque":
		h.Opaque = value == "true"
	case "session":
		h.Session = value == "true"
	case "when_set":
		h.WhenSet = append(h.WhenSet, value)
	case "param":
		if h.Params == nil {
			h.Params = map[string]hook.Param{}
		}
		r.param = value
		h.Params[value] = hook.Param{}
	default:
		return fmt.Errorf("unknown key")
	}
	return err
}

// parameter reads what belongs to the last parameter.
func (r *indexReader) parameter(key, value string) (err error) {
	p := r.hook.Params[r.param]
	switch key {
	case "type":
		p.Type = value
	case "default":
		p.Default, err = strictjson.Decode([]byte(value), strictjson.Limits{})
	case "about":
		p.Description = value
	default:
		return fmt.Errorf("unknown key of a parameter")
	}
	r.hook.Params[r.param] = p
	return err
}

// module adds a file, which is named after its package.
func (r *indexReader) module(list *[]scopes.Module, value string) error {
	pkg, file, _ := strings.Cut(value, " ")
	text, err := r.text(file)
	if err != nil {
		return err
	}
	*list = append(*list, scopes.Module{File: file, Package: pkg, Text: text})
	return nil
}

// text reads a file of the program's own, without a copy that nobody keeps: the
// files are most of what a process takes of memory to start.
func (r *indexReader) text(name string) (string, error) {
	f, err := r.files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	for {
		n, err := f.Read(r.part[:])
		text.Write(r.part[:n])
		if err == io.EOF {
			return text.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}
