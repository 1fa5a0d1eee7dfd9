package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// recordOf is what the log keeps of a decision: with the event, unless settings
// say otherwise, and the facts of the event as it came.
func (g *guard) recordOf(a adapters.Adapter, ev *hook.Event, d *hook.Decision) audit.Record {
	event := *ev
	event.Gate.Labels = g.set.Settings().Labels
	r := audit.Of(&event, d, d.Result(a.CanAsk(ev)))
	r.Project = g.project
	for i := range r.Policies {
		r.Policies[i].Digest = g.digest(r.Policies[i])
	}
	if g.set.Settings().NoRecord {
		return r
	}
	facts := d.Facts
	if len(d.Changes) > 0 { // then they are those of the rewritten input
		facts = g.reader.Of(&event)
	}
	r.Keep(&event, d, facts)
	return r
}

// digest is the short digest of the module that a policy stands in: enough to
// see that it is not the same any more.
func (g *guard) digest(p audit.Policy) string {
	for _, src := range g.set.Sources() {
		if src.Name != p.Source {
			continue
		}
		for _, m := range src.Modules {
			if m.Package == p.ID {
				sum := sha256.Sum256([]byte(m.Text))
				return hex.EncodeToString(sum[:8])
			}
		}
	}
	return ""
}

// record writes a decision into the log. What goes wrong becomes a notice and
// changes nothing else. A state directory that this process may not write at
// all, as in a sandbox, is no mistake that anybody would want to hear of with
// every call.
func record(ctx context.Context, dir string, d *hook.Decision, of func() audit.Record) {
	ctx, cancel := context.WithTimeout(ctx, logLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("%v", p)
			}
		}()
		done <- appendRecord(dir, of())
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
