package places

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"gate/internal/artifact"
	"gate/internal/hostfs"
)

// A Place is an open directory that settings and hooks are read from. A nil
// Place is a directory that is not there.
type Place struct {
	Dir   string // absolute
	Files fs.FS  // opens nothing that may not decide, follows no link out of Dir and waits for no FIFO
	Owner *Owner
	Err   error // why it cannot be read; Files is then nil

	root *os.Root
}

// An Owner says whose files a place may hold; nil: anybody's.
type Owner struct {
	rules   hostfs.Ownership
	links   bool // symbolic links within the place are followed
	parents bool // the directories above count, too
}

// admins is the group that administers a Mac.
const admins = 80

// ManagedFiles are root's, or with --managed-dir also those of whoever runs
// gate. Links are refused: what they lead to is not what was looked at.
func ManagedFiles(d Dirs) *Owner {
	if runtime.GOOS == "windows" {
		return nil // the access lists of the directory that the system sets aside are the protection
	}
	effective := -1
	if d.ManagedNamed {
		effective = os.Geteuid()
	}
	o := &Owner{rules: hostfs.Managed(effective), parents: !d.ManagedNamed}
	if runtime.GOOS == "darwin" {
		o.rules.Admins = []int{admins}
	}
	return o
}

// UserFiles are the user's or root's.
func UserFiles() *Owner {
	if runtime.GOOS == "windows" {
		return nil
	}
	return &Owner{rules: hostfs.Users(os.Getuid()), links: true}
}

// Check reports why a file that was opened may not decide. The name is for the
// message, which does not begin with it.
func (o *Owner) Check(name string, info fs.FileInfo) error {
	if o == nil {
		return nil
	}
	return hostfs.Behind(name, o.rules.Check(name, info, hostfs.OwnerOf(info)))
}

// Above checks a directory itself, and what leads to it.
func (o *Owner) Above(dir string) error {
	if o == nil {
		return nil
	}
	if err := o.leading(dir); err != nil {
		return err
	}
	look := os.Stat
	if !o.links {
		look = os.Lstat
	}
	info, err := look(dir)
	if err != nil {
		return err
	}
	return o.Check(dir, info)
}

// Make makes a directory that is only this owner's, with what leads to it, from the top
// down: it looks at nothing below a directory that somebody else may write.
func (o *Owner) Make(dir string) error {
	for at, rest := "/", filepath.Clean(dir); ; {
		name, below, more := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		at, rest = filepath.Join(at, name), below
		if err := o.leading(at); err != nil {
			return err
		}
		if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if !more {
			return o.Above(dir)
		}
	}
}

// leading checks what leads to a directory, where that counts.
func (o *Owner) leading(dir string) error {
	if !o.parents {
		return nil
	}
	return o.rules.Parents(dir, os.Lstat, os.Readlink, hostfs.OwnerOf)
}

// Open opens a directory below base without following a link out of base.
// It returns nil if there is no such directory, or nothing in it.
func Open(base, below string, o *Owner) *Place {
	p := &Place{Dir: filepath.Join(base, below), Owner: o}
	p.root, p.Err = openBelow(base, below)
	if errors.Is(p.Err, fs.ErrNotExist) {
		return nil
	}
	if p.Err == nil && p.empty() {
		p.Close()
		return nil
	}
	if p.Err == nil {
		p.Err = o.Above(base)
	}
	if p.Err == nil && below != "." {
		if info, err := p.root.Stat("."); err != nil {
			p.Err = err
		} else {
			p.Err = o.Check(p.Dir, info)
		}
	}
	if p.Err != nil {
		p.Err = hostfs.Reason(p.Err)
		p.Close()
		return p
	}
	p.Files = ownedFS{root: p.root, dir: p.Dir, owner: o}
	return p
}

// empty reports that nothing is in a directory that can be read.
func (p *Place) empty() bool {
	d, err := p.root.Open(".")
	if err != nil {
		return false
	}
	defer d.Close()
	return !hostfs.Holds(d, artifact.Dir) // gate's own work says nothing
}

// Has reports whether there is a file in the place, or whether that cannot be
// told.
func (p *Place) Has(name string) bool {
	_, err := fs.Lstat(p.Files, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// RootOnly reports whether nobody but root may write a directory of the place,
// what is below it and what leads to it. On systems where access lists say more
// than owner and mode do, and in a directory that somebody named, it is never so.
func (p *Place) RootOnly(name string) bool {
	if runtime.GOOS != "linux" || p.Owner == nil || !p.Owner.parents {
		return false
	}
	check := func(name string) error {
		info, err := p.root.Lstat(name)
		if err == nil {
			err = p.Owner.Check(name, info)
		}
		return err
	}
	for at := name; ; at = path.Dir(at) { // the place and what is above it were checked when it was opened
		if check(at) != nil {
			return false
		}
		if at == "." {
			break
		}
	}
	return nil == fs.WalkDir(p.root.FS(), name, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, check(name))
	})
}

// Below opens a directory of the place once, for many files that lie deep in it,
// and not with each of them anew. It has [fs.SubFS] for its own directories. What
// it opened is closed with the last that holds it.
func (p *Place) Below(name string) (fs.FS, error) {
	return deepFS{ownedFS{root: p.root, dir: p.Dir, owner: p.Owner}}.Sub(name)
}

// Close closes the directory. It may be nil.
func (p *Place) Close() {
	if p != nil && p.root != nil {
		p.root.Close()
	}
}

// openBelow opens a directory below base. A base that is missing counts as
// missing; one that cannot be looked at does not, and neither does a link that
// leads nowhere.
func openBelow(base, below string) (*os.Root, error) {
	outer, err := hostfs.OpenDir(base)
	if err != nil {
		return nil, missing(err, base)
	}
	if below == "." {
		return outer, nil
	}
	defer outer.Close()
	inner, err := hostfs.OpenDirIn(outer, below)
	if err == nil {
		return inner, nil
	}
	for at := below; at != "."; at = filepath.Dir(at) {
		if info, lerr := outer.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link that leads nowhere or out of %s", at, base)
		}
	}
	return nil, err
}

func missing(err error, dir string) error {
	if info, lerr := os.Lstat(dir); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("it is a symbolic link that leads nowhere")
	}
	return err
}
