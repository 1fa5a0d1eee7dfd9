package targets

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/internal/policytest"
	"gate/internal/sealed"
)

// watchEvery is how often files are looked at. Looking at the times of a few
// hundred files costs a millisecond, works on every file system, and needs no
// word about directories that come and go.
const watchEvery = 300 * time.Millisecond

// A Watch knows what files were like at a time.
type Watch struct {
	paths  []string
	before map[string]stamp
}

// WatchOf remembers the policies and tests in paths as they are now.
func WatchOf(paths []string) Watch { return Watch{paths, stamps(paths)} }

// Changed waits until some of them are other ones, and says which and how. It returns
// nothing where the context was done before.
func (w Watch) Changed(ctx context.Context) []string {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if changes := changesOf(w.before, stamps(w.paths)); len(changes) > 0 {
			return changes
		}
	}
}

func changesOf(before, now map[string]stamp) (list []string) {
	for name, old := range before {
		switch s, there := now[name]; {
		case !there:
			list = append(list, name+" is gone")
		case s != old:
			list = append(list, name+" changed")
		}
	}
	for name := range now {
		if _, there := before[name]; !there {
			list = append(list, name+" is new")
		}
	}
	slices.Sort(list)
	return list
}

// A stamp tells one state of a file from another.
type stamp struct {
	size     int64
	modified time.Time
}

// stamps looks at all files that policies and tests consist of.
func stamps(args []string) map[string]stamp {
	out := map[string]stamp{}
	for _, arg := range args {
		if ext := filepath.Ext(arg); ext == ".rego" || ext == ".yaml" {
			arg = filepath.Dir(arg) // its neighbours are part of it
		}
		_ = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // gone since, which is a change, too
			case name != arg && d.IsDir() && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir(), !strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, policytest.CasesSuffix) && d.Name() != sealed.DataFile:
				return nil
			}
			if info, err := d.Info(); err == nil {
				out[name] = stamp{info.Size(), info.ModTime()}
			}
			return nil
		})
	}
	return out
}
