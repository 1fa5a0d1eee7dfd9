package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/audit"
)

// A Tally counts decisions by the hour. The zero Tally has none.
type Tally struct {
	Pseudonyms Pseudonyms // for names that are not plain

	hours map[time.Time]*count
	rows  int
}

// A count is an hour that is not written yet.
type count struct {
	Hour
	said map[Said]*Said // by what is the same in all that one of them counts
}

// Rows is the size of the tally: hours, and answers of policies in each.
func (t *Tally) Rows() int { return t.rows }

// Add takes in a record of a log. One about a bundle is about no call.
func (t *Tally) Add(r *audit.Record) {
	if r.Sync != nil {
		return
	}
	at := r.Time.UTC().Truncate(time.Hour)
	h := t.hours[at]
	if h == nil {
		if t.hours == nil {
			t.hours = map[time.Time]*count{}
		}
		h = &count{Hour: Hour{Hour: at}, said: map[Said]*Said{}}
		t.hours[at] = h
		t.rows++
	}
	if len(r.Faults) > 0 {
		h.Faults++
	}
	if !r.Begins() {
		return
	}
	h.Calls++
	h.Asked += one(r.Effect == hook.Ask)
	h.Denied += one(r.Effect == hook.Deny)
	h.Approved += one(r.Approved)
	h.Changed += one(len(r.Changed) > 0)
	for i := range r.Policies {
		t.policy(h, &r.Policies[i], r.Approved)
	}
}

// policy counts what a policy said, unless that was nothing.
func (t *Tally) policy(h *count, p *audit.Policy, approved bool) {
	key := Said{Policy: t.Pseudonyms.name(p.ID, 2), Effect: p.Effect.String()}
	if p.Would != nil {
		key.Would, key.Spared = p.Would.Effect.String(), t.Pseudonyms.name(p.Would.Spared, 0)
	} else if p.Effect == hook.Pass {
		return
	}
	s := h.said[key]
	if s == nil {
		s = &Said{Policy: key.Policy, Effect: key.Effect, Would: key.Would, Spared: key.Spared}
		h.said[key] = s
		t.rows++
	}
	s.N++
	s.Approved += one(approved)
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Hours returns what was counted, in order.
func (t *Tally) Hours() []Hour {
	list := []Hour{}
	for _, at := range slices.SortedFunc(maps.Keys(t.hours), time.Time.Compare) {
		h := t.hours[at].Hour
		for _, s := range t.hours[at].said {
			h.Policies = append(h.Policies, *s)
		}
		slices.SortFunc(h.Policies, func(a, b Said) int {
			return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Would, b.Would), cmp.Compare(a.Spared, b.Spared))
		})
		list = append(list, h)
	}
	return list
}
