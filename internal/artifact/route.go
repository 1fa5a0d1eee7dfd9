package artifact

import (
	"slices"

	"gate/hook"
	"gate/matcher"
)

// Routes are found by the event's name and a text behind a zero: nothing for
// hooks whose matchers are no lists of names, "\x01" for all that listen, and
// the name that a matcher names.
const (
	routeRest = "\x00"
	routeAll  = "\x00\x01"
)

// route returns the positions of the hooks that an event may concern, in order,
// with all handlers if so.
func (a *Artifact) route(p *part, ev *hook.Event, handlers bool) ([]int, error) {
	d, err := a.open(p.routes)
	if err != nil {
		return nil, err
	}
	r := routes{d: d, keys: d.int(), list: slices.Clone(p.always)}
	if handlers {
		r.list = append(r.list, p.runs...)
	}
	if r.keys > (len(d.data)-d.at)/4 {
		return nil, errDamaged
	}
	switch subject, matched, missing := matcher.Subject(ev); {
	case !matched, missing, len(subject) > matcher.MaxValue:
		r.take(string(ev.Name)+routeAll, subject)
	default:
		r.take(string(ev.Name)+routeRest, subject)
		r.take(string(ev.Name)+routeRest+subject, subject)
	}
	slices.Sort(r.list)
	return slices.Compact(r.list), d.err
}

// routes is a table of places, sorted by the keys that stand there.
type routes struct {
	d    *decoder
	keys int
	list []int
}

// take adds the hooks that stand at a key. Hooks with one matcher are a group:
// what does not match the subject is passed over without a look at its hooks.
func (r *routes) take(key, subject string) {
	table := r.d.at
	defer func() {
		if r.d.err == nil {
			r.d.at = table
		}
	}()
	if !r.find(key) {
		return
	}
	for range r.d.count() {
		ask := r.d.text()
		held := r.holds(subject)
		positions := r.d.count()
		if held && wanted(ask, subject) {
			r.list = slices.Grow(r.list, positions)
			for range positions {
				r.list = append(r.list, r.d.int())
			}
			continue
		}
		for range positions {
			r.d.int()
		}
	}
}

// holds reads the texts of which whatever a matcher matches holds one, and reports
// whether the subject does, or there are none.
func (r *routes) holds(subject string) bool {
	n := r.d.count()
	held := n == 0
	for range n {
		held = matcher.Holds(subject, r.d.text()) || held
	}
	return held
}

// wanted reports whether a matcher may fit. One that does not compile, or only for
// who backtracks, is for whoever makes a set of the hooks to complain about.
func wanted(ask, subject string) bool {
	if ask == "" {
		return true
	}
	m, err := matcher.Compile(ask, nil)
	return err != nil || m.Match(subject) != matcher.No
}

// find goes behind a key, and reports whether it is there.
func (r *routes) find(key string) bool {
	table := r.d.at
	low, high := 0, r.keys
	for low < high {
		mid := (low + high) / 2
		r.d.at = table + 4*mid
		if r.d.at = int(r.d.fixed()); r.d.at > len(r.d.data) {
			r.d.damaged()
			return false
		}
		switch at := r.d.text(); {
		case r.d.err != nil:
			return false
		case at == key:
			return true
		case at < key:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}
