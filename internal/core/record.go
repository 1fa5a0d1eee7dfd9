package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/places"
	"gate/internal/secret"
	"gate/internal/setting"
	"gate/scopes"
)

// Record writes a decision about an event into the log, unless settings want
// none, and returns it. What goes wrong, a ctx that has ended before included,
// becomes a notice, or closes where the log is required and the decision lets
// the call go on.
func (g *Gate) Record(ctx context.Context, a adapters.Adapter, ev *hook.Event, d hook.Decision) hook.Decision {
	if !g.Set.Settings().On(setting.Log) {
		return d
	}
	return g.logbook().record(ctx, d, func() audit.Record { return g.recordOf(a, ev, &d) })
}

// recordOf is what the log keeps of a decision: with the event, unless settings
// say otherwise, and the facts of the event as it came.
func (g *Gate) recordOf(a adapters.Adapter, ev *hook.Event, d *hook.Decision) audit.Record {
	event := *ev
	event.Gate.Labels = g.Set.Settings().Labels
	r := audit.Of(&event, d, d.Result(a.CanAsk(ev)))
	r.Project = g.Project
	if !g.Since.IsZero() {
		r.Whole = time.Since(g.Since)
	}
	r.Labels, r.Bundles = LogLabels(g.Set.Settings()), append(r.Bundles, g.directories()...)
	for _, text := range g.ageWarnings(d) { // also where nobody was told with this call
		r.Warned = append(r.Warned, audit.Reason{ID: "gate.age", Reason: text, Source: staleSource})
	}
	for _, text := range d.Notices {
		if loosens(text) {
			r.Warned = append(r.Warned, audit.Reason{ID: "gate.loosened", Reason: text, Source: "user settings"})
		}
	}
	if d.Elsewhere != "" {
		r.Warned = append(r.Warned, audit.Reason{ID: "gate.approval", Reason: d.Elsewhere, Source: "gate"})
	}
	if g.Unrelaxed != "" {
		r.Warned = append(r.Warned, audit.Reason{ID: "gate.recovery.refused", Reason: secret.Redact(g.Unrelaxed), Source: RecoverySource})
	}
	for i := range r.Policies {
		r.Policies[i].Digest = g.Digest(r.Policies[i])
	}
	if !g.Set.Settings().On(setting.Record) {
		return r
	}
	facts := d.Facts
	if len(d.Changes) > 0 { // then they are those of the rewritten input
		facts = g.Reader.Of(&event)
	}
	var hidden []string
	if kept := g.seen(&event); kept != nil {
		told := event
		told.Facts = facts
		hidden = kept.Parts(&told)
	}
	r.Keep(&event, d, facts, hidden...)
	return r
}

// Digest is the short digest of the module that a policy stands in: enough to
// see that it is not the same any more.
func (g *Gate) Digest(p audit.Policy) string {
	if g.Fingerprint != nil {
		return g.Fingerprint(p.Source, p.ID)
	}
	for _, src := range g.Set.Sources() {
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

// LogLabels are what tells this machine from others in a log of many: the
// labels of settings, and where it is sent, the machine's name.
func LogLabels(settings scopes.Settings) map[string]string {
	labels := map[string]string{}
	if settings.DecisionLogs.URL != "" {
		if host, err := os.Hostname(); err == nil {
			labels["host"] = host
		}
	}
	maps.Copy(labels, settings.Labels)
	maps.Copy(labels, settings.DecisionLogs.Labels)
	return labels
}

// directories are the sources that are no bundles, with what tells their
// content.
func (g *Gate) directories() []audit.Bundle {
	var list []audit.Bundle
	for _, src := range g.Set.Sources() {
		if !src.Library && src.Bundle == nil && src.Digest != "" {
			list = append(list, audit.Bundle{Name: src.Name, Revision: src.Digest})
		}
	}
	return list
}

// A logbook is where a machine's decisions are written down.
type logbook struct {
	dir      string
	required bool // no call passes that is not in it
	ships    bool // it is sent elsewhere

	turn chan struct{} // has room for the one call of the process that writes; nil: there is no other
}

// logbook is the log as settings want it. Where an administrator decides what
// calls may do, it is required unless they say otherwise.
func (g *Gate) logbook() logbook {
	settings := g.Set.Settings()
	return logbook{
		dir: g.State, turn: g.turn, ships: settings.DecisionLogs.URL != "",
		required: g.Administered() && !settings.DecisionLogs.Optional,
	}
}

// Administered reports whether there is anything that an administrator put here.
func (f *Found) Administered() bool {
	return f.TakesBundles || slices.ContainsFunc(f.Sources, func(s scopes.Source) bool { return s.Authority == hook.Managed }) ||
		slices.ContainsFunc(f.Layers, func(y scopes.Layer) bool { return y.Authority == hook.Managed })
}

// Bounds on the wait for the decision log: it is no reason to be slow, unless a
// call may not pass without it.
const (
	logLimit         = 500 * time.Millisecond
	requiredLogLimit = 5 * time.Second
)

// maxUnshipped is how many files are kept while they were not sent: 256 MiB.
const maxUnshipped = 32

// record writes a decision into the log and returns it. What goes wrong, a ctx
// that has ended before included, becomes a notice, or closes where the log is
// required and the decision lets the call go on. A state directory that this process may not write at all, as in a
// sandbox, is no mistake that anybody would want to hear of with every call.
func (b logbook) record(ctx context.Context, d hook.Decision, of func() audit.Record) hook.Decision {
	err := b.write(ctx, of)
	why := ""
	if err != nil {
		why = secret.Redact(err.Error())
	}
	switch {
	case err == nil:
	case b.required && d.Effect != hook.Deny:
		return Closing(d.Event, hook.Faultf(hook.FaultLoad, "this machine's calls must be in the decision log, and it cannot be written: %s", why))
	case b.required, !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS):
		d.Notices = append(d.Notices, "this decision is not in the log: "+why)
	}
	return d
}

// recordAfterwards writes down what was answered already. A directory that does
// not answer, as of a network that is gone, must not keep the process: agents take
// one that does not end for one that said nothing.
func (b logbook) recordAfterwards(d hook.Decision, of func() audit.Record) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.record(context.Background(), d, of)
	}()
	select {
	case <-done:
	case <-time.After(2 * logLimit): // waiting for the lock has its own limit
	}
}

// RecordClosed writes down a decision that gate closed by and that was answered
// already.
func RecordClosed(dirs places.Dirs, a adapters.Adapter, ev *hook.Event, d *hook.Decision) {
	logbook{dir: dirs.State}.recordAfterwards(*d, func() audit.Record { return audit.Of(ev, d, d.Result(a.CanAsk(ev))) })
}

// Append writes a record into the log that is about no call.
func Append(d places.Dirs, s scopes.Settings, r audit.Record) error {
	return logbook{dir: d.State, ships: s.DecisionLogs.URL != ""}.append(r, requiredLogLimit)
}

func (b logbook) write(ctx context.Context, of func() audit.Record) (err error) {
	limit := logLimit
	if b.required {
		limit = requiredLogLimit
	}
	if done := b.await(ctx); done != nil {
		defer done()
	}
	if ctx.Err() != nil { // what is written now would not be the answer
		return errors.New("no time was left")
	}
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	if limit <= 0 { // which the log would take for its default
		return errors.New("no time was left")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return b.append(of(), limit)
}

// await waits until no other call of this process writes: hundreds at once would
// wait for the file's lock in no order, each in a thread, and most of them longer
// than they may. It returns what lets the next one write, nil after a vain wait.
func (b logbook) await(ctx context.Context) (done func()) {
	if b.turn == nil {
		return nil
	}
	done = func() { <-b.turn }
	select { // usually nobody writes, and to make a clock takes a hundredth of a call
	case b.turn <- struct{}{}:
		return done
	default:
	}
	select {
	case b.turn <- struct{}{}:
		return done
	case <-ctx.Done():
	case <-time.After(requiredLogLimit):
	}
	return nil
}

func (b logbook) append(r audit.Record, wait time.Duration) error {
	o := audit.Options{Wait: wait}
	if b.ships {
		o.Unshipped = maxUnshipped
	}
	return audit.Append(b.dir, o, r)
}
