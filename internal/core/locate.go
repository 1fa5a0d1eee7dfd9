package core

import (
	"path/filepath"
	"strings"

	"gate/hook"
)

// Locate turns positions within a source into ones that an editor can open.
func (g *Gate) Locate(d *hook.Decision) {
	for i := range d.Steps {
		g.locateFault(d, &d.Steps[i])
		g.locateSource(d, &d.Steps[i])
	}
	for _, list := range [][]hook.Reason{d.Reasons, d.Warnings} {
		for i := range list {
			list[i].Pos = g.Position(list[i].Source, list[i].Pos)
		}
	}
	if d.Halt != nil {
		halt := *d.Halt
		halt.Pos = g.Position(halt.Source, halt.Pos)
		d.Halt = &halt
	}
}

// Position is a position within a source as an editor can open it.
func (g *Gate) Position(source, pos string) string {
	if dir := g.Where[source]; dir != "" && pos != "" && !filepath.IsAbs(pos) {
		return filepath.Join(dir, filepath.FromSlash(pos))
	}
	return pos
}

// A located fault is told with the whole name of the policy's file: several
// sources may have one of that name.
type located struct {
	error
	text string
}

func (l *located) Error() string { return l.text }
func (l *located) Unwrap() error { return l.error }

// locateFault has the fault of a step, and the reasons that tell of it, name the
// file in full.
func (g *Gate) locateFault(d *hook.Decision, s *hook.Step) {
	if s.Fault == nil || s.Fault.Err == nil || s.Hook == nil || s.Hook.Kind != hook.Rego {
		return
	}
	said, file := s.Fault.Error(), s.Hook.File
	full := g.Position(s.Hook.Source, file)
	if full == file || !strings.HasPrefix(said, file+":") {
		return
	}
	text := full + said[len(file):]
	s.Fault = &hook.Fault{Kind: s.Fault.Kind, Err: &located{s.Fault.Err, text}}
	for _, list := range [][]hook.Reason{d.Reasons, d.Warnings} {
		for i := range list {
			if r := &list[i]; r.Hook == s.Hook.ID && r.Source == s.Hook.Source {
				r.Reason = strings.Replace(r.Reason, ": "+said, ": "+text, 1)
			}
		}
	}
}

// locateSource has what is told of a source that could not be loaded name its
// directory, where it is one that people know by it.
func (g *Gate) locateSource(d *hook.Decision, s *hook.Step) {
	if s.Hook == nil || s.Hook.Whole == "" || s.Fault == nil || strings.Contains(s.Hook.Source, ":") {
		return
	}
	dir := g.Where[s.Hook.Source]
	if dir == "" {
		return
	}
	if rest, below := strings.CutPrefix(dir, g.Home+string(filepath.Separator)); below && g.Home != "" {
		dir = "~" + string(filepath.Separator) + rest
	}
	whole, was := *s.Hook, s.Hook.Whole
	whole.Whole += " in " + dir
	whole.Title = whole.Whole
	s.Hook = &whole
	tell := func(text string) string {
		if rest, ok := strings.CutPrefix(text, was+" could not"); ok {
			return whole.Whole + " could not" + rest
		}
		return text
	}
	for _, list := range [][]hook.Reason{d.Reasons, d.Warnings} {
		for i := range list {
			list[i].Reason = tell(list[i].Reason)
		}
	}
	for i := range d.Notices {
		d.Notices[i] = tell(d.Notices[i])
	}
}
