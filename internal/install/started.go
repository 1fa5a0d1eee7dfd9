package install

import (
	"path/filepath"
	"slices"
)

// Started looks where a program gate was started from, and which other paths lead to it.
func (m Machine) Started(program string) Start {
	s := m.start(program)
	paths := s.Candidates()
	for _, dir := range slices.Backward(m.Path) { // one of PATH is what people know
		paths = slices.Insert(paths, 0, filepath.Join(dir, filepath.Base(s.Real)))
	}
	for _, path := range paths {
		if l, ok := m.linkAt(path); ok {
			s.Links = append(s.Links, l)
		}
	}
	s.Copied = m.Copies != "" && m.exists(filepath.Join(m.Copies, filepath.Base(s.Real)))
	return s
}

// start is what is known of a path without a look at others.
func (m Machine) start(program string) Start {
	s := Start{Program: program, Real: program, Temp: m.Temp, Home: m.Home, Version: m.Version, Copies: m.Copies, NoCopies: m.NoCopies}
	if real, err := m.real(program); err == nil {
		s.Real = real
	}
	return s
}

// linkAt is what a path of gate leads to, if it is one.
func (m Machine) linkAt(path string) (Link, bool) {
	info, err := m.stat(path)
	if err != nil || !info.Mode().IsRegular() || !filepath.IsAbs(path) {
		return Link{}, false
	}
	l := Link{Path: path}
	if l.Real, err = m.real(path); err != nil {
		return Link{}, false
	}
	hook := beside(path, "gate-hook")
	if info, err := m.stat(hook); err == nil && info.Mode().IsRegular() {
		l.Hook, _ = m.real(hook)
	}
	if at, _, why := m.weakPlace(path, false); why != "" {
		l.Weak = at + ": " + why
	}
	return l, true
}

// beside is another program of gate's in the directory of one.
func beside(program, name string) string {
	return filepath.Join(filepath.Dir(program), name+filepath.Ext(program))
}

// lasts is the finding about a program that an entry names, and which does not stay
// where it is; nil if it does, or is not there at all.
func (m Machine) lasts(program string) *Finding {
	if !filepath.IsAbs(program) || !m.exists(program) {
		return nil
	}
	where := m.start(program).lasting(program)
	f := &Finding{Severity: Warning}
	switch where.stay {
	case passes:
		f.ID, f.Message = "gate.temporary", "gate's program "+program+" lies in "+where.whose()+", and does not stay there: calls close when it is gone"
	case upgraded:
		f.ID, f.Message = "gate.versioned", "an upgrade removes gate's program "+program+", and calls then close: it lies in "+where.what
	default:
		return nil
	}
	own := first(m.Command)
	if own != program && m.start(own).lasting(own).stay == stays {
		f.Remedy, f.Fixable = "gate doctor --fix", true
	} else {
		f.Remedy = "install gate in a place that stays and run gate install again, or keep copies of it: gate install AGENT --copy"
	}
	return f
}
