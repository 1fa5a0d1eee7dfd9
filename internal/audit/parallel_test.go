package audit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var parallelLog = flag.Duration("parallel-log", 0, "how long TestProcesses has 200 processes write into one log; 0: a few processes, a few records")

// writerEnv makes the test program one of the processes of TestProcesses.
const writerEnv = "GATE_TEST_WRITER"

func TestMain(m *testing.M) {
	if name := os.Getenv(writerEnv); name != "" {
		os.Exit(writer(name))
	}
	os.Exit(m.Run())
}

// manyFiles is a log that keeps everything.
var manyFiles = Options{Size: 4 << 20, Keep: maxFiles - 1, Wait: time.Minute}

// writer appends until it has written enough or the time is up, and prints how many records there are.
func writer(name string) int {
	var dir string
	var n int
	var end int64
	if _, err := fmt.Sscan(os.Getenv(writerEnv+"_FOR"), &n, &end, &dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if name == "limited" {
		return limitedWriter(dir)
	}
	done := 0
	for ; done < n && (end == 0 || time.Now().UnixNano() < end); done++ {
		err := Append(dir, manyFiles, record(fmt.Sprintf("%s-%d %s", name, done, strings.Repeat("x", done%200))))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	fmt.Println(done)
	return 0
}

// TestProcesses has real processes write into one log at once: every record is
// there once, and the chain holds. Run it for long with -parallel-log 1m.
func TestProcesses(t *testing.T) {
	processes, each, end := 12, 15, int64(0)
	if *parallelLog > 0 {
		processes, each, end = 200, 1<<30, time.Now().Add(*parallelLog).UnixNano()
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	counts := make([]int, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=w%d", writerEnv, i), fmt.Sprintf("%s_FOR=%d %d %s", writerEnv, each, end, dir))
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err == nil {
				counts[i], err = strconv.Atoi(strings.TrimSpace(string(out)))
			}
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, errs.String())
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for r, err := range h.Oldest() {
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(r.Call, " ")
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
	for i, n := range counts {
		for j := range n {
			if name := fmt.Sprintf("w%d-%d", i, j); !seen[name] {
				t.Errorf("%s is not there", name)
			}
		}
	}
	v, err := h.Verify()
	if err != nil || v.Wrong > 0 || !v.EndKnown || len(v.Chains) != 1 || v.Records != total || v.Chains[0].Last != int64(total) {
		t.Errorf("%d written: %+v, %v", total, v, err)
	}
	t.Logf("%d processes wrote %d records, %d files", processes, total, len(h.files()))
}
