package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"gate/internal/strictjson"
)

// A Summary is what becomes of calls of a part of a fleet, or of several parts together:
// it takes the same room for millions of them. [Summary.Merge] of parts gives the same in
// whatever order and however they are taken together.
type Summary struct {
	Records   int64 // that were read
	Textless  int64 // of these, without text and facts: they cannot be decided again
	NoCalls   int64 // of these, about no call but about bundles
	Decided   int64
	Recorded  int64 // of those decided, with the facts that were recorded
	Strangers int64 // of those decided, by policies of a project too, which are not here

	Effects map[string]int64             // how many had which effects, "pass ask" for one of then and one of now
	Changed map[Change]map[string]*Tally // by change, and by the policy that it is put down to
	Faults  *Tally                       // somebody could not answer who could before
	Lost    *Tally                       // calls that could not be decided again

	Then, Now Took // what decisions took; Then is empty where they were only recorded
}

// A Tally is a number of calls of which the same can be said.
type Tally struct {
	Calls    int64
	Machines Distinct
	Examples Examples
}

// NewSummary returns the summary of no calls.
func NewSummary() *Summary {
	return &Summary{Effects: map[string]int64{}, Changed: map[Change]map[string]*Tally{}, Faults: &Tally{}, Lost: &Tally{}, Then: Took{}, Now: Took{}}
}

// Calls is how many calls could be decided again, or could not.
func (s *Summary) Calls() int64 { return s.Decided + s.Lost.Calls }

// Count is how many calls have a change; "" is how many have any.
func (s *Summary) Count(c Change) (n int64) {
	for of, policies := range s.Changed {
		for _, t := range policies {
			if c == "" || of == c {
				n += t.Calls
			}
		}
	}
	return n
}

// Policies are those that a change is put down to, that of most calls first.
func (s *Summary) Policies(c Change) []string {
	of := s.Changed[c]
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Calls, of[a].Calls), strings.Compare(a, b))
	})
}

func (s *Summary) tally(c Change, policy string) *Tally {
	if s.Changed[c] == nil {
		s.Changed[c] = map[string]*Tally{}
	}
	t := s.Changed[c][policy]
	if t == nil {
		t = &Tally{}
		s.Changed[c][policy] = t
	}
	return t
}

// Merge adds the calls of another part. o stays as it is.
func (s *Summary) Merge(o *Summary) {
	s.Records += o.Records
	s.Textless += o.Textless
	s.NoCalls += o.NoCalls
	s.Decided += o.Decided
	s.Recorded += o.Recorded
	s.Strangers += o.Strangers
	for key, n := range o.Effects {
		s.Effects[key] += n
	}
	for c, policies := range o.Changed {
		for policy, t := range policies {
			s.tally(c, policy).merge(t)
		}
	}
	s.Faults.merge(o.Faults)
	s.Lost.merge(o.Lost)
	for b, n := range o.Then {
		s.Then[b] += n
	}
	for b, n := range o.Now {
		s.Now[b] += n
	}
}

func (t *Tally) add(machine string, e Entry) {
	t.Calls++
	t.Machines.add(xxhash.Sum64String(machine))
	t.Examples.add(Example{Key: e.key(), Calls: 1, Entry: e})
}

func (t *Tally) merge(o *Tally) {
	t.Calls += o.Calls
	for _, h := range o.Machines {
		t.Machines.add(h)
	}
	for _, e := range o.Examples {
		t.Examples.add(e)
	}
}

// key tells entries apart of which something else is said.
func (e Entry) key() uint64 {
	h := xxhash.New()
	word := func(text string) {
		_, _ = h.WriteString(text) // it cannot fail
		_, _ = h.Write([]byte{0})
	}
	word(e.Tool)
	word(e.Call)
	word(e.Why)
	word(string(e.Change))
	for _, s := range []*Side{&e.Then, &e.Now} {
		word(s.Effect.String())
		for _, why := range s.Reasons {
			word(why.Effect.String() + why.ID)
			word(why.Reason)
		}
		if s.Rewrite != nil && strictjson.Check(s.Rewrite) == nil {
			word(string(strictjson.Append(nil, s.Rewrite)))
		}
		word(strings.Join(s.Changed, "\n"))
		word(strings.Join(s.Faults, "\n"))
	}
	return h.Sum64()
}

// Distinct counts different things by their hashes: the lowest ones, sorted. While it has
// room for all, the count is exact.
type Distinct []uint64

const maxDistinct = 1024

func (d *Distinct) add(hash uint64) {
	at, there := slices.BinarySearch(*d, hash)
	if there || at == maxDistinct {
		return
	}
	if *d = slices.Insert(*d, at, hash); len(*d) > maxDistinct {
		*d = (*d)[:maxDistinct]
	}
}

// Count is how many there are, and whether that is exact. An estimate is off by some 3 %.
func (d Distinct) Count() (n int64, exact bool) {
	if len(d) < maxDistinct {
		return int64(len(d)), true
	}
	return int64(float64(maxDistinct-1) / (float64(d[maxDistinct-1]) / math.MaxUint64)), false
}

// An Example is a call, and how many others the same is said of, with it.
type Example struct {
	Key   uint64
	Calls int64
	Entry Entry // of these, the one whose name comes first
}

// Examples are those of the lowest keys, sorted, which is a sample of all that differ:
// whichever are among the lowest of all were among the lowest of their part, so that their
// numbers are exact.
type Examples []Example

const maxExamples = 24

func (l *Examples) add(e Example) {
	at, there := slices.BinarySearchFunc(*l, e.Key, func(o Example, key uint64) int { return cmp.Compare(o.Key, key) })
	if there {
		old := &(*l)[at]
		old.Calls += e.Calls
		if e.Entry.At < old.Entry.At {
			old.Entry = e.Entry
		}
		return
	}
	if at == maxExamples {
		return
	}
	if *l = slices.Insert(*l, at, e); len(*l) > maxExamples {
		*l = (*l)[:maxExamples]
	}
}

// Whole reports whether the examples are all that there are.
func (l Examples) Whole() bool { return len(l) < maxExamples }

// Frequent are the examples, those of most calls first.
func (l Examples) Frequent() []Example {
	return slices.SortedFunc(slices.Values(l), func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Entry.At, b.Entry.At))
	})
}
