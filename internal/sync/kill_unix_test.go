//go:build unix

package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gate/internal/sync"
)

// faultVariable makes the test binary a process that dies: it holds a dying.
const faultVariable = "GATE_TEST_SYNC_DIES"

// A dying is an activation that ends in the middle.
type dying struct {
	Dir    string
	Step   int    // which step is the last; 0: it is not killed
	Most   uint64 // bytes that a file may have, as where the disk is full in the middle of one; 0: any number
	Offers []sync.Offer
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(faultVariable); ok {
		os.Exit(die(text))
	}
	os.Exit(m.Run())
}

// die activates and kills itself at a step. It ends with 0 if there are fewer.
func die(text string) int {
	var d dying
	data, err := os.ReadFile(text)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if d.Most > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: d.Most, Max: d.Most}); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	n := 0
	s := sync.WithFaults(sync.Store{Dir: d.Dir}, func(string) error {
		if n++; n == d.Step {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
		return nil
	})
	out, err := s.Activate(context.Background(), d.Offers, sync.Rules{Now: now, Gate: "v1.0.0"})
	for _, o := range out {
		err = errors.Join(err, o.Err)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestKilled kills an activation at every step it makes, and looks at what is in
// force, and at what the next one makes of it.
func TestKilled(t *testing.T) {
	p := newPublisher(t)
	old := []sync.Offer{p.offer("company", 1), p.offer("team", 1)}
	update := []sync.Offer{p.offer("company", 2), p.offer("team", 2)}
	prepared := newMachine(t, p.keySet())
	prepared.activate(old...)
	for step := 1; ; step++ {
		m := prepared.copy()
		out, err := runDying(t, dying{Dir: m.dir, Step: step, Offers: update})
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
			t.Fatalf("step %d: %v\n%s", step, err, out)
		}
		if got := m.inForce(); got != "company 1;team 1;" && got != "company 2;team 2;" {
			t.Errorf("killed at step %d: %s is in force", step, got)
		}
		afterwards(t, p, m, fmt.Sprintf("killed at step %d", step), update)
		if err == nil {
			if step < 40 {
				t.Errorf("only %d steps were seen", step-1)
			}
			return
		}
	}
}

// runDying has another process activate.
func runDying(t *testing.T, d dying) ([]byte, error) {
	t.Helper()
	plan := filepath.Join(t.TempDir(), "plan")
	data, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(plan, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), faultVariable+"="+plan)
	return cmd.CombinedOutput()
}

// TestNoRoom has the system itself refuse to write on in the middle of each file,
// which leaves half of it there, as a disk without room does.
func TestNoRoom(t *testing.T) {
	p := newPublisher(t)
	old := []sync.Offer{p.offer("company", 1), p.offer("team", 1)}
	update := []sync.Offer{p.offer("company", 2), p.offer("team", 2)}
	prepared := newMachine(t, p.keySet())
	prepared.activate(old...)
	refused := 0
	for most := uint64(1); ; most += 41 {
		m := prepared.copy()
		out, err := runDying(t, dying{Dir: m.dir, Most: most, Offers: update})
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "too large")) {
			t.Fatalf("at most %d bytes: %v\n%s", most, err, out)
		}
		afterwards(t, p, m, fmt.Sprintf("at most %d bytes", most), update)
		if err == nil {
			break
		}
		refused++
	}
	if refused < 10 {
		t.Errorf("only %d limits stopped it", refused)
	}
}

// TestFullDisk has every step fail, as it does on a full disk.
func TestFullDisk(t *testing.T) {
	p := newPublisher(t)
	old := []sync.Offer{p.offer("company", 1), p.offer("team", 1)}
	update := []sync.Offer{p.offer("company", 2), p.offer("team", 2)}
	prepared := newMachine(t, p.keySet())
	prepared.activate(old...)
	for step := 1; ; step++ {
		m := prepared.copy()
		n, failed := 0, ""
		s := sync.WithFaults(sync.Store{Dir: m.dir}, func(name string) error {
			if n++; n >= step { // and everything after it
				failed = name
				return syscall.ENOSPC
			}
			return nil
		})
		out, err := s.Activate(context.Background(), update, m.rules)
		if failed == "" {
			return
		}
		for _, o := range out {
			in := m.current().Find(o.Name)
			if in == nil || o.After != *in {
				t.Errorf("%s: it says %+v, but %+v is in force", failed, o.After, in)
			}
			if o.Err != nil && !errors.As(o.Err, new(*sync.DiskError)) {
				t.Errorf("%s: the bundle is blamed: %v", failed, o.Err)
			}
			if !o.Changed() && o.Err == nil && err == nil {
				t.Errorf("%s: %s did not come into force, and nothing says why", failed, o.Name)
			}
		}
		afterwards(t, p, m, "full at "+failed, update)
	}
}

// afterwards holds that each bundle is old or new, that nothing of the old can
// come back, and that the next sync makes it new and leaves nothing.
func afterwards(t *testing.T, p *publisher, m *machine, when string, update []sync.Offer) {
	t.Helper()
	got := m.inForce()
	if got != "company 1;team 1;" && got != "company 2;team 2;" && got != "company 2;team 1;" {
		t.Errorf("%s: %s is in force", when, got)
	}
	next := m.activate(update...)
	if got := m.inForce(); got != "company 2;team 2;" || next[0].Err != nil || next[1].Err != nil {
		t.Errorf("%s, and then: %s, %v", when, got, next)
	}
	m.activate(update...)
	if left := m.leftovers(); len(left) > 0 {
		t.Errorf("%s: left: %q", when, left)
	}
	if out := m.activate(p.offer("company", 1)); out[0].Err == nil {
		t.Errorf("%s: the old one came back", when)
	}
}

// TestModes: every account can read what is in force, whatever the umask, and
// nobody else can write it.
func TestModes(t *testing.T) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	for _, mask := range []int{0o077, 0} {
		syscall.Umask(mask)
		offer := p.offer("company", int64(mask)+1)
		if mask == 0 {
			offer = p.offer("company", 1000)
		}
		m.activate(offer)
		err := filepath.WalkDir(filepath.Join(m.dir, sync.Dir), func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			want := fs.FileMode(0o644)
			switch {
			case e.IsDir():
				want = 0o755
			case e.Name() == ".lock":
				want = 0o600
			}
			if err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %#o: %s has mode %v, want %v", mask, name, info.Mode().Perm(), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
