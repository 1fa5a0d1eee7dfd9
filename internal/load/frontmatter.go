package load

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
	"gate/scopes"
)

// Skill loads the hooks of a skill from the frontmatter of its file, such as
// SKILL.md: the key gate holds them as a hook file does. The key hooks is the
// agent's own; where foreign says that the agent does not run them itself, it is
// read in the dialect that the key dialect names, else as Claude Code reads it. Other keys are passed over. The argument into
// says whose they are, as for [Rego].
func Skill(file string, data []byte, into scopes.Source, foreign bool) scopes.Source {
	r := reader{src: into}
	r.src.Hooks, r.src.Modules, r.src.Faults, r.src.Digest = nil, nil, nil, ""
	r.add(file, string(data))
	front, _, err := frontmatter(file, data)
	if err != nil || front == nil {
		r.fault(err)
		return r.done()
	}
	r.gateKey(front)
	if hooks, ok := front.value["hooks"]; ok && foreign {
		r.hostHooks(front, hooks)
	}
	return r.done()
}

// Agent loads the hooks of a sub-agent from the frontmatter of its file, as
// [Skill] does. What they say about Stop is about SubagentStop: the end of the
// sub-agent's work.
func Agent(file string, data []byte, into scopes.Source, foreign bool) scopes.Source {
	src := Skill(file, data, into, foreign)
	for _, h := range src.Hooks {
		for i, name := range h.Events {
			if name.Canonical() == hook.Stop {
				h.Events = slices.Clone(h.Events) // hooks of one group share them
				h.Events[i] = hook.SubagentStop
			}
		}
	}
	return src
}

// A Head is the frontmatter that a file begins with. The zero Head is that of a
// file without one.
type Head struct {
	Text  string // between two lines of dashes, and they
	Name  string // of the skill or agent, "" if it says none
	Hooks bool   // there are hooks in it
}

// Frontmatter reads the head of a skill's or an agent's file; foreign is as for
// [Skill]. Agents take much for YAML that is none: a head that cannot be read
// is an error only if some line of it might begin hooks.
func Frontmatter(file string, data []byte, foreign bool) (Head, error) {
	front, end, err := frontmatter(file, data)
	if err != nil {
		if !meansHooks(data, foreign) {
			err = nil
		}
		return Head{}, err
	}
	if front == nil {
		return Head{}, nil
	}
	h := Head{Text: string(data[:end])}
	h.Name, _ = front.value["name"].(string)
	for key := range front.value {
		h.Hooks = h.Hooks || strictjson.Fold(key) == "gate" || foreign && key == "hooks"
	}
	return h, nil
}

// meansHooks looks for a line that begins with one of the keys.
func meansHooks(data []byte, foreign bool) bool {
	for line := range bytes.Lines(data[:min(len(data), maxFile)]) {
		key, _, found := strings.Cut(strings.TrimLeft(string(line), " \t\"'{"), ":")
		key = strictjson.Fold(strings.Trim(key, " \t\"'"))
		if found && (key == "gate" || foreign && key == "hooks") {
			return true
		}
	}
	return false
}

// File loads the hooks of one hook file, as [Dir] does that of a directory: in
// the format that the ending of its name says, and in any dialect. The argument
// into says whose they are, as for [Rego].
func File(name string, data []byte, into scopes.Source) scopes.Source {
	r := reader{src: into}
	r.src.Hooks, r.src.Modules, r.src.Faults, r.src.Digest = nil, nil, nil, ""
	r.add(name, string(data))
	d, err := decodeHooks(name, data)
	if err != nil {
		r.fault(err)
		return r.done()
	}
	r.takeHooks(d, tongue{own: true})
	return r.done()
}

// gateKey takes the key gate out of a file that somebody else defines.
func (r *reader) gateKey(d *document) {
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
	r.takeHooks(part, tongue{fixed: OwnDialect})
}

// hostHooks takes the hooks that the agent itself would run. Where one has the
// id of another, the id is made its own: nobody gave it.
func (r *reader) hostHooks(d *document, hooks any) {
	before := len(r.src.Hooks)
	part := &document{file: d.file, value: map[string]any{"hooks": hooks}, lines: d.lines}
	t := tongue{fixed: string(moment.Claude)}
	if named, ok := d.value["dialect"]; ok {
		part.value["dialect"], t = named, tongue{}
	} else if name, doubt, err := part.hostDialect(r.src); err != nil {
		r.fault(err)
		return
	} else if name != "" {
		t.fixed, r.src.Notes = name, append(r.src.Notes, doubt)
	}
	r.takeHooks(part, t)
	for i, h := range r.src.Hooks[before:] {
		for slices.ContainsFunc(r.src.Hooks[:before+i], func(o *hook.Hook) bool { return o.ID == h.ID }) {
			h.ID = cmp.Or(string(h.Dialect), OwnDialect) + "." + h.ID
		}
	}
}

// hostDialect finds out whether hooks that nobody says the dialect of are another
// system's than Claude Code's: Claude Code would pass a key over that decides
// something there, such as fail_closed. doubt says what was guessed; "" is Claude
// Code's. A key of others that no dialect accepts the file with is an error.
func (d *document) hostDialect(src scopes.Source) (name, doubt string, err error) {
	r := &dialectReader{document: d, dialect: &claudeDialect, src: src, ids: map[string]bool{}}
	claudeDialect.read(r)
	for _, p := range r.passed {
		var known, accepted []string
		for _, lang := range dialects() {
			if lang.hook[p.key] == nil || p.key == "name" { // which is for people everywhere
				continue
			}
			known = append(known, string(lang.name))
			if _, errs := d.readAs(lang, src, true); len(errs) == 0 {
				accepted = append(accepted, string(lang.name))
			}
		}
		const says = "%s is a key of %s's, which Claude Code passes over; "
		switch {
		case len(accepted) == 1:
			doubt = d.errorf(p.pointer, says+"gate reads the hooks as %s's; write dialect: %[3]s beside hooks", dotted(p.pointer), accepted[0], accepted[0]).Error()
			return accepted[0], doubt, nil
		case len(known) > 0:
			return "", "", d.errorf(p.pointer, says+"write whose hooks these are beside them, such as dialect: %s, or remove it", dotted(p.pointer), strings.Join(known, "'s and "), known[len(known)-1])
		}
	}
	return "", "", nil
}

// frontmatter returns the YAML between the two lines of dashes that a file
// begins with, nil if it begins otherwise, and where it ends.
func frontmatter(file string, data []byte) (*document, int, error) {
	first, rest, found := bytes.Cut(data, []byte("\n"))
	if !found || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, 0, nil
	}
	if len(rest) > maxFile {
		rest = rest[:maxFile]
	}
	text, end := -1, 0
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			text, end = at, at+len(line)
			break
		}
		at += len(line) + 1
	}
	if text < 0 {
		return nil, 0, fmt.Errorf("%s:1: the frontmatter does not end", file)
	}
	end += len(first) + 1
	if len(bytes.TrimSpace(rest[:text])) == 0 {
		return nil, 0, nil
	}
	d := &document{file: file, lines: map[string]int{}}
	// One line in front stands for the dashes, so that lines are the file's.
	if err := d.yaml(append([]byte("\n"), rest[:text]...)); err != nil {
		return nil, 0, err
	}
	return d, end, nil
}
