package sync_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/sync"
)

// TestOrder has nobody pass those who come before him.
func TestOrder(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.rules.First = "company"
	for _, step := range []struct {
		order []string
		offer sync.Offer
		want  string
	}{
		{[]string{"company", "team"}, p.offer("team", 1), ""}, // company could not be fetched
		{[]string{"company", "team"}, p.offer("company", 7), "company 7;"},
		{[]string{"team"}, p.offer("team", 1), "company 7;team 1;"},
		{[]string{"company"}, p.offer("company", 8), "company 8;team 1;"},
		{nil, p.offer("team", 2), "company 8;team 2;"},
		{[]string{"team", "company"}, p.offer("team", 3), "team 3;company 8;"},
	} {
		m.rules.Order = step.order
		if out := m.activate(step.offer); (out[0].Err != nil) != (step.want == "") {
			t.Fatal(out)
		}
		if got := m.inForce(); got != step.want {
			t.Errorf("%v: %s, want %s", step.order, got, step.want)
		}
	}
}

// TestActivate is the life of two bundles.
func TestActivate(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.rules.Order = []string{"company", "team"}
	broken := errors.New("1 of 3 tests failed")
	expired := func(md *bundles.Metadata) { md.Expires = now.Add(-time.Hour) }
	other := p.offer("company", 7, func(md *bundles.Metadata) { md.Previous = "sha256:" + strings.Repeat("00", 32) })
	wrongName := p.offer("team", 9)
	wrongName.Name = "company"
	for _, step := range []struct {
		name   string
		offers []sync.Offer
		try    error
		want   string // in force afterwards
		err    error  // of the last outcome
	}{
		{"the first", []sync.Offer{p.offer("team", 1)}, nil, "team 1;", nil},
		{"another, which goes first", []sync.Offer{p.offer("company", 7)}, nil, "company 7;team 1;", nil},
		{"the same once more", []sync.Offer{p.offer("company", 7)}, nil, "company 7;team 1;", nil},
		{"nothing new", []sync.Offer{{Name: "company", Unchanged: true}}, nil, "company 7;team 1;", nil},
		{"older", []sync.Offer{p.offer("company", 6)}, nil, "company 7;team 1;", sealed.Rollback},
		{"the version with other bytes", []sync.Offer{other}, nil, "company 7;team 1;", sealed.Rollback},
		{"its tests fail", []sync.Offer{p.offer("company", 8)}, broken, "company 7;team 1;", broken},
		{"what failed is not seen", []sync.Offer{{Name: "company", Unchanged: true}}, broken, "company 7;team 1;", nil},
		{"expired", []sync.Offer{p.offer("company", 8, expired)}, nil, "company 7;team 1;", sealed.Expired},
		{"another name than was asked for", []sync.Offer{wrongName}, nil, "company 7;team 1;", sealed.WrongName},
		{"one good, one bad", []sync.Offer{p.offer("team", 2), p.offer("company", 5)}, nil, "company 7;team 2;", sealed.Rollback},
		{"both", []sync.Offer{p.offer("team", 3), p.offer("company", 9)}, nil, "company 9;team 3;", nil},
		{"a proxy's page", []sync.Offer{{Name: "company", Archive: []byte("<html>Sign in")}}, nil, "company 9;team 3;", sealed.Malformed},
		{"not in force", []sync.Offer{{Name: "division", Unchanged: true}}, nil, "company 9;team 3;", errAny},
	} {
		m.rules.Try = func(context.Context, *bundles.Bundle, map[string]fs.FS) error { return step.try }
		before := m.current()
		out := m.activate(step.offers...)
		last := out[len(out)-1]
		if got := m.inForce(); got != step.want {
			t.Errorf("%s: %s is in force, want %s", step.name, got, step.want)
		}
		if step.err == errAny && last.Err == nil || step.err != errAny && !errors.Is(last.Err, step.err) {
			t.Errorf("%s: %v, want %v", step.name, last.Err, step.err)
		}
		for _, o := range out {
			if in := before.Find(o.Name); in != nil && o.Before != *in {
				t.Errorf("%s: before it was %+v, want %+v", step.name, o.Before, *in)
			}
			if in := m.current().Find(o.Name); in != nil && (o.After != *in || o.Changed() != (o.Before != *in)) {
				t.Errorf("%s: %+v, but %+v is in force", step.name, o, *in)
			}
		}
	}
}

var errAny = errors.New("any error")

// TestBeside: what is tried is told what else will be in force.
func TestBeside(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.activate(p.offer("company", 1))
	var asked []string
	m.rules.Try = func(_ context.Context, b *bundles.Bundle, beside map[string]fs.FS) error {
		line := b.Name() + ":"
		for name, files := range beside {
			if _, err := fs.Stat(files, name+"/a.rego"); err != nil {
				t.Error(err)
			}
			line += " " + name
		}
		asked = append(asked, line)
		return nil
	}
	m.activate(p.offer("company", 2), p.offer("team", 1), sync.Offer{Name: "company", Unchanged: true})
	if got, want := strings.Join(asked, "; "), "company:; team: company"; got != want {
		t.Errorf("asked about %s, want %s", got, want)
	}
}

// TestDamageIsMended: what somebody broke on the disk is written again, and what
// is mended is what was verified.
func TestDamageIsMended(t *testing.T) {
	p := newPublisher(t)
	offer := p.offer("company", 7)
	for name, file := range map[string]string{
		"a policy changed":   "files/company/a.rego",
		"a file too many":    "files/company/c.rego",
		"the archive broken": sync.ArchiveFile,
		"an envelope":        sync.EnvelopeFile,
	} {
		m := newMachine(t, p.keySet())
		a := m.activate(offer)[0].After
		at := filepath.Join(sync.Dir, filepath.FromSlash(a.Dir), filepath.FromSlash(file))
		m.write(at, []byte("package company\n"))
		if out := m.activate(offer)[0]; out.Err != nil || m.inForce() != "company 7;" || out.Mended != strings.HasPrefix(file, sync.FilesDir) {
			t.Errorf("%s: mended %v, %v", name, out.Mended, out.Err)
		}
		if out := m.activate(sync.Offer{Name: "company", Unchanged: true})[0]; out.Err != nil || out.Mended {
			t.Errorf("%s: and then: mended %v, %v", name, out.Mended, out.Err)
		}
		if left := m.leftovers(); len(left) > 0 {
			t.Errorf("%s: left: %q", name, left)
		}
	}
}

// TestLoosenedModesAreMended writes a release anew whose files whoever judges
// calls would not believe any more.
func TestLoosenedModesAreMended(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	p := newPublisher(t)
	for _, name := range []string{"", sync.ArchiveFile, sync.FilesDir, sync.FilesDir + "/company/a.rego"} {
		m := newMachine(t, p.keySet())
		strict := sync.Store{Dir: m.dir, Check: func(at string, info fs.FileInfo) error {
			if info.Mode().Perm()&0o022 != 0 {
				return fmt.Errorf("%s: others may write it", at)
			}
			return nil
		}}
		a := m.activate(p.offer("company", 7))[0].After
		at := filepath.Join(m.dir, sync.Dir, filepath.FromSlash(a.Dir), filepath.FromSlash(name))
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
		out, err := strict.Activate(context.Background(), []sync.Offer{p.offer("company", 7)}, m.rules)
		if err != nil || out[0].Err != nil {
			t.Fatalf("%s: %v, %v", name, out, err)
		}
		if info, err := os.Stat(at); err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestMemory: what was seen outlives the bundle and every loss but that of the
// whole directory.
func TestMemory(t *testing.T) {
	p := newPublisher(t)
	offered := func(change func(m *machine)) error {
		m := newMachine(t, p.keySet())
		m.activate(p.offer("company", 7))
		change(m)
		out, err := sync.Store{Dir: m.dir}.Activate(context.Background(), []sync.Offer{p.offer("company", 6)}, m.rules)
		if err == nil {
			err = out[0].Err
		}
		return err
	}
	remove := func(names ...string) func(*machine) {
		return func(m *machine) {
			for _, name := range names {
				if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*machine)
		want   string
	}{
		"as it was":            {remove(), "version 6 is offered, version 7 was seen"},
		"no bundles any more":  {remove(sync.Dir), "version 6 is offered, version 7 was seen"},
		"seen.json gone":       {remove(sync.SeenFile), "version 6 is offered, version 7 was seen"},
		"seen.json empty":      {func(m *machine) { m.write(sync.SeenFile, nil) }, "seen.json: it cannot be read"},
		"current.json empty":   {func(m *machine) { m.write(sync.CurrentFile, nil) }, "current.json: it cannot be read"},
		"synced.json empty":    {func(m *machine) { m.write(sync.SyncedFile, nil) }, "version 6 is offered, version 7 was seen"},
		"no key set":           {remove(sync.KeysFile), "keys.json"},
		"an older key set":     {func(m *machine) { m.write(sync.SeenFile, sealed.Seen{Keys: 2}.Encode()) }, "version 1 of the key set, but version 2 was seen"},
		"the clock set back":   {func(m *machine) { m.rules.Now = now.AddDate(-20, 0, 0) }, "version 6 is offered, version 7 was seen"},
		"nobody knows the day": {func(m *machine) { m.rules.Now = time.Time{} }, "nobody says what time it is"},
	} {
		if err := offered(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestClock: a clock that was set forward and back leaves what was in force.
func TestClock(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	month := func(md *bundles.Metadata) { md.Expires = now.AddDate(0, 1, 0) }
	m.activate(p.offer("company", 1, month))
	same := sync.Offer{Name: "company", Unchanged: true}

	m.rules.Now = now.AddDate(10, 0, 0)
	for _, o := range []sync.Offer{same, p.offer("company", 2, month)} {
		if out := m.activate(o)[0]; !errors.Is(out.Err, sealed.Expired) || m.inForce() != "company 1;" {
			t.Errorf("in ten years: %v, %s", out.Err, m.inForce())
		}
	}
	m.rules.Now = now.AddDate(-10, 0, 0)
	if out := m.activate(p.offer("company", 2, month))[0]; out.Err != nil || m.inForce() != "company 2;" {
		t.Errorf("ten years ago: %v, %s", out.Err, m.inForce())
	}
	m.rules.Now = now
	if out := m.activate(same)[0]; out.Err != nil || out.Changed() {
		t.Errorf("and today: %+v", out)
	}
	data, err := os.ReadFile(filepath.Join(m.dir, sync.SyncedFile))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sync.ParseSynced(data); err != nil || !s["company"].At.Equal(now) {
		t.Errorf("found on %v, %v", s, err)
	}
}

// TestAtOnce: many syncs at the same time, old and new, end with the newest in
// force, and whoever reads meanwhile reads whole bundles.
func TestAtOnce(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.activate(p.offer("company", 1))
	var all stdsync.WaitGroup
	for v := int64(2); v <= 9; v++ {
		offer := p.offer("company", v)
		all.Go(func() {
			out, err := sync.Store{Dir: m.dir}.Activate(context.Background(), []sync.Offer{offer}, m.rules)
			if err != nil || out[0].Err != nil && !errors.Is(out[0].Err, sealed.Rollback) {
				t.Errorf("version %d: %v %v", v, out, err)
			}
		})
	}
	all.Wait()
	if got := m.inForce(); got != "company 9;" {
		t.Errorf("%s is in force", got)
	}
}

// TestWaitEnds: who cannot have the lock goes away, with everything as it was.
func TestWaitEnds(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.activate(p.offer("company", 1))
	m.rules.Try = func(context.Context, *bundles.Bundle, map[string]fs.FS) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := sync.Store{Dir: m.dir}.Activate(ctx, []sync.Offer{p.offer("company", 3)}, sync.Rules{Now: now})
		if err == nil || !strings.Contains(err.Error(), "another sync holds it") {
			t.Errorf("a second sync: %v", err)
		}
		return nil
	}
	m.activate(p.offer("company", 2))
	if got := m.inForce(); got != "company 2;" {
		t.Errorf("%s is in force", got)
	}
}

// TestWhoseFiles: nothing is believed that Check does not believe.
func TestWhoseFiles(t *testing.T) {
	p := newPublisher(t)
	for _, name := range []string{".", sync.Dir, sync.KeysFile, sync.SeenFile, sync.CurrentFile} {
		m := newMachine(t, p.keySet())
		m.activate(p.offer("company", 1))
		s := sync.Store{Dir: m.dir, Check: func(at string, _ fs.FileInfo) error {
			if at == filepath.Join(m.dir, filepath.FromSlash(name)) {
				return errors.New(at + ": somebody else's")
			}
			return nil
		}}
		_, err := s.Activate(context.Background(), []sync.Offer{p.offer("company", 2)}, m.rules)
		if err == nil || !strings.Contains(err.Error(), "somebody else's") || m.inForce() != "company 1;" {
			t.Errorf("%s: %v, %s", name, err, m.inForce())
		}
	}
}
