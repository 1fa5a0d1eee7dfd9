package consent

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"gate/hook"
)

const (
	defaultLife = 10 * time.Minute
	maxLife     = time.Hour
	clockSkew   = time.Minute // by which an approval may seem to come from the future
)

// Approvals are the rules for approvals, from managed settings, or from the
// user's where there are none. The zero Approvals switch them off.
type Approvals struct {
	Enabled bool
	Life    time.Duration // default 10 minutes, at most an hour

	// Signed reports whether one of this machine's approvers signed a form (see
	// [Pending.SignedForm]), with Ed25519. Nil: no signature is required.
	Signed func(form, signature []byte) bool

	// Elsewhere returns which approver signed the statement of a [Question] for
	// [ApprovalNamespace], if their key counts at a time. Nil: nobody may answer from
	// elsewhere.
	Elsewhere func(statement, signature []byte, at time.Time) (who string, err error)
}

const signatureSize = 64 // of Ed25519

func (r Approvals) life() time.Duration {
	if r.Life <= 0 {
		return defaultLife
	}
	return min(r.Life, maxLife)
}

// A Signature is an approver's word for one pending call until a time; see
// [Pending.SignedForm].
type Signature struct {
	Until time.Time // in whole seconds
	Sig   []byte    // Ed25519
}

// An approval is a pending call with a person's yes.
type approval struct {
	pending   Pending
	until     time.Time
	at        time.Time
	by        string
	signature []byte // nil if none was given
}

// Approve lets the next call that is the same as p, which the person must have
// been shown, pass its question once, and returns until when. The call must
// still wait as it was shown. sig is nil unless the rules ask for a signature.
func (s Store) Approve(w *Witness, p Pending, rules Approvals, sig *Signature) (time.Time, error) {
	by, at, err := w.Take()
	if err != nil {
		return time.Time{}, err
	}
	now, err := s.Clock(at)
	if err != nil {
		return time.Time{}, err
	}
	a := approval{pending: p, at: now, by: by}
	if err := a.settle(rules, sig); err != nil {
		return time.Time{}, err
	}
	root, err := s.open(false)
	if err != nil {
		return time.Time{}, err
	}
	defer root.Close()
	waits, err := s.readPending(root, p.ID)
	switch {
	case err != nil:
		return time.Time{}, err
	case string(waits.text()) != string(p.text()):
		return time.Time{}, fmt.Errorf("%s has changed since it was shown", p.ID)
	case now.Sub(p.Asked) > pendingLife:
		return time.Time{}, fmt.Errorf("%s was asked more than an hour ago; let the agent try again", p.ID)
	}
	// One answer for one question, whoever else is answering.
	if _, err := s.claim(root, pendingDir, p.ID); err != nil {
		return time.Time{}, err
	}
	return a.until, s.write(root, approvedDir, p.Call.Digest(), a.encode())
}

// settle works out until when an approval holds, and checks its signature.
func (a *approval) settle(rules Approvals, sig *Signature) error {
	a.until = a.at.Add(rules.life()).Truncate(time.Second)
	switch {
	case !rules.Enabled:
		return Off
	case rules.Signed != nil && sig == nil:
		return NeedsKey
	case sig == nil:
		return nil
	case len(sig.Sig) != signatureSize || !sig.Until.Equal(sig.Until.Truncate(time.Second)):
		return BadKey
	case !a.at.Before(sig.Until):
		return Expired
	case sig.Until.Sub(a.at) > rules.life():
		return fmt.Errorf("the approver allowed it until %s; here at most %s are allowed", stamp(sig.Until), rules.life())
	}
	a.until, a.signature = sig.Until.UTC(), slices.Clone(sig.Sig)
	return a.verify(rules)
}

func (a *approval) verify(rules Approvals) error {
	if rules.Signed == nil || len(a.signature) == signatureSize && rules.Signed(a.pending.SignedForm(a.until), a.signature) {
		return nil
	}
	return BadKey
}

// Use returns nil if a person approved this very call, and uses the approval
// up. Else it is a [Refusal], or a fault. The decision must be an ask, whole:
// a denial, a halt or a fault is never satisfied, and uses nothing up. Of any
// number of processes that ask at once, one gets it; one that is killed has
// used it.
//
// Satisfied, the ask counts as pass: nobody said that the agent's own questions
// are answered, too.
func (s Store) Use(ev *hook.Event, d *hook.Decision, rules Approvals) error {
	asked := causes(d)
	switch {
	case !rules.Enabled:
		return Off
	case len(asked) == 0:
		return NotAsked
	}
	call, err := CallOf(ev, d)
	if err != nil {
		return err
	}
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return NoApproval
	}
	if err != nil {
		return err
	}
	defer root.Close()
	name := call.Digest()
	a, err := s.readApproval(root, approvedDir, name, name)
	if errors.Is(err, fs.ErrNotExist) {
		return s.why(root, call, ev.Gate.Now)
	}
	if err != nil {
		return err
	}
	now, err := s.Clock(ev.Gate.Now)
	if err == nil {
		err = a.covers(call, asked, rules, now)
	}
	if err != nil {
		return err
	}
	claimed, err := s.claim(root, approvedDir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return Used
	}
	if err != nil {
		return err
	}
	// What counts is what was claimed: it may be a later one than was read.
	if a, err = s.readApproval(root, claimsDir, claimed, name); err == nil {
		err = a.covers(call, asked, rules, now)
	}
	s.remember(root, claimed, name)
	return err
}

// remember keeps what was used, for the sentence on the next attempt. If that
// fails, only the sentence is another.
func (s Store) remember(root *os.Root, claimed, name string) {
	if s.enter(root, usedDir, true) == nil {
		root.Rename(path.Join(claimsDir, claimed), path.Join(usedDir, name))
	}
}

// covers reports why an approval does not hold for a call.
func (a approval) covers(call Call, asked []Cause, rules Approvals, now time.Time) error {
	switch {
	case a.pending.Call != call:
		return call.differs(a.pending.Call)
	case !now.Before(a.until):
		return Expired
	case a.at.Sub(now) > clockSkew || a.until.Sub(a.at) > maxLife:
		return fmt.Errorf("the approval of %s holds from %s until %s; gate grants no such time", a.pending.ID, stamp(a.at), stamp(a.until))
	}
	for _, c := range asked {
		if !slices.Contains(a.pending.Reasons, c) {
			return OtherCause
		}
	}
	return a.verify(rules)
}

// why finds the sentence for a call that has no approval of its own: one that
// was used, or one that holds for a call that is nearly the same. It grants nothing,
// so what cannot be read is left out.
func (s Store) why(root *os.Root, call Call, now time.Time) error {
	if _, err := s.readApproval(root, usedDir, call.Digest(), call.Digest()); err == nil {
		return Used
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := s.names(root, approvedDir)
	if err != nil {
		return err
	}
	var errs []error
	best, elsewhere := NoApproval, ""
	for _, name := range names {
		a, err := s.readApproval(root, approvedDir, name, name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		if !now.Before(a.until) {
			continue
		}
		if is := call.differs(a.pending.Call); nearness(is) > nearness(best) {
			best, elsewhere = is, a.pending.ID
		}
	}
	switch {
	case len(errs) > 0:
		return errors.Join(errs...)
	case best == OtherAgent:
		return fmt.Errorf("%w; gate log show %s names it", best, elsewhere)
	}
	return best
}

// readApproval reads an approval for the call of a digest.
func (s Store) readApproval(root *os.Root, dir, name, digest string) (approval, error) {
	return readRecord(s, root, dir, name, decodeApproval, func(a approval) error {
		return sameName(a.pending.Call.Digest(), digest, "call")
	})
}

func (a approval) encode() []byte {
	return seal("approval", map[string]any{
		"pending": a.pending.encode(), "until": stamp(a.until), "at": stamp(a.at), "by": a.by, "signature": hex.EncodeToString(a.signature),
	})
}

func decodeApproval(data []byte) (approval, error) {
	f, err := unseal("approval", data)
	if err != nil {
		return approval{}, err
	}
	pending := f.object("pending")
	a := approval{pending: pendingFrom(pending), until: f.time("until"), at: f.time("at"), by: f.text("by")}
	f.include("pending", pending)
	sig := f.text("signature")
	if a.signature, err = hex.DecodeString(sig); err != nil || len(sig) != 0 && len(a.signature) != signatureSize {
		f.fail("signature is no Ed25519 signature")
	}
	return a, f.done()
}
