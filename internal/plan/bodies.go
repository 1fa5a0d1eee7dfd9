package plan

import (
	"gate/internal/plan/bytecode"
	"gate/internal/plan/value"
)

// scan runs the body for each element of a value, in order.
func (r *run) scan(pc int) (length int, st status) {
	key, val := r.local(pc+2), r.local(pc+3)
	from := pc + 5
	end := from + r.local(pc+4)
	one := func(k, v value.Value) status {
		r.locals[key], r.locals[val] = k, v
		return r.body(from, end)
	}
	st = done
	switch source := r.locals[r.local(pc+1)].(type) {
	case *value.Array:
		for i, v := range source.Elems() {
			if st = one(value.Int(i), v); st > done {
				break
			}
		}
	case *value.Set:
		if !r.spend(source.Len()) {
			return 0, failed
		}
		for _, v := range source.Elems() {
			if st = one(v, v); st > done {
				break
			}
		}
	case *value.Object:
		if !r.spend(source.Len()) {
			return 0, failed
		}
		for _, p := range source.Pairs() {
			if st = one(p.Key, p.Value); st > done {
				break
			}
		}
	}
	return end - pc, max(done, st)
}

func (r *run) not(pc int) (length int, st status) {
	from := pc + 2
	end := from + r.local(pc+1)
	switch st := r.body(from, end); st {
	case done:
		return 0, undefined
	case undefined:
		return end - pc, done
	default:
		return 0, st
	}
}

// with runs the body with another value in a local. What rules yielded before
// means nothing there, and what they yield there nothing afterwards.
func (r *run) with(pc int) (length int, st status) {
	local, path := r.local(pc+1), r.local(pc+3)
	from := pc + 5 + path
	end := from + r.local(pc+4)
	old, before := r.locals[local], r.results
	now := r.operand(pc + 2)
	if path > 0 {
		if now == nil {
			panic(bytecode.ErrDamaged)
		}
		now = r.upsert(old, pc+5, path, now)
	}
	r.locals[local], r.results = now, results{aside: map[int]value.Value{}}
	st = r.body(from, end)
	r.locals[local], r.results = old, before
	return end - pc, st
}

// upsert returns a copy of v with another value at the path in the words from i.
func (r *run) upsert(v value.Value, i, n int, to value.Value) value.Value {
	if n == 0 {
		return to
	}
	o, ok := v.(*value.Object)
	if ok {
		o = o.Clone()
	} else {
		o = &value.Object{}
	}
	key := r.text(r.local(i))
	o.Insert(key, r.upsert(o.Get(key), i+1, n-1, to))
	return o
}
