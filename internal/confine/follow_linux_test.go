package confine

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestReady holds that a failure counts as one after which something may have run, from the
// time on when all was set up: then the project is searched.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		told []int32
		want bool
	}{{[]int32{newsSetup}, false}, {[]int32{newsReady, newsProgram}, true}, {[]int32{newsReady, newsSetup}, true}} {
		r, err := newRun()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.pid.Store(int64(cmd.Process.Pid))
		for _, kind := range c.told {
			n := news{kind: kind, detail: int32(unix.EIO)}
			if _, err := unix.Write(r.theirs, unsafe.Slice((*byte)(unsafe.Pointer(&n)), unsafe.Sizeof(n))); err != nil {
				t.Fatal(err)
			}
		}
		unix.Close(r.theirs)
		r.theirs = -1
		if out, err := r.follow(); err == nil || r.ready != c.want {
			t.Errorf("%v: ready %v, %v, %v", c.told, r.ready, out, err)
		}
		r.close()
	}
}

// TestSearchedAfterFailure holds that the project is searched though the program could not be
// run, here since its interpreter is missing. A file comes at some moment of the run, so one
// of many has it between the first search and the second one.
func TestSearchedAfterFailure(t *testing.T) {
	requireFull(t)
	s := newScene(t)
	script, left := s.at.Project+"/script", s.at.Project+"/.mcp.json"
	if err := os.WriteFile(script, []byte("#!/no/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		written := make(chan error)
		go func() {
			time.Sleep(time.Duration(n%30) * time.Millisecond / 2)
			written <- os.WriteFile(left, []byte("x"), 0o644)
		}()
		_, out, err := runs(t, s.command(t, "project", script))
		if wrong := <-written; wrong != nil {
			t.Fatal(wrong)
		}
		var program *ProgramError
		if !errors.As(err, &program) {
			t.Fatal(out, err)
		}
		if len(out.Planted) == 1 && out.Planted[0].Name == left && exists(left+aside) {
			return
		}
		os.Remove(left)
	}
	t.Error("nothing was ever set aside")
}
