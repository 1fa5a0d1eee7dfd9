package consent_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/consent"
)

// testMode makes the test binary another process of a test.
const testMode = "CONSENT_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(testMode) {
	case "":
		os.Exit(m.Run())
	case "ancestors":
		fmt.Println(consent.Refuse(true, unset, consent.Ancestors()[:1]...))
	case "use":
		useAtGo()
	}
}

// useAtGo waits for the end of its standard input and tries the call.
func useAtGo() {
	fmt.Println("ready")
	buf := make([]byte, 1)
	os.Stdin.Read(buf)
	c := push(noon.Add(time.Minute))
	err := consent.Store{Dir: os.Getenv("CONSENT_TEST_DIR")}.Use(&c.ev, &c.d, on)
	var refusal consent.Refusal
	switch {
	case err == nil:
		fmt.Println("won")
	case errors.As(err, &refusal):
		fmt.Println("refused")
	default:
		fmt.Println("fault", err)
	}
}

// race lets n processes loose on one approval and kills some of them, and
// returns what they said.
func (k *desk) race(n int, kill func(i int) bool) []string {
	k.t.Helper()
	exe, err := os.Executable()
	k.must(err)
	start, hold, err := os.Pipe()
	k.must(err)
	out := make([]bytes.Buffer, n)
	ready := make([]*os.File, n)
	cmds := make([]*exec.Cmd, n)
	for i := range n {
		r, w, err := os.Pipe()
		k.must(err)
		cmds[i] = exec.Command(exe)
		cmds[i].Env = []string{testMode + "=use", "CONSENT_TEST_DIR=" + k.store.Dir}
		cmds[i].Stdin, cmds[i].Stdout, ready[i] = start, w, r
		k.must(cmds[i].Start())
		w.Close()
	}
	start.Close()
	var readers sync.WaitGroup
	for i, r := range ready {
		k.must(waitReady(r))
		readers.Go(func() { out[i].ReadFrom(r); r.Close() })
	}
	hold.Close() // go
	for i, cmd := range cmds {
		if kill(i) {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			cmd.Process.Kill()
		}
	}
	readers.Wait()
	said := make([]string, n)
	for i, cmd := range cmds {
		cmd.Wait()
		said[i] = strings.TrimSpace(out[i].String())
	}
	return said
}

func waitReady(r *os.File) error {
	var line []byte
	buf := make([]byte, 1)
	for !bytes.HasSuffix(line, []byte("\n")) {
		if _, err := r.Read(buf); err != nil {
			return err
		}
		line = append(line, buf[0])
	}
	return nil
}

func count(said []string, what string) int {
	n := 0
	for _, s := range said {
		if strings.HasPrefix(s, what) {
			n++
		}
	}
	return n
}

// TestRace holds that of 200 processes that find one approval, one gets it.
func TestRace(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 20
	}
	k := newDesk(t)
	k.approve(push(noon))
	said := k.race(n, func(int) bool { return false })
	if count(said, "won") != 1 || count(said, "refused") != n-1 {
		t.Fatalf("%d won, %d refused of %d: %q", count(said, "won"), count(said, "refused"), n, said)
	}
}

// TestRaceKilled kills half of them with SIGKILL in the middle: the approval is
// used at most once, ever, and the store is as good as before.
func TestRaceKilled(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 20
	}
	for range 2 {
		k := newDesk(t)
		k.approve(push(noon))
		said := k.race(n, func(i int) bool { return i%2 == 0 })
		won := count(said, "won")
		if won > 1 || count(said, "fault") > 0 {
			t.Fatalf("%d won: %q", won, said)
		}
		var refusal consent.Refusal
		if err := k.use(push(noon.Add(time.Minute))); err == nil && won > 0 || err != nil && !errors.As(err, &refusal) {
			t.Fatalf("%d won, and then: %v", won, err)
		}
		again := push(noon.Add(2 * time.Minute))
		again.d.ID = "again1"
		k.now = noon.Add(2 * time.Minute)
		k.approve(again)
		if said := k.race(10, func(int) bool { return false }); count(said, "won") != 1 {
			t.Fatalf("afterwards: %q", said)
		}
	}
}

// TestTruncated cuts every kind of record short at each byte, and changes each
// byte: nothing is ever granted, and everything is a fault.
func TestTruncated(t *testing.T) {
	k := newDesk(t)
	c := push(noon)
	o := k.origin()
	k.must(k.store.Trust(k.witness(), o, digestA))
	k.approve(c)
	other := push(noon, command("ls"))
	other.d.ID = "other1"
	k.pending(other)
	for dir, try := range map[string]func() error{
		"trust":    func() error { return k.store.CheckTrust(o, digestA) },
		"approved": func() error { return k.use(c) },
		"pending":  func() error { _, err := k.store.Pending("other1"); return err },
	} {
		path := k.path(dir)
		whole, err := os.ReadFile(path)
		k.must(err)
		fault := func(data []byte, what string) {
			k.must(os.WriteFile(path, data, 0o600))
			var refusal consent.Refusal
			if err := try(); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%s %s: %v", dir, what, err)
			}
		}
		for i := range whole {
			fault(whole[:i], fmt.Sprint("cut at ", i))
			changed := bytes.Clone(whole)
			changed[i] ^= byte(1 << (i % 8))
			fault(changed, fmt.Sprint("changed at ", i))
		}
		k.must(os.WriteFile(path, whole, 0o600))
		k.must(try())
	}
}

// TestSweep holds that the store stays small and that sweeping never grants.
func TestSweep(t *testing.T) {
	k := newDesk(t)
	real := time.Now()
	names := func(dir string) int {
		files, _ := filepath.Glob(filepath.Join(k.store.Dir, dir, "*"))
		return len(files)
	}
	for i := range 300 {
		c := push(real)
		c.d.ID = fmt.Sprintf("flood%d", i)
		k.pending(c)
	}
	if n := names("pending"); n != 256 {
		t.Errorf("%d calls wait", n)
	}
	if all, err := k.store.AllPending(); err != nil || len(all) != 256 {
		t.Errorf("%d, %v", len(all), err)
	}
	k.now = real
	last := push(real)
	last.d.ID = "last"
	k.approve(last)
	k.must(k.store.Sweep(real))
	if names("approved") != 1 {
		t.Error("a fresh approval was swept")
	}
	k.must(k.store.Sweep(real.Add(2 * time.Hour)))
	if names("pending")+names("approved")+names("claims") != 0 {
		t.Errorf("%d, %d and %d files are left", names("pending"), names("approved"), names("claims"))
	}
	if err := k.use(last); err != consent.NoApproval {
		t.Errorf("after sweeping: %v", err)
	}
	k.must(consent.Store{Dir: filepath.Join(k.t.TempDir(), "none")}.Sweep(real))
}

func BenchmarkCheckTrust(b *testing.B) {
	k := newDesk(b)
	o := k.origin()
	k.must(k.store.Trust(k.witness(), o, digestA))
	for b.Loop() {
		k.must(k.store.CheckTrust(o, digestA))
	}
}

func BenchmarkUseNothing(b *testing.B) {
	k := newDesk(b)
	c := push(noon)
	k.pending(c)
	for b.Loop() {
		if err := k.use(c); err != consent.NoApproval {
			b.Fatal(err)
		}
	}
}

func BenchmarkClock(b *testing.B) {
	k := newDesk(b)
	for b.Loop() {
		if _, err := k.store.Clock(noon); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddPending(b *testing.B) {
	k := newDesk(b)
	now := time.Now()
	for i := 0; b.Loop(); i++ {
		c := push(now)
		c.d.ID = fmt.Sprintf("bench%d", i)
		k.pending(c)
	}
}
