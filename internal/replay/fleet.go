package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"gate/internal/audit"
	"gate/internal/fleet"
)

// A Held is a record that a fleet's collector holds, as the machine sent it.
type Held struct {
	Day     string // "2026-11-28", in UTC
	Machine string
	Account string // a pseudonym
	Log     string // the chain
	Seq     int64  // the place in it
	Level   string // of privacy: [LevelText], or another one, which has no text of calls
	Body    []byte
}

// LevelText is the level of privacy of records that can be decided again.
const LevelText = string(fleet.Text)

// At names the record among those of the fleet. Names of a chain are in the order of its
// records.
func (h *Held) At() string { return fmt.Sprintf("%s %s/%s:%012d", h.Day, h.Machine, h.Log, h.Seq) }

// Past is what is held of a fleet. It is safe for concurrent use.
type Past interface {
	// Name says what it is that is held: days of it, and their sizes. The same name is of
	// the same records.
	Name() string

	// Records is how many there are.
	Records() int64

	// Part yields the records of accounts that are in a part, those of an account in the
	// order of days, chains and places. The error is the last.
	Part(ctx context.Context, in func(machine, account string) bool) iter.Seq2[*Held, error]

	Close() error
}

// A Part is one of the equal parts that the accounts of a fleet are dealt out to. All
// that calls of an account leave to those after them stays in one part: sessions, and
// what they wrote into files of a project.
type Part struct{ I, N int } // the I-th of N, from 1

// ParsePart reads a part such as "3/8".
func ParsePart(text string) (Part, error) {
	i, n, ok := strings.Cut(text, "/")
	var p Part
	var err error
	if p.I, err = strconv.Atoi(i); err == nil && ok {
		p.N, err = strconv.Atoi(n)
	}
	if err != nil || !ok || p.I < 1 || p.I > p.N || p.N > MaxParts {
		return Part{}, fmt.Errorf("%.40q is no part: one such as 3/8 is wanted, of at most %d", text, MaxParts)
	}
	return p, nil
}

// MaxParts is how many parts a fleet is dealt out to at most.
const MaxParts = 1 << 16

func (p Part) String() string { return fmt.Sprintf("%d/%d", p.I, p.N) }

// Has reports whether an account of a machine is in the part. It never changes: parts may
// be decided by different releases of gate.
func (p Part) Has(machine, account string) bool {
	return xxhash.Sum64String(machine+"\x00"+account)%uint64(p.N) == uint64(p.I-1)
}

// Within is the i-th of n parts of a part, from 1.
func (p Part) Within(i, n int) Part { return Part{p.I + (i-1)*p.N, p.N * n} }

// call makes a call of a record at level text; nil where it is about no call.
func (h *Held) call() *Call {
	c := &Call{At: h.At(), Of: h.Machine + " " + h.Account}
	var form struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(h.Body, &form); err == nil && form.Path != "" && form.Path != "gate/decision" {
		return nil
	}
	c.record(h.Body)
	return c
}

// Sum decides again about the records of a part of a fleet, one after the other, and adds
// them up. The options' Shared, Each, Workers and Progress play no part. With an error
// comes nothing: a part is decided whole.
func Sum(ctx context.Context, held iter.Seq2[*Held, error], o Options) (*Summary, error) {
	s := NewSummary()
	for h, err := range held {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		s.Records++
		if h.Level != LevelText {
			s.Textless++
			continue
		}
		c := h.call()
		if c == nil {
			s.NoCalls++
			continue
		}
		j := &job{call: c}
		o.decide(ctx, j)
		if err := ctx.Err(); err != nil { // its decisions are faults
			return nil, err
		}
		if j.call.Lost == "" && o.strayed(j) {
			j.call.Lost = strayedWhy(j.call)
		}
		s.add(j, h, &o)
	}
	return s, nil
}

func strayedWhy(c *Call) string {
	return "secrets were taken out of " + pointers(c.Redacted) + ", and without them the same policies decide otherwise"
}

// add adds a call that was decided, or that was lost.
func (s *Summary) add(j *job, h *Held, o *Options) {
	c := j.call
	if c.Lost != "" {
		s.Lost.add(h.Machine, Entry{At: c.At, ID: id(c), Time: c.Event.Gate.Now, Tool: tool(c), Call: summary(c), Why: c.Lost})
		return
	}
	s.Decided++
	if c.Facts != nil {
		s.Recorded++
	}
	if strange(c) {
		s.Strangers++
	}
	s.Effects[effects(&j.then, &j.now)]++
	s.Now.add(j.now.Took)
	if o.Then != nil {
		s.Then.add(j.then.Took)
	}
	change := compare(&j.then, &j.now)
	fault := len(j.now.Faults) > 0 && len(j.then.Faults) == 0
	if change == "" && !fault {
		return
	}
	e := entryOf(j, change)
	if change != "" {
		s.tally(change, e.Policy).add(h.Machine, e)
	}
	if fault {
		s.Faults.add(h.Machine, e)
	}
}

// effects names what was decided on both sides, such as "pass ask".
func effects(then, now *audit.Record) string {
	return then.Effect.String() + " " + now.Effect.String()
}

// strange reports a call that policies of its project decided about then: they are not
// here.
func strange(c *Call) bool {
	for i := range c.Then.Policies {
		if c.Then.Policies[i].Source == "project" {
			return true
		}
	}
	return false
}

// Took has the decisions of one side by how long they took: of the buckets each is an
// eighth longer than the one before.
type Took map[int]int64

func (t Took) add(d time.Duration) { t[bucket(d)]++ }

// maxBucket is that of the longest duration there is.
const maxBucket = 62 * 8

// bucket numbers durations: eight to each doubling of nanoseconds.
func bucket(d time.Duration) int {
	n := max(uint64(d), 1)
	high := 63
	for n>>high == 0 {
		high--
	}
	if high < 3 {
		return int(n)
	}
	return (high-2)*8 + int(n>>(high-3)&7)
}

// At is how long at most a share of the decisions took, from 0 to 1.
func (t Took) At(share float64) time.Duration {
	all, last := int64(0), 0
	for b, n := range t {
		all, last = all+n, max(last, b)
	}
	sum := int64(0)
	for b := range last + 1 {
		if sum += t[b]; all > 0 && float64(sum) >= share*float64(all) {
			if b < 8 {
				return time.Duration(b)
			}
			return time.Duration(uint64(8+b%8+1)<<(b/8-1)) - 1
		}
	}
	return 0
}
