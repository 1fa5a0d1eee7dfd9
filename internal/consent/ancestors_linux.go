package consent

import (
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	maxAncestors = 64
	maxProc      = 256 << 10 // of one file of /proc
)

// Ancestors returns the processes above this one, the nearest first, where they
// can be seen without running anything: on Linux. Elsewhere it returns none.
func Ancestors() []Ancestor {
	var out []Ancestor
	for pid := os.Getppid(); pid > 0 && len(out) < maxAncestors; {
		dir := "/proc/" + strconv.Itoa(pid) + "/"
		out = append(out, Ancestor{
			Args:    split(readProc(dir+"cmdline"), 4),
			Environ: split(readProc(dir+"environ"), -1),
		})
		next := parentOf(readProc(dir + "stat"))
		if next == pid {
			break
		}
		pid = next
	}
	return out
}

// parentOf finds the parent in a stat file: the second field after the name,
// which stands in parentheses and may hold anything, parentheses too. It is 0
// if there is none.
func parentOf(stat string) int {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// split returns at most n of the texts that end in a zero byte, all if n < 0.
func split(s string, n int) []string {
	if s == "" {
		return nil
	}
	list := strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
	if n >= 0 && len(list) > n {
		list = list[:n]
	}
	return list
}

func readProc(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxProc))
	return string(data)
}
