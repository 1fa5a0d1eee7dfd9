package world_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/facts/internal/world"
	"gate/internal/hostfs"
)

// TestIndexed compares what is read of an index with what git lists of it.
func TestIndexed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	w := world.World{Files: hostfs.Files{}}
	read := func() (list []string, whole bool) {
		whole = w.Indexed(dir+"/.git", func(name string, submodule bool) {
			list = append(list, fmt.Sprint(name, " ", submodule))
		})
		return list, whole
	}
	git("init", "-q")
	if list, whole := read(); len(list) > 0 || !whole {
		t.Errorf("without an index: %q, whole %v", list, whole)
	}
	for i := range 40 {
		file := filepath.Join(dir, strings.Repeat("d", i%9+1), fmt.Sprintf("%s%d", strings.Repeat("x", i), i))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", ".")
	git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,ddd/sub")
	for _, version := range []string{"2", "3", "4"} {
		git("update-index", "--index-version", version)
		if version == "3" {
			git("update-index", "--skip-worktree", "d/0") // which takes longer flags
		}
		var want []string
		for line := range strings.Lines(git("ls-files", "--stage")) {
			mode, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			want = append(want, fmt.Sprint(name, " ", strings.HasPrefix(mode, "160000")))
		}
		if got, whole := read(); !whole || !slices.Equal(got, want) || len(want) != 41 {
			t.Errorf("version %s: whole %v, %d names\n%q\nwant\n%q", version, whole, len(want), got, want)
		}
	}
	git("update-index", "--split-index")
	if _, whole := read(); whole {
		t.Error("a part of the entries lies in another file, and nobody says so")
	}
	if err := os.WriteFile(dir+"/.git/index", []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x09"+strings.Repeat("\x00", 40)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, whole := read(); whole {
		t.Error("an index that was cut short is whole")
	}
}
