package places

import (
	"os"
	"path/filepath"

	"gate/internal/artifact"
	"gate/internal/hostfs"
)

// A Site is a place that nothing is read from: what is there is compared with its
// compiled form. That costs a few looks, where a [Place] is made for reading.
type Site struct {
	Dir    string // absolute
	handle hostfs.Handle
}

// Look opens what [Open] would, and checks as much of it. It returns nil where
// Open does, but for a place that is [Site.Bare]. Whatever is not plain, such as a
// directory that is a link, is an error: then the place has to be opened.
func Look(base, below string, o *Owner) (*Site, error) {
	dir := filepath.Join(base, below)
	handle, err := hostfs.OpenHandle(dir)
	// errors.Is would be the first of a process to need tables of methods.
	if os.IsNotExist(err) && (below == "." || !leadsNowhere(base)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Site{dir, handle}
	if err := o.checkOpen(base, dir, handle); err != nil {
		defer s.Close()
		if s.Bare() {
			return nil, nil
		}
		return nil, err
	}
	return s, nil
}

// Bare reports that there is nothing in the place, for [Open] as if it were not
// there. Where it has a compiled form nobody need ask, which takes as long as a
// [Look]: a form holds only as long as nothing was taken out of the place.
func (s *Site) Bare() bool { return !s.handle.Holds(artifact.Dir) } // gate's own work says nothing

// leadsNowhere reports a link to what is not there, or something that is no
// directory.
func leadsNowhere(dir string) bool { return !hostfs.Exists(dir+"/.") && hostfs.Exists(dir) }

// checkOpen is [Owner.Above] and [Owner.Check] for a directory that is open.
func (o *Owner) checkOpen(base, dir string, handle hostfs.Handle) error {
	if o == nil {
		return nil
	}
	var err error
	if dir == base {
		err = o.leading(dir)
	} else {
		err = o.Above(base)
	}
	if err != nil {
		return err
	}
	info, err := handle.Stat(dir)
	if err != nil {
		return err
	}
	return o.Check(dir, info)
}

// Close closes the directory, unless [Dirs.Comparing] took it over. It may be nil.
func (s *Site) Close() {
	if s != nil {
		s.handle.Close()
	}
}
