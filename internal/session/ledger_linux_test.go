package session

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/internal/origin"
)

// TestLedgerCannotGrow leaves a ledger whole that a full disk lets take in half a line.
// A process of its own does it: the limit would hold for what the test program notes, too.
func TestLedgerCannotGrow(t *testing.T) {
	const alone = "GATE_TEST_LEDGER_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLedgerCannotGrow$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestLedgerCannotGrow") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	l, project := ledger(t)
	note, key := touch(t, filepath.Join(project, "note.txt")), touch(t, filepath.Join(project, "key.txt"))
	if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: note, Secret: "environment file"}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(l.path())
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 10, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	err = l.Add(t.Context(), Key{}, "", []origin.Move{{Path: key, Secret: "private key"}}, time.Now())
	if reset := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); reset != nil {
		t.Fatal(reset)
	}
	if err == nil {
		t.Fatal("it grew")
	}
	if what, err := secretIn(l.Open(Key{}), note); what != "environment file" || err != nil {
		t.Errorf("afterwards: %q %v", what, err)
	}
}

// TestLedgerNames knows files whose names are no text, or are long as the ledger writes
// them: a shell makes such names as easily as others.
func TestLedgerNames(t *testing.T) {
	l, project := ledger(t)
	deep := filepath.Join(project, strings.Repeat(strings.Repeat("\x01", 200)+"/", 15))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{touch(t, filepath.Join(project, "a\xff")), touch(t, filepath.Join(project, `"a`)), touch(t, filepath.Join(deep, "b"))}
	for _, name := range names {
		if err := l.Add(t.Context(), Key{}, "", []origin.Move{{Path: name, Secret: "private key"}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if what, err := secretIn(l.Open(Key{}), name); what != "private key" || err != nil {
			t.Errorf("%.60q: %q %v", name, what, err)
		}
	}
	if what, err := secretIn(l.Open(Key{}), filepath.Join(project, "a\xfe")); what != "" || err != nil {
		t.Errorf("another name: %q %v", what, err)
	}
}

// TestLedgerLarge keeps a ledger small enough to be read, however long the names are.
func TestLedgerLarge(t *testing.T) {
	project := t.TempDir()
	if err := os.Mkdir(project+"/d0", 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text := []byte("\n")
	for i := range 2000 {
		path := fmt.Sprintf("%s/d%d/%s%d", project, i%7, strings.Repeat("n", 2000), i)
		text = append((&line{Move: origin.Move{Path: path, Secret: "private key"}, at: now.Add(time.Duration(i) * time.Millisecond)}).append(text), '\n')
	}
	text = Ledger{}.fit(text, now)
	e, err := entriesOf(append([]byte(head()), text...))
	if len(text) > maxLedger/2 || err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if what, _ := secretIn(e, project+"/d0/"+strings.Repeat("n", 2000)+"0"); what != "private key" {
		t.Error("the oldest file is not known any more")
	}
	if what, _ := secretIn(e, project+"/other"); what != "" {
		t.Error("a file beside the directories counts")
	}
	top, _ := entriesOf(append([]byte(head()+"\n"), append((&line{Move: origin.Move{Path: "/", Secret: "private key"}, at: now}).append(nil), '\n')...))
	if left, _ := top.Of("/a"); left.Secret != "private key" {
		t.Error("the root does not stand for its files")
	}
}
