package plan

import (
	"errors"
	"strings"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
	"gate/internal/plan/value"
)

// callRule calls a function of the program.
func (r *run) callRule(pc int) (length int, st status) {
	n := r.local(pc + 3)
	var few [6]value.Value
	args := few[:0]
	for i := range n {
		args = append(args, r.operand(pc+4+i))
	}
	v, ok := r.call(r.local(pc+1), args)
	if !ok {
		return 0, failed
	}
	r.locals[r.local(pc+2)] = v
	return 4 + n, defined(v != nil)
}

// callDynamic calls the function at a path that is known only now. If there is
// none, the call is undefined.
func (r *run) callDynamic(pc int) (length int, st status) {
	nargs, npath := r.local(pc+2), r.local(pc+3)
	var args []value.Value
	for i := range nargs {
		args = append(args, r.locals[r.local(pc+4+i)])
	}
	length = 4 + nargs + npath
	var path []string
	for i := range npath {
		part, ok := r.operand(pc + 4 + nargs + i).(value.String)
		if !ok || strings.Contains(string(part), "\x00") {
			return length, undefined
		}
		path = append(path, string(part))
	}
	f := r.program.Find(bytecode.Path(path...))
	if f < 0 || r.program.Function(f).Args != nargs {
		return length, undefined
	}
	v, ok := r.call(f, args)
	if !ok {
		return 0, failed
	}
	r.locals[r.local(pc+1)] = v
	return length, defined(v != nil)
}

// callBuiltin calls a builtin.
func (r *run) callBuiltin(pc int) (length int, st status) {
	n := r.local(pc + 3)
	length = 6 + n
	args := r.args[:0]
	weight := 1
	for i := range n {
		v := r.operand(pc + 4 + i)
		if v == nil {
			return length, undefined
		}
		weight += value.Weight(v)
		args = append(args, v)
	}
	r.args = args
	if !r.spend(weight) {
		return 0, failed
	}
	number := r.local(pc + 1)
	value.Hold(args)
	v, err := r.builtins[number](r.ctx, args)
	if err != nil {
		if r.lenient && !halts(err) {
			return length, undefined
		}
		return 0, r.fail(r.builtinError(pc+4+n, number, err))
	}
	if v == nil {
		return length, undefined
	}
	if !r.made(v, bytesOf(v)) {
		return 0, failed
	}
	r.locals[r.local(pc+2)] = v
	return length, done
}

func (r *run) builtinError(place, number int, err error) error {
	if halts(err) {
		return err
	}
	code := CodeBuiltin
	var wrong *builtin.TypeError
	if errors.As(err, &wrong) {
		code = CodeType
	}
	return r.errorAt(place, code, r.program.Builtin(number)+": "+err.Error(), err)
}

// bytesOf estimates the memory of a value without what is in it.
func bytesOf(v value.Value) int {
	switch v := v.(type) {
	case value.String:
		return 16 + len(v)
	case *value.Array:
		return 32 + 16*v.Len()
	case *value.Set:
		return 64 + 16*v.Len()
	case *value.Object:
		return 64 + 32*v.Len()
	}
	return 16
}

// grow adds to an array or a set.
func (r *run) grow(pc int) status {
	to, v := r.locals[r.local(pc+1)], r.defined(pc+2)
	if !r.mayHold(to, v) {
		return failed
	}
	switch to := to.(type) {
	case *value.Array:
		to.Append(v)
		return r.grown(to)
	case *value.Set:
		if !r.spend(value.Weight(v)) {
			return failed
		}
		to.Add(v)
		return r.grown(to)
	}
	panic(bytecode.ErrDamaged)
}

// mayHold takes off the budget that a value grows by another. The planner makes
// values that are in others grow only in rules whose names have variables;
// growing by itself, or what was there before, only a damaged program would.
func (r *run) mayHold(to, v value.Value) bool {
	may, held := value.MayHold(to, v)
	if !may {
		panic(bytecode.ErrDamaged)
	}
	if !held {
		return true
	}
	if err := r.ctx.Alloc(heldBytes); err != nil {
		r.fail(err)
		return false
	}
	return r.spend(value.Weight(v))
}

// heldBytes is what is taken for growing where the weights of what is around are
// not kept.
const heldBytes = 1 << 10

func (r *run) grown(v value.Value) status {
	if !r.made(v, 48) {
		return failed
	}
	return done
}

func (r *run) insert(pc int) status {
	o, ok := r.locals[r.local(pc+1)].(*value.Object)
	if !ok {
		panic(bytecode.ErrDamaged)
	}
	key, v := r.defined(pc+2), r.defined(pc+3)
	if !r.mayHold(o, key) || !r.mayHold(o, v) || !r.spend(value.Weight(key)) {
		return failed
	}
	if o.Get(key) == v { // which has grown, and was taken off the budget then
		o.Insert(key, v)
		return done
	}
	o.Insert(key, v)
	return r.grown(o)
}

func (r *run) insertOnce(pc int) status {
	if o, ok := r.locals[r.local(pc+1)].(*value.Object); ok {
		if old := o.Get(r.defined(pc + 2)); old != nil {
			is, ok := r.same(old, r.defined(pc+3))
			switch {
			case !ok:
				return failed
			case !is:
				return r.conflict(pc+4, "object keys must be unique")
			}
			return done
		}
	}
	return r.insert(pc)
}

// merge puts what rules yield into the data at the same place.
func (r *run) merge(pc int) status {
	a, b := r.locals[r.local(pc+1)], r.locals[r.local(pc+2)]
	merged, ok := r.merged(a, b)
	if !ok {
		if r.err != nil {
			return failed
		}
		return r.conflict(pc+4, "base and virtual document keys must be disjoint")
	}
	r.locals[r.local(pc+3)] = merged
	return r.grown(merged)
}

func (r *run) merged(a, b value.Value) (value.Value, bool) {
	x, ok1 := a.(*value.Object)
	y, ok2 := b.(*value.Object)
	switch {
	case a == nil:
		return b, b != nil
	case b == nil:
		return a, true
	case !ok1 || !ok2 || !r.spend(x.Len()+y.Len()):
		return nil, false
	}
	o := x.Clone()
	for _, p := range y.Pairs() {
		v := p.Value
		if old := o.Get(p.Key); old != nil {
			var ok bool
			if v, ok = r.merged(old, v); !ok {
				return nil, false
			}
		}
		o.Insert(p.Key, v)
	}
	return o, true
}
