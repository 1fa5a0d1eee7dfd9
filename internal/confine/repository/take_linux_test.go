package repository

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// aLayer makes a repository, and a layer with one commit more.
func aLayer(t *testing.T) (base *Base, dir, layer string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "git init -q -b main r && cd r && echo 1 > f && git add f && git commit -q -m one && cp -a ../r ../work")
	base, err := Look(dir+"/r/.git", 40, []Part{{Work: dir + "/r"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(base.Close)
	git(t, dir, "cd work && echo 2 > f && git commit -q -a -m two && rm -r .git/hooks .git/config .git/description .git/info .git/branches && mv .git ../layer && cd ../r && echo 2 > f")
	return base, dir + "/r", dir + "/layer"
}

func TestTakeOver(t *testing.T) {
	base, dir, layer := aLayer(t)
	for range 2 { // the second time nothing is left to do
		if said := base.TakeOver(layer); len(said) > 0 {
			t.Error(said)
		}
		if got := git(t, dir, "git log --format=%s && git status --porcelain && git reflog --format=%gs && git fsck --strict && ls .git/*.lock .git/refs/heads/*.lock 2>/dev/null || true"); got != "two\none\ncommit: two\ncommit (initial): one\n" {
			t.Error(got)
		}
	}
}

// TestBaseTexts holds that a process which has the texts alone takes over the same.
func TestBaseTexts(t *testing.T) {
	base, dir, layer := aLayer(t)
	again, err := FromTexts(base.Texts())
	if err != nil {
		t.Fatal(err)
	}
	if said := again.TakeOver(layer); len(said) > 0 {
		t.Error(said)
	}
	if got := git(t, dir, "git log -1 --format=%s && git status --porcelain"); got != "two\n" {
		t.Error(got)
	}
	for _, bad := range [][]string{nil, {"/x"}, {"/x", "41"}, {"/x", "40", "", "", "", "", "", "", "7"}, {"/x", "40", ""}} {
		if b, err := FromTexts(bad); err == nil {
			t.Errorf("%q: %v", bad, b)
		}
	}
}

// TestBounds holds that a layer that is too large for one of the bounds changes no ref, no HEAD
// and no index.
func TestBounds(t *testing.T) {
	base, dir, layer := aLayer(t)
	state := "git log --all --format=%s && git diff --cached && git status --porcelain; cat .git/HEAD .git/logs/HEAD"
	before := git(t, dir, state)
	for what, within := range map[string]bounds{
		"names":    {5, math.MaxInt32, math.MaxInt32, math.MaxInt32},
		"memory":   {1000, 10, math.MaxInt32, math.MaxInt32},
		"files":    {1000, math.MaxInt32, 20, math.MaxInt32},
		"contents": {1000, math.MaxInt32, math.MaxInt32, 20},
	} {
		if said := strings.Join(base.takeOver(layer, within), "\n"); !strings.Contains(said, "nothing but objects was taken over") {
			t.Errorf("%s: %q", what, said)
		}
		if after := git(t, dir, state); after != before {
			t.Errorf("%s: %s", what, after)
		}
		git(t, dir, "git gc -q --prune=now") // what was taken over is no longer there
	}
}

// TestLook holds which repositories stay as they are.
func TestLook(t *testing.T) {
	for line, want := range map[string]bool{
		"true": true, "rm .git/index": true, "git pack-refs --all": true,
		"mkdir .git/rebase-merge": false, "mkdir .git/sequencer": false, "mkdir .git/reftable": false, "rm .git/HEAD": false, "mkfifo .git/packed-refs": false,
		"mv .git/refs .git/r && ln -s r .git/refs": false, "ln -s main .git/refs/heads/x": false, "mkfifo .git/refs/heads/x": false,
	} {
		dir := t.TempDir()
		git(t, dir, "git init -q -b main . && git commit -q --allow-empty -m one && echo x > x && git add x && "+line)
		base, err := Look(dir+"/.git", 40, []Part{{}})
		if (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
		if err == nil {
			base.Close()
		}
	}
}

// TestManyRefs checks that a layer does not fill a repository with files of refs.
func TestManyRefs(t *testing.T) {
	base, dir, layer := aLayer(t)
	text := []byte("# pack-refs with: peeled fully-peeled sorted \n")
	for n := range mostRefs + 1 {
		text = fmt.Appendf(text, "%s refs/tags/t%d\n", one, n)
	}
	if err := os.WriteFile(layer+"/packed-refs", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := base.TakeOver(layer); len(said) != 1 || !strings.Contains(said[0], "nothing but objects was taken over: more than 20000 refs change") {
		t.Error(said)
	}
	if got := git(t, dir, "git log --format=%s && find .git/refs -type f"); got != "one\n.git/refs/heads/main\n" {
		t.Error(got)
	}
}
