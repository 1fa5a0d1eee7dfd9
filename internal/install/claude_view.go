package install

import (
	"errors"
	"fmt"
	"io/fs"

	"gate/hook"
)

// A claudeView is one settings file as an inspection sees it.
type claudeView struct {
	scope    Scope
	path     string
	doc      *document // nil if it cannot be read
	exists   bool
	findings []Finding
	void     bool // the client ignores the whole file, or does not start because of it
}

// report adds a finding about the file.
func (v *claudeView) report(id string, s Severity, at *node, message, remedy string) {
	f := Finding{ID: id, Severity: s, Scope: v.scope, File: v.path, Message: message, Remedy: remedy}
	if v.doc != nil {
		f.Line = v.doc.line(at)
	}
	v.findings = append(v.findings, f)
}

// setting returns a top-level value, nil if there is none.
func (v *claudeView) setting(names ...string) *node {
	if v.doc == nil {
		return nil
	}
	return v.doc.root.member(names...)
}

// views reads every settings file, the strongest scope first; managed files
// come in the order in which they are merged.
func (c claude) views(m Machine) []*claudeView {
	var out []*claudeView
	for _, path := range c.managedFiles(m) {
		out = append(out, c.view(m, Managed, path))
	}
	for _, s := range []Scope{User, Local, Project} {
		for _, path := range c.targets(m, s) {
			out = append(out, c.view(m, s, path))
		}
	}
	return out
}

func (c claude) view(m Machine, s Scope, path string) *claudeView {
	v := &claudeView{scope: s, path: path}
	text, err := m.system().ReadFile(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !m.exists(path):
		return v
	case err != nil:
		v.exists, v.void = true, true
		v.report("settings.unreadable", Error, nil, "this file cannot be read: "+err.Error(), "make it a regular file that this account can read")
		return v
	}
	v.exists = true
	c.readView(v, text)
	return v
}

// consequence says what the client does about a file that it cannot accept.
func (v *claudeView) consequence() string {
	if v.scope == Managed {
		return "Claude Code refuses to start"
	}
	return "Claude Code ignores the whole file without a word, its hooks and permission rules too"
}

// readView reads a file's text and notes what voids it.
func (c claude) readView(v *claudeView, text []byte) {
	d, err := parse(text)
	if err != nil {
		e := err.(*syntaxError)
		if e.twice {
			v.report("settings.duplicate", Error, nil, e.msg+": readers differ in which of them counts", "remove one")
			v.findings[len(v.findings)-1].Line = e.line
			return
		}
		v.void = true
		v.report("settings.syntax", Error, nil, fmt.Sprintf("%s (column %d): %s", e.msg, e.column, v.consequence()), "correct the file")
		v.findings[len(v.findings)-1].Line = e.line
		return
	}
	if d.root == nil {
		return
	}
	v.doc = d
	for _, x := range []struct {
		at   int
		what string
	}{{d.comment, "a comment"}, {d.trailing, "a comma before a closing bracket"}} {
		if x.at >= 0 {
			v.void = true
			v.report("settings.comments", Error, nil, x.what+" is no JSON: "+v.consequence(), "remove it")
			v.findings[len(v.findings)-1].Line = line(text, x.at)
		}
	}
	if !d.root.is('{') {
		v.void = true
		v.report("settings.shape", Error, d.root, "the file is "+d.root.typeName()+" where an object is wanted: "+v.consequence(), "correct the file")
		return
	}
	c.shape(v)
}

// shape looks for what the client's schema refuses. Only in two events' hooks
// it voids the file.
func (c claude) shape(v *claudeView) {
	hooks := v.doc.root.member("hooks")
	if hooks == nil {
		return
	}
	if !hooks.is('{') {
		v.void = true
		v.report("settings.shape", Error, hooks, `"hooks" is `+hooks.typeName()+" where an object is wanted: no hook of this file runs", "correct the file")
		return
	}
	for _, event := range []hook.Name{hook.PreToolUse, hook.PermissionRequest} {
		list := hooks.member(string(event))
		if list == nil {
			continue
		}
		for n, why := range c.invalid(v.doc, list) {
			v.void = true
			v.report("settings.void", Error, n, fmt.Sprintf("in the hooks of %s %s: %s", event, why, v.consequence()), "correct or remove it")
		}
	}
}

// invalid yields what is wrong in an event's list.
func (c claude) invalid(d *document, list *node) func(yield func(*node, string) bool) {
	return func(yield func(*node, string) bool) {
		if !list.is('[') {
			yield(list, "there is "+list.typeName()+" where a list is wanted")
			return
		}
		for _, group := range list.items {
			g := group.value
			if why := c.invalidGroup(g); why != "" {
				if !yield(g, why) {
					return
				}
				continue
			}
			for _, h := range g.member("hooks").items {
				if why := c.invalidHandler(d, h.value); why != "" && !yield(h.value, why) {
					return
				}
			}
		}
	}
}

func (claude) invalidGroup(g *node) string {
	switch matcher := g.member("matcher"); {
	case !g.is('{'):
		return "an entry is " + g.typeName() + " where an object is wanted"
	case matcher != nil && !matcher.is('"'):
		return "a matcher is " + matcher.typeName() + " where a string is wanted"
	case !g.member("hooks").is('['):
		return "an entry has no list of hooks"
	}
	return ""
}
