package handlers

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

// TestLimits holds that a command which takes too much of the machine is a
// fault and gone, and that one which only looks like it is not.
func TestLimits(t *testing.T) {
	for i, c := range []struct {
		name, run string
		limits    Limits
		want      string
	}{
		{"processes", "i=0; while [ $i -lt 60 ]; do setsid sleep 86400.MARK & i=$((i+1)); done; wait", Limits{Processes: 20},
			"fault eval: h started more than 20 processes"},
		{"few processes", "for i in 1 2 3 4 5; do sleep 0.3 & done; wait", Limits{Processes: 20}, "no opinion"},
		{"memory", "(head -c 300000000 /dev/zero; exec sleep 86400.MARK) | tail -c 300000000 >/dev/null", Limits{Memory: 64 << 20},
			"fault memory: h used more than 64 MiB of memory"},
		{"memory of many", "for i in 1 2 3 4; do { (head -c 50000000 /dev/zero; exec sleep 86400.MARK) | tail -c 50000000 >/dev/null; } & done; wait", Limits{Memory: 100 << 20},
			"fault memory: h used more than 100 MiB of memory"},
		{"memory that many share", "x=$(head -c 20000000 /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6 7 8; do (sleep 0.5; :) & done; wait", Limits{Memory: 120 << 20}, "no opinion"},
		{"a file", "exec head -c 3000000 /dev/zero >big", Limits{File: 1 << 20},
			"fault eval: h was ended by a signal (file size limit exceeded)"},
		{"files, cores and time", `[ "$(ulimit -Hn)" = 32 ] && [ "$(ulimit -Hc)" = 0 ] && [ "$(ulimit -Ht)" != unlimited ] && echo '{"decision": "block", "reason": "limited"}'`,
			Limits{OpenFiles: 32}, `deny "limited"`},
	} {
		for _, way := range []string{"supervisor", "direct"} {
			t.Run(c.name+" "+way, func(t *testing.T) {
				t.Parallel()
				o := testOptions(t)
				o.Limits = c.limits
				if way == "direct" {
					o.Supervisor = nil
				}
				mark := fmt.Sprintf("%d%d%d", os.Getpid(), 2000+i, len(way))
				line := strings.ReplaceAll(c.run, "MARK", mark)
				if way == "direct" && c.limits.OpenFiles+int(c.limits.File) > 0 {
					// It is limited when it runs already, the time on processors last.
					line = `for i in $(seq 600); do [ "$(ulimit -Ht)" = unlimited ] || break; sleep 0.05; done; ` + line
				}
				by := &hook.Hook{ID: "h", Kind: hook.Command, Timeout: time.Minute, Config: map[string]any{"command": line}}
				if got := describe(New(o).command(t.Context(), by, testEvent(t, false))); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				nobody(t, way, mark)
			})
		}
	}
}
