package artifact

import (
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// A Stamp is what the file system says about one file or directory without
// opening it. Two equal stamps of one name mean the same content: whoever
// changes a file moves its change time, which nobody can set back.
type Stamp struct {
	Name    string // below the place, with slashes; "." for the place itself
	Missing bool   // nothing has the name; all that follows is zero

	Mode     fs.FileMode
	Size     int64 // of files
	Modified int64 // nanoseconds since 1970
	Changed  int64 // when the file or its inode last changed, in nanoseconds since 1970
	Device   uint64
	Inode    uint64
	UID, GID uint32
}

// Settled reports that the file cannot change any more without another stamp,
// if it was read at a moment: it had last changed so much earlier that the clock
// of the file system must have moved on since.
func (s *Stamp) Settled(read time.Time) bool {
	grain := 50 * time.Millisecond // Linux and macOS keep what the kernel's tick says
	if s.Changed%int64(time.Second) == 0 && s.Modified%int64(time.Second) == 0 {
		grain = 2 * time.Second // a file system without fractions
	}
	return s.Missing || time.Unix(0, s.Changed).Add(grain).Before(read)
}

// Fresh reports that everything in dir, which is the place, is as it was when
// the artifact was made. Any difference is [ErrStale].
func (a *Artifact) Fresh(dir string) error {
	look, done, err := lookIn(dir)
	if err != nil {
		if now, nerr := Look(dir)("."); nerr == nil && !now.Mode.IsDir() {
			err = fmt.Errorf("%w: it is no directory any more", ErrStale)
		}
		return err
	}
	defer done()
	return a.fresh(look)
}

// portion is how many stamps are compared in a row, while other processors
// compare others: enough that they gain more than it takes to wake them.
const portion = 250

func (a *Artifact) fresh(look func(name string) (Stamp, error)) error {
	d, err := a.open(sectionStamps)
	if err != nil {
		return err
	}
	n := d.count()
	if n == 0 {
		return fmt.Errorf("%w: it does not say what it was made of", ErrStale)
	}
	errs := make([]error, (n+portion-1)/portion)
	var all sync.WaitGroup
	for i := range errs {
		list := make([]Stamp, min(portion, n-i*portion))
		for k := range list {
			list[k] = d.stamp()
		}
		if d.err != nil {
			break
		}
		if len(errs) == 1 {
			errs[i] = a.same(list, look)
			break
		}
		all.Go(func() { errs[i] = a.same(list, look) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return d.end()
}

// same compares stamps with what is there now.
func (a *Artifact) same(list []Stamp, look func(name string) (Stamp, error)) error {
	for i := range list {
		want := &list[i]
		got, err := look(want.Name)
		if err != nil {
			return err
		}
		if got != *want || !want.Settled(a.content.Made) {
			return fmt.Errorf("%w: %s has changed", ErrStale, want.Name)
		}
	}
	return nil
}

// Names lists what the artifact was made of, below its place.
func (a *Artifact) Names() ([]string, error) {
	d, err := a.open(sectionStamps)
	if err != nil {
		return nil, err
	}
	names := make([]string, d.count())
	for i := range names {
		names[i] = d.stamp().Name
	}
	return names, d.end()
}

func (e *encoder) stamp(s Stamp) {
	e.text(s.Name)
	e.bool(s.Missing)
	e.uint(uint64(s.Mode))
	e.signed(s.Size)
	e.signed(s.Modified)
	e.signed(s.Changed)
	e.uint(s.Device)
	e.uint(s.Inode)
	e.uint(uint64(s.UID))
	e.uint(uint64(s.GID))
}

func (d *decoder) stamp() Stamp {
	return Stamp{
		Name: d.text(), Missing: d.bool(), Mode: fs.FileMode(d.uint()), Size: d.signed(), Modified: d.signed(), Changed: d.signed(),
		Device: d.uint(), Inode: d.uint(), UID: uint32(d.uint()), GID: uint32(d.uint()),
	}
}
