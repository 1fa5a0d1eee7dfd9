package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gate/owned"
)

// A place is an open directory that settings and hooks are read from. A nil
// place is a directory that is not there.
type place struct {
	dir   string // absolute
	files fs.FS
	owner *owner
	err   error // why it cannot be read; files is then nil
	root  *os.Root
}

// An owner says whose files a place may hold; nil: anybody's.
type owner struct {
	owned.Ownership
	links   bool // symbolic links within the place are followed
	parents bool // the directories above count, too
}

// admins is the group that administers a Mac.
const admins = 80

// managedFiles are root's, or with --managed-dir also those of whoever runs
// gate. Links are refused: what they lead to is not what was looked at.
func managedFiles(d dirs) *owner {
	if runtime.GOOS == "windows" {
		return nil // the access lists of the directory that the system sets aside are the protection
	}
	effective := -1
	if d.managedNamed {
		effective = os.Geteuid()
	}
	o := &owner{Ownership: owned.Managed(effective), parents: !d.managedNamed}
	if runtime.GOOS == "darwin" {
		o.Admins = []int{admins}
	}
	return o
}

// userFiles are the user's or root's.
func userFiles() *owner {
	if runtime.GOOS == "windows" {
		return nil
	}
	return &owner{Ownership: owned.Users(os.Getuid()), links: true}
}

// check reports why a file that was opened may not decide.
func (o *owner) check(name string, info fs.FileInfo) error {
	if o == nil {
		return nil
	}
	return behind(name, o.Check(name, info, owned.OwnerOf(info)))
}

// behind takes the name off the beginning of an error that will stand behind it.
func behind(name string, err error) error {
	if err == nil {
		return nil
	}
	if rest, ok := strings.CutPrefix(err.Error(), name+": "); ok {
		return errors.New(rest)
	}
	return err
}

// above checks the directory itself, and what leads to it.
func (o *owner) above(dir string) error {
	if o == nil {
		return nil
	}
	if o.parents {
		if err := o.Parents(dir, os.Lstat, os.Readlink, owned.OwnerOf); err != nil {
			return err
		}
	}
	look := os.Stat
	if !o.links {
		look = os.Lstat
	}
	info, err := look(dir)
	if err != nil {
		return err
	}
	return o.check(dir, info)
}

// openPlace opens a directory below base without following a link out of base.
// It returns nil if there is no such directory, or nothing in it.
func openPlace(base, below string, o *owner) *place {
	p := &place{dir: filepath.Join(base, below), owner: o}
	p.root, p.err = openBelow(base, below)
	if errors.Is(p.err, fs.ErrNotExist) {
		return nil
	}
	if p.err == nil && p.empty() {
		p.close()
		return nil
	}
	if p.err == nil {
		p.err = o.above(base)
	}
	if p.err == nil && below != "." {
		if info, err := p.root.Stat("."); err != nil {
			p.err = err
		} else {
			p.err = o.check(p.dir, info)
		}
	}
	if p.err != nil {
		p.err = plain(p.err)
		p.close()
		return p
	}
	p.files = ownedFS{root: p.root, dir: p.dir, owner: o}
	return p
}

// empty reports that nothing is in a directory that can be read.
func (p *place) empty() bool {
	d, err := p.root.Open(".")
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = d.ReadDir(1)
	return err == io.EOF
}

func (p *place) close() {
	if p != nil && p.root != nil {
		p.root.Close()
	}
}

// openBelow opens a directory below base. A base that is missing counts as
// missing; one that cannot be looked at does not, and neither does a link that
// leads nowhere.
func openBelow(base, below string) (*os.Root, error) {
	outer, err := os.OpenRoot(base)
	if err != nil {
		return nil, missing(err, base)
	}
	if below == "." {
		return outer, nil
	}
	defer outer.Close()
	inner, err := outer.OpenRoot(below)
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

// plain removes the path from an error that already stands behind one.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
