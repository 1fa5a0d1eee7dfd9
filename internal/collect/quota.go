package collect

import (
	"sync"
	"time"
)

// quotas hold how much each machine may still send. What it may send in a minute grows
// back within a minute.
type quotas struct {
	records, bytes float64 // a minute

	mu  sync.Mutex
	all map[string]*quota
}

// A quota is what is left to a machine; less than nothing, where a batch went beyond.
type quota struct {
	records, bytes float64
	at             time.Time
}

// of returns a machine's quota as of now.
func (q *quotas) of(machine string, now time.Time) *quota {
	m := q.all[machine]
	if m == nil {
		m = &quota{q.records, q.bytes, now}
		q.all[machine] = m
	}
	if past := now.Sub(m.at).Minutes(); past > 0 {
		m.records, m.bytes = min(m.records+past*q.records, q.records), min(m.bytes+past*q.bytes, q.bytes)
	}
	m.at = now
	return m
}

// wait returns how long a machine must wait; 0: it may send.
func (q *quotas) wait(machine string, now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.of(machine, now)
	minutes := max(-m.records/q.records, -m.bytes/q.bytes)
	if m.records > 0 && m.bytes > 0 {
		return 0
	}
	return max(time.Duration(minutes*float64(time.Minute)), time.Second)
}

// charge takes what a machine sent.
func (q *quotas) charge(machine string, now time.Time, records, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.of(machine, now)
	m.records, m.bytes = m.records-float64(records), m.bytes-float64(bytes)
}

// forget forgets machines that have all of their quota again.
func (q *quotas) forget(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.all {
		if m := q.of(name, now); m.records >= q.records && m.bytes >= q.bytes {
			delete(q.all, name)
		}
	}
}

// rare lets something happen once a minute.
type rare struct {
	mu   sync.Mutex
	said map[string]time.Time
}

// mostRare is how many different things are remembered; no more may happen meanwhile.
const mostRare = 1000

func (r *rare) may(what string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, known := r.said[what]; known && now.Sub(at) < time.Minute || len(r.said) >= mostRare {
		return false
	}
	r.said[what] = now
	return true
}

func (r *rare) forget(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for what, at := range r.said {
		if now.Sub(at) >= time.Minute {
			delete(r.said, what)
		}
	}
}
