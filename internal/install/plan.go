package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"gate/internal/strictjson"
)

// An Action says what happens to a file.
type Action string

const (
	Create Action = "create"
	Update Action = "update"
	Remove Action = "remove"
	Chmod  Action = "chmod"
)

// A Plan is what an installation or its undoing would do. The zero Plan does
// nothing.
type Plan struct {
	Agent   string   `json:"agent"`
	Scope   Scope    `json:"scope"`
	Changes []Change `json:"changes"`

	// Findings say why the agent ignores the file even so, such as a comment
	// in JSON: gate is written there and is not in force.
	Findings []Finding `json:"findings,omitempty"`

	system System
}

// A Change is what happens to one file.
type Change struct {
	Action Action      `json:"action"`
	Path   string      `json:"path"` // the real file: symbolic links are followed and stay
	Before []byte      `json:"-"`
	After  []byte      `json:"-"`
	Mode   fs.FileMode `json:"-"` // afterwards

	old   fs.FileInfo // nil for a new file
	mkdir fs.FileMode // of directories that are missing
	prune string      // a removed file's directory goes too when it is empty, up to here
}

// Empty reports that there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 }

// Diff returns the plan as a unified diff for people: what could steer a
// terminal is written as an escape, and a carriage return is visible.
func (p *Plan) Diff() string {
	var b strings.Builder
	for i := range p.Changes {
		b.WriteString(p.Changes[i].Diff())
	}
	return b.String()
}

// Diff returns the change as a unified diff, see [Plan.Diff].
func (c *Change) Diff() string {
	name := strictjson.Visible(filepath.ToSlash(c.Path))
	if c.Action == Chmod {
		return fmt.Sprintf("chmod %#o %s\n", c.Mode.Perm(), name)
	}
	from, to := name, name
	switch c.Action {
	case Create:
		from = "/dev/null"
	case Remove:
		to = "/dev/null"
	}
	text := diff.Diff(from, c.Before, to, c.After)
	if i := bytes.IndexByte(text, '\n'); bytes.HasPrefix(text, []byte("diff ")) {
		text = text[i+1:]
	}
	return strictjson.Visible(string(text))
}

// Apply does what was planned. Each file is written beside itself, made to
// last and renamed, so that it is the old one or the new one at every moment;
// a file that changed since it was planned is left alone, which is an error.
func (p *Plan) Apply() error {
	var errs []error
	for i := range p.Changes {
		if err := p.Changes[i].apply(p.system); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *Change) apply(sys System) error {
	if c.Action == Chmod {
		if err := c.unchanged(sys); err != nil {
			return err
		}
		return sys.Chmod(c.Path, c.Mode.Perm())
	}
	if c.Action == Remove {
		if err := c.unchanged(sys); err != nil {
			return err
		}
		if err := sys.Remove(c.Path); err != nil {
			return err
		}
		return c.pruneDirs(sys)
	}
	dir := filepath.Dir(c.Path)
	made, err := makeDirs(sys, dir, c.mkdir)
	if err == nil {
		err = c.write(sys, dir)
	}
	if err != nil {
		for _, d := range slices.Backward(made) {
			if sys.Remove(d) != nil { // not empty or not ours any more: leave it
				break
			}
		}
	}
	return err
}

// write puts the new text into place.
func (c *Change) write(sys System, dir string) error {
	temp, err := c.temporary(sys)
	if err != nil {
		return err
	}
	if err = c.unchanged(sys); err == nil {
		err = sys.Rename(temp, c.Path)
	}
	if err != nil {
		return errors.Join(err, sys.Remove(temp))
	}
	return sys.SyncDir(dir)
}

// temporary writes the new text beside the file, with its mode and owner.
func (c *Change) temporary(sys System) (name string, err error) {
	var f File
	for i := range 100 { // a crash may have left some behind
		name = fmt.Sprintf("%s.gate-%d", c.Path, i)
		if f, err = sys.Create(name); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.After)
	if err == nil && c.old != nil {
		err = keepOwner(sys, f, name, c.old)
	}
	if err == nil {
		err = f.Chmod(c.Mode.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, sys.Remove(name))
	}
	return name, nil
}

// keepOwner gives a new file the owner of the old one where they differ.
func keepOwner(sys System, f File, name string, old fs.FileInfo) error {
	uid, gid, ok := owner(old)
	if !ok {
		return nil
	}
	info, err := sys.Lstat(name)
	if err != nil {
		return err
	}
	if u, g, ok := owner(info); ok && u == uid && g == gid {
		return nil
	}
	if err := f.Chown(uid, gid); err != nil {
		return fmt.Errorf("%s: it belongs to user %d, group %d, which cannot be kept: %w", name, uid, gid, err)
	}
	return nil
}

// unchanged reports a file that is not what it was when the plan was made.
func (c *Change) unchanged(sys System) error {
	info, err := sys.Lstat(c.Path)
	if c.old == nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return errors.Join(fmt.Errorf("%s: it appeared since this was planned; plan again", c.Path), err)
	}
	if err != nil {
		return err
	}
	changed := info.Mode() != c.old.Mode()
	if !changed && c.Action != Chmod {
		now, err := sys.ReadFile(c.Path, maxFile)
		if err != nil {
			return err
		}
		changed = !bytes.Equal(now, c.Before)
	}
	if changed {
		return fmt.Errorf("%s: it changed since this was planned; plan again", c.Path)
	}
	return nil
}

// makeDirs makes dir and what is missing above it.
func makeDirs(sys System, dir string, mode fs.FileMode) (made []string, err error) {
	_, err = sys.Lstat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if made, err = makeDirs(sys, parent, mode); err != nil {
			return made, err
		}
	}
	if err := sys.Mkdir(dir, mode); err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// pruneDirs removes the directories that a removed file leaves empty.
func (c *Change) pruneDirs(sys System) error {
	for dir := filepath.Dir(c.Path); dir != c.prune && inside(dir, c.prune); dir = filepath.Dir(dir) {
		entries, err := sys.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := sys.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}
