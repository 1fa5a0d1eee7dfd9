package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNothingStays holds that a run leaves the launcher as it was: no thread that the runtime
// does not know, no open file, and as readable for its owner as before. It may have run a
// program, or have ended before that.
func TestNothingStays(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for name, args := range map[string][]string{"a program": {"true"}, "none": {"no such program"}, "none for its interpreter": {s.at.Project + "/script"}} {
		if err := os.WriteFile(s.at.Project+"/script", []byte("#!/no/interpreter\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		runs(t, s.command(t, "project", args...)) // what is opened once for all
		before := open()
		for range 5 {
			if _, _, err := runs(t, s.command(t, "project", args...)); (err == nil) != (name == "a program") {
				t.Error(name, err)
			}
		}
		if after := open(); after > before { // the collector closes some of what others left
			t.Errorf("%s: %d files are open, and were %d", name, after, before)
		}
		if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 1 {
			t.Errorf("%s: dumpable is %d, %v", name, dumpable, err)
		}
		threads, err := filepath.Glob("/proc/self/task/*/status")
		if err != nil || len(threads) == 0 {
			t.Fatal(err, len(threads))
		}
		for _, file := range threads { // nothing but a thread of ours blocks all signals
			if text, _ := os.ReadFile(file); strings.Contains(string(text), "\nSigBlk:\tfffffffffffbfeff\n") {
				t.Errorf("%s: a thread is left", name)
			}
		}
	}
}
