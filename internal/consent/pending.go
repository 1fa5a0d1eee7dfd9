package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// pendingLife is how long a call waits for a person.
const pendingLife = time.Hour

// A Pending is a call that somebody was to be asked about and that a person
// may approve. It holds the input in clear, in a file for the user alone and
// for an hour: to approve a call one has to see it.
type Pending struct {
	ID      string // of the decision
	Call    Call
	Reasons []Cause // why it was asked, in order; at least one
	Asked   time.Time
}

// A Cause is one reason to ask, as the person is shown it.
type Cause struct {
	Policy string // the hook
	ID     string // of the reason
	Source string
	Text   string
}

// causes returns the reasons for an ask, nil if the decision is anything else.
// A decision that something stronger than a question takes part in is no ask.
func causes(d *hook.Decision) []Cause {
	if d.Effect != hook.Ask || d.Halt != nil || d.Fault != nil {
		return nil
	}
	var out []Cause
	for _, r := range d.Reasons {
		switch {
		case r.Effect > hook.Ask:
			return nil
		case r.Effect == hook.Ask:
			out = append(out, Cause{r.Hook, r.ID, r.Source, r.Reason})
		}
	}
	for _, s := range d.Steps {
		if s.Effect > hook.Ask {
			return nil
		}
	}
	return out
}

// AddPending records the call of a decision that asks, so that a person can
// approve it by the decision's id. It is a [Refusal] if the decision is no ask
// or approvals are off, and an error if the call cannot be told exactly; the
// answer to the agent is the same either way. It sweeps what has expired: at
// most 256 calls wait, the oldest go.
func (s Store) AddPending(ev *hook.Event, d *hook.Decision, rules Approvals) (Pending, error) {
	p := Pending{ID: d.ID, Reasons: causes(d)}
	switch {
	case !rules.Enabled:
		return Pending{}, Off
	case len(p.Reasons) == 0:
		return Pending{}, NotAsked
	case !isID(p.ID):
		return Pending{}, fmt.Errorf("consent: the decision's id is %q", clip(p.ID))
	}
	var err error
	if p.Call, err = CallOf(ev, d); err != nil {
		return Pending{}, err
	}
	if p.Asked, err = s.Clock(ev.Gate.Now); err != nil {
		return Pending{}, err
	}
	data := seal("pending", p.encode())
	if len(data) > maxRecord {
		return Pending{}, errors.New("the call and its reasons are too long to be approved")
	}
	root, err := s.open(true)
	if err != nil {
		return Pending{}, err
	}
	defer root.Close()
	if err := s.enter(root, pendingDir, true); err != nil {
		return Pending{}, err
	}
	// Not through a draft: what another decision put there must stay.
	if err := create(root, path.Join(pendingDir, p.ID), data, false); err != nil {
		return Pending{}, s.wrap(path.Join(pendingDir, p.ID), err)
	}
	return p, s.sweep(root, ev.Gate.Now)
}

// Keep has a call wait as [Store.AddPending] does, unless it waits already: under the same
// decision, or since it was put to people elsewhere, under the id by which they know it.
// What is returned waits.
func (s Store) Keep(ev *hook.Event, d *hook.Decision, rules Approvals) (Pending, error) {
	asked := causes(d)
	if rules.Enabled && rules.Elsewhere != nil && len(asked) > 0 {
		if q, answer, err := s.Asked(ev, d); err == nil && answer == nil && subset(asked, q.Pending.Reasons) {
			if p, err := s.Pending(q.Pending.ID); err == nil && p.Call == q.Pending.Call {
				return p, nil
			}
		}
	}
	p, err := s.AddPending(ev, d, rules)
	if !errors.Is(err, fs.ErrExist) {
		return p, err
	}
	call, callErr := CallOf(ev, d)
	if waits, readErr := s.Pending(d.ID); callErr == nil && readErr == nil && waits.Call == call {
		return waits, nil // who asked elsewhere kept it
	}
	return p, err
}

// subset reports whether each reason of some is among others.
func subset(some, others []Cause) bool {
	return !slices.ContainsFunc(some, func(c Cause) bool { return !slices.Contains(others, c) })
}

// Forget takes a call away that waits, where another one of the same was put to people.
func (s Store) Forget(p Pending) error {
	root, err := s.open(false)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = s.claim(root, pendingDir, p.ID)
	return err
}

// String is what a person is shown before they approve. Everything that came
// from outside is quoted, a line each, so that nothing in it can pose as gate's
// own words.
func (p Pending) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s calls %s\n", shown(p.Call.Agent), shown(p.Call.Tool))
	fmt.Fprintf(&b, "  with     %s\n  in       %s\n", p.Call.Input, shown(p.Call.Dir))
	for _, r := range p.Reasons {
		fmt.Fprintf(&b, "  because  %s (%s)\n", shown(r.Text), shown(r.Policy))
	}
	return b.String()
}

func shown(s string) string { return string(strictjson.Append(nil, s)) }

// Pending returns the call that waits under a decision's id. There is none
// under an id that is unknown, answered or swept: fs.ErrNotExist.
func (s Store) Pending(id string) (Pending, error) {
	root, err := s.open(false)
	if err != nil {
		return Pending{}, err
	}
	defer root.Close()
	return s.readPending(root, id)
}

// AllPending lists the calls that wait. Records that are broken are in the
// error, joined.
func (s Store) AllPending() ([]Pending, error) {
	all, err := list(s, pendingDir, isID, s.readPending)
	slices.SortStableFunc(all, func(a, b Pending) int { return a.Asked.Compare(b.Asked) })
	return all, err
}

func (s Store) readPending(root *os.Root, id string) (Pending, error) {
	if !isID(id) {
		return Pending{}, fmt.Errorf("%q is no decision's id", clip(id))
	}
	return readRecord(s, root, pendingDir, id, decodePending, func(p Pending) error { return sameName(p.ID, id, "decision") })
}

// SignedForm is what an approver signs: this one call, asked about at this one
// moment for these reasons, until a time in whole seconds.
func (p Pending) SignedForm(until time.Time) []byte {
	return fmt.Appendf(nil, "gate approval 1\n%s\n%d\n", sum("pending", p.text()), until.Unix())
}

func (p Pending) text() []byte {
	_, text, _ := strings.Cut(string(seal("pending", p.encode())), "\n")
	return []byte(text)
}

func (p Pending) encode() map[string]any {
	reasons := make([]map[string]any, len(p.Reasons))
	for i, r := range p.Reasons {
		reasons[i] = map[string]any{"policy": r.Policy, "id": r.ID, "source": r.Source, "text": r.Text}
	}
	return map[string]any{"id": p.ID, "call": p.Call.encode(), "reasons": reasons, "asked": stamp(p.Asked)}
}

func decodePending(data []byte) (Pending, error) {
	f, err := unseal("pending", data)
	if err != nil {
		return Pending{}, err
	}
	p := pendingFrom(f)
	return p, f.done()
}

func pendingFrom(f *fields) Pending {
	call := f.object("call")
	p := Pending{ID: f.text("id"), Call: decodeCall(call), Asked: f.time("asked")}
	f.include("call", call)
	for i, r := range f.objects("reasons") {
		p.Reasons = append(p.Reasons, Cause{r.text("policy"), r.text("id"), r.text("source"), r.text("text")})
		f.include(fmt.Sprintf("reasons[%d]", i), r)
	}
	if len(p.Reasons) == 0 {
		f.fail("there are no reasons")
	}
	if !isID(p.ID) {
		f.fail("%q is no decision's id", clip(p.ID))
	}
	return p
}

// isID reports a decision's id, which is a file's name here.
func isID(s string) bool {
	return len(s) >= 4 && len(s) <= 32 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// list reads all records of a directory.
func list[T any](s Store, dir string, valid func(string) bool, read func(*os.Root, string) (T, error)) ([]T, error) {
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := s.names(root, dir)
	errs := []error{err}
	var out []T
	for _, name := range names {
		if !valid(name) {
			errs = append(errs, s.wrap(path.Join(dir, clip(name)), errors.New("it is not gate's")))
			continue
		}
		v, err := read(root, name)
		switch {
		case err == nil:
			out = append(out, v)
		case !errors.Is(err, fs.ErrNotExist): // swept in between
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}
