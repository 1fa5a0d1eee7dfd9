package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"gate/internal/strictjson"
)

// TestSweepLongPlan holds that a sweep reads the plan of a project with very many files that
// start by themselves, and sets aside what is new beside them.
func TestSweepLongPlan(t *testing.T) {
	project := t.TempDir()
	planted := filepath.Join(project, ".mcp.json")
	if err := os.WriteFile(planted, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &layout{
		tables: newTables(Place{Home: t.TempDir(), Project: project}),
		mounts: []mount{{kind: bound, at: project, from: project, write: true, dir: true}},
	}
	before := snapshot{}
	for i := range 250_000 {
		before[fmt.Sprintf("/p/%d", i)] = "f0"
	}
	fd, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeAll(fd, strictjson.Append(nil, l.document(before))); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(fd); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(planted); err == nil {
		t.Error("the planted file is still there")
	}
}
