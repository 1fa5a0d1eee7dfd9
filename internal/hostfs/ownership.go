package hostfs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// An Owner is whom a file belongs to. The zero Owner is unknown.
type Owner struct {
	UID, GID int
	Known    bool
}

// Ownership says whose files may decide, as sudo does: those of certain
// accounts, which nobody else may write.
type Ownership struct {
	Whose  string // for people: "managed settings", "your settings"
	UIDs   []int  // accounts that may own them
	Admins []int  // groups that may write them, such as macOS's admin
}

// Managed returns what managed files must be: root's. effective is the account
// that gate runs as, where --managed-dir was given; -1 otherwise.
func Managed(effective int) Ownership {
	o := Ownership{Whose: "managed files", UIDs: []int{0}}
	if effective > 0 {
		o.UIDs = append(o.UIDs, effective)
	}
	return o
}

// Users returns what the files of a user must be.
func Users(uid int) Ownership {
	return Ownership{Whose: "your own files", UIDs: []int{uid, 0}}
}

// Check reports why a file or directory may not decide, and how to repair it.
// It must be asked about what was opened, not about a name. An unknown owner is
// refused.
func (o Ownership) Check(name string, info fs.FileInfo, owner Owner) error {
	mode := info.Mode()
	quoted := "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	switch {
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: a symbolic link; %s must be files themselves: put the file itself in its place", name, o.Whose)
	case !mode.IsRegular() && !mode.IsDir():
		return fmt.Errorf("%s: not a regular file", name)
	case !owner.Known:
		return fmt.Errorf("%s: its owner is unknown", name)
	case !slices.Contains(o.UIDs, owner.UID):
		return fmt.Errorf("%s: it belongs to account %d, not to %d: chown %d %s", name, owner.UID, o.UIDs[0], o.UIDs[0], quoted)
	case mode.Perm()&0o002 != 0:
		return fmt.Errorf("%s: everybody may write it (mode %#o): chmod o-w %s", name, mode.Perm(), quoted)
	case mode.Perm()&0o020 != 0 && !slices.Contains(o.Admins, owner.GID):
		return fmt.Errorf("%s: its group may write it (mode %#o): chmod g-w %s", name, mode.Perm(), quoted)
	}
	return nil
}

// checkParent is Check for a directory above: it may also be root's, and a
// sticky one, such as /tmp, may be anybody's to write, for there nobody can
// replace what belongs to another.
func (o Ownership) checkParent(name string, info fs.FileInfo, owner Owner) error {
	if !info.IsDir() {
		return fmt.Errorf("%s: not a directory", name)
	}
	o.UIDs = append(slices.Clone(o.UIDs), 0)
	if info.Mode()&fs.ModeSticky != 0 && owner.Known && slices.Contains(o.UIDs, owner.UID) {
		return nil
	}
	return o.Check(name, info, owner)
}

const maxLinks = 16 // in a row

// Parents reports why the directories above an absolute path may not hold what
// decides: whoever can write one can put another in the path's place. A
// symbolic link among them is followed, and what it leads to is checked too.
// lstat and readlink are those of package os, and owner is [OwnerOf].
func (o Ownership) Parents(dir string, lstat func(string) (fs.FileInfo, error), readlink func(string) (string, error),
	owner func(fs.FileInfo) Owner,
) error {
	budget := maxLinks
	return o.parents(filepath.Clean(dir), lstat, readlink, owner, &budget)
}

func (o Ownership) parents(dir string, lstat func(string) (fs.FileInfo, error), readlink func(string) (string, error),
	owner func(fs.FileInfo) Owner, budget *int,
) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: the path must be absolute", dir)
	}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := lstat(at)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if *budget--; *budget < 0 {
				return fmt.Errorf("%s: too many symbolic links in a row", at)
			}
			to, err := readlink(at)
			if err != nil {
				return err
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			if err := o.parents(filepath.Join(to, "x"), lstat, readlink, owner, budget); err != nil {
				return err
			}
		} else if err := o.checkParent(at, info, owner(info)); err != nil {
			return err
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
