package plan

import "gate/internal/plan/value"

// pages hold values that belong to parts of a program by their number. Those of
// one policy stand close together, and most policies of a large program are not
// asked.
type pages []*[pageSize]value.Value

const pageSize = 64

func newPages(n int) pages { return make(pages, (n+pageSize-1)/pageSize) }

// at returns where value i is kept.
func (p pages) at(i int) *value.Value {
	page := p[i/pageSize]
	if page == nil {
		page = new([pageSize]value.Value)
		p[i/pageSize] = page
	}
	return &page[i%pageSize]
}

// Results are what rules yielded.
type results struct {
	pages     pages
	undefined value.Value         // stands for a rule that is undefined
	aside     map[int]value.Value // in place of pages, where few rules are asked
}

func newResults(functions int) results {
	return results{pages: newPages(functions), undefined: &value.Array{}}
}

// of returns what a rule yielded and whether it is known.
func (r *results) of(function int) (v value.Value, known bool) {
	if r.aside != nil {
		v, known = r.aside[function]
		return v, known
	}
	if page := r.pages[function/pageSize]; page != nil {
		v = page[function%pageSize]
	}
	if v == r.undefined {
		return nil, true
	}
	return v, v != nil
}

func (r *results) keep(function int, v value.Value) {
	switch {
	case r.aside != nil:
		r.aside[function] = v
	case v == nil:
		*r.pages.at(function) = r.undefined
	default:
		*r.pages.at(function) = v
	}
}

func (r *results) forget() {
	for _, page := range r.pages {
		if page != nil {
			clear(page[:])
		}
	}
}
