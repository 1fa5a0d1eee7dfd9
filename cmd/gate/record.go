package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"gate/adapters"
	"gate/audit"
	"gate/hook"
)

// logLimit bounds the wait for the decision log: it is no reason to be slow.
const logLimit = 500 * time.Millisecond

// record writes a decision into the log. What goes wrong becomes a notice and
// changes nothing else. A state directory that this process may not write at
// all, as in a sandbox, is no mistake that anybody would want to hear of with
// every call.
func record(ctx context.Context, dir string, a adapters.Adapter, ev *hook.Event, d *hook.Decision) {
	ctx, cancel := context.WithTimeout(ctx, logLimit)
	defer cancel()
	r := audit.Of(ev, d, d.Result(a.CanAsk(ev)))
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("%v", p)
			}
		}()
		done <- appendRecord(dir, r)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.New("it did not end in time")
	}
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return
	}
	d.Notices = append(d.Notices, "this decision is not in the log: "+audit.Redact(err.Error()))
}

func appendRecord(dir string, r audit.Record) error {
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return err
	}
	return errors.Join(log.Append(r), log.Close())
}
