package confine

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRaces holds that whoever swaps names in the project while calls start gains nothing:
// what is mounted and covered is looked at before, and a link in its place must not lead
// to a secret into view, nor the launcher to change something outside.
func TestRaces(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	secret := s.at.Home + "/.ssh"
	project := s.at.Project
	pairs := map[string]string{ // what is swapped for a link to what
		"sub/.git":          secret,
		"sub/.git/hooks":    secret,
		".git/hooks":        secret,
		".env":              secret + "/id_rsa",
		".git/config":       secret + "/id_rsa",
		".claude/settings":  secret,
		"deep":              s.at.Home,
		"deep/.git/hooks":   secret,
		".claude":           s.at.Home,
		"deep/.aws/config":  secret,
		"sub/.env":          s.at.Home + "/.aws/credentials",
		"deep/sub/.git":     secret,
		"deep/.envrc":       s.at.Home + "/.netrc",
		".git/objects/info": secret,
	}
	for _, name := range []string{".ssh/id_rsa", ".aws/credentials", ".netrc", "other/notes"} {
		if err := os.WriteFile(s.at.Home+"/"+name, []byte("PRIVATE\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range pairs {
		at := filepath.Join(project, name)
		if !exists(at) {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(to, at+".link"); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var swaps atomic.Int64
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for !stop.Load() {
			for name := range pairs {
				at := filepath.Join(project, name)
				for range 2 { // a link is there for a moment only: where one stays, nothing runs
					if unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, at+".link", unix.RENAME_EXCHANGE) == nil {
						swaps.Add(1)
					}
				}
			}
			time.Sleep(time.Duration(swaps.Load()%7) * 100 * time.Microsecond)
		}
	}()
	before := listing(t, s.at.Home)
	ran := 0
	for range 60 {
		c := s.command(t, "project", "/bin/sh", "-c", "find -L . -type f -size -4k -exec grep -l PRIVATE {} + 2>/dev/null; ls -a "+secret+" "+s.at.Home+"/other 2>/dev/null; echo ran")
		output, _, err := runs(t, c)
		if err == nil && strings.HasSuffix(output, "ran\n") {
			ran++
		}
		if seen, all := strings.CutSuffix(output, "ran\n"); err == nil && (!all || seen != "") {
			t.Errorf("in view: %q", output)
		}
	}
	stop.Store(true)
	<-ended
	t.Logf("%d of 60 calls ran, and %d names were swapped meanwhile", ran, swaps.Load())
	if swaps.Load() < 60 {
		t.Errorf("only %d names were swapped", swaps.Load())
	}
	if after := listing(t, s.at.Home); after != before {
		t.Errorf("outside of the project there was\n%s\nand now there is\n%s", before, after)
	}
}

// listing are the names of a home, without those of the project, caches and gate's own.
func listing(t *testing.T, home string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(home, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(home, name)
		if rel == "src/project" || rel == ".local" || rel == ".cache" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		names = append(names, rel+" "+info.Mode().String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestStubByLink holds that nothing is made where a link of the project leads.
func TestStubByLink(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(base+"/elsewhere", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", base+"/link"); err != nil {
		t.Fatal(err)
	}
	if s, err := newStub(base + "/link/.codex"); err == nil {
		s.done()
		t.Error("a stub was made by a link")
	}
	if exists(base + "/elsewhere/.codex") {
		t.Error("a stub is left")
	}
}
