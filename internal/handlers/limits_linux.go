package handlers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"gate/hook"
)

// limitSelf limits this process, and so what it starts from now on. Where
// memory runs out, the system is to end a handler and nothing else.
func limitSelf(j *job) error {
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // some containers do not let it
	return lowerLimits(j)
}

// limitOther limits a program that runs already, for a process that must not
// limit itself. What it started meanwhile is not reached.
func limitOther(pid int, j *job) {
	for _, l := range j.limits() {
		var r unix.Rlimit
		if unix.Prlimit(pid, l.resource, nil, &r) != nil {
			return // it is gone
		}
		lower(&r.Max, l.most)
		lower(&r.Cur, l.most)
		unix.Prlimit(pid, l.resource, &r, nil)
	}
}

// exceeds looks at the processes of the tree. A limit of the system's own would
// not do: its count of processes is of the whole account, and its address space
// is not memory: what Go and Node reserve is many times what they use.
func (t *tree) exceeds() (x excess, is bool) {
	pids := t.members()
	if len(pids) > t.most.Processes {
		return excess{hook.FaultEval, fmt.Sprintf("started more than %d processes", t.most.Processes)}, true
	}
	if sum(pids, resident) > t.most.Memory && sum(pids, share) > t.most.Memory {
		return excess{hook.FaultMemory, fmt.Sprintf("used more than %d MiB of memory", t.most.Memory>>20)}, true
	}
	return x, false
}

func sum(pids []int, of func(pid int) int64) (total int64) {
	for _, pid := range pids {
		total += of(pid)
	}
	return total
}

// resident is the memory that a process has, in bytes, what it shares with
// others included; 0 of one that is gone.
func resident(pid int) int64 {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// share is the memory of a process, where what several have is divided among
// them. It takes long to find out.
func share(pid int) int64 {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
	if err != nil {
		return resident(pid)
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			return kib << 10
		}
	}
	return resident(pid)
}
