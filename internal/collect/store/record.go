package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/fleet"
)

// A Key names a record. All of it but the machine stands within the hash chain of the
// machine's log.
type Key struct {
	Day     string // of the record's time in UTC, "2026-11-28", or [OddDay]
	Machine string // that signed the request
	Log     string // the chain
	Seq     int64  // the place in it, from 1
}

// OddDay is the day of records whose time is so far from that of the collector that no
// day is kept for them: more than two days ahead, or longer ago than records are kept.
const OddDay = "odd"

// Compare orders keys as [Store.Records] does.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Day, o.Day), strings.Compare(k.Machine, o.Machine), strings.Compare(k.Log, o.Log), cmp.Compare(k.Seq, o.Seq))
}

// A Record is one that a machine sent, and what of it can be asked for by name. All but
// Machine, Received and Team is read out of the body.
type Record struct {
	Key
	Prev   string // the digest of the line before, in hex; "" for a chain's first
	Digest string // of the line in the machine's log, in hex

	Level    fleet.Level // Text or Effects
	At       time.Time
	Received time.Time
	Team     string // of the machine when it was taken; "" where nobody said

	Path      string // "gate/decision" or "gate/sync"
	Account   string // a pseudonym; "" where it is not said
	Agent     string
	Session   string
	Project   string
	Event     string
	Tool      string
	Effect    string // pass, allow, ask or deny
	Result    string // continue, reject or modify_input
	Call      string // names the call among those of its log; "" where the record does not say
	Approved  bool   // a person had approved before
	Faults    int
	Policies  []Policy // that had an effect, or would have had one
	Effects   []string // kinds, sorted
	DecideNS  int64    // what gate took to decide; 0 where it is not known
	CallNS    int64    // what the agent waited; 0 where it is not known
	Bundles   []string // "name@revision", sorted; a trial is "trial:name@revision"
	DecidedBy string   // the decision's id, as it stands in reasons

	Body []byte // as sent
}

// A Policy is one that had a say in a decision, or would have had.
type Policy struct {
	ID     string `json:"id"`
	Source string `json:"source,omitempty"`
	Effect string `json:"effect"`
	Would  string `json:"would,omitempty"`  // what it would have done: ask, deny or change; "" where all followed
	Spared string `json:"spared,omitempty"` // what took from it: trial, exception, approval, level, off
}

// A Told is what a machine says of its own log in the place of records: what is missing,
// or that a log is not the one that was sent before.
type Told struct {
	Problem  audit.ProblemKind // Missing, Anew, Gone, Shorter or Unread
	Log      string
	From, To int64        // that are missing; of the others To is the last that counts as sent from now on
	Before   audit.Cursor // how far it was sent before
	At       time.Time
	Account  string
}

// Calls reports that the record begins a call of a tool, which is what figures count.
func (r *Record) Calls() bool {
	return r.Path == audit.DecisionPath && r.Event == string(hook.PreToolUse)
}

// ran reports that the record shows that a call was made.
func (r *Record) ran() bool {
	return r.Path == audit.DecisionPath && (r.Event == string(hook.PostToolUse) || r.Event == string(hook.PostToolUseFailure))
}

// maxWord is the longest text in a column, in bytes.
const maxWord = 256

// maxSeq is the highest number of a record: sums of them are numbers, too.
const maxSeq = 1 << 52

// ReadRecord reads one element of what a machine sends: a record, or what it says in the
// place of one; the other one is nil. Machine, Received and Team are for the caller to
// set, and Day is that of the record's time, whatever that is.
func ReadRecord(body []byte) (*Record, *Told, error) {
	sent, err := fleet.ParseSent(body)
	if err != nil {
		return nil, nil, err
	}
	log := sent.Log
	if sent.Record.Place != nil {
		log = sent.Record.Place.Log
	}
	if len(log) > 64 || len(sent.Before.Log) > 64 || strings.ContainsFunc(log+sent.Before.Log, notName) {
		return nil, nil, errors.New("a chain is named by at most 64 printable characters")
	}
	if sent.From > maxSeq || sent.To > maxSeq || sent.Before.Seq < 0 || sent.Before.Seq > maxSeq || sent.Record.Place != nil && sent.Record.Place.Seq > maxSeq {
		return nil, nil, errors.New("a number in a chain is larger than any log is long")
	}
	switch sent.Path {
	case audit.GapPath:
		return nil, &Told{Problem: audit.Missing, Log: log, From: sent.From, To: sent.To, At: sent.Time.UTC(), Account: clip(sent.Account)}, nil
	case audit.FindingPath:
		if !slices.Contains([]audit.ProblemKind{audit.Anew, audit.Gone, audit.Shorter, audit.Unread}, sent.Problem) {
			return nil, nil, fmt.Errorf("the problem of a log is none of %s, %s, %s and %s", audit.Anew, audit.Gone, audit.Shorter, audit.Unread)
		}
		return nil, &Told{Problem: sent.Problem, Log: log, To: sent.To, Before: sent.Before, At: sent.Time.UTC(), Account: clip(sent.Account)}, nil
	}
	r, err := recordOf(&sent)
	if err == nil {
		r.Body = body
	}
	return r, nil, err
}

func recordOf(sent *fleet.Sent) (*Record, error) {
	a, place := &sent.Record, sent.Record.Place
	if place.Prev != "" && !isDigest(place.Prev) || (place.Prev == "") != (place.Seq == 1) {
		return nil, errors.New("custom.gate.chain.prev: the digest of the line before is wanted, and none in a chain's first record")
	}
	r := &Record{
		Key: Key{Day: dayOf(sent.Time), Log: place.Log, Seq: place.Seq}, Prev: place.Prev, Digest: sent.Digest,
		Level: fleet.Effects, At: sent.Time.UTC(), Path: sent.Path, Account: clip(sent.Account),
		Agent: clip(a.Agent), Session: clip(a.Session), Project: clip(a.Project), Event: clip(string(a.Event)), Tool: clip(a.Tool),
		Effect: a.Effect.String(), Result: clip(string(a.Result)), Call: clip(sent.Call), Approved: a.Approved,
		Faults: sent.Faults, DecideNS: max(int64(a.Took), 0), CallNS: max(int64(a.Whole), 0), DecidedBy: clip(a.ID),
		Effects: words(sent.Effects), Policies: policiesOf(a),
	}
	if a.Kept != nil || a.Call != "" || a.Dir != "" {
		r.Level = fleet.Text
	}
	for _, b := range a.Bundles {
		r.Bundles = append(r.Bundles, b.Name+"@"+b.Revision)
	}
	r.Bundles = words(r.Bundles)
	long := 0
	for i := range r.Policies {
		long += len(r.Policies[i].ID) + 1
	}
	if len(strings.Join(r.Effects, " ")) > maxList || long > maxList {
		return nil, errors.New("it names more policies or effects than are kept of a record")
	}
	return r, nil
}

// maxList is the longest list of words in a column, in bytes. An archive has no longer one.
const maxList = 64 << 10

// policiesOf are those that had a say, or would have had.
func policiesOf(a *audit.Record) []Policy {
	var out []Policy
	for i := range a.Policies {
		p := &a.Policies[i]
		one := Policy{ID: word(p.ID), Source: word(p.Source)}
		if p.Effect > hook.Pass {
			one.Effect = p.Effect.String()
		}
		if w := p.Would; w != nil {
			one.Spared = word(w.Spared)
			switch {
			case w.Effect >= hook.Ask:
				one.Would = w.Effect.String()
			case w.Rewrite:
				one.Would = changed
			}
		}
		if one.ID != "" && (one.Effect != "" || one.Would != "") && !slices.ContainsFunc(out, func(q Policy) bool { return q.ID == one.ID && q.Source == one.Source }) {
			out = append(out, one)
		}
	}
	return out
}

// changed is the effect in figures of a call that was let through in another form.
const changed = "change"

// word makes a name that stands in a list with spaces between.
func word(s string) string { return strings.Join(strings.Fields(clip(s)), "_") }

// words sorts names, each once.
func words(list []string) []string {
	var out []string
	for _, s := range list {
		if s = word(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clip bounds what is kept in a column. PostgreSQL takes no NUL.
func clip(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > maxWord {
		s = strings.ToValidUTF8(s[:maxWord], "")
	}
	return s
}

func isDigest(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f') })
}

func notName(r rune) bool { return r <= ' ' || r > '~' }
