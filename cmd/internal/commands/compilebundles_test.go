//go:build linux

package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/internal/artifact"
	"gate/internal/places"
	"gate/internal/sources"
	"gate/internal/sync"
)

// TestRootOnly holds what is noticed of signed bundles that only root may write:
// another release, and whatever else comes into force in their place. A file that
// root itself edits is noticed where anybody else may write, too.
func TestRootOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files of root's")
	}
	const policy = "bundles/company/release/files/company/p1/policy.rego"
	for _, c := range []struct {
		what   string
		before func(t *testing.T, dir string) // it is compiled
		after  func(t *testing.T, dir string)
		named  bool // --managed-dir was given
		fresh  bool
	}{
		{what: "nothing", fresh: true},
		{what: "root edits a policy in place", after: edits(policy), fresh: true},
		{what: "root edits a policy in a directory that was named", named: true, after: edits(policy)},
		{what: "group may write a policy", before: modes(policy, 0o664), after: edits(policy)},
		{what: "others may write a directory of policies", before: modes(filepath.Dir(policy), 0o757), after: edits(policy)},
		{what: "others may write the directory of bundles", before: modes("bundles", 0o757), after: edits(policy)},
		{what: "a policy is somebody else's", before: owners(policy), after: edits(policy)},
		{what: "a directory is somebody else's", before: owners("bundles/company"), after: edits(policy)},
		{what: "others may write the release from now on", after: modes("bundles/company/release", 0o757)},
		{what: "the release is somebody else's from now on", after: owners("bundles/company/release")},
		{what: "the pointer is written", after: edits(sync.CurrentFile)},
		{what: "what was seen is written", after: edits(sync.SeenFile)},
		{what: "the keys are written", after: edits(sync.KeysFile)},
		{what: "settings come", after: edits("settings.json")},
		{what: "a recovery file comes", after: edits(sources.RecoveryFile)},
		{what: "another release comes", after: edits("bundles/company/8-0/files/x.rego")},
		{what: "the files are moved away", after: func(t *testing.T, dir string) {
			files := filepath.Dir(filepath.Dir(filepath.Dir(inRelease(t, dir, policy))))
			if err := os.Rename(files, files+".old"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := inForce(t)
			at := compilable{kind: artifact.Managed, dir: dir}
			at.dirs.Managed, at.dirs.ManagedNamed, at.dirs.State = dir, c.named, t.TempDir()
			if c.before != nil {
				c.before(t, dir)
			}
			form := at.build(false)
			if c.before != nil && (form.err != nil || form.Refused != "") {
				return // it is not compiled at all
			}
			if form.err != nil || form.Refused != "" || form.RootOnly == (c.named || c.before != nil) {
				t.Fatal(form.err, form.Refused, form.RootOnly)
			}
			if c.after != nil {
				c.after(t, dir)
			}
			if _, err := at.dirs.Compiled(at.kind, dir, artifact.Maker()); (err == nil) != c.fresh || err != nil && !errors.Is(err, artifact.ErrStale) {
				t.Errorf("got %v", err)
			}
			at.dirs.ManagedNamed = true
			if _, err := at.dirs.Compiled(at.kind, dir, artifact.Maker()); form.RootOnly && !errors.Is(err, artifact.ErrStale) {
				t.Errorf("where anybody else may write, too: got %v", err)
			}
		})
	}
}

// inForce is a managed directory of root's with a bundle in force.
func inForce(t *testing.T) string {
	t.Helper()
	dir, keys, private := keyedMachine(t)
	out, err := sync.Store{Dir: dir}.Activate(t.Context(), []sync.Offer{{Name: "company", Archive: benchBundle(t, 1, 3, false, keys, private)}}, sync.Rules{Now: time.Now()})
	if err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	p := places.Open(dir, ".", places.ManagedFiles(dirs{Managed: dir}))
	defer p.Close()
	if p == nil || p.Err != nil {
		t.Fatal(p)
	}
	return dir
}

// inRelease is the path of a name in which the release stands for the one in force.
func inRelease(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(sync.CurrentFile)))
	if err != nil {
		t.Fatal(err)
	}
	current, err := sync.ParseCurrent(data)
	if err != nil {
		t.Fatal(err)
	}
	if below, ok := cutDir(name, "bundles/company/release"); ok {
		name = filepath.Join(sync.Dir, current.Bundles[0].Dir, below)
	}
	return filepath.Join(dir, name)
}

// cutDir is the rest of a name that is a directory or below it.
func cutDir(name, dir string) (rest string, ok bool) {
	rest, err := filepath.Rel(dir, name)
	return rest, err == nil && filepath.IsLocal(rest)
}

// edits writes a byte more into a file, where it is.
func edits(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		file := inRelease(t, dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("\n")
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func modes(name string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Chmod(inRelease(t, dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func owners(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Lchown(inRelease(t, dir, name), 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
}
