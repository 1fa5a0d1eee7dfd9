package core

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/hostfs"
)

// TestRecordTooLate holds that a decision for which no time was left to write
// it down does not let a call pass where it must be, and that nothing is
// written that would not be the answer.
func TestRecordTooLate(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, required := range []bool{true, false} {
		for effect, closes := range map[hook.Effect]bool{hook.Pass: required, hook.Ask: required, hook.Deny: false} {
			b := logbook{dir: t.TempDir(), required: required}
			d := b.record(ended, hook.Decision{Event: hook.PreToolUse, Effect: effect}, func() audit.Record { return audit.Record{} })
			if closed := d.Fault != nil && d.Effect == hook.Deny; closed != closes || !closes && len(d.Notices) != 1 {
				t.Errorf("required %t, %s: %s, %v, %q", required, effect, d.Effect, d.Fault, d.Notices)
			}
			if files, err := os.ReadDir(b.dir); err != nil || len(files) > 0 {
				t.Errorf("required %t, %s: %v, %v", required, effect, files, err)
			}
		}
	}
}

// TestRecordAfterwards holds that a log which never answers keeps nobody from
// ending who has answered.
func TestRecordAfterwards(t *testing.T) {
	b := logbook{dir: t.TempDir()}
	b.recordAfterwards(hook.Decision{Event: hook.PreToolUse}, func() audit.Record { select {} })
	b.recordAfterwards(hook.Decision{Event: hook.PreToolUse}, func() audit.Record { return audit.Record{} })
	for !hostfs.Exists(filepath.Join(b.dir, "decisions.jsonl")) { // a busy machine may be late
		time.Sleep(time.Millisecond)
	}
}

// TestRecordInTurn holds that the calls of one process write one after the other,
// and that each of them does.
func TestRecordInTurn(t *testing.T) {
	b := logbook{dir: t.TempDir(), turn: make(chan struct{}, 1)}
	var all sync.WaitGroup
	var at, written atomic.Int32
	for range 100 {
		all.Go(func() {
			d := b.record(t.Context(), hook.Decision{Event: hook.PreToolUse}, func() audit.Record {
				if n := at.Add(1); n != 1 {
					t.Errorf("%d calls write at once", n)
				}
				defer at.Add(-1)
				written.Add(1)
				return audit.Record{}
			})
			if len(d.Notices) > 0 {
				t.Error(d.Notices)
			}
		})
	}
	all.Wait()
	if n := written.Load(); n != 100 {
		t.Errorf("%d of 100 calls wrote", n)
	}
}
