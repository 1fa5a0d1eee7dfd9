package sync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
)

// An Offer is a bundle that is to come into force.
type Offer struct {
	Name              string // the bundle that is wanted; "": whichever it is
	Archive, Envelope []byte // the envelope is nil if there is none
	// Unchanged says that the source has what is in force, so that there is no
	// archive. It is verified again: keys and times may have changed.
	Unchanged bool
	// Digest is what the archive must have, because the channel says so; "":
	// whatever the keys vouch for.
	Digest string
	Trial  bool // it is to stand beside the release in force, and does not count
	// URL and Tag say where it was found, and what it is called there, for
	// [Store.Tag].
	URL, Tag string
}

// Rules say which offers are taken. The key set and what was seen before are the
// store's own.
type Rules struct {
	Now    time.Time // required
	Labels map[string]string
	Gate   string
	Facts  int64 // the schema of this gate's facts; 0: the first
	Pins   map[string]string
	Limits bundles.Limits
	// Order is the order of the bundles in force, by name. Those that it does
	// not name keep their places, so that naming one never puts it before them.
	Order []string
	// First is the bundle that must be in force before another may come into
	// force: until then the others would decide alone. Empty: none must.
	First string
	// Channelled are the bundles, by name, of which the channel that was taken
	// last says what Machine is to have, wherever they come from.
	Channelled []string
	Machine    string // [sealed.MachineName]
	// Try reports why a verified bundle is no good, its own tests for example,
	// among the files of the others that will be in force, by name. Nil tries
	// nothing. It is not asked about what is in force already.
	Try func(ctx context.Context, b *bundles.Bundle, beside map[string]fs.FS) error
}

// An Outcome is what became of an offer.
type Outcome struct {
	Name    string
	Trial   bool     // it is about a trial: Before and After say which one stood and stands beside the release
	Before  Active   // in force until now; zero: none
	After   Active   // in force from now on; Before, if the offer was not taken
	Signers []string // whose signatures count, if it was verified
	Mended  bool     // it was in force and not whole on the disk, and was written anew
	// Err says why the offer was not taken, or is not worth any more what it
	// was when it was: a [bundles.Refusal], an error of Try or a [*DiskError].
	Err error
}

// A DiskError is one of the disk that a bundle was to be written to. It says
// nothing about the bundle.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return e.Err.Error() }
func (e *DiskError) Unwrap() error { return e.Err }

// onDisk marks an error, if it is one, as the disk's.
func onDisk(err error) error {
	if err == nil {
		return nil
	}
	return &DiskError{err}
}

// Changed reports that something else is in force now.
func (o Outcome) Changed() bool { return o.Before != o.After }

// Activate verifies offers, writes and tries them, and puts those in force that
// are good, all at once. What was in force before stays for the others: there
// are never fewer bundles than before. Trials end which the channel no longer has;
// their outcomes follow those of the offers. The error is one of the machine; the
// outcomes then say what is in force nevertheless.
func (s Store) Activate(ctx context.Context, offers []Offer, r Rules) ([]Outcome, error) {
	d, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer d.close()
	a := activation{disk: d, rules: r}
	if err := a.load(); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(offers))
	for i, o := range offers {
		outcomes[i] = a.take(ctx, o)
	}
	outcomes = append(outcomes, a.endTrials(outcomes)...)
	if err = a.commit(); err == nil {
		err = a.remember(offers, outcomes)
	}
	if err != nil {
		a.look(outcomes)
	}
	d.sweep(a.before, a.after) // what it cannot remove the next one will
	return outcomes, err
}

// look corrects outcomes after an error: it may have come before or after the
// moment that counts.
func (a *activation) look(outcomes []Outcome) {
	now, err := a.current()
	if err != nil {
		now = a.before
	}
	a.after = now
	for i := range outcomes {
		outcomes[i].After = outcomes[i].in(now)
	}
}

// in returns what the outcome is about, as it is in force; zero: none is.
func (o *Outcome) in(c Current) Active {
	a := c.Find(o.Name)
	if o.Trial {
		a = c.Trial(o.Name)
	}
	if a == nil {
		return Active{}
	}
	return *a
}

// An activation is one change of what is in force.
type activation struct {
	*disk
	rules         Rules
	keys          *bundles.KeySet
	known, seen   sealed.Seen // on the disk, and to be
	before, after Current
	synced        Synced
	fresh         bool     // synced has changed
	tried         []string // bundles of which a trial was taken just now
}

// take verifies one offer, and prepares it to be in force.
func (a *activation) take(ctx context.Context, o Offer) Outcome {
	out := Outcome{Name: o.Name, Trial: o.Trial}
	note := func() {
		out.Before = out.in(a.before)
		out.After = out.Before
	}
	note()
	b, err := a.verify(&o)
	if err != nil {
		out.Err = err
		return out
	}
	out.Name, out.Signers = b.Name(), signers(b)
	tried := o.Trial
	if err = a.onChannel(b, &o); err == nil && tried && !o.Trial { // it counts now, and must be no older one
		o.Unchanged = false
		_, err = a.verify(&o)
	}
	out.Trial = o.Trial
	note()
	if o.Digest != "" && b.Digest != o.Digest {
		out.Err = &bundles.Refusal{Reason: sealed.OffChannel, Err: fmt.Errorf("it is %s, wanted is %s", b.Digest, o.Digest)}
		return out
	}
	next, err := Active{}, errors.Join(err, a.waits(b.Name()))
	if err == nil {
		next, out.Mended, err = a.prepare(ctx, b, o)
	}
	if err != nil {
		out.Err = err
		return out
	}
	out.After = next
	if o.Trial { // what does not count was not seen: to end a trial is no way back
		put(&a.after.Trials, next)
		a.tried = append(a.tried, out.Name)
		return out
	}
	a.seen = a.seen.Raise(b)
	a.synced[out.Name], a.fresh = LastSync{At: a.rules.Now, Version: next.Version}, true
	put(&a.after.Bundles, next)
	return out
}

// put puts a release in the place of the one of its name, or behind all others.
func put(list *[]Active, next Active) {
	if in := find(*list, next.Name); in != nil {
		*in = next
		return
	}
	*list = append(*list, next)
}

func signers(b *bundles.Bundle) []string {
	var list []string
	for _, s := range b.Signatures {
		if s.Counts {
			list = append(list, s.Key)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// verify opens the bundle of an offer. If that is what is in force, it is read
// from where it lies.
func (a *activation) verify(o *Offer) (*bundles.Bundle, error) {
	if o.Unchanged {
		about := Outcome{Name: o.Name, Trial: o.Trial}
		in := about.in(a.before)
		if in == (Active{}) {
			return nil, fmt.Errorf("%s is not in force", o.Name)
		}
		var err error
		if o.Archive, o.Envelope, err = a.packed(in); err != nil {
			return nil, err
		}
	}
	r := a.rules
	check := bundles.Check{
		Keys: a.keys, Now: r.Now, Name: o.Name, Labels: r.Labels, Gate: r.Gate, Facts: r.Facts, Seen: a.seen, Pins: r.Pins, Limits: r.Limits,
	}
	if o.Trial { // the channel names it, and goes back itself to none that is older
		check.Seen.Bundles = nil
	}
	return bundles.Open(o.Archive, o.Envelope, check)
}

// prepare writes a bundle to its place, after it was tried. What is there and
// whole is left as it is; mended says that it was in force, and was not whole.
func (a *activation) prepare(ctx context.Context, b *bundles.Bundle, o Offer) (next Active, mended bool, err error) {
	_, files, err := sealed.Snapshot(b.FS(), a.rules.Limits)
	if err != nil {
		return Active{}, false, err
	}
	version := b.Manifest.Gate.Version
	next = Active{
		Name: b.Name(), Version: version, Digest: b.Digest, Dir: Place(b.Name(), version, b.Digest), Files: files,
	}
	in := a.after.Find(next.Name)
	if o.Trial {
		in = a.after.Trial(next.Name)
	}
	another := in == nil || in.Digest != next.Digest
	if another {
		if err := a.try(ctx, b); err != nil {
			return Active{}, false, err
		}
	}
	if _, err := next.Open(a.files()); err == nil && a.checkAll(path.Join(Dir, next.Dir)) == nil {
		return next, false, onDisk(a.refresh(next, o.Archive, o.Envelope))
	}
	staged, err := a.stage(b, o.Archive, o.Envelope)
	if err == nil {
		err = a.place(staged, next)
	}
	return next, !another && err == nil, onDisk(err)
}

// try asks the caller about a bundle among those that will be in force.
func (a *activation) try(ctx context.Context, b *bundles.Bundle) error {
	if a.rules.Try == nil {
		return nil
	}
	beside := map[string]fs.FS{}
	for _, in := range a.after.Bundles {
		if in.Name == b.Name() {
			continue
		}
		files, err := in.Open(a.files())
		if err != nil {
			continue // damaged: whoever decides about calls says so
		}
		beside[in.Name] = files
	}
	return a.rules.Try(ctx, b, beside)
}

// commit changes what is in force. Versions are remembered first: whatever is
// in force was seen.
func (a *activation) commit() error {
	a.sort()
	if string(a.seen.Encode()) != string(a.known.Encode()) {
		if err := a.replace(SeenFile, a.seen.Encode()); err != nil {
			return err
		}
	}
	if !slices.Equal(a.before.Bundles, a.after.Bundles) || !slices.Equal(a.before.Trials, a.after.Trials) {
		if err := a.replace(CurrentFile, a.after.Encode()); err != nil {
			return err
		}
	}
	if a.fresh {
		return a.replace(SyncedFile, a.synced.Encode())
	}
	return nil
}

// waits reports a bundle that must not come into force yet.
func (a *activation) waits(name string) error {
	first := a.rules.First
	if first == "" || first == name || a.after.Find(name) != nil || a.after.Find(first) != nil {
		return nil
	}
	return fmt.Errorf("%s comes before it, and is not in force yet", first)
}

// sort orders the bundles in force that have a rank, among the places that they
// have together.
func (a *activation) sort() {
	rank := func(in Active) int { return slices.Index(a.rules.Order, in.Name) }
	var ranked []Active
	for _, in := range a.after.Bundles {
		if rank(in) >= 0 {
			ranked = append(ranked, in)
		}
	}
	slices.SortStableFunc(ranked, func(x, y Active) int { return rank(x) - rank(y) })
	for i, in := range a.after.Bundles {
		if rank(in) >= 0 {
			a.after.Bundles[i], ranked = ranked[0], ranked[1:]
		}
	}
}
