package handlers

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const adopts = true // a supervisor becomes the parent of orphans

// adoptOrphans makes this process the parent of every descendant whose own
// parent ends. With it no descendant gets lost, whatever session, group or
// environment it gives itself.
func adoptOrphans() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// endWithParent has the system end the program when the thread ends that
// starts it.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// childless reports that this process has no children. Where it adopts orphans,
// it has no descendants then.
func childless() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// A proc is a line of the process table.
type proc struct {
	pid, parent, group int
	dead               bool
}

// members lists the processes of the tree that are alive: all descendants
// where this process adopts orphans, else those of the group and those that
// inherited the mark.
func (t *tree) members() []int {
	table := processes()
	if table == nil {
		return t.group()
	}
	if t.sole {
		return t.descendants(table)
	}
	var pids []int
	for _, p := range table {
		if !p.dead && (p.group == t.pid || marked(p.pid, t.mark)) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func (t *tree) descendants(table []proc) (pids []int) {
	of := map[int][]proc{}
	for _, p := range table {
		of[p.parent] = append(of[p.parent], p)
	}
	for queue := []int{os.Getpid()}; len(queue) > 0; queue = queue[1:] {
		for _, p := range of[queue[0]] {
			queue = append(queue, p.pid)
			switch {
			case !p.dead:
				pids = append(pids, p.pid)
			case p.parent == os.Getpid() && p.pid != t.pid: // an orphan; the program itself is waited for elsewhere
				syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
			}
		}
	}
	return pids
}

// processes reads the process table, nil where there is none to be read.
func processes() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var table []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
		if err != nil {
			continue // gone meanwhile
		}
		// The name in brackets may hold anything; what counts follows the last.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		group, _ := strconv.Atoi(string(fields[2]))
		table = append(table, proc{pid, parent, group, slices.Contains([]string{"Z", "X"}, string(fields[0]))})
	}
	return table
}

// marked reports that a process inherited an entry of the environment.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false // another account's, or gone
	}
	return bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))
}
