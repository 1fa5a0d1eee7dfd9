//go:build linux

package handlers

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"gate/hook"
)

var runs = flag.Int("runs", 80, "how many commands TestLeaks runs, of all kinds in turn")

// TestLeaks holds that commands of every kind, many at once, leave no
// goroutine, descriptor, file or process, dead ones included, and that each is
// answered.
func TestLeaks(t *testing.T) {
	tab := readTable(t, "testdata/commands.txt")
	tmp := t.TempDir()
	o := testOptions(t)
	o.Getenv = withTemp(tmp)
	h := New(o)
	mark := fmt.Sprintf("%d000", os.Getpid())
	one := func(n int) {
		r := tab.rows[n%len(tab.rows)]
		c := commandOf(t, r)
		ev := testEvent(t, c.large)
		each := c.each[n/len(tab.rows)%len(c.each)]
		by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: 200 * time.Millisecond, Config: map[string]any{
			"command": c.line(mark, each),
		}}
		a := h.command(t.Context(), by, ev)
		got := c.normal(describe(a), mark, each)
		if late := a.Fault != nil && a.Fault.Kind == hook.FaultTimeout; got != r.means && !late {
			t.Errorf("%s: got  %s\nwant %s, or that there was no time", r.name, got, r.means)
		}
		os.RemoveAll(ev.Dir())
	}
	one(0)
	before, files := runtime.NumGoroutine(), descriptors(t)
	start := time.Now()
	todo := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range todo {
				one(n)
			}
		})
	}
	for n := range *runs {
		todo <- n
	}
	close(todo)
	wg.Wait()
	t.Logf("%d runs in %v", *runs, time.Since(start).Round(time.Millisecond))
	settled := func() bool { return runtime.NumGoroutine() <= before && descriptors(t) <= files }
	for range 1000 {
		if settled() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d goroutines, before %d; %d descriptors, before %d", runtime.NumGoroutine(), before, descriptors(t), files)
	if !settled() {
		stacks := make([]byte, 1<<20)
		t.Errorf("left over:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	nobody(t, "runs", mark)
	nobodyOfOurs(t)
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("temporary files: %v", left)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
