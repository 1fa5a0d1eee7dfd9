//go:build linux || darwin

package artifact_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/internal/artifact"
	"gate/internal/hostfs"
)

// private is whose files in the state directory are.
func private(_ string, info fs.FileInfo) error { return hostfs.Private(info) }

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenFileRefuses holds that a file that somebody else could have put there
// is not used.
func TestOpenFileRefuses(t *testing.T) {
	data := encode(t, artifact.Content{Kind: artifact.User, Maker: maker})
	name := artifact.Name(artifact.User, "/home/dev/.config/gate")
	for what, spoil := range map[string]func(t *testing.T, base, file string){
		"a link": func(t *testing.T, base, file string) {
			must(t, os.Rename(file, file+"x"))
			must(t, os.Symlink(file+"x", file))
		},
		"a link to a relative name": func(t *testing.T, base, file string) {
			must(t, os.Rename(file, file+"x"))
			must(t, os.Symlink(filepath.Base(file)+"x", file))
		},
		"a directory that is a link": func(t *testing.T, base, file string) {
			must(t, os.Rename(filepath.Dir(file), filepath.Join(base, "other")))
			must(t, os.Symlink("other", filepath.Dir(file)))
		},
		"others may write the file":      func(t *testing.T, base, file string) { must(t, os.Chmod(file, 0o606)) },
		"the group may write the file":   func(t *testing.T, base, file string) { must(t, os.Chmod(file, 0o660)) },
		"others may write the directory": func(t *testing.T, base, file string) { must(t, os.Chmod(filepath.Dir(file), 0o777)) },
		"a second name":                  func(t *testing.T, base, file string) { must(t, os.Link(file, filepath.Join(base, "x"))) },
		"a directory": func(t *testing.T, base, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o700))
		},
		"nothing in it": func(t *testing.T, base, file string) { must(t, os.Truncate(file, 0)) },
		"missing":       func(t *testing.T, base, file string) { must(t, os.Remove(file)) },
	} {
		t.Run(what, func(t *testing.T) {
			base := t.TempDir()
			file := filepath.Join(base, artifact.Dir, name)
			write(t, file, data)
			if _, err := artifact.OpenFile(base, name, maker, artifact.User, private); err != nil {
				t.Fatal(err)
			}
			spoil(t, base, file)
			if _, err := artifact.OpenFile(base, name, maker, artifact.User, private); err == nil {
				t.Error("it is used")
			}
		})
	}
}

// TestRead reads small files and maps large ones.
func TestRead(t *testing.T) {
	base := t.TempDir()
	dir, err := hostfs.OpenHandle(base)
	must(t, err)
	defer dir.Close()
	read := func(name string) (string, error) {
		f, err := dir.OpenFile(name)
		must(t, err)
		defer f.Close()
		info, err := f.Stat(name)
		must(t, err)
		return artifact.Read(f, info)
	}
	for _, size := range []int{0, 1, 8 << 10, 8<<10 + 1, 1 << 20} {
		want := strings.Repeat("x", size)
		write(t, filepath.Join(base, "x"), want)
		if got, err := read("x"); got != want || (err != nil) != (size == 0) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	must(t, os.Mkdir(filepath.Join(base, "dir"), 0o700))
	if _, err := read("dir"); err == nil {
		t.Error("a directory is read")
	}
}

// TestStale holds that whatever is done to a place is noticed, however it is
// covered up.
func TestStale(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, dir string){
		"":                       func(t *testing.T, dir string) {},
		"another text":           func(t *testing.T, dir string) { write(t, filepath.Join(dir, "policies/a.rego"), "package b") },
		"a file more":            func(t *testing.T, dir string) { write(t, filepath.Join(dir, "policies/c.rego"), "") },
		"a file more in the top": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "hooks.json"), "") },
		"a file less":            func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "policies/a.rego"))) },
		"another mode":           func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "policies/a.rego"), 0o644)) },
		"another mode of a directory": func(t *testing.T, dir string) {
			must(t, os.Chmod(filepath.Join(dir, "policies"), 0o777))
		},
		"the same bytes written again": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "policies/a.rego"), "package a")
		},
		"another text of one length, with the time set back": func(t *testing.T, dir string) {
			name := filepath.Join(dir, "policies/a.rego")
			info, err := os.Stat(name)
			must(t, err)
			write(t, name, "package b")
			must(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		},
		"replaced by a file with the same time": func(t *testing.T, dir string) {
			name := filepath.Join(dir, "policies/a.rego")
			info, err := os.Stat(name)
			must(t, err)
			write(t, name+"x", "package b")
			must(t, os.Chtimes(name+"x", info.ModTime(), info.ModTime()))
			must(t, os.Rename(name+"x", name))
		},
		"replaced by a link": func(t *testing.T, dir string) {
			name := filepath.Join(dir, "policies/a.rego")
			must(t, os.Rename(name, filepath.Join(dir, "a.rego")))
			must(t, os.Symlink("../a.rego", name))
		},
		"the directory moved away and made anew": func(t *testing.T, dir string) {
			must(t, os.Rename(dir, dir+".old"))
			write(t, filepath.Join(dir, "policies/a.rego"), "package a")
		},
		"the directory moved away": func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+".old")) },
		"moved away and back": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "policies"), filepath.Join(dir, "x")))
			must(t, os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "policies")))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".gate")
			write(t, filepath.Join(dir, "policies/a.rego"), "package a")
			if what != "" {
				pass(t, dir)
			}
			a := open(t, artifact.Content{
				Kind: artifact.Project, Maker: maker, Made: time.Now().Add(time.Hour), Stamps: stamps(t, dir, ".", "policies", "policies/a.rego"),
			})
			change(t, dir)
			err := a.Fresh(dir)
			if (err == nil) != (what == "") || err != nil && !errors.Is(err, artifact.ErrStale) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// pass waits until the clock of the file system has moved on, however long that
// takes: what is written then has another change time.
func pass(t *testing.T, dir string) {
	t.Helper()
	first := stamps(t, dir, ".")[0].Changed
	for probe := filepath.Join(t.TempDir(), "x"); ; {
		write(t, probe, "x")
		if stamps(t, filepath.Dir(probe), "x")[0].Changed > first {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func stamps(t *testing.T, dir string, names ...string) (list []artifact.Stamp) {
	t.Helper()
	for _, name := range names {
		s, err := artifact.Look(dir)(name)
		if err != nil || s.Missing {
			t.Fatal(s, err)
		}
		list = append(list, s)
	}
	return list
}

// TestSettled holds that what was read in the same moment in which it changed
// counts for nothing: it may change again without anybody being able to tell.
func TestSettled(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	second := at.Truncate(time.Second)
	for _, c := range []struct {
		what    string
		stamp   artifact.Stamp
		read    time.Time
		settled bool
	}{
		{"long ago", artifact.Stamp{Changed: at.UnixNano(), Modified: at.UnixNano()}, at.Add(time.Minute), true},
		{"just now", artifact.Stamp{Changed: at.UnixNano(), Modified: at.UnixNano()}, at.Add(time.Millisecond), false},
		{"in the future", artifact.Stamp{Changed: at.UnixNano(), Modified: at.UnixNano()}, at.Add(-time.Hour), false},
		{"modified in the future, as it says", artifact.Stamp{Changed: at.UnixNano(), Modified: at.Add(time.Hour).UnixNano()}, at.Add(time.Minute), true},
		{"modified long ago, changed just now", artifact.Stamp{Changed: at.UnixNano(), Modified: 1}, at.Add(time.Millisecond), false},
		{"whole seconds, a second ago", artifact.Stamp{Changed: second.UnixNano(), Modified: second.UnixNano()}, second.Add(time.Second), false},
		{"whole seconds, long ago", artifact.Stamp{Changed: second.UnixNano(), Modified: second.UnixNano()}, second.Add(time.Minute), true},
	} {
		if got := c.stamp.Settled(c.read); got != c.settled {
			t.Errorf("%s: got %t", c.what, got)
		}
	}
	dir := t.TempDir()
	now := stamps(t, dir, ".")
	for after, settled := range map[time.Duration]bool{time.Millisecond: false, time.Minute: true, -time.Hour: false} {
		a := open(t, artifact.Content{Kind: artifact.User, Maker: maker, Made: time.Unix(0, now[0].Changed).Add(after), Stamps: now})
		if err := a.Fresh(dir); (err == nil) != settled {
			t.Errorf("read %s after the change: fresh: %v", after, err)
		}
	}
}

// TestFreshNeedsStamps holds that a file that names nothing is never fresh.
func TestFreshNeedsStamps(t *testing.T) {
	a := open(t, artifact.Content{Kind: artifact.User, Maker: maker})
	if err := a.Fresh(t.TempDir()); !errors.Is(err, artifact.ErrStale) {
		t.Error(err)
	}
}

// TestFreshMany holds that a change is noticed wherever it is among many files,
// which are not compared one after the other, nor from one directory.
func TestFreshMany(t *testing.T) {
	dir := t.TempDir()
	names := []string{".", "few", "few/few", "few/few/a.rego", "few/few/b.rego", "many"}
	for i := range 1100 {
		names = append(names, fmt.Sprintf("many/p%04d.rego", i))
	}
	for i := range 20 {
		sub := fmt.Sprintf("many/sub%02d", i)
		names = append(names, sub, sub+"/c.rego")
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".rego") {
			write(t, filepath.Join(dir, name), "package p")
		}
	}
	content := func() artifact.Content {
		return artifact.Content{Kind: artifact.Project, Maker: maker, Made: time.Now().Add(time.Hour), Stamps: stamps(t, dir, names...)}
	}
	if err := open(t, content()).Fresh(dir); err != nil {
		t.Fatal(err)
	}
	for at, name := range names {
		if at > 10 && at%50 != 0 && at < len(names)-3 {
			continue
		}
		c := content()
		c.Stamps[at].Changed++
		if err := open(t, c).Fresh(dir); !errors.Is(err, artifact.ErrStale) || !strings.HasSuffix(err.Error(), ": "+name+" has changed") {
			t.Errorf("%s is another: got %v", name, err)
		}
	}
	must(t, os.Rename(filepath.Join(dir, "many"), filepath.Join(dir, "gone")))
	if err := open(t, artifact.Content{
		Kind: artifact.Project, Maker: maker, Made: time.Now().Add(time.Hour),
		Stamps: append(stamps(t, dir, "."), renamed(stamps(t, dir, "gone/sub00", "gone/sub00/c.rego"), "gone", "many")...),
	}).Fresh(dir); !errors.Is(err, artifact.ErrStale) {
		t.Errorf("a directory is gone: got %v", err)
	}
}

// renamed are stamps under other names.
func renamed(list []artifact.Stamp, from, to string) []artifact.Stamp {
	for i := range list {
		list[i].Name = strings.Replace(list[i].Name, from, to, 1)
	}
	return list
}

// TestFreshOutside holds that no stamp is of anything that is not in the place.
func TestFreshOutside(t *testing.T) {
	dir := t.TempDir()
	s := stamps(t, dir, ".")[0]
	s.Name = dir
	a := open(t, artifact.Content{Kind: artifact.Project, Maker: maker, Made: time.Now().Add(time.Hour), Stamps: []artifact.Stamp{s}})
	if err := a.Fresh(dir); err == nil {
		t.Error("a name that leads out of the place is fresh")
	}
}
